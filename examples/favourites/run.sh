#!/usr/bin/env bash
# Counts the favourites of a table that has millions already, while customers save and unsave, and repairs the totals
# after an outage of the table's stream.
#
#   examples/favourites/run.sh [ROWS [TOGGLES_PER_SECOND]]    6,000,000 rows and 2,000 toggles, if nothing else is said
#   examples/favourites/run.sh --on aws-local [ROWS [TOGGLES_PER_SECOND]]    see aws-local.sh
#
#   WORK         folder for the table and data; onefold-data/example-favourites if it is not set
#   ONEFOLD      the command; ./onefold of this clone if it is not set
#   JAVA_HOME    a JDK 25; if it is not set, one is looked for
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
if [ "${1:-}" = --on ] && [ "${2:-}" = aws-local ]; then
    exec "$here/aws-local.sh" "${@:3}"
fi
onefold=${ONEFOLD:-$here/../../onefold}
work=${WORK:-onefold-data/example-favourites}
rows=${1:-6000000}
toggles=${2:-2000}
. "$here/../jdk.sh"
stream=arn:aws:dynamodb:eu-central-1:123456789012:table/Favourites/stream
run=

rm -rf "$work"
mkdir -p "$work"
cp "$here/favourites.yaml" "$work"
mkfifo "$work/commands"
"$jdk/bin/java" "$here/Favourites.java" "$rows" "$toggles" "$work" <"$work/commands" >"$work/table.log" 2>&1 &
table=$!
exec 3>"$work/commands"
trap 'kill -9 $table $run 2>/dev/null || true' EXIT

title() {
    printf '\n-- %s\n' "$1"
}
tell() {
    rm -f "$work/done-$1"
    echo "$1" >&3
    until [ -e "$work/done-$1" ]; do
        kill -0 $table 2>/dev/null || { cat "$work/table.log"; exit 1; }
        sleep 0.1
    done
}
follow() {
    "$onefold" run "$work/favourites.yaml" --input "$work/changes.ndjson" --follow --data "$work/data" \
        >>"$work/run.log" 2>&1 3>&- &
    run=$!
    until "$onefold" status "$work/favourites.yaml" --data "$work/data" >/dev/null 2>&1 &&
        [ -S "$work/data/engine.socket" ]; do
        kill -0 $run 2>/dev/null || { cat "$work/run.log"; exit 1; }
        sleep 0.1
    done
}
seed() {
    tell scan
    "$onefold" seed "$work/favourites.yaml" --from "$work/rows.ndjson" --stream "$stream/$1" --data "$work/data"
}

until [ -e "$work/changes.ndjson" ]; do
    kill -0 $table 2>/dev/null || { cat "$work/table.log"; exit 1; }
    sleep 0.1
done

title "The stream is on and followed. The rows that were there before are seeded meanwhile"
follow
seed 2026-11-01T00:00:00.000

title 'The process is killed; it goes on where it was'
kill -9 $run
wait $run 2>/dev/null || true
follow

title 'The stream is off for a second, and then there is another one: the rows are seeded again'
tell off
sleep 1
tell on
seed 2026-11-02T00:00:00.000

title 'Customers stop. The whole stream is read once more: nothing counts twice'
tell end
tell scan
exec 3>&-
wait $table
cat "$work/table.log"
kill $run
wait $run || true
"$onefold" run "$work/favourites.yaml" --input "$work/changes.ndjson" --data "$work/data"

verify() {
    "$onefold" verify "$work/favourites.yaml" --against "$work/rows.ndjson" --lag 100ms \
        --stream "$stream/2026-11-02T00:00:00.000" --data "$work/data" "$@"
}
title 'What was unsaved while the stream was off is in no log: the rows are compared with the table, and repaired'
verify --repair --at-rest
verify

title 'The most liked'
"$onefold" query "$work/favourites.yaml" --top 10 --by favourites --data "$work/data"

"$onefold" query "$work/favourites.yaml" --format csv --data "$work/data" |
    sed -n 's/^1,//p' | sort >"$work/found.csv"
if ! sort "$work/right.csv" | cmp -s - "$work/found.csv"; then
    echo "Different: see $work/right.csv and $work/found.csv"
    exit 1
fi
echo
echo "Equal: the totals are those of the table."
