package dev.onefold.simulator.embedded;

import dev.onefold.embedded.source.LogBatch;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A log in memory: partitions of records at offsets. A control record takes an offset and is no record. Readers are
/// told from where to read by the offsets that were committed.
final class MemoryLog {
    private final String name;
    private final List<List<byte @Nullable []>> partitions = new ArrayList<>();
    private final Map<Integer, Long> committed = new HashMap<>();

    MemoryLog(String name, int partitions) {
        this.name = name;
        for (int i = 0; i < partitions; i++) {
            this.partitions.add(new ArrayList<>());
        }
    }

    int partitions() {
        return partitions.size();
    }

    void append(int partition, String record) {
        partitions.get(partition).add(record.getBytes(StandardCharsets.UTF_8));
    }

    void appendControl(int partition) {
        partitions.get(partition).add(null);
    }

    long end(int partition) {
        return partitions.get(partition).size();
    }

    /// What stands at some offsets, from one on.
    LogBatch read(int partition, long from, long countMax) {
        long next = Math.min(end(partition), from + countMax);
        List<LogBatch.Entry> records = new ArrayList<>();
        for (long offset = from; offset < next; offset++) {
            byte[] record = partitions.get(partition).get((int) offset);
            if (record != null) {
                records.add(new LogBatch.Entry(offset, record));
            }
        }
        return new LogBatch(name, partition, from, next, records);
    }

    void commit(Map<Integer, Long> offsets) {
        committed.putAll(offsets);
    }

    long committed(int partition) {
        return committed.getOrDefault(partition, 0L);
    }
}
