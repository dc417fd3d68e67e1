#!/usr/bin/env bash
# The favourites on the interfaces of AWS, all on this machine: a real table with its change stream, and a deployment of
# the template whose processes are killed now and then. It needs Maven and Node; what it fetches, it fetches once.
#
#   examples/favourites/aws-local.sh [ROWS [TOGGLES_PER_SECOND]]    20,000 rows and 100 toggles, if nothing else is said
#
#   WORK         folder for what is made; onefold-data/example-favourites-aws if it is not set
#   ONEFOLD      the command; ./onefold of this clone if it is not set
#   PARTS        class path of what stands in for AWS, FUNCTIONS that of the functions, and NODE the folder of what
#                runs on Node; they are built if PARTS is not set
#   JAVA_HOME    a JDK 25; if it is not set, one is looked for
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
onefold=${ONEFOLD:-$root/onefold}
work=${WORK:-onefold-data/example-favourites-aws}
rows=${1:-20000}
toggles=${2:-100}
. "$here/../jdk.sh"

title() {
    printf '\n-- %s\n' "$1"
}

rm -rf "$work"
mkdir -p "$work"
cp "$here/favourites.yaml" "$work"
mkfifo "$work/commands"
"$onefold" aws template "$work/favourites.yaml" --input table >"$work/template.yaml"
if [ -z "${PARTS:-}" ]; then
    title 'What stands in for AWS is built'
    (cd "$root" && mvn -q -B -Dquick package -pl proof/local -am)
    "$onefold" aws package --output "$work/functions.zip"
    unzip -q "$work/functions.zip" -d "$work/functions"
    PARTS=$root/proof/local/target/quick/*:$root/proof/local/target/quick/lib/*
    FUNCTIONS=$work/functions
    NODE=$root/proof/local/target/node
fi

title "A table with $rows rows; its stream is switched on, and the template is deployed on this machine"
"$jdk/bin/java" -Xmx1g --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow -cp "$PARTS" \
    "$here/DeployedFavourites.java" "$rows" "$toggles" "$work" "$FUNCTIONS" "$NODE" \
    <"$work/commands" >"$work/deployment.log" 2>&1 &
deployment=$!
exec 3>"$work/commands"
trap 'kill $deployment 2>/dev/null || true' EXIT

tell() {
    rm -f "$work/done-$1"
    echo "$1" >&3
    until [ -e "$work/done-$1" ]; do
        kill -0 $deployment 2>/dev/null || { tail -n 20 "$work/deployment.log"; exit 1; }
        sleep 0.1
    done
}
aws() {
    local verb=$1
    shift
    "$onefold" aws "$verb" "$work/favourites.yaml" "$@" --endpoint "$(cat "$work/endpoint")"
}

tell open
export AWS_ACCESS_KEY_ID=OPERATOR AWS_SECRET_ACCESS_KEY=secret AWS_REGION=eu-central-1
until aws query >/dev/null 2>&1; do # The first change says to the tables what is counted.
    kill -0 $deployment 2>/dev/null || { tail -n 20 "$work/deployment.log"; exit 1; }
done

title 'The rows that were there before the stream are seeded, while customers save and unsave'
aws seed --from dynamodb:Favourites

title 'The stream is off for three seconds, and then there is another one: the stack is updated, the rows are seeded again'
tell off
sleep 3
tell on
aws seed --from dynamodb:Favourites

title 'What was unsaved meanwhile is in no log: the rows are compared with the table while customers go on, and repaired'
aws verify --against dynamodb:Favourites --repair

title 'Customers stop, and the rows are compared once more'
tell end
tell drained
grep '^Customers' "$work/deployment.log"
aws verify --against dynamodb:Favourites

title 'The most liked'
aws query --top 10 --by favourites

aws query --format csv | sed -n 's/^1,//p' | sort >"$work/found.csv"
if ! sort "$work/right.csv" | cmp -s - "$work/found.csv"; then
    echo "Different: see $work/right.csv and $work/found.csv"
    exit 1
fi
echo
echo "Equal: the totals are those of the table."
