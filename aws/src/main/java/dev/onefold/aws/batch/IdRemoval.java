package dev.onefold.aws.batch;

import dev.onefold.aws.batch.CutItem.Gaps;
import dev.onefold.aws.batch.Deliveries.Listed;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.store.Parts;
import dev.onefold.aws.store.Store;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Forget;
import dev.onefold.core.seal.LaneCut.Part;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Removes what nobody needs any more. There are two passes through the batches, in the order of their numbers.
/// Each notes how far it is, and which batches before that place wait for a person or a receiver; it comes back
/// to these.
///
/// forgotten   claims of a batch that is ended, where ids are forgotten after delivery; each on condition that
/// it
///                 names the chunk of the record
/// freed       chunks, objects, contents and items of a batch that is ended, as the one behind it is, which
/// needs
///                 its proof and its state, and that was sealed [#KEPT] ago
///
///     pass = k 00 "forgotten" or "freed", n the last batch that was looked at, w those of them that wait, each
/// 8 bytes, v how often the item was written; p the batch for which the time was too short, and c how many
///            of its chunks are done; s the last batch that was seen
///
/// A batch that is not there was freed, or it is sealed and not seen yet, because items of one transaction are
/// seen one after the other. So before a batch is freed it is noted that it, and all before it, were seen.
///
/// Every step may be done again, also by two processes at once. Any thread may call. It is one idea: both
/// passes are the same walk.
public final class IdRemoval {
    /// A batch can be exported for so long after it was sealed, and until it is ended.
    public static final Duration KEPT = Duration.ofDays(7);

    private static final String FORGOTTEN = "forgotten";
    static final String FREED = "freed";

    /// Batches that wait behind the place of a pass; with more of them the pass goes on when some are ended.
    private static final int WAITING_MAX = 10_000;

    private static final int LISTED_MAX = 20_000;
    private static final int STEP = 100; // Batches after which a pass notes how far it is.

    /// Batches that one run of a pass looks at again, at most.
    private static final int PASS_MAX = 100_000;

    private static final int CHUNKS_AT_A_TIME = 32;
    private static final int REQUESTS_AT_A_TIME = 64;
    private static final int CHUNKS_FORGOTTEN = 10_000; // In memory at once, with those of one batch.
    private static final int CHUNKS_FREED = 256; // After them it is asked whether there is time to free more batches.

    private final Store store;
    private final Batching batching;
    private final int lanes;
    private final Deliveries deliveries;
    private final Chunks chunks;
    private final Duration kept;
    private volatile Gaps gaps = new Gaps(List.of());
    private volatile Optional<BatchDefinition> definition = Optional.empty();

    /// How far a pass is in a batch for which the time was too short.
    ///
    /// @param chunks of the batch that are done
    private record Place(long number, int chunks) {
        static final Place NONE = new Place(0, 0);

        int chunks(long batch) {
            return batch == number ? chunks : 0;
        }

        /// It is given up when its batch is done with.
        Place without(long batch) {
            return batch == number ? NONE : this;
        }
    }

    /// A chunk of a batch.
    ///
    /// @param index among the chunks of the batch
    private record Piece(long batch, int index, Part part) {
        Place place() {
            return new Place(batch, index);
        }
    }

    /// How far a pass is.
    ///
    /// @param looked the last batch that was looked at
    /// @param waiting batches up to that one which are not done with
    /// @param seen the last batch that is known to have been there, as all before it; one of them that is not
    ///     there any more was freed
    private record Pass(long looked, Set<Long> waiting, Place place, long seen, long revision) {
        Pass {
            waiting = new TreeSet<>(waiting);
        }

        Pass sees(long number) {
            return new Pass(looked, waiting, place, number, revision);
        }

        /// As it is when it was written.
        Pass written() {
            return new Pass(looked, waiting, place, seen, revision + 1);
        }
    }

