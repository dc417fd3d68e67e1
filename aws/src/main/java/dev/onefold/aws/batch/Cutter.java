package dev.onefold.aws.batch;

import dev.onefold.aws.batch.CutItem.End;
import dev.onefold.aws.batch.CutItem.LaneHeader;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.store.BatchReads;
import dev.onefold.aws.store.Parts;
import dev.onefold.aws.store.Store;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.seal.DeliveryRules;
import dev.onefold.core.seal.LaneCut;
import dev.onefold.core.seal.LaneCut.Chunk;
import dev.onefold.core.seal.LaneCut.Cut;
import dev.onefold.core.seal.LaneCut.Lane;
import dev.onefold.core.seal.SealDecision;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// Seals batches: each is a cut through all lanes, so collecting and sealing never meet. Whoever wakes it,
/// the recorded state and the clock decide. It reads in this order: its clock, the cut, the headers, and
/// the chunks that the headers know. So no record is older than it looks, and none is left out that was
/// there before the clock was read.
///
/// One transaction moves the cut from n to n + j and writes the batches n + 1 to n + j, if the cut is at n.
/// Any number of cutters may run at once; one of them succeeds.
public final class Cutter {
    /// Each batch is two items of a transaction, and the cut is one.
    static final int BATCHES_MAX = 49;

    private static final int STEPS_MAX = 40;

    /// Records that are read at once, at least, if so many wait.
    private static final int RECORDS_READ = 100_000;

    private static final int CHUNKS_AT_A_TIME = 64;

    /// Of so many chunks each is looked at to find the oldest; of more, the first of each lane.
    private static final int CHUNKS_LOOKED_AT = 10_000;

    private final Store store;
    private final Batching batching;
    private final int lanes;
    private final Chunks chunks;
    private OptionalLong oldestMs = OptionalLong.empty();

    /// @param lanes how many the deployment has
    public Cutter(Store store, Batching batching, int lanes) {
        this.store = store;
        this.batching = batching;
        this.lanes = lanes;
        chunks = new Chunks(store);
    }

    /// Seals what is to be sealed now.
    ///
    /// @return how many batches this call has sealed for certain
    public int run() {
        return run(false);
    }

    /// Seals all that was collected, without waiting for more.
    ///
    /// @return how many batches this call has sealed for certain
    public int sealNow() {
        return run(true);
    }

    private int run(boolean isForced) {
        int sealed = 0;
        for (int step = 1; step <= STEPS_MAX; step++) {
            BatchDefinition.requireKnownTables(store);
            long nowMs = store.clock().millis();
            CutItem cut = cut();
            List<Cut> batches = plan(cut, isForced ? Long.MAX_VALUE : nowMs);
            if (batches.isEmpty()) {
                return sealed;
            }
            if (store.transact(seal(cut, batches, nowMs)) instanceof Store.Written.Done) {
                sealed += batches.size();
            } else {
                store.backOff(Math.min(step, 10)); // Another cutter was faster, or nobody knows: the cut tells.
            }
        }
        return sealed;
    }

    /// How far it is.
    ///
    /// @param sealed number of the last batch; 0 if there is none
    /// @param openRecords that are in no batch yet
    /// @param openMs when the first of them arrived; empty if there is none
    record Progress(long sealed, long openRecords, OptionalLong openMs) {}

    Progress progress() {
        CutItem cut = cut();
        List<LaneHeader> headers = headers();
        List<Integer> waiting = IntStream.range(0, lanes)
                .filter(lane -> uncut(cut, headers, lane) > 0)
                .boxed()
                .toList();
        return new Progress(
                cut.number(),
                waiting.stream().mapToLong(lane -> uncut(cut, headers, lane)).sum(),
                firsts(cut, waiting).values().stream().mapToLong(Chunk::atMs).min());
    }

    private CutItem cut() {
        return CutItem.of(store.get(store.tables().rows(), CutItem.key()), lanes);
    }

    /// When the oldest record arrived that the last call of [#run] has left in no batch; empty if it has left
    /// none.
    public OptionalLong oldestMs() {
        return oldestMs;
    }

