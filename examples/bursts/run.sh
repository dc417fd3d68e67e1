#!/usr/bin/env bash
# Makes a burst, delivers it in files, and proves the files.
#
#   examples/bursts/run.sh [EVENTS [SIZE]]    1,200,000 messages in files of 50,000, if nothing else is said
#
#   WORK       folder for messages, data and files; onefold-data/example-bursts if it is not set
#   ONEFOLD    the command; ./onefold of this clone if it is not set
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
onefold=${ONEFOLD:-$here/../../onefold}
work=${WORK:-onefold-data/example-bursts}
events=${1:-1200000}
size=${2:-50000}

sha256() {
    if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -c 1-64
}

rm -rf "$work"
mkdir -p "$work/drop"
sed "s/size: 50000/size: $size/" "$here/burst.yaml" >"$work/burst.yaml"
"$onefold" generate burst --events "$events" --duplicates 5 --output "$work/burst.ndjson" --right "$work/right.json"
"$onefold" run "$work/burst.yaml" --input "$work/burst.ndjson" --data "$work/data" --seal
"$onefold" batches verify "$work/drop"

found=$(gzip -dc "$work"/drop/burst-*.ndjson.gz | sha256)
if ! grep -q "\"sha256\": \"$found\"" "$work/right.json"; then
    echo "Different: the files hold $found, right is $(cat "$work/right.json")"
    exit 1
fi
echo "Equal: the files hold each message once, in the order of first arrival, as their producer says: SHA-256 $found."