    /// @param lanes how many the deployment has
    public IdRemoval(Store store, Batching batching, int lanes) {
        this(store, batching, lanes, KEPT);
    }

    /// @param kept in place of [#KEPT]
    public IdRemoval(Store store, Batching batching, int lanes, Duration kept) {
        this.kept = kept;
        this.store = store;
        this.batching = batching;
        this.lanes = lanes;
        deliveries = new Deliveries(store);
        chunks = new Chunks(store);
    }

    /// Removes what is to be removed now. Each pass has half of the time at least.
    ///
    /// @param most how long that takes, about at most
    public void run(Duration most) {
        BatchDefinition.requireKnownTables(store);
        gaps = Gaps.load(store);
        CutItem cut = CutItem.of(store.get(store.tables().rows(), CutItem.key()), lanes);
        if (cut.number() == 0) {
            return;
        }
        long startMs = store.clock().millis();
        BooleanSupplier isHalfLeft = () -> store.clock().millis() - startMs < most.toMillis() / 2;
        BooleanSupplier isTimeLeft = () -> store.clock().millis() - startMs < most.toMillis();
        boolean forgets = batching.forget() instanceof Forget.AfterDelivery;
        boolean isLeft;
        try {
            isLeft = forgets && !pass(FORGOTTEN, cut.number(), isHalfLeft);
        } finally {
            pass(FREED, cut.number(), isTimeLeft);
        }
        if (isLeft && isTimeLeft.getAsBoolean()) {
            pass(FORGOTTEN, cut.number(), isTimeLeft);
        }
    }

    /// Which batches there are still, of those up to the last one that is sealed; in the order of their
    /// numbers.
    static LongStream kept(Store store, long sealed) {
        Pass pass = load(store, FREED);
        return LongStream.concat(
                pass.waiting.stream().mapToLong(number -> number),
                Gaps.load(store).numbers(pass.looked + 1, sealed));
    }

    /// Both passes look at all batches again from this number on.
    static List<Map<String, AttributeValue>> from(long first, long revision) {
        return Stream.of(FORGOTTEN, FREED)
                .map(name -> item(name, new Pass(first - 1, Set.of(), Place.NONE, first - 1, revision), revision))
                .toList();
    }

    private static Pass load(Store store, String name) {
        Map<String, AttributeValue> item = store.get(store.tables().rows(), RowItem.other(name));
        if (item.isEmpty()) {
            return new Pass(0, Set.of(), Place.NONE, 0, 0);
        }
        Place place =
                item.containsKey("p") ? new Place(Items.number(item, "p"), (int) Items.number(item, "c")) : Place.NONE;
        Set<Long> waiting = new TreeSet<>();
        ByteBuffer packed = ByteBuffer.wrap(Items.bytes(item, "w"));
        while (packed.hasRemaining()) {
            waiting.add(packed.getLong());
        }
        return new Pass(Items.number(item, "n"), waiting, place, seen(item), Items.number(item, "v"));
    }

    /// The last batch that a pass knows to have been there. An earlier version did not write it, and freed what
    /// it had looked at and did not find.
    static long seen(Map<String, AttributeValue> pass) {
        return Items.number(pass, pass.containsKey("s") ? "s" : "n");
    }

