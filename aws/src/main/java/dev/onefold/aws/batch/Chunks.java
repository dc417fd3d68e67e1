package dev.onefold.aws.batch;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.store.Store;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.seal.LaneCut.Chunk;
import dev.onefold.core.seal.LaneCut.Part;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Reads and removes chunks. What a process has read it need not read again: a chunk never changes. Any thread may
/// call.
///
///     rest = k 00 "rest/<lane>/<chunk>", f<from> the end of a range of records whose batch is freed
final class Chunks {
    /// Records of one item, at most; more bytes go into an object. An item has at most 400 KB.
    static final int DATA_MAX = 350_000;

    static final String REST = "f";
    private static final int REMEMBERED_MAX = 20_000;
    private static final Duration AWAITED_MAX = Duration.ofMinutes(1);
    private static final Duration AWAITED_STEP = Duration.ofMillis(200);

    private final Store store;
    private final Map<Place, ChunkItem> known = new ConcurrentHashMap<>();

    /// Where a chunk is.
    record Place(int lane, long number) {}

    Chunks(Store store) {
        this.store = store;
    }

    /// A chunk below its header's next number, without its records.
    Chunk chunk(int lane, long number) {
        return item(lane, number).chunk();
    }

    /// The item of such a chunk, without its records and the hashes of their ids.
    private ChunkItem item(int lane, long number) {
        Place place = new Place(lane, number);
        ChunkItem found = known.get(place);
        if (found == null) {
            found = read(lane, number, ChunkItem.WITHOUT_DATA);
            if (known.size() >= REMEMBERED_MAX) {
                known.clear();
            }
            known.put(place, found);
        }
        return found;
    }

    /// Chunks, read at once. Of one whose records are an object, they are not here yet: objects are of any size.
    List<ChunkItem> items(List<Place> places) {
        return store.threads().all(places, place -> read(place.lane, place.number, null));
    }

    /// The chunk with its records.
    ChunkItem whole(ChunkItem item) {
        return item.object().isEmpty()
                ? item
                : new ChunkItem(item.chunk(), object(item.object()), item.object(), item.ids(), item.begun());
    }

    /// A record of a chunk.
    private record Only(Place chunk, int record) {}

    /// The record of a batch that has one.
    private Only only(SealedBatch batch) {
        for (Part part : batch.chunks()) {
            int records = Math.min(
                    part.to().offset(), chunk(part.lane(), part.from().chunk()).sizes().length);
            if (part.from().offset() < records) {
                return new Only(
                        new Place(part.lane(), part.from().chunk()), part.from().offset());
            }
        }
        throw new IllegalStateException("A batch of one record has none: chunks of its lanes are damaged");
    }

    /// How far the delivery is with which a batch of one record begins; empty if nothing was handed over.
    Map<String, AttributeValue> begun(SealedBatch batch) {
        Only only = only(batch);
        return item(only.chunk.lane, only.chunk.number).begun().getOrDefault(only.record, Map.of());
    }

    /// The number under which a receiver gets a batch: of a direct pipeline the one that is made of the
    /// record's id.
    BatchNumber numberFor(Batching batching, BatchNumber number, SealedBatch batch) {
        if (!batching.direct()) {
            return number;
        }
        Only only = only(batch);
        return BatchNumber.ofId(
                read(only.chunk.lane, only.chunk.number, ChunkItem.WITH_IDS).id(only.record));
    }

    /// A chunk without its records, and with the hashes of its ids; empty if it was removed.
    Optional<ChunkItem> find(int lane, long number) {
        Map<String, AttributeValue> item = get(lane, number, ChunkItem.WITH_IDS);
        return item.isEmpty() ? Optional.empty() : Optional.of(ChunkItem.of(item));
    }

    /// Removes a chunk and its object, once nobody reads it any more.
    private void remove(int lane, long number, ChunkItem chunk) {
        if (!chunk.object().isEmpty()) {
            store.retried(() -> store.bucket()
                    .client()
                    .get()
                    .deleteObject(request -> request.bucket(bucket()).key(chunk.object())));
        }
        store.retried(() -> store.client()
                .deleteItem(request -> request.tableName(store.tables().rows()).key(ChunkItem.key(lane, number))));
    }

    private void delete(Map<String, AttributeValue> key) {
        store.retried(() -> store.client()
                .deleteItem(request -> request.tableName(store.tables().rows()).key(key)));
    }

    /// Removes a chunk, if all of its records are in batches that are freed.
    void free(Part part) {
        long number = part.from().chunk();
        int to = part.to().offset();
        Optional<ChunkItem> found = to == 0 ? Optional.empty() : find(part.lane(), number);
        Map<String, AttributeValue> rest = RowItem.other("rest/" + part.lane() + "/" + number);
        int from = part.from().offset();
        if (found.isEmpty()) {
            if (to > 0 && (from > 0 || to < Integer.MAX_VALUE)) {
                delete(rest); // Somebody died between the chunk and this item.
            }
            return;
        }
        int records = found.get().chunk().sizes().length;
        if (from == 0 && to >= records) {
            remove(part.lane(), number, found.get());
            return;
        }
        if (freed(rest, from, Math.min(to, records)) == records) {
            remove(part.lane(), number, found.get());
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

    /// The items of a transaction are seen one after the other. So a chunk that a header knows is awaited, for
    /// much longer than a transaction takes.
    private ChunkItem read(int lane, long number, @Nullable String projection) {
        for (Duration waited = Duration.ZERO; waited.compareTo(AWAITED_MAX) < 0; waited = waited.plus(AWAITED_STEP)) {
            Map<String, AttributeValue> item = get(lane, number, projection);
            if (!item.isEmpty()) {
                return ChunkItem.of(item);
            }
            store.threads().pause(AWAITED_STEP);
        }
        throw new IllegalStateException("Chunk " + number + " of lane " + lane + " is not in table "
                + store.tables().rows() + ", and was awaited for " + AWAITED_MAX.toSeconds() + " s: its records are"
                + " missing. If the table was restored, or items were deleted by hand, run 'onefold aws restored"
                + " --anyway'.");
    }

    private Map<String, AttributeValue> get(int lane, long number, @Nullable String projection) {
        return store.retried(() -> store.client()
                        .getItem(request -> request.tableName(store.tables().rows())
                                .key(ChunkItem.key(lane, number))
                                .projectionExpression(projection)
                                .consistentRead(true)))
                .item();
    }

    private byte[] object(String name) {
        return store.retried(() -> store.bucket()
                        .client()
                        .get()
                        .getObject(request -> request.bucket(bucket()).key(name), AsyncResponseTransformer.toBytes()))
                .asByteArray();
    }

    /// Keeps records that are too many bytes for an item. Where the transaction that names the object fails, the object
    /// is garbage.
    ///
    /// @return the name of the object, which is never given twice
    String put(byte[] data) {
        String name = "chunks/" + store.newId();
        store.retried(() -> store.bucket()
                .client()
                .get()
                .putObject(
                        request -> request.bucket(bucket()).key(name).contentLength((long) data.length),
                        AsyncRequestBody.fromBytesUnsafe(data)));
        return name;
    }

    private String bucket() {
        return store.bucket()
                .name()
                .orElseThrow(() -> new IllegalStateException("This process was not told the bucket for large records"));
    }
}
