"""Prints each whole cut of a topic of totals: python3 totals_reader.py localhost:9092 trade-risk-totals"""
import json, sys
from collections import deque
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition  # pip install confluent-kafka

class Partition:
    def __init__(self):
        self.values = {}      # Read behind the last marker.
        self.reads = None     # The cut of the last record,
        self.count = 0        # and its records so far.
        self.marked = 0       # The cut of the last marker.
        self.ready = deque()  # Up to a marker each: cut, values, whether they are all, the offset behind them.

servers, topic = sys.argv[1:]
consumer = Consumer({"bootstrap.servers": servers, "group.id": "unused", "isolation.level": "read_committed",
                     "enable.auto.commit": False, "auto.offset.reset": "error"})
parts = {p: Partition() for p in consumer.list_topics(topic).topics[topic].partitions}
consumer.assign([TopicPartition(topic, p, OFFSET_BEGINNING) for p in parts])

def read_ends():
    return {p: consumer.get_watermark_offsets(TopicPartition(topic, p))[1] for p in parts}

ends, table, newest = read_ends(), {}, 0  # No cut before the ends is shown.
while True:
    for record in consumer.consume(1000, 0.2):
        if record.error():
            raise SystemExit(record.error())
        headers = dict(record.headers())
        generation, cut = int(headers["onefold-generation"]), int(headers["onefold-cut"])
        if generation < newest:
            continue  # A former owner has written it.
        newest, part, key = generation, parts[record.partition()], record.key().decode()
        part.count = part.count if cut == part.reads else 0
        part.reads = cut
        if key == ":onefold":  # The marker. The commit behind it has an offset, too.
            is_all = cut == part.marked + 1 and json.loads(record.value())["changes"] == part.count
            part.marked = cut
            part.ready.append((cut, part.values, is_all, record.offset() + 2))
            part.values = {}
        elif key != ":onefold-owner":
            part.count += 1
            part.values[key] = record.value() and json.loads(record.value())
    while all(part.ready for part in parts.values()):
        goal = max(part.ready[0][0] for part in parts.values())
        if any(part.ready[-1][0] < goal for part in parts.values()):
            break
        is_whole = True
        for number, part in parts.items():
            while part.ready and part.ready[0][0] <= goal:
                cut, values, is_all, end = part.ready.popleft()
                table.update(values)
                ends = ends if is_all else read_ends()  # Some are compacted: read on.
            is_whole = is_whole and cut == goal and end >= ends[number]
        table = {key: value for key, value in table.items() if value is not None}  # Without groups that are gone.
        if is_whole:
            print("Cut", goal, table, flush=True)