    private List<Cut> plan(CutItem cut, long nowMs) {
        List<LaneHeader> headers = headers();
        List<Integer> waiting = IntStream.range(0, lanes)
                .filter(lane -> uncut(cut, headers, lane) > 0)
                .boxed()
                .toList();
        if (waiting.isEmpty()) {
            oldestMs = OptionalLong.empty();
            return List.of();
        }
        Map<Integer, Chunk> firsts = firsts(cut, waiting);
        long firstMs = firsts.values().stream().mapToLong(Chunk::atMs).min().orElseThrow();
        oldestMs = OptionalLong.of(firstMs);
        long records =
                waiting.stream().mapToLong(lane -> uncut(cut, headers, lane)).sum();
        long bytes = headers.stream().mapToLong(LaneHeader::bytes).sum() - cut.bytes();
        boolean isFull = records >= batching.size() || bytes > batching.bytes();
        if (!isFull && !SealDecision.isDue(batching, firstMs, nowMs) && chunksOf(cut, headers) > CHUNKS_LOOKED_AT) {
            return List.of();
        }
        List<Integer> inOrder = waiting.stream()
                .sorted(Comparator.comparingLong(
                        lane -> Objects.requireNonNull(firsts.get(lane)).atMs()))
                .toList();
        List<Lane> read = new ArrayList<>();
        long found = 0;
        for (int lane : inOrder) {
            if (found >= Math.max(batching.size(), RECORDS_READ)) {
                // Records are left out, so only full batches are known to be right.
                return LaneCut.of(batching, read, Long.MIN_VALUE, BATCHES_MAX);
            }
            read.add(lane(lane, cut.ends().get(lane), headers.get(lane)));
            found += uncut(cut, headers, lane);
        }
        // A message that came again after a failure lies behind younger ones.
        oldestMs = read.stream()
                .flatMap(lane -> lane.chunks().stream())
                .mapToLong(Chunk::atMs)
                .min();
        return LaneCut.of(batching, read, nowMs, BATCHES_MAX);
    }

    private Map<Integer, Chunk> firsts(CutItem cut, List<Integer> waiting) {
        List<Chunk> firsts = store.threads()
                .all(
                        waiting,
                        lane -> chunks.chunk(
                                lane, cut.ends().get(lane).position().chunk()));
        Map<Integer, Chunk> byLane = new TreeMap<>();
        IntStream.range(0, waiting.size()).forEach(i -> byLane.put(waiting.get(i), firsts.get(i)));
        return byLane;
    }

    private long chunksOf(CutItem cut, List<LaneHeader> headers) {
        return IntStream.range(0, lanes)
                .mapToLong(lane -> headers.get(lane).next()
                        - cut.ends().get(lane).position().chunk())
                .sum();
    }

    private static long uncut(CutItem cut, List<LaneHeader> headers, int lane) {
        return headers.get(lane).members() - cut.ends().get(lane).members();
    }

    private List<LaneHeader> headers() {
        List<LaneHeader> headers = new ArrayList<>(Collections.nCopies(lanes, LaneHeader.EMPTY));
        List<Map<String, AttributeValue>> keys =
                IntStream.range(0, lanes).mapToObj(LaneHeader::key).toList();
        for (Map<String, AttributeValue> item :
                BatchReads.of(store, store.tables().rows(), keys, null)) {
            headers.set(LaneHeader.lane(item), LaneHeader.of(item));
        }
        return headers;
    }

    private Lane lane(int lane, End end, LaneHeader header) {
        List<Chunk> read = new ArrayList<>();
        long from = end.position().chunk();
        for (List<Long> some :
                Parts.of(LongStream.range(from, header.next()).boxed().toList(), CHUNKS_AT_A_TIME)) {
            read.addAll(store.threads().all(some, number -> chunks.chunk(lane, number)));
        }
        return new Lane(lane, end.position(), read);
    }

    private List<TransactWriteItem> seal(CutItem before, List<Cut> batches, long nowMs) {
        List<TransactWriteItem> items = new ArrayList<>();
        CutItem cut = before;
        for (Cut batch : batches) {
            cut = cut.plus(batch);
            BatchNumber number = BatchNumber.of(cut.number());
            SealedBatch sealed = new SealedBatch(batch, nowMs);
            DeliveryItem item = DeliveryItem.sealed(number, sealed, DeliveryRules.sealed(nowMs))
                    .with(batching.direct() ? chunks.begun(sealed) : Map.of());
            items.add(Deliveries.put(store.tables().rows(), item.attributes(), "attribute_not_exists(k)", Map.of()));
            items.add(Deliveries.index(store, item));
        }
        items.add(
                before.number() == 0
                        ? Deliveries.put(store.tables().rows(), cut.item(), "attribute_not_exists(k)", Map.of())
                        : Deliveries.put(
                                store.tables().rows(),
                                cut.item(),
                                "n = :n AND attribute_not_exists(" + CutItem.SEALED_TO + ")",
                                Map.of(":n", Items.number(before.number()))));
        return items;
    }
}
