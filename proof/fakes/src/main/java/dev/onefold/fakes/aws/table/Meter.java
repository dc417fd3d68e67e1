package dev.onefold.fakes.aws.table;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.ConsumedCapacity;
import software.amazon.awssdk.services.dynamodb.model.ReturnConsumedCapacity;

/// What one request consumes, per table, in half units.
public final class Meter {
    private static final int READ_UNIT_BYTES = 4_096;
    private static final int WRITE_UNIT_BYTES = 1_024;

    private final Map<String, Long> readHalves = new TreeMap<>();
    private final Map<String, Long> writeHalves = new TreeMap<>();

    /// How a read is paid for, in halves of a unit.
    enum Reading {
        EVENTUAL(1),
        CONSISTENT(2),
        TRANSACTIONAL(4);

        private final int halves;

        Reading(int halves) {
            this.halves = halves;
        }

        static Reading of(@Nullable Boolean consistent) {
            return Boolean.TRUE.equals(consistent) ? CONSISTENT : EVENTUAL;
        }
    }

    void read(Table table, long bytes, Reading reading) {
        readHalves.merge(table.name(), units(bytes, READ_UNIT_BYTES) * reading.halves, Long::sum);
    }

    void write(Table table, long bytes, boolean transactional) {
        writeHalves.merge(table.name(), units(bytes, WRITE_UNIT_BYTES) * (transactional ? 4 : 2), Long::sum);
    }

    static long writeUnits(long bytes) {
        return units(bytes, WRITE_UNIT_BYTES);
    }

    private static long units(long bytes, int unit) {
        return Math.max(1, Math.ceilDiv(bytes, unit));
    }

    /// Read units of all tables, in halves.
    public long readHalves() {
        return readHalves.values().stream().mapToLong(Long::longValue).sum();
    }

    /// Write units of all tables, in halves.
    public long writeHalves() {
        return writeHalves.values().stream().mapToLong(Long::longValue).sum();
    }

    /// As a response says it, per table; nothing if nobody asked.
    List<ConsumedCapacity> consumed(@Nullable ReturnConsumedCapacity wanted) {
        if (wanted == null || wanted == ReturnConsumedCapacity.NONE) {
            return List.of();
        }
        Map<String, Long> halves = new TreeMap<>(readHalves);
        writeHalves.forEach((table, more) -> halves.merge(table, more, Long::sum));
        return halves.entrySet().stream()
                .map(entry -> ConsumedCapacity.builder()
                        .tableName(entry.getKey())
                        .capacityUnits(entry.getValue() / 2.0)
                        .build())
                .toList();
    }

    /// The same for a request to one table, or null if nobody asked.
    @Nullable
    ConsumedCapacity consumedByOne(@Nullable ReturnConsumedCapacity wanted) {
        List<ConsumedCapacity> consumed = consumed(wanted);
        return consumed.isEmpty() ? null : consumed.getFirst();
    }
}
