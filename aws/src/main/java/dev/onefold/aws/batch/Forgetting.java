package dev.onefold.aws.batch;

import dev.onefold.aws.batch.Deliveries.Listed;
import dev.onefold.aws.content.StagedContents;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.store.Parts;
import dev.onefold.aws.store.Store;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.LaneCut.Part;
import dev.onefold.core.batch.LaneCut.Position;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Forget;
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
import software.amazon.awssdk.services.dynamodb.model.Delete;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// Removes what nobody needs any more. There are two passes through the batches, in the order of their numbers. Each
/// notes how far it is, and which batches before that place wait for a person or a receiver; it comes back to these.
///
///     forgotten   claims of a batch that is ended, where ids are forgotten after delivery; each on condition that it
///                 names the chunk of the record
///     freed       chunks, objects, the content that was written for its receiver, and items of a batch that is ended,
/// as the one behind it is, and that was sealed
///                 [#KEPT] ago; the next batch needs its proof and its state
///
///     pass = k 00 "forgotten" or "freed", n the last batch that was looked at, w those of them that wait, each
///            8 bytes, v how often the item was written; p the batch for which the time was too short, and c how many
///            of its chunks are done; s the last batch that was seen
///
/// A batch that is not there was freed, or it is sealed and not seen yet, because items of one transaction are seen one
/// after the other. So before a batch is freed it is noted that it, and all before it, were seen.
///
/// Every step may be done again, also by two processes at once. Any thread may call.
public final class Forgetting {
    /// A batch can be exported for so long after it was sealed, and until it is ended.
    public static final Duration KEPT = Duration.ofDays(7);

    private static final String FORGOTTEN = "forgotten";
    private static final String FREED = "freed";

    /// Batches that wait behind the place of a pass; with more of them the pass goes on when some are ended.
    private static final int WAITING_MAX = 10_000;

    private static final int LISTED_MAX = 20_000;

    /// Batches after which a pass notes how far it is.
    private static final int STEP = 100;

    /// Batches that one run of a pass looks at anew, at most.
    private static final int PASS_MAX = 100_000;

    private static final int CHUNKS_AT_A_TIME = 32;
    private static final int REQUESTS_AT_A_TIME = 64;

    /// Chunks after which it is asked whether there is time to free more batches.
    private static final int CHUNKS_FREED = 256;

    private static final int TRANSACTION_MAX = 100;

    private final Store store;
    private final Batching batching;
    private final int lanes;
    private final Deliveries deliveries;
    private final Chunks chunks;
    private final Duration kept;

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
    private record Piece(long batch, int index, Part part) {}

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
    public Forgetting(Store store, Batching batching, int lanes) {
        this(store, batching, lanes, KEPT);
    }

    /// @param kept in place of [#KEPT]
    public Forgetting(Store store, Batching batching, int lanes, Duration kept) {
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
        CutItem cut = CutItem.of(store.get(store.tables().rows(), CutItem.key()), lanes);
        if (cut.number() == 0) {
            return;
        }
        long startMs = store.clock().millis();
        BooleanSupplier isHalfLeft = () -> store.clock().millis() - startMs < most.toMillis() / 2;
        BooleanSupplier isTimeLeft = () -> store.clock().millis() - startMs < most.toMillis();
        boolean forgets = batching.forget() instanceof Forget.AfterDelivery;
        boolean isLeft = forgets && !pass(FORGOTTEN, cut.number(), isHalfLeft);
        pass(FREED, cut.number(), isTimeLeft);
        if (isLeft && isTimeLeft.getAsBoolean()) {
            pass(FORGOTTEN, cut.number(), isTimeLeft);
        }
    }

    /// Which batches there are still, of those up to the last one that is sealed; in the order of their numbers.
    static LongStream kept(Store store, long sealed) {
        Pass pass = load(store, FREED);
        return LongStream.concat(
                pass.waiting.stream().mapToLong(number -> number), LongStream.rangeClosed(pass.looked + 1, sealed));
    }

