package dev.onefold.aws.batch;

import dev.onefold.aws.batch.CutItem.Gaps;
import dev.onefold.aws.batch.CutItem.Gaps.Gap;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.store.Queries;
import dev.onefold.aws.store.Store;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Forget;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.seal.LaneCut.Chunk;
import dev.onefold.core.seal.LaneCut.Cut;
import dev.onefold.core.seal.LaneCut.Part;
import dev.onefold.core.seal.LaneCut.Position;
import dev.onefold.core.seal.SealDecision;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Chunks and batches that are in a table which was restored, and what follows from them: which records are in
/// no batch, and which batches cannot be delivered.
final class RestoredItems {
    /// A batch has so many ranges at most: its item has at most 400 KB.
    private static final int RANGES_MAX = 5_000;

    private static final String CHUNK = "chunk/";
    private static final String BATCH = "batch/";
    private static final String REST = "rest/";

    private final TreeMap<Integer, TreeMap<Long, Chunk>> chunks = new TreeMap<>();
    private final NavigableMap<Integer, NavigableMap<Long, BitSet>> freed = new TreeMap<>();
    private final TreeMap<BatchNumber, DeliveryItem> batches = new TreeMap<>();

    private final long base;
    private long freedTo;

    private RestoredItems(long base) {
        this.base = base;
    }

    /// @param base chunks from this number on are of writers that were late; they are sealed as any others are
    static RestoredItems read(Store store, long base) {
        RestoredItems found = new RestoredItems(base);
        Queries.scan(
                store,
                store.tables().rows(),
                page -> page.stream().filter(item -> !RowItem.isRow(item)).forEach(found::take));
        return found;
    }

    private void take(Map<String, AttributeValue> item) {
        String name = name(item);
        if (name.startsWith(BATCH)) {
            BatchNumber number =
                    BatchNumber.read(name.substring(BATCH.length())).orElseThrow();
            batches.put(number, new DeliveryItem(number, item));
        } else if (name.startsWith(CHUNK)) {
            Chunks.Place place = place(item);
            if (place.number() < base) {
                chunks.computeIfAbsent(place.lane(), _ -> new TreeMap<>())
                        .put(place.number(), ChunkItem.of(item).chunk());
            }
        } else if (name.equals(IdRemoval.FREED)) {
            freedTo = IdRemoval.seen(item);
        } else if (name.startsWith(REST)) {
            String[] place = name.split("/", -1);
            BitSet records = of(freed, Integer.parseInt(place[1]), Long.parseLong(place[2]));
            item.keySet().stream()
                    .filter(each -> each.startsWith(Chunks.REST))
                    .forEach(each -> records.set(Integer.parseInt(each.substring(1)), (int) Items.number(item, each)));
        }
    }

    private static BitSet of(Map<Integer, NavigableMap<Long, BitSet>> lanes, int lane, long chunk) {
        return lanes.computeIfAbsent(lane, _ -> new TreeMap<>()).computeIfAbsent(chunk, _ -> new BitSet());
    }

    private boolean isChunk(Map<String, AttributeValue> item) {
        return !RowItem.isRow(item)
                && name(item).startsWith(CHUNK)
                && place(item).number() < base;
    }

    private static Chunks.Place place(Map<String, AttributeValue> chunk) {
        String[] place = name(chunk).split("/", -1);
        return new Chunks.Place(Integer.parseInt(place[1]), Long.parseLong(place[2]));
    }

    private static String name(Map<String, AttributeValue> item) {
        byte[] key = Items.bytes(item, "k");
        return new String(key, 1, key.length - 1, StandardCharsets.UTF_8);
    }

    boolean hasChunk(int lane, long number) {
        return chunks.getOrDefault(lane, new TreeMap<>()).containsKey(number);
    }

    /// All deliveries, parts after what they are parts of.
    Collection<DeliveryItem> all() {
        return List.copyOf(batches.values());
    }

    /// Whole batches, in the order of their numbers.
    List<DeliveryItem> whole() {
        return batches.values().stream().filter(item -> item.number().isWhole()).toList();
    }

