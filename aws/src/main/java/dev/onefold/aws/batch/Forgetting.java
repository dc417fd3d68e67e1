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
///     rest = k 00 "rest/<lane>/<chunk>", f<from> the end of a range of records whose batch is freed
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
    private static final String REST = "f";

    /// Batches that wait behind the place of a pass; with more of them the pass goes on when some are ended.
    private static final int WAITING_MAX = 10_000;

    private static final int LISTED_MAX = 20_000;

    /// Batches after which a pass notes how far it is.
    private static final int STEP = 100;

    /// Batches that one run of a pass looks at anew, at most.
    private static final int PASS_MAX = 10_000;

    private static final int CHUNKS_AT_A_TIME = 32;
    private static final int REQUESTS_AT_A_TIME = 64;

    /// What comes of a batch: it is done, or it waits. Any other number: so many of its chunks are done.
    private static final int DONE = Integer.MAX_VALUE;

    private static final int WAITS = -1;
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

    /// Removes what is to be removed now.
    ///
    /// @param isTimeLeft asked between batches
    public void run(BooleanSupplier isTimeLeft) {
        CutItem cut = CutItem.of(store.get(store.tables().rows(), CutItem.key()), lanes);
        if (cut.number() == 0) {
            return;
        }
        if (batching.forget() instanceof Forget.AfterDelivery) {
            pass(FORGOTTEN, cut.number(), isTimeLeft);
        }
        pass(FREED, cut.number(), isTimeLeft);
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
        return new Pass(Items.number(item, "n"), waiting, place, Items.number(item, "s"), Items.number(item, "v"));
    }

    private void pass(String name, long sealed, BooleanSupplier isTimeLeft) {
        Pass before = load(store, name);
        if (before.looked == sealed && before.waiting.isEmpty()) {
            return;
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
            Pass seeing = name.equals(FREED) ? before.sees(seen(before.seen, some, isTimeLeft)) : before;
            if (!seeing.equals(before)) {
                if (!save(name, before, seeing)) {
                    return; // Somebody else does the same.
                }
                before = seeing.written();
            }
            Pass after = step(name, before, some, open, isTimeLeft);
            if (!after.equals(before)) {
                if (!save(name, before, after)) {
                    return;
                }
                before = after.written();
            }
            if (after.looked < some.getLast() || !isTimeLeft.getAsBoolean()) {
                return;
            }
        }
    }

    /// The last batch of these that was seen and is old enough to be freed, as all before it.
    private long seen(long before, List<Long> numbers, BooleanSupplier isTimeLeft) {
        long seen = before;
        for (long number : numbers) {
            if (number > seen) {
                Optional<DeliveryItem> found = deliveries.find(BatchNumber.of(number));
                if (found.isEmpty() || isYoung(found.get()) || !isTimeLeft.getAsBoolean()) {
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

    private Pass step(String name, Pass before, List<Long> numbers, Set<Long> open, BooleanSupplier isTimeLeft) {
        Set<Long> waiting = new TreeSet<>(before.waiting);
        long looked = before.looked;
        for (long number : numbers) {
            boolean isNew = number > before.looked;
            if (!isTimeLeft.getAsBoolean()
                    || isNew && (waiting.size() >= WAITING_MAX || name.equals(FREED) && number > before.seen)) {
                break;
            }
            int way = open.contains(number) ? WAITS : look(name, before, number, open, isTimeLeft);
            switch (way) {
                case DONE -> waiting.remove(number);
                case WAITS -> waiting.add(number);
                default -> {
                    return new Pass(looked, waiting, new Place(number, way), before.seen, before.revision);
                }
            }
            looked = Math.max(looked, number);
        }
        return new Pass(looked, waiting, Place.NONE, before.seen, before.revision);
    }

    private int look(String name, Pass before, long number, Set<Long> open, BooleanSupplier isTimeLeft) {
        BatchNumber batch = BatchNumber.of(number);
        return name.equals(FORGOTTEN)
                ? forget(batch, before.place.chunks(number), isTimeLeft)
                : free(batch, open) ? DONE : WAITS;
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

    /// Removes the claims of a batch, if it is ended.
    ///
    /// @param from how many of its chunks were done before
    /// @return [#DONE]; [#WAITS] if it is not ended; or how many of its chunks are done, if there is no time left
    private int forget(BatchNumber number, int from, BooleanSupplier isTimeLeft) {
        Optional<DeliveryItem> found = deliveries.find(number);
        if (found.isEmpty() || !deliveries.isEnded(number)) {
            return WAITS;
        }
        List<Part> chunks = SealedBatch.of(found.get().attributes()).cut().parts().stream()
                .flatMap(Forgetting::chunks)
                .toList();
        for (int at = from; at < chunks.size(); at += CHUNKS_AT_A_TIME) {
            if (at > from && !isTimeLeft.getAsBoolean()) {
                return at;
            }
            List<Named> claims = store
                    .threads()
                    .all(chunks.subList(at, Math.min(at + CHUNKS_AT_A_TIME, chunks.size())), this::claims)
                    .stream()
                    .flatMap(List::stream)
                    .toList();
            for (List<Named> some : Parts.of(claims, REQUESTS_AT_A_TIME)) {
                var _ = store.threads().all(some, this::remove);
            }
        }
        return DONE;
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

    /// Removes a batch and its content, if it and the next one are ended.
    ///
    /// @return whether they are
    private boolean free(BatchNumber number, Set<Long> open) {
        Optional<DeliveryItem> found = deliveries.find(number);
        if (found.isEmpty()) {
            return true; // It was seen before, so somebody has.
        }
        BatchNumber next = BatchNumber.of(number.number() + 1);
        if (open.contains(next.number()) || !deliveries.isEnded(number) || !isEndedOrFreed(next)) {
            return false;
        }
        for (Part part : SealedBatch.of(found.get().attributes()).cut().parts()) {
            List<Long> numbers = LongStream.rangeClosed(
                            part.from().chunk(), part.to().chunk())
                    .boxed()
                    .toList();
            for (List<Long> some : Parts.of(numbers, REQUESTS_AT_A_TIME)) {
                store.threads().all(some, chunk -> {
                    free(part, chunk);
                    return true;
                });
            }
        }
        remove(found.get());
        return true;
    }

    /// A batch that is not there is not seen yet, or it was freed.
    private boolean isEndedOrFreed(BatchNumber number) {
        return deliveries.isEnded(number)
                || deliveries.find(number).isEmpty() && load(store, FREED).seen >= number.number();
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

    private void delete(Map<String, AttributeValue> key) {
        store.retried(() -> store.client()
                .deleteItem(request -> request.tableName(store.tables().rows()).key(key)));
    }

    /// Removes a chunk, if all of its records are in batches that are freed.
    private void free(Part part, long number) {
        int to = number == part.to().chunk() ? part.to().offset() : Integer.MAX_VALUE;
        Optional<ChunkItem> found = to == 0 ? Optional.empty() : chunks.find(part.lane(), number);
        if (found.isEmpty()) {
            return;
        }
        int records = found.get().chunk().sizes().length;
        int from = number == part.from().chunk() ? part.from().offset() : 0;
        if (from == 0 && to >= records) {
            chunks.remove(part.lane(), number, found.get());
            return;
        }
        Map<String, AttributeValue> rest = RowItem.other("rest/" + part.lane() + "/" + number);
        if (freed(rest, from, Math.min(to, records)) == records) {
            chunks.remove(part.lane(), number, found.get());
            delete(rest);
        }
    }

    /// Notes that the batch of a range is freed.
    ///
    /// @return how many records of the chunk are in such batches
    private int freed(Map<String, AttributeValue> rest, int from, int to) {
        store.retried(() -> store.client()
                .updateItem(request -> request.tableName(store.tables().rows())
                        .key(rest)
                        .updateExpression("SET #f = :to")
                        .expressionAttributeNames(Map.of("#f", REST + from))
                        .expressionAttributeValues(Map.of(":to", Items.number(to)))));
        Map<String, AttributeValue> ranges = store.get(store.tables().rows(), rest);
        return ranges.keySet().stream()
                .filter(name -> name.startsWith(REST))
                .mapToInt(name -> (int) Items.number(ranges, name) - Integer.parseInt(name.substring(REST.length())))
                .sum();
    }
}
