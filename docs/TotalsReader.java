import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

class TotalsReader { // Prints each whole cut: java -cp 'kafka/*' TotalsReader.java localhost:9092 trade-risk-totals
    record Changes(long cut, Map<String, String> values, boolean isAll, long end) {} // Of a cut, in a partition.
    static class Partition {
        Map<String, String> values = new HashMap<>(); // Read behind the last marker.
        long reads, count, marked; // The cut of the last record, and its records so far; that of the last marker.
        final Deque<Changes> ready = new ArrayDeque<>(); // Up to a marker each.
    }
    public static void main(String[] at) {
        var consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", at[0], "isolation.level", "read_committed", "auto.offset.reset", "none"),
                new StringDeserializer(), new StringDeserializer());
        var all = new HashMap<TopicPartition, Partition>();
        consumer.partitionsFor(at[1]).forEach(p -> all.put(new TopicPartition(at[1], p.partition()), new Partition()));
        consumer.assign(all.keySet());
        consumer.seekToBeginning(all.keySet());
        var ends = consumer.endOffsets(all.keySet()); // No cut before them is shown.
        var table = new TreeMap<String, String>();
        for (long newest = 0; ; ) {
            for (var record : consumer.poll(java.time.Duration.ofMillis(200))) {
                Partition in = all.get(new TopicPartition(at[1], record.partition()));
                long generation = number(record, "onefold-generation"), cut = number(record, "onefold-cut");
                if (generation < newest) continue; // A former owner has written it.
                newest = generation;
                in.count = cut == in.reads ? in.count : 0;
                in.reads = cut;
                if (record.key().equals(":onefold")) { // The marker. The commit behind it has an offset, too.
                    boolean isAll = cut == in.marked + 1 && record.value().contains("\"changes\":" + in.count + ",");
                    in.marked = cut;
                    in.ready.add(new Changes(cut, in.values, isAll, record.offset() + 2));
                    in.values = new HashMap<>();
                } else if (!record.key().equals(":onefold-owner")) {
                    in.count++;
                    in.values.put(record.key(), record.value());
                }
            }
            while (all.values().stream().noneMatch(in -> in.ready.isEmpty())) {
                long goal = all.values().stream().mapToLong(in -> in.ready.peek().cut).max().getAsLong();
                if (all.values().stream().anyMatch(in -> in.ready.getLast().cut < goal)) break;
                boolean isWhole = true;
                for (var part : all.keySet()) {
                    Changes last = null;
                    for (var ready = all.get(part).ready; !ready.isEmpty() && ready.peek().cut <= goal; ) {
                        last = ready.remove();
                        table.putAll(last.values);
                        ends = last.isAll ? ends : consumer.endOffsets(all.keySet()); // Some are compacted: read on.
                    }
                    isWhole &= last.cut == goal && last.end >= ends.get(part);
                }
                table.values().removeIf(Objects::isNull); // Groups that are gone.
                if (isWhole) System.out.println("Cut " + goal + " " + table);
            }
        }
    }
    static long number(ConsumerRecord<?, ?> record, String header) {
        return Long.parseLong(new String(record.headers().lastHeader(header).value()));
    }
}
