package dev.onefold.aws.letter;

import dev.onefold.aws.Arrival;
import dev.onefold.aws.Store;
import dev.onefold.aws.item.Items;
import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.Place;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.Put;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;
import software.amazon.awssdk.services.dynamodb.model.ReturnValue;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// The table of dead letters. A letter is written with the mark of its identity in one transaction, so it is kept
/// once, however often its record comes. Any thread may call.
///
///     mark   = p "mark/" identity, i 00, n id
///     letter = p "letter/" id mod 16, i id 8, r reason, m message, s shard, q sequence, u sub-sequence, t time,
///              h SHA-256, l length
///     bytes  = p "bytes/" id, i number of the piece 4, b up to 350 KB of the record
///     next   = p "next", i 00, n the last id that was given
///     counts = p "counts", i 00, and one number for each thing that becomes of records; they are counted once more
///              when a batch is tried again, and say so
public final class LetterTable {
    private static final int PARTITIONS = 16;
    private static final int PIECE_BYTES = 350_000;
    private static final List<String> COUNTS = List.of("accepted", "duplicate", "stale", "conflicting", "rejected");

    private final Store store;
    private final String table;

    public LetterTable(Store store) {
        this.store = store;
        table = store.tables().letters();
    }

    private static Map<String, AttributeValue> key(String partition, byte[] sort) {
        return Map.of("p", AttributeValue.fromS(partition), "i", Items.bytes(sort));
    }

    private static Map<String, AttributeValue> single(String partition) {
        return key(partition, new byte[1]);
    }

    private static Map<String, AttributeValue> letterKey(long id) {
        return key(
                "letter/" + id % PARTITIONS, ByteBuffer.allocate(8).putLong(id).array());
    }

    /// Keeps letters, in their order; durable when it completes.
    public CompletableFuture<Void> keep(List<Letter> letters) {
        CompletableFuture<Void> kept = CompletableFuture.completedFuture(null);
        for (Letter letter : letters) {
            kept = kept.thenCompose(_ -> keep(letter, 1));
        }
        return kept;
    }

    private CompletableFuture<Void> keep(Letter letter, int attempt) {
        Map<String, AttributeValue> mark = single("mark/" + letter.identity());
        return get(mark)
                .thenCompose(found -> found.isEmpty()
                        ? nextId().thenCompose(id -> putPieces(
                                        id, letter.arrival().data())
                                .thenCompose(_ -> store.transact(List.of(
                                        put(with(mark, Map.of("n", Items.number(id))), "attribute_not_exists(p)"),
                                        put(item(id, letter), null))))
                                .thenCompose(written -> written instanceof Store.Written.Done
                                        ? CompletableFuture.completedFuture(null)
                                        : store.backOff(attempt).thenCompose(_ -> keep(letter, attempt + 1))))
                        : CompletableFuture.completedFuture(null));
    }

    private CompletableFuture<Map<String, AttributeValue>> get(Map<String, AttributeValue> key) {
        return store.retried(() -> store.client()
                        .getItem(request -> request.tableName(table).key(key).consistentRead(true)))
                .thenApply(response -> response.item());
    }

    private TransactWriteItem put(Map<String, AttributeValue> item, @Nullable String condition) {
        return TransactWriteItem.builder()
                .put(Put.builder()
                        .tableName(table)
                        .item(item)
                        .conditionExpression(condition)
                        .build())
                .build();
    }

    private static Map<String, AttributeValue> with(
            Map<String, AttributeValue> item, Map<String, AttributeValue> more) {
        Map<String, AttributeValue> all = new TreeMap<>(item);
        all.putAll(more);
        return all;
    }

    private Map<String, AttributeValue> item(long id, Letter letter) {
        Arrival arrival = letter.arrival();
        return with(
                letterKey(id),
                Map.of(
                        "r", AttributeValue.fromS(letter.reason().name()),
                        "m", AttributeValue.fromS(letter.message()),
                        "s", AttributeValue.fromS(arrival.shard()),
                        "q", AttributeValue.fromS(arrival.sequence()),
                        "u", Items.number(arrival.subSequence()),
                        "t", Items.number(store.clock().millis()),
                        "h", AttributeValue.fromS(sha256(arrival.data())),
                        "l", Items.number(arrival.data().length)));
    }

