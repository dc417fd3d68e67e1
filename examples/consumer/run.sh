#!/usr/bin/env bash
# Hands orders to a shop that is busy, refuses and hangs up, and decides about those that wait for a person.
#
#   examples/consumer/run.sh
#
#   WORK         folder for data and the shop's book; onefold-data/example-consumer if it is not set
#   PORT         of the shop; 8471 if it is not set
#   ONEFOLD      the command; ./onefold of this clone if it is not set
#   JAVA_HOME    a JDK 25; if it is not set, one is looked for
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
onefold=${ONEFOLD:-$here/../../onefold}
work=${WORK:-onefold-data/example-consumer}
port=${PORT:-8471}
. "$here/../jdk.sh"

rm -rf "$work"
mkdir -p "$work"
sed "s/8471/$port/" "$here/consumer.yaml" >"$work/consumer.yaml"
printf 'c-1\nc-2\n' >"$work/customers.txt"
touch "$work/book.ndjson"
"$jdk/bin/java" "$here/Shop.java" "$port" "$work/book.ndjson" "$work/customers.txt" >"$work/shop.log" 2>&1 &
shop=$!
trap 'kill $shop' EXIT
while ! grep -q open "$work/shop.log"; do
    kill -0 $shop 2>/dev/null || { cat "$work/shop.log"; exit 1; }
    sleep 0.1
done

deliver() {
    "$onefold" run "$work/consumer.yaml" --input "$here/orders.ndjson" --data "$work/data"
}
batches() {
    "$onefold" batches "$work/consumer.yaml" "$@" --data "$work/data"
}
title() {
    printf '\n-- %s\n' "$1"
}

title 'Six orders, two of which come twice'
deliver
title 'Those that wait for a person'
batches list
title 'The book of the shop'
cat "$work/book.ndjson"

title 'Order 4 is in the book: it is done. Order 5 is not: it is delivered again. The customer of order 3 is known now'
echo c-9 >>"$work/customers.txt"
batches release 4 --delivered
batches release 5
batches release 3
deliver
batches list

title 'The book of the shop: each order once'
sort "$work/book.ndjson"
[ "$(sort "$work/book.ndjson")" = "$(sort -u "$here/orders.ndjson")" ]