    void add(DeliveryItem item) {
        batches.put(item.number(), item);
    }

    /// The number of each batch of which the batch itself or a part is there.
    List<BatchNumber> numbers() {
        return batches.keySet().stream()
                .map(number -> BatchNumber.of(number.number()))
                .distinct()
                .toList();
    }

    /// A batch and its parts, as far as they are there; parts after what they are parts of.
    List<DeliveryItem> withParts(BatchNumber whole) {
        return List.copyOf(
                batches.subMap(whole, BatchNumber.of(whole.number() + 1)).values());
    }

    /// Forgets a batch and its parts.
    void remove(BatchNumber whole) {
        batches.subMap(whole, BatchNumber.of(whole.number() + 1)).clear();
    }

    /// Per lane, where batches end at least.
    ///
    /// @param known from elsewhere
    List<Position> sealedTo(List<Position> known) {
        List<Position> ends = new ArrayList<>(known);
        for (DeliveryItem batch : whole()) {
            for (Part part : SealedBatch.of(batch.attributes()).cut().parts()) {
                Position end = ends.get(part.lane());
                Position to = part.to();
                boolean isAfter = to.chunk() > end.chunk() || to.chunk() == end.chunk() && to.offset() > end.offset();
                if (isAfter && to.chunk() < base) {
                    ends.set(part.lane(), to);
                }
            }
        }
        return ends;
    }

    /// Why a batch cannot be delivered as it is; empty if it can be, or is ended with all of its parts.
    ///
    /// @param all the batch and its parts, as far as they are there
    String whyUnsound(List<DeliveryItem> all) {
        DeliveryItem batch = all.getFirst();
        if (!batch.number().isWhole()) {
            return "only parts of it are there";
        }
        boolean isOpen = all.stream()
                .map(DeliveryItem::delivery)
                .anyMatch(each -> !(each instanceof Delivery.Divided) && !each.isEnded());
        if (!isOpen && (batch.isRemoved() || isEnded(batch.number()))) {
            return "";
        }
        if (batch.isRemoved()) {
            return "it was being removed";
        }
        for (DeliveryItem each : all) {
            BatchNumber number = each.number();
            for (int part = 1; part <= each.parts(); part++) {
                if (!batches.containsKey(number.part(part))) {
                    return "its part " + number.part(part) + " is not there";
                }
            }
            if (!number.isWhole()) {
                BatchNumber of = new BatchNumber(
                        number.number(),
                        number.parts().subList(0, number.parts().size() - 1));
                DeliveryItem parent = batches.get(of);
                if (parent == null || parent.parts() < number.parts().getLast()) {
                    return "its part " + number + " is there, and batch " + of + " is from before it was divided";
                }
            }
        }
        long number = batch.number().number();
        if (!BatchesRestored.begins(number) && !batches.containsKey(BatchNumber.of(number - 1))) {
            return "batch " + BatchNumber.of(number - 1) + " is not there";
        }
        int present = present(batch);
        return present == batch.members().count() ? "" : "chunks of its records are not there";
    }

    private boolean isEnded(BatchNumber number) {
        DeliveryItem item = batches.get(number);
        if (item == null) {
            return false;
        }
        if (!(item.delivery() instanceof Delivery.Divided)) {
            return item.delivery().isEnded();
        }
        for (int part = 1; part <= item.parts(); part++) {
            if (!isEnded(number.part(part))) {
                return false;
            }
        }
        return true;
    }

    /// How many records of a batch are there.
    int present(DeliveryItem batch) {
        return SealedBatch.of(batch.attributes()).chunks().stream()
                .mapToInt(part -> {
                    Chunk chunk = chunks.getOrDefault(part.lane(), new TreeMap<>())
                            .get(part.from().chunk());
                    return chunk == null
                            ? 0
                            : Math.max(
                                    0,
                                    Math.min(part.to().offset(), chunk.sizes().length)
                                            - part.from().offset());
                })
                .sum();
    }