    /// Whether the pass has looked at all there is.
    private boolean pass(String name, long sealed, BooleanSupplier isTimeLeft) {
        Pass before = load(store, name);
        if (before.looked == sealed && before.waiting.isEmpty()) {
            return true;
        }
        Set<Long> open = open();
        long last = sealed;
        if (name.equals(FREED) && batching.forget() instanceof Forget.AfterDelivery) {
            // The hashes of the ids are in the chunks, so claims go before them.
            Pass forgotten = load(store, FORGOTTEN);
            open.addAll(forgotten.waiting);
            last = Math.min(last, forgotten.looked);
        }
        List<Long> numbers = LongStream.concat(
                        before.waiting.stream().mapToLong(number -> number),
                        gaps.numbers(before.looked + 1, last).limit(PASS_MAX))
                .boxed()
                .toList();
        for (List<Long> some : Parts.of(numbers, STEP)) {
            BatchDefinition.requireKnownTables(store);
            List<Long> group = name.equals(FREED) ? oldEnough(before, some) : some;
            if (group.isEmpty() || !isTimeLeft.getAsBoolean()) {
                return false;
            }
            if (name.equals(FREED)) {
                definition = BatchDefinition.findAnyhow(store); // Before the batches are read.
            }
            Group read = read(name, before, group, open);
            Pass seeing = name.equals(FREED) ? before.sees(seen(before.seen, read)) : before;
            if (!seeing.equals(before)) {
                if (!save(name, before, seeing)) {
                    return false; // Somebody else does the same.
                }
                before = seeing.written();
            }
            Step step = step(name, before, read, isTimeLeft);
            Pass after = step.after;
            if (!after.equals(before)) {
                if (!save(name, before, after)) {
                    return false;
                }
                before = after.written();
            }
            if (step.failure != null) {
                throw step.failure; // What was done before it is not done again.
            }
            if (after.looked < some.getLast() || !isTimeLeft.getAsBoolean()) {
                return false;
            }
        }
        return before.place.equals(Place.NONE);
    }

    /// Batches that are looked at together.
    ///
    /// @param items of them and of those behind them, as far as they were read and are there
    private record Group(List<Long> numbers, Map<BatchNumber, DeliveryItem> items, Set<Long> open) {
        Optional<DeliveryItem> find(long number) {
            return Optional.ofNullable(items.get(BatchNumber.of(number)));
        }

        /// The chunks of a batch; none of a batch that is not there.
        List<Part> chunks(long number) {
            return find(number)
                    .map(item -> SealedBatch.of(item.attributes()).chunks())
                    .orElse(List.of());
        }
    }

    /// At most ticks the first new batch is too young, as all behind it are, so no more than that one is read.
    private List<Long> oldEnough(Pass before, List<Long> numbers) {
        Optional<Long> first =
                numbers.stream().filter(number -> number > before.seen).findFirst();
        boolean isOld = first.isEmpty()
                || deliveries.find(BatchNumber.of(first.get())).stream().anyMatch(item -> !isYoung(item));
        return isOld
                ? numbers
                : numbers.stream().filter(number -> number <= before.seen).toList();
    }

    private Group read(String name, Pass before, List<Long> numbers, Set<Long> open) {
        List<BatchNumber> wanted = numbers.stream()
                .flatMap(number -> name.equals(FREED) ? Stream.of(number, gaps.after(number)) : Stream.of(number))
                .filter(number -> !open.contains(number) || name.equals(FREED) && number > before.seen)
                .distinct()
                .map(BatchNumber::of)
                .toList();
        return new Group(numbers, deliveries.find(wanted), open);
    }

    /// The last batch of these that was seen and is old enough to be freed, as all before it.
    private long seen(long before, Group group) {
        long seen = before;
        for (long number : group.numbers) {
            if (number > seen) {
                if (group.find(number).filter(item -> !isYoung(item)).isEmpty()) {
                    return seen;
                }
                seen = number;
            }
        }
        return seen;
    }

    private boolean isYoung(DeliveryItem item) {
        return SealedBatch.of(item.attributes()).sealedMs() > store.clock().millis() - kept.toMillis();
    }

