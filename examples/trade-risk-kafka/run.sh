#!/usr/bin/env bash
# Totals of a topic of Kafka that are right although their reader is killed twice, published to another topic.
#
#   examples/trade-risk-kafka/run.sh [MESSAGES]    200,000, if nothing else is said
#
#   SERVERS      a cluster of your own, without the topics trades and trade-risk-totals; a broker is started if it is
#                not set
#   WORK         folder for the broker and data; onefold-data/example-trade-risk-kafka if it is not set
#   PORT         of the broker; 9392 if it is not set
#   ONEFOLD      the command; ./onefold of this clone if it is not set
#   PARTS        class path of the broker and of Kafka's client; they are built if it is not set
#   JAVA_HOME    a JDK 25; if it is not set, one is looked for
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
onefold=${ONEFOLD:-$root/onefold}
work=${WORK:-onefold-data/example-trade-risk-kafka}
messages=${1:-200000}
servers=${SERVERS:-localhost:${PORT:-9392}}
. "$here/../jdk.sh"
broker=
run=
trap 'kill -9 $run 2>/dev/null || true; kill $broker 2>/dev/null || true' EXIT # It stops the process that it has started.

title() {
    printf '\n-- %s\n' "$1"
}

rm -rf "$work"
mkdir -p "$work/broker"
sed "s/localhost:9392/$servers/" "$here/trade-risk.yaml" >"$work/trade-risk.yaml"
if [ -z "${PARTS:-}" ]; then
    title 'The broker of the tests is built'
    (cd "$root" && mvn -q -B -Dquick package -pl proof/broker -am)
    PARTS=$root/proof/broker/target/quick/*:$root/proof/broker/target/quick/lib/*
fi
if [ -z "${SERVERS:-}" ]; then
    title "A broker at $servers"
    "$jdk/bin/java" -Xmx256m -cp "$PARTS" dev.onefold.broker.Broker "$work/broker" "${servers##*:}" \
        >"$work/broker.out" 2>&1 &
    broker=$!
    until grep -q "$servers" "$work/broker.out"; do
        kill -0 $broker 2>/dev/null || { cat "$work/broker.out"; exit 1; }
        sleep 0.2
    done
fi

title "$messages messages, and the totals as their producer knows them"
"$onefold" generate trade-risk --workload demo --events "$messages" --output "$work/trades.ndjson" \
    --totals "$work/right.json" 2>/dev/null
"$jdk/bin/java" -Xmx256m --enable-native-access=ALL-UNNAMED -cp "$PARTS" "$here/Produce.java" "$servers" trades 2 "$work/trades.ndjson" \
    >"$work/produced" 2>&1 &
producer=$!
start() {
    "$onefold" run "$work/trade-risk.yaml" --data "$work/data" >>"$work/run.log" 2>&1 &
    run=$!
    until "$onefold" status "$work/trade-risk.yaml" --data "$work/data" 2>/dev/null | grep -q '^log trades'; do
        kill -0 $run 2>/dev/null || kill -0 $producer 2>/dev/null || { cat "$work/run.log"; exit 1; }
        sleep 0.2
    done
}

title 'Its reader is killed twice'
for _ in 1 2; do
    start
    sleep 1
    kill -9 $run
    wait $run 2>/dev/null || true
done
start
wait $producer || { cat "$work/produced"; exit 1; }
cat "$work/produced"
until "$onefold" status "$work/trade-risk.yaml" --data "$work/data" | grep -q '^log trades.* 0 offsets behind'; do
    kill -0 $run
    sleep 0.5
done
"$onefold" status "$work/trade-risk.yaml" --data "$work/data" | grep -E '^(records|accepted|duplicate|log )'

title 'The totals, and those of the producer'
"$onefold" query "$work/trade-risk.yaml" --data "$work/data" --depth 1 --equals "$work/right.json"
kill $run
wait $run || true