    /// The chunks of a batch that are not there.
    Stream<Chunks.Place> missing(DeliveryItem batch) {
        return SealedBatch.of(batch.attributes()).chunks().stream()
                .filter(part -> part.to().offset() > 0)
                .map(part -> new Chunks.Place(part.lane(), part.from().chunk()))
                .filter(place -> !hasChunk(place.lane(), place.number()));
    }

    /// By lane and chunk, the records of batches that pass, and of those that are freed.
    private NavigableMap<Integer, NavigableMap<Long, BitSet>> covered(Predicate<DeliveryItem> which) {
        NavigableMap<Integer, NavigableMap<Long, BitSet>> covered = new TreeMap<>();
        freed.forEach((lane, places) ->
                places.forEach((chunk, records) -> of(covered, lane, chunk).or(records)));
        for (DeliveryItem batch : whole().stream().filter(which).toList()) {
            for (Part part : SealedBatch.of(batch.attributes()).chunks()) {
                Optional.ofNullable(chunks.getOrDefault(part.lane(), new TreeMap<>())
                                .get(part.from().chunk()))
                        .ifPresent(chunk -> {
                            int to = Math.min(part.to().offset(), chunk.sizes().length);
                            if (part.from().offset() < to) {
                                of(covered, part.lane(), part.from().chunk())
                                        .set(part.from().offset(), to);
                            }
                        });
            }
        }
        return covered;
    }

    /// The claims of the records of the chunks on a page, by the hashes of their ids, the last one of each id.
    /// Where ids are forgotten after delivery, records of ended batches have none, and no claim of an old
    /// record is made again.
    Function<List<Map<String, AttributeValue>>, Map<ByteBuffer, Claim>> claims(Pipeline pipeline, Old old) {
        Message.Reader reader = new Message.Reader(pipeline);
        boolean forgets = ((Batching) pipeline.fold()).forget() instanceof Forget.AfterDelivery;
        NavigableMap<Integer, NavigableMap<Long, BitSet>> forgotten =
                forgets ? covered(batch -> isEnded(batch.number())) : new TreeMap<>();
        return page -> {
            Map<ByteBuffer, Claim> claims = new HashMap<>();
            page.stream().filter(this::isChunk).forEach(item -> {
                Chunks.Place place = place(item);
                ChunkItem chunk = ChunkItem.of(item);
                if (!forgets || !old.isOld(chunk.chunk())) {
                    reader.claims(place, chunk, of(forgotten, place.lane(), place.number()))
                            .forEach((id, claim) -> claims.merge(id, claim, (a, b) -> a.atMs() > b.atMs() ? a : b));
                }
            });
            return claims;
        };
    }

    /// Whether a claim takes the place of another one of its id: that one is of a record that came before, or
    /// that is not there.
    boolean isReplaced(Claim old, Claim claim) {
        Chunk chunk = chunks.getOrDefault(old.lane(), new TreeMap<>()).get(old.chunk());
        return old.atMs() > 0
                ? old.atMs() < claim.atMs()
                : old.isBegun()
                        || old.isInLane() && old.chunk() < base && (chunk == null || chunk.atMs() < claim.atMs());
    }

    /// The records that are in no batch, as batches.
    ///
    /// @param areOld whether those that may have been in one that is freed; see [Old]
    List<SealedBatch> rest(Batching batching, Old old, boolean areOld, long nowMs) {
        NavigableMap<Integer, NavigableMap<Long, BitSet>> covered = covered(_ -> true);
        Packing packing = new Packing(batching, nowMs);
        chunks.forEach((lane, places) -> places.forEach((number, chunk) -> {
            BitSet records = of(covered, lane, number);
            for (int record = records.nextClearBit(0);
                    record < chunk.sizes().length;
                    record = records.nextClearBit(record + 1)) {
                if (old.contains(lane, number, record, chunk) == areOld) {
                    packing.add(lane, number, record, chunk);
                }
            }
        }));
        return packing.end();
    }