    private static Pass load(Store store, String name) {
        Map<String, AttributeValue> item = store.get(store.tables().rows(), RowItem.other(name));
        if (item.isEmpty()) {
            return new Pass(0, Set.of(), Place.NONE, 0, 0);
        }
        Set<Long> waiting = new TreeSet<>();
        ByteBuffer packed = ByteBuffer.wrap(Items.bytes(item, "w"));
        while (packed.hasRemaining()) {
            waiting.add(packed.getLong());
        }
        Place place =
                item.containsKey("p") ? new Place(Items.number(item, "p"), (int) Items.number(item, "c")) : Place.NONE;
        long looked = Items.number(item, "n");
        // An earlier version wrote no "s", and freed what it had looked at and did not find.
        long seen = item.containsKey("s") ? Items.number(item, "s") : looked;
        return new Pass(looked, waiting, place, seen, Items.number(item, "v"));
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
                        LongStream.rangeClosed(before.looked + 1, Math.min(last, before.looked + PASS_MAX)))
                .boxed()
                .toList();
        for (List<Long> some : Parts.of(numbers, STEP)) {
            List<Long> group = name.equals(FREED) ? oldEnough(before, some) : some;
            if (group.isEmpty() || !isTimeLeft.getAsBoolean()) {
                return false;
            }
            Group read = read(name, before, group, open);
            Pass seeing = name.equals(FREED) ? before.sees(seen(before.seen, read)) : before;
            if (!seeing.equals(before)) {
                if (!save(name, before, seeing)) {
                    return false; // Somebody else does the same.
                }
                before = seeing.written();
            }
            Pass after = step(name, before, read, isTimeLeft);
            if (!after.equals(before)) {
                if (!save(name, before, after)) {
                    return false;
                }
                before = after.written();
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
    private record Group(List<Long> numbers, Map<Long, DeliveryItem> items, Set<Long> open) {}

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
        List<Long> wanted = numbers.stream()
                .flatMap(number -> name.equals(FREED) ? Stream.of(number, number + 1) : Stream.of(number))
                .filter(number -> !open.contains(number) || name.equals(FREED) && number > before.seen)
                .distinct()
                .toList();
        return new Group(numbers, deliveries.find(wanted), open);
    }

    /// The last batch of these that was seen and is old enough to be freed, as all before it.
    private long seen(long before, Group group) {
        long seen = before;
        for (long number : group.numbers) {
            if (number > seen) {
                DeliveryItem item = group.items.get(number);
                if (item == null || isYoung(item)) {
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

    /// It is decided of all of them before anything goes: that a batch is ended is final.
    private Pass step(String name, Pass before, Group group, BooleanSupplier isTimeLeft) {
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
        Place left = name.equals(FORGOTTEN)
                ? forget(due, group.items, before.place, isTimeLeft)
                : free(due, group.items, isTimeLeft);
        long last = before.looked;
        Place place = before.place;
        Set<Long> done = new TreeSet<>(due);
        for (long number : looked) {
            if (number == left.number) {
                waiting.removeIf(each -> each > number && !before.waiting.contains(each));
                return new Pass(last, waiting, left, before.seen, before.revision);
            }
            if (done.contains(number)) {
                waiting.remove(number);
                place = place.without(number);
            }
            last = Math.max(last, number);
        }
        return new Pass(last, waiting, place, before.seen, before.revision);
    }

    private boolean isDue(String name, Pass before, long number, Group group) {
        DeliveryItem item = group.items.get(number);
        if (name.equals(FORGOTTEN)) {
            return item != null && !group.open.contains(number) && deliveries.isEnded(item);
        }
        if (item == null) {
            return !group.open.contains(number); // It was seen before, so somebody has freed it.
        }
        DeliveryItem next = group.items.get(number + 1);
        // The next one is not seen yet, or it was freed.
        boolean isNextEnded = next == null ? before.seen > number : deliveries.isEnded(next);
        return !group.open.contains(number)
                && !group.open.contains(number + 1)
                && deliveries.isEnded(item)
                && isNextEnded;
    }

    private boolean save(String name, Pass before, Pass after) {
        ByteBuffer packed = ByteBuffer.allocate(after.waiting.size() * Long.BYTES);
        after.waiting.forEach(packed::putLong);
        Map<String, AttributeValue> item = new TreeMap<>(RowItem.other(name));
        item.put("n", Items.number(after.looked));
        item.put("w", Items.bytes(packed.array()));
        item.put("s", Items.number(after.seen));
        item.put("v", Items.number(before.revision + 1));
        if (!after.place.equals(Place.NONE)) {
            item.put("p", Items.number(after.place.number));
            item.put("c", Items.number(after.place.chunks));
        }
        return store.retriedIf(() -> store.client()
                .putItem(request -> request.tableName(store.tables().rows())
                        .item(item)
                        .conditionExpression(before.revision == 0 ? "attribute_not_exists(k)" : "v = :v")
                        .expressionAttributeValues(
                                before.revision == 0 ? null : Map.of(":v", Items.number(before.revision)))));
    }

    /// Removes the claims of batches that are ended.
    ///
    /// @param from how far that was done before
    /// @return the batch for which the time was too short, and how many of its chunks are done
    private Place forget(List<Long> numbers, Map<Long, DeliveryItem> items, Place from, BooleanSupplier isTimeLeft) {
        List<Piece> pieces = new ArrayList<>();
        for (long number : numbers) {
            List<Part> chunks = chunks(items.get(number));
            for (int index = from.chunks(number); index < chunks.size(); index++) {
                pieces.add(new Piece(number, index, chunks.get(index)));
            }
        }
        for (int at = 0; at < pieces.size(); at += CHUNKS_AT_A_TIME) {
            if (at > 0 && !isTimeLeft.getAsBoolean()) {
                return new Place(pieces.get(at).batch, pieces.get(at).index);
            }
            List<Named> claims = store
                    .threads()
                    .all(
                            pieces.subList(at, Math.min(at + CHUNKS_AT_A_TIME, pieces.size())),
                            piece -> claims(piece.part))
                    .stream()
                    .flatMap(List::stream)
                    .toList();
            for (List<Named> some : Parts.of(claims, REQUESTS_AT_A_TIME)) {
                var _ = store.threads().all(some, this::remove);
            }
        }
        return Place.NONE;
    }

    /// The chunks of a batch, each as a part of its own; none of a batch that is not there.
    private static List<Part> chunks(@Nullable DeliveryItem item) {
        return item == null
                ? List.of()
                : SealedBatch.of(item.attributes()).cut().parts().stream()
                        .flatMap(Forgetting::chunks)
                        .toList();
    }

    /// The chunks of a part, each as a part of its own.
    private static Stream<Part> chunks(Part part) {
        return LongStream.rangeClosed(part.from().chunk(), part.to().chunk())
                .mapToObj(chunk -> new Part(
                        part.lane(),
                        chunk == part.from().chunk() ? part.from() : new Position(chunk, 0),
                        chunk == part.to().chunk() ? part.to() : new Position(chunk, Integer.MAX_VALUE),
                        0));
    }

    /// A claim that is to be removed if it names a chunk.
    private record Named(byte[] id, Map<String, AttributeValue> chunk) {}

    private List<Named> claims(Part part) {
        long number = part.from().chunk();
        Optional<ChunkItem> found = part.to().offset() == 0 ? Optional.empty() : chunks.find(part.lane(), number);
        if (found.isEmpty()) {
            return List.of();
        }
        int end = Math.min(part.to().offset(), found.get().chunk().sizes().length);
        Map<String, AttributeValue> names = new Claim(part.lane(), number, 0, 0).names();
        return IntStream.range(part.from().offset(), end)
                .mapToObj(record -> new Named(found.get().id(record), names))
                .toList();
    }

    /// A claim that names another chunk is of a later record with this id.
    private boolean remove(Named claim) {
        return store.retriedIf(() -> store.client()
                .deleteItem(request -> request.tableName(store.tables().rows())
                        .key(Claim.key(claim.id))
                        .conditionExpression(Claim.SAME)
                        .expressionAttributeValues(claim.chunk)));
    }

    /// Removes batches and their contents.
    ///
    /// @return the first one for which the time was too short
    private Place free(List<Long> numbers, Map<Long, DeliveryItem> items, BooleanSupplier isTimeLeft) {
        int at = 0;
        while (at < numbers.size()) {
            if (at > 0 && !isTimeLeft.getAsBoolean()) {
                return new Place(numbers.get(at), 0);
            }
            List<DeliveryItem> together = new ArrayList<>();
            List<Part> pieces = new ArrayList<>();
            for (; at < numbers.size() && pieces.size() < CHUNKS_FREED; at++) {
                DeliveryItem item = items.get(numbers.get(at));
                if (item != null) {
                    together.add(item);
                    pieces.addAll(chunks(item));
                }
            }
            Parts.of(pieces, REQUESTS_AT_A_TIME).forEach(some -> store.threads().each(some, chunks::free));
            Parts.of(together, REQUESTS_AT_A_TIME)
                    .forEach(some -> store.threads().each(some, this::remove));
        }
        return Place.NONE;
    }

    /// A batch goes with its parts: without them it looks as if it was not ended, because a part is not always seen
    /// at once. Of more than fit into a transaction, the batch goes first.
    private void remove(DeliveryItem item) {
        List<DeliveryItem> all = new ArrayList<>();
        addWithParts(item, all);
        // The items alone name the objects, so the objects go first.
        for (DeliveryItem each : all) {
            String object = each.proof().map(DeliveryItem.Proof::object).orElse("");
            if (!object.isEmpty()) {
                StagedContents.remove(store, object);
            }
        }
        List<TransactWriteItem> deletes = all.stream().map(this::deleted).toList();
        for (List<TransactWriteItem> some : Parts.of(deletes, TRANSACTION_MAX)) {
            for (int attempt = 1; !(store.transact(some) instanceof Store.Written.Done); attempt++) {
                store.backOff(attempt);
            }
        }
    }

    private void addWithParts(DeliveryItem item, List<DeliveryItem> all) {
        all.add(item);
        for (int part = 1; part <= item.parts(); part++) {
            deliveries.find(item.number().part(part)).ifPresent(found -> addWithParts(found, all));
        }
    }

    private TransactWriteItem deleted(DeliveryItem item) {
        return TransactWriteItem.builder()
                .delete(Delete.builder()
                        .tableName(store.tables().rows())
                        .key(DeliveryItem.key(item.number()))
                        .build())
                .build();
    }
}
