package dev.onefold.fakes.aws;

import dev.onefold.fakes.aws.table.Meter;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;
import software.amazon.awssdk.services.dynamodb.model.CancellationReason;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;

/// How many requests of each kind came in, and what they consumed.
public final class Tally {
    private final Map<Operation, Long> requests = new EnumMap<>(Operation.class);
    private final Map<Operation, Long> failures = new EnumMap<>(Operation.class);
    private final Map<String, Long> reasons = new TreeMap<>();
    private long readHalves;
    private long writeHalves;

    /// The kinds of request.
    public enum Operation {
        CREATE_TABLE,
        DESCRIBE_TABLE,
        GET_ITEM,
        BATCH_GET_ITEM,
        PUT_ITEM,
        UPDATE_ITEM,
        DELETE_ITEM,
        QUERY,
        SCAN,
        TRANSACT_WRITE_ITEMS,
        TRANSACT_GET_ITEMS,
        BATCH_WRITE_ITEM
    }

    void count(Operation operation) {
        requests.merge(operation, 1L, Long::sum);
    }

    void countFailure(Operation operation) {
        failures.merge(operation, 1L, Long::sum);
    }

    /// Counts why a transaction was cancelled: each reason once.
    void countReasons(TransactionCanceledException cancelled) {
        cancelled.cancellationReasons().stream()
                .map(CancellationReason::code)
                .filter(code -> !"None".equals(code))
                .distinct()
                .forEach(code -> reasons.merge(code, 1L, Long::sum));
    }

    void add(Meter meter) {
        readHalves += meter.readHalves();
        writeHalves += meter.writeHalves();
    }

    /// Requests that arrived, each attempt counted.
    public Map<Operation, Long> requests() {
        return Collections.unmodifiableMap(requests);
    }

    /// Requests that the service refused, by whatever exception.
    public Map<Operation, Long> failures() {
        return Collections.unmodifiableMap(failures);
    }

    public long readUnits() {
        return Math.ceilDiv(readHalves, 2);
    }

    public long writeUnits() {
        return Math.ceilDiv(writeHalves, 2);
    }

    @Override
    public String toString() {
        return "requests " + requests + ", refused " + failures + " because of " + reasons + ", read units "
                + readUnits() + ", write units " + writeUnits();
    }
}