    /// Records that were sealed so long ago that their batch may be freed, while a backup has their chunk as
    /// before.
    ///
    /// @param keptMs they arrived before
    /// @param sealedTo per lane, where batches end
    record Old(long keptMs, List<Position> sealedTo) {
        private boolean contains(int lane, long number, int record, Chunk chunk) {
            Position end = sealedTo.get(lane);
            boolean isSealed = number < end.chunk() || number == end.chunk() && record < end.offset();
            return isSealed && isOld(chunk);
        }

        private boolean isOld(Chunk chunk) {
            return chunk.atMs() < keptMs;
        }
    }

    /// Puts records into batches, as many as fit into each.
    private static final class Packing {
        private final Batching batching;
        private final long nowMs;
        private final List<SealedBatch> batches = new ArrayList<>();
        private List<Part> parts = new ArrayList<>();
        private int records;
        private long bytes;
        private long firstMs = Long.MAX_VALUE;
        private long lastMs = Long.MIN_VALUE;

        Packing(Batching batching, long nowMs) {
            this.batching = batching;
            this.nowMs = nowMs;
        }

        void add(int lane, long number, int record, Chunk chunk) {
            long more = SealDecision.bytes(chunk.sizes()[record]);
            if (records == batching.size()
                    || records > 0 && bytes + more > batching.bytes()
                    || parts.size() == RANGES_MAX) {
                seal();
            }
            Position from = new Position(number, record);
            Position to = new Position(number, record + 1);
            Part last = parts.isEmpty() ? null : parts.getLast();
            if (last != null && last.lane() == lane && last.to().equals(from)) {
                parts.set(parts.size() - 1, new Part(lane, last.from(), to, last.records() + 1));
            } else {
                parts.add(new Part(lane, from, to, 1));
            }
            records++;
            bytes += more;
            firstMs = Math.min(firstMs, chunk.atMs());
            lastMs = Math.max(lastMs, chunk.atMs());
        }

        private void seal() {
            batches.add(new SealedBatch(new Cut(parts, records, bytes, firstMs, lastMs), nowMs));
            parts = new ArrayList<>();
            records = 0;
            bytes = 0;
            firstMs = Long.MAX_VALUE;
            lastMs = Long.MIN_VALUE;
        }

        List<SealedBatch> end() {
            if (records > 0) {
                seal();
            }
            return batches;
        }
    }

    /// The last number that was given, as far as the batches tell.
    ///
    /// @param sealed number up to which batches were sealed, at least
    long last(long sealed) {
        return batches.keySet().stream()
                .mapToLong(BatchNumber::number)
                .filter(number -> number / BatchesRestored.ERA == sealed / BatchesRestored.ERA)
                .reduce(sealed, Math::max);
    }

    /// Numbers up to the last one of which no batch is there, and that are not known to be freed.
    ///
    /// @param known of which that was said before
    List<Gap> missing(long last, Gaps known) {
        List<Gap> missing = new ArrayList<>();
        long next = freedTo + 1;
        for (DeliveryItem batch : whole()) {
            long number = batch.number().number();
            if (number > next && next <= last) {
                missing.add(new Gap(next, Math.min(last, number - 1)));
            }
            next = Math.max(next, number + 1);
        }
        if (next <= last) {
            missing.add(new Gap(next, last));
        }
        return missing.stream()
                .flatMap(gap -> known.rest(gap).stream())
                .filter(gap -> gap.last() - gap.first() < BatchesRestored.ERA) // Else it was never given.
                .toList();
    }

    /// The first number of a batch that is there, or else the one behind this.
    long first(long base) {
        return batches.isEmpty() ? base + 1 : batches.firstKey().number();
    }

    /// The numbers without batches behind the first one, up to where a new incarnation begins.
    ///
    /// @param sealed number of the last batch of before
    Gaps gaps(long sealed, long base) {
        List<Gap> gaps = new ArrayList<>();
        long next = Math.min(first(base), sealed + 1);
        for (DeliveryItem batch : whole()) {
            if (batch.number().number() > next) {
                gaps.add(new Gap(next, batch.number().number() - 1));
            }
            next = batch.number().number() + 1;
        }
        if (next <= base) {
            gaps.add(new Gap(next, base));
        }
        return new Gaps(gaps);
    }
}
