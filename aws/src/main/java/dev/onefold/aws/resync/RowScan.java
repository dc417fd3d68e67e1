package dev.onefold.aws.resync;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.ServedViews;
import dev.onefold.aws.store.Store;
import dev.onefold.core.event.Version;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.state.Contribution;
import dev.onefold.core.state.RangeSums;
import dev.onefold.core.state.RowMark;
import dev.onefold.tables.Rate;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ReturnConsumedCapacity;
import software.amazon.awssdk.services.dynamodb.model.ScanRequest;
import software.amazon.awssdk.services.dynamodb.model.ScanResponse;

/// Lists all rows of a deployment as the served view has them, by a scan of segments beside each other.
///
/// The rows lie by hashes of DynamoDB's own, so some ranges of ours cost as much as all of them. The scan is
/// strongly consistent: nobody says how old the other kind may be, and an old row may look equal where the
/// present one is not.
public final class RowScan {
    /// Bytes that a strongly consistent read unit reads.
    public static final int UNIT_BYTES = 4_096;

    /// Read units a second that are spent at most if nothing else is said: half of what a new table takes.
    public static final long UNITS_PER_SECOND = 6_000;

    private static final int SEGMENTS = 8;
    private static final int ATTEMPTS_MAX = 5;

    private final Store store;
    private final Rate rate;
    private final ReentrantLock lock = new ReentrantLock();

    /// @param rate of read units
    public RowScan(Store store, Rate rate) {
        this.store = store;
        this.rate = rate;
    }

    /// About how many read units it takes to list all rows once.
    public long units() {
        return Math.ceilDiv(
                store.retried(() -> store.client()
                                .describeTable(request ->
                                        request.tableName(store.tables().rows())))
                        .table()
                        .tableSizeBytes(),
                UNIT_BYTES);
    }

    /// Checksums of all rows.
    public RangeSums sums() {
        for (int attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
            RangeSums sums = new RangeSums();
            if (forEach(mark -> sums.add(mark.key(), mark.content()))) {
                return sums;
            }
        }
        throw changed();
    }

    /// The rows of some ranges.
    public List<RowMark> marks(BitSet ranges) {
        for (int attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
            List<RowMark> marks = new ArrayList<>();
            if (forEach(mark -> {
                if (ranges.get(RangeSums.rangeOf(mark.key()))) {
                    marks.add(mark);
                }
            })) {
                return marks;
            }
        }
        throw changed();
    }

    private static IllegalStateException changed() {
        return new IllegalStateException("Another view began to serve each time that the rows were read, "
                + ATTEMPTS_MAX + " times. Try again.");
    }

    /// Visits each row, one at a time; whether one definition served from the beginning to the end.
    private boolean forEach(Consumer<RowMark> visitor) {
        Definition definition = new Definitions(store).load();
        Pipeline pipeline = definition.servedView().pipeline();
        if (!(pipeline.fold() instanceof Rollups) || !(pipeline.input().identity() instanceof Identity.Versioned)) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name()
                    + " keeps no rows with versions, so there is nothing that could be compared with a table");
        }
        List<Boolean> whole = store.threads().all(SEGMENTS, segment -> scan(definition, segment, visitor));
        return !whole.contains(false) && isServed(definition);
    }

    private boolean isServed(Definition definition) {
        Definition now = new Definitions(store).load();
        return now.served() == definition.served() && now.incarnation().equals(definition.incarnation());
    }

    private boolean scan(Definition definition, int segment, Consumer<RowMark> visitor) {
        Map<String, AttributeValue> start = Map.of();
        do {
            ScanRequest request = ScanRequest.builder()
                    .tableName(store.tables().rows())
                    .consistentRead(true)
                    .segment(segment)
                    .totalSegments(SEGMENTS)
                    .exclusiveStartKey(start.isEmpty() ? null : start)
                    .returnConsumedCapacity(ReturnConsumedCapacity.TOTAL)
                    .build();
            ScanResponse page = store.retried(() -> store.client().scan(request));
            for (Map<String, AttributeValue> item : page.items()) {
                if (RowItem.isRow(item) && !visit(definition, RowItem.of(item), visitor)) {
                    return false;
                }
            }
            spend(page);
            start = page.lastEvaluatedKey();
        } while (!start.isEmpty());
        return true;
    }

    /// Whether the row is in the view that is served.
    private boolean visit(Definition definition, RowItem row, Consumer<RowMark> visitor) {
        RowMark mark =
                mark(definition, new ServedViews(store, definition).whole(row).orElse(row));
        if (mark != null) {
            lock.lock();
            try {
                visitor.accept(mark);
            } finally {
                lock.unlock();
            }
            return true;
        }
        // As if the key was never seen; also if nobody knows what the row has of the view that is served.
        return row.isEmpty() || row.isRefusedBy(definition.served()) || isServed(definition);
    }

    private static @Nullable RowMark mark(Definition definition, RowItem row) {
        Contribution contribution = row.views().get(definition.served());
        if (contribution == null || row.isRefusedBy(definition.served())) {
            return null;
        }
        Pipeline pipeline = definition.servedView().pipeline();
        Version version = Version.of(pipeline, row.version());
        return new RowMark(row.key(), version, RowMark.content(pipeline, version, contribution));
    }

    private void spend(ScanResponse page) {
        if (page.consumedCapacity() == null) {
            return;
        }
        try {
            rate.spend(page.consumedCapacity().capacityUnits());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("The reading of the rows was interrupted. Try again.", e);
        }
    }
}