    private static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java has SHA-256", e);
        }
    }

    /// Ids may have gaps, and are never given twice.
    private CompletableFuture<Long> nextId() {
        return store.retried(() -> store.client()
                        .updateItem(request -> request.tableName(table)
                                .key(single("next"))
                                .updateExpression("ADD n :one")
                                .expressionAttributeValues(Map.of(":one", Items.number(1)))
                                .returnValues(ReturnValue.UPDATED_NEW)))
                .thenApply(response -> Items.number(response.attributes(), "n"));
    }

    private CompletableFuture<Void> putPieces(long id, byte[] record) {
        CompletableFuture<Void> all = CompletableFuture.completedFuture(null);
        for (int from = 0; from < record.length; from += PIECE_BYTES) {
            byte[] piece = Arrays.copyOfRange(record, from, Math.min(record.length, from + PIECE_BYTES));
            Map<String, AttributeValue> item = with(pieceKey(id, from / PIECE_BYTES), Map.of("b", Items.bytes(piece)));
            all = all.thenCompose(_ -> store.retried(() -> store.client()
                            .putItem(request -> request.tableName(table).item(item))))
                    .thenApply(_ -> null);
        }
        return all;
    }

    private static Map<String, AttributeValue> pieceKey(long id, int piece) {
        return key("bytes/" + id, ByteBuffer.allocate(4).putInt(piece).array());
    }

    /// Up to `limit` letters with ids above `after`, in the order of their ids.
    public CompletableFuture<List<DeadLetter>> list(long after, int limit) {
        byte[] from = ByteBuffer.allocate(8).putLong(after).array();
        List<CompletableFuture<List<DeadLetter>>> parts = IntStream.range(0, PARTITIONS)
                .mapToObj(partition -> query(partition, from, limit, new ArrayList<>(), null))
                .toList();
        return CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new))
                .thenApply(_ -> parts.stream()
                        .flatMap(part -> part.join().stream())
                        .sorted(Comparator.comparingLong(DeadLetter::id))
                        .limit(limit)
                        .toList());
    }

    private CompletableFuture<List<DeadLetter>> query(
            int partition,
            byte[] from,
            int limit,
            List<DeadLetter> found,
            @Nullable Map<String, AttributeValue> start) {
        QueryRequest request = QueryRequest.builder()
                .tableName(table)
                .keyConditionExpression("p = :p AND i > :i")
                .expressionAttributeValues(
                        Map.of(":p", AttributeValue.fromS("letter/" + partition), ":i", Items.bytes(from)))
                .consistentRead(true)
                .exclusiveStartKey(start)
                .build();
        return store.retried(() -> store.client().query(request)).thenCompose(response -> {
            response.items().forEach(item -> found.add(letter(item)));
            return response.lastEvaluatedKey().isEmpty() || found.size() >= limit
                    ? CompletableFuture.completedFuture(found)
                    : query(partition, from, limit, found, response.lastEvaluatedKey());
        });
    }

    private static DeadLetter letter(Map<String, AttributeValue> item) {
        return new DeadLetter(
                ByteBuffer.wrap(Items.bytes(item, "i")).getLong(),
                Reason.valueOf(Items.text(item, "r")),
                Items.text(item, "m"),
                new Place(Items.text(item, "s") + ":" + Items.text(item, "q"), Items.number(item, "u") + 1, 0),
                Items.number(item, "l"),
                true,
                Items.text(item, "h"),
                Instant.ofEpochMilli(Items.number(item, "t")));
    }

    /// The record of a letter, where it came from; `null` if there is no such letter.
    public CompletableFuture<@Nullable Arrival> arrival(long id) {
        return get(letterKey(id)).thenCompose(item -> {
            if (item.isEmpty()) {
                return CompletableFuture.completedFuture(null);
            }
            int length = (int) Items.number(item, "l");
            CompletableFuture<byte[]> bytes = CompletableFuture.completedFuture(new byte[length]);
            for (int from = 0; from < length; from += PIECE_BYTES) {
                int at = from;
                bytes = bytes.thenCompose(all -> get(pieceKey(id, at / PIECE_BYTES))
                        .thenApply(piece -> {
                            byte[] part = Items.bytes(piece, "b");
                            System.arraycopy(part, 0, all, at, part.length);
                            return all;
                        }));
            }
            return bytes.thenApply(
                    data -> new Arrival(Items.text(item, "s"), Items.text(item, "q"), Items.number(item, "u"), data));
        });
    }

    /// Notes why a redriven letter was rejected again.
    public CompletableFuture<Void> rejectedAgain(long id, Malformed malformed) {
        return store.retried(() -> store.client()
                        .updateItem(request -> request.tableName(table)
                                .key(letterKey(id))
                                .updateExpression("SET r = :r, m = :m")
                                .conditionExpression("attribute_exists(p)")
                                .expressionAttributeValues(Map.of(
                                        ":r",
                                                AttributeValue.fromS(
                                                        malformed.reason().name()),
                                        ":m", AttributeValue.fromS(malformed.message())))))
                .thenApply(_ -> null);
    }

    /// Removes a letter; its mark stays, so that its record is not kept again. Whether there was one.
    public CompletableFuture<Boolean> remove(long id) {
        return store.retried(() -> store.client()
                        .deleteItem(request ->
                                request.tableName(table).key(letterKey(id)).returnValues(ReturnValue.ALL_OLD)))
                .thenCompose(response -> {
                    if (!response.hasAttributes() || response.attributes().isEmpty()) {
                        return CompletableFuture.completedFuture(false);
                    }
                    CompletableFuture<Void> removed = CompletableFuture.completedFuture(null);
                    for (int from = 0; from < Items.number(response.attributes(), "l"); from += PIECE_BYTES) {
                        int piece = from / PIECE_BYTES;
                        removed = removed.thenCompose(_ -> store.retried(() -> store.client()
                                        .deleteItem(request ->
                                                request.tableName(table).key(pieceKey(id, piece)))))
                                .thenApply(_ -> null);
                    }
                    return removed.thenApply(_ -> true);
                });
    }

    /// Adds to what became of records.
    public CompletableFuture<Void> count(Counts counts) {
        Map<String, AttributeValue> values = Map.of(
                ":accepted", Items.number(counts.accepted()),
                ":duplicate", Items.number(counts.duplicate()),
                ":stale", Items.number(counts.stale()),
                ":conflicting", Items.number(counts.conflicting()),
                ":rejected", Items.number(counts.rejected()));
        String additions = String.join(
                ", ", COUNTS.stream().map(name -> name + " :" + name).toList());
        return store.client()
                .updateItem(request -> request.tableName(table)
                        .key(single("counts"))
                        .updateExpression("ADD " + additions)
                        .expressionAttributeValues(values))
                .handle((_, _) -> null); // A figure for people: a batch must not fail, and be tried again, for it.
    }

    /// What became of records.
    public CompletableFuture<Counts> counts() {
        return get(single("counts")).thenApply(item -> {
            long[] counts = COUNTS.stream()
                    .mapToLong(name -> item.containsKey(name) ? Items.number(item, name) : 0)
                    .toArray();
            return new Counts(counts[0], counts[1], counts[2], counts[3], counts[4]);
        });
    }
}