    /// Batches that are not ended, as far as the lists tell: whether one is, its state decides.
    private Set<Long> open() {
        return Stream.of(Deliveries.OPEN, Deliveries.PERSON)
                .flatMap(list -> deliveries.listed(list, LISTED_MAX).stream())
                .map(Listed::number)
                .map(BatchNumber::number)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /// @param after what is to be noted, also if the step has failed
    private record Step(Pass after, @Nullable RuntimeException failure) {}

    /// It is decided of all of them before anything goes: that a batch is ended is final.
    private Step step(String name, Pass before, Group group, BooleanSupplier isTimeLeft) {
        Set<Long> waiting = new TreeSet<>(before.waiting);
        List<Long> looked = new ArrayList<>();
        List<Long> due = new ArrayList<>();
        for (long number : group.numbers) {
            if (number > before.looked
                    && (waiting.size() >= WAITING_MAX || name.equals(FREED) && number > before.seen)) {
                break;
            }
            looked.add(number);
            if (isDue(name, before, number, group)) {
                due.add(number);
            } else {
                waiting.add(number);
            }
        }
        Left left =
                name.equals(FORGOTTEN) ? forget(due, group, before.place, isTimeLeft) : free(due, group, isTimeLeft);
        long last = before.looked;
        Place place = before.place;
        Set<Long> done = new TreeSet<>(due);
        for (long number : looked) {
            if (number == left.place.number) {
                waiting.removeIf(each -> each > number && !before.waiting.contains(each));
                return new Step(new Pass(last, waiting, left.place, before.seen, before.revision), left.failure);
            }
            if (done.contains(number)) {
                waiting.remove(number);
                place = place.without(number);
            }
            last = Math.max(last, number);
        }
        return new Step(new Pass(last, waiting, place, before.seen, before.revision), null);
    }

    private boolean isDue(String name, Pass before, long number, Group group) {
        DeliveryItem item = group.find(number).orElse(null);
        if (name.equals(FORGOTTEN)) {
            return item != null && !group.open.contains(number) && deliveries.isEnded(item);
        }
        if (item == null) {
            return !group.open.contains(number); // It was seen before, so somebody has freed it.
        }
        DeliveryItem next = group.find(gaps.after(number)).orElse(null);
        // The next one is not seen yet, or it was freed.
        boolean isNextEnded = next == null ? before.seen > number : deliveries.isEnded(next);
        return !group.open.contains(number)
                && !group.open.contains(gaps.after(number))
                && deliveries.isEnded(item)
                && isNextEnded;
    }

    private boolean save(String name, Pass before, Pass after) {
        Map<String, AttributeValue> item = item(name, after, before.revision + 1);
        return store.retriedIf(() -> store.client()
                .putItem(request -> request.tableName(store.tables().rows())
                        .item(item)
                        .conditionExpression(before.revision == 0 ? "attribute_not_exists(k)" : "v = :v")
                        .expressionAttributeValues(
                                before.revision == 0 ? null : Map.of(":v", Items.number(before.revision)))));
    }

    private static Map<String, AttributeValue> item(String name, Pass pass, long revision) {
        ByteBuffer packed = ByteBuffer.allocate(pass.waiting.size() * Long.BYTES);
        pass.waiting.forEach(packed::putLong);
        Map<String, AttributeValue> item = new TreeMap<>(RowItem.other(name));
        item.put("n", Items.number(pass.looked));
        item.put("w", Items.bytes(packed.array()));
        item.put("s", Items.number(pass.seen));
        item.put("v", Items.number(revision));
        if (!pass.place.equals(Place.NONE)) {
            item.put("p", Items.number(pass.place.number));
            item.put("c", Items.number(pass.place.chunks));
        }
        return item;
    }

    /// How far a step came.
    ///
    /// @param place the batch that is not done, and how many of its chunks are; [Place#NONE] if all are done
    /// @param failure why it went no further; `null` if the time was too short
    private record Left(Place place, @Nullable RuntimeException failure) {
        static final Left NOTHING = new Left(Place.NONE, null);
    }

    /// Removes the claims of batches that are ended.
    ///
    /// @param from how far that was done before
    private Left forget(List<Long> numbers, Group group, Place from, BooleanSupplier isTimeLeft) {
        int at = 0;
        for (boolean isBegun = false; at < numbers.size(); ) {
            List<Piece> pieces = new ArrayList<>();
            for (; at < numbers.size() && pieces.size() < CHUNKS_FORGOTTEN; at++) {
                long number = numbers.get(at);
                List<Part> chunks = group.chunks(number);
                for (int index = from.chunks(number); index < chunks.size(); index++) {
                    pieces.add(new Piece(number, index, chunks.get(index)));
                }
            }
            for (List<Piece> some : Parts.of(pieces, CHUNKS_AT_A_TIME)) {
                if (isBegun && !isTimeLeft.getAsBoolean()) {
                    return new Left(some.getFirst().place(), null);
                }
                isBegun = true;
                try {
                    Optional<Piece> next = forget(some, isTimeLeft);
                    if (next.isPresent()) {
                        return new Left(next.get().place(), null);
                    }
                } catch (RuntimeException failed) {
                    return new Left(some.getFirst().place(), failed);
                }
            }
        }
        return Left.NOTHING;
    }

    /// Where the tables are slow, the claims of some chunks take longer than an invocation has. The first chunk
    /// is done whatever the time is.
    ///
    /// @return the chunk that is not done; empty if all are
    private Optional<Piece> forget(List<Piece> pieces, BooleanSupplier isTimeLeft) {
        List<Named> claims = store.threads().all(pieces, this::claims).stream()
                .flatMap(List::stream)
                .toList();
        for (int from = 0; from < claims.size(); from += REQUESTS_AT_A_TIME) {
            Piece next = claims.get(from).piece;
            if (!next.equals(pieces.getFirst()) && !isTimeLeft.getAsBoolean()) {
                return Optional.of(next);
            }
            store.threads()
                    .each(claims.subList(from, Math.min(claims.size(), from + REQUESTS_AT_A_TIME)), this::remove);
        }
        return Optional.empty();
    }

    /// A claim that is to be removed if it names a chunk.
    private record Named(Piece piece, byte[] id, Map<String, AttributeValue> chunk) {}

    private List<Named> claims(Piece piece) {
        Part part = piece.part;
        long number = part.from().chunk();
        Optional<ChunkItem> found = part.to().offset() == 0 ? Optional.empty() : chunks.find(part.lane(), number);
        if (found.isEmpty()) {
            return List.of();
        }
        int end = Math.min(part.to().offset(), found.get().chunk().sizes().length);
        Map<String, AttributeValue> names = new Claim(part.lane(), number, 0, 0).names();
        return IntStream.range(part.from().offset(), end)
                .mapToObj(record -> new Named(piece, found.get().id(record), names))
                .toList();
    }

    /// A claim that names another chunk is of a later record with this id.
    private void remove(Named claim) {
        boolean _ = store.retriedIf(() -> store.client()
                .deleteItem(request -> request.tableName(store.tables().rows())
                        .key(Claim.key(claim.id))
                        .conditionExpression(Claim.SAME)
                        .expressionAttributeValues(claim.chunk)));
    }

    /// Removes batches and their contents.
    private Left free(List<Long> numbers, Group group, BooleanSupplier isTimeLeft) {
        int at = 0;
        while (at < numbers.size()) {
            Place here = new Place(numbers.get(at), 0);
            if (at > 0 && !isTimeLeft.getAsBoolean()) {
                return new Left(here, null);
            }
            List<DeliveryItem> together = new ArrayList<>();
            List<Part> pieces = new ArrayList<>();
            for (; at < numbers.size() && pieces.size() < CHUNKS_FREED; at++) {
                group.find(numbers.get(at)).ifPresent(together::add);
                pieces.addAll(group.chunks(numbers.get(at)));
            }
            try {
                Parts.of(pieces, REQUESTS_AT_A_TIME)
                        .forEach(some -> store.threads().each(some, chunks::free));
                FreedBatches.free(store, definition.orElseThrow(), together);
            } catch (RuntimeException failed) {
                return new Left(here, failed);
            }
        }
        return Left.NOTHING;
    }
}
