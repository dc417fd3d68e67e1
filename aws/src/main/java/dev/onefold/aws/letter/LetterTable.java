package dev.onefold.aws.letter;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.store.Parts;
import dev.onefold.aws.store.Queries;
import dev.onefold.aws.store.Store;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetter.Place;
import dev.onefold.core.Fates;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.Put;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// The table of dead letters. A letter is written with the mark of its identity in one transaction, so it is kept
/// once, however often its record comes. Its record lies in a bucket, and is there before the letter is and until the
/// letter is not. It is one idea: the item, its key, and their one transaction. Any thread may call.
///
///     mark   = p "mark/" identity, i 00, n id, t time at which it was made, or none from before
///     letter = p "letter/" id mod 16, i id 8, r reason, m message, s shard, q sequence, u sub-sequence, t time,
///              w kind of the record, or none from before; a arrival of the record, if it is known; h SHA-256,
///              l length, b bucket and o object that hold the record; v, if they hold what was read of a record, the
///              view whose pipeline read it, or 0; j identity, or none from before; of the last edit that was
///              rejected: eh SHA-256, eo object; c, once it was rejected again, whether it had lost a conflict
///     key    = p "key/" hash of a key, i id: of a letter whose record states that key, k of which says the same
///     next   = p "next", i 00, n the last id that was given
///     bucket = p "bucket", i 00, b the bucket that records go into: bucket names are everybody's, so it cannot be
///              told from the deployment's name, and who is not told it by the template finds it here
///     input  = p "input", i 00, a the ARN of the stream that State reads
///     counts = p "counts", i 00, and one number for each thing that becomes of records, and for each cause of silence
///              by its name; they are counted once more when a batch is tried again, and say so
public final class LetterTable {
    private static final int PARTITIONS = 16;
    private static final int KEPT_AT_A_TIME = 32;
    /// A backup holds the items of its last two minutes as they were at any moment of these. The others are for a time
    /// that was made long before its letter was kept, or by a clock that is ahead.
    private static final Duration UNSURE = Duration.ofMinutes(20);
    private static final String UNDECIDED = " It was not decided under the pipeline that serves now: ";

    private final Store store;
    private final String table;
    private final LetterBytes bytes;
    private final LettersOfKey ofKey;
    private final Counters counters;
    private final LetterIds ids;

    public LetterTable(Store store) {
        this.store = store;
        table = store.tables().letters();
        bytes = new LetterBytes(store);
        ofKey = new LettersOfKey(store);
        counters = new Counters(store, single("counts"));
        ids = new LetterIds(store, single("next"));
    }

    /// Makes the bucket that this process knows the one that records go into, for those that are not told it.
    public void useBucket() {
        store.bucket().name().ifPresent(name -> write(single("bucket"), Map.of("b", AttributeValue.fromS(name))));
    }

    /// Tells for all processes which stream State reads.
    public void useInput(String arn) {
        write(single("input"), Map.of("a", AttributeValue.fromS(arn)));
    }

    private void write(Map<String, AttributeValue> key, Map<String, AttributeValue> values) {
        store.retried(() ->
                store.client().putItem(request -> request.tableName(table).item(with(key, values))));
    }

    /// The ARN of the stream that State reads; empty if it has read none yet.
    public Optional<String> input() {
        Map<String, AttributeValue> item = get(single("input"));
        return item.isEmpty() ? Optional.empty() : Optional.of(Items.text(item, "a"));
    }

    String bucket() {
        if (store.bucket().name().isPresent()) {
            return store.bucket().name().get();
        }
        Map<String, AttributeValue> item = get(single("bucket"));
        if (item.isEmpty()) {
            throw new IllegalStateException("The bucket for dead letters is not known: the function State,"
                    + " which writes its name into " + table + ", has never run here");
        }
        return Items.text(item, "b");
    }

    private static Map<String, AttributeValue> key(String partition, byte[] sort) {
        return Map.of("p", AttributeValue.fromS(partition), "i", Items.bytes(sort));
    }

    private static Map<String, AttributeValue> single(String partition) {
        return key(partition, new byte[1]);
    }

    static Map<String, AttributeValue> letterKey(long id) {
        return key(
                "letter/" + id % PARTITIONS, ByteBuffer.allocate(8).putLong(id).array());
    }

    /// Keeps letters, some at a time, with ids in their order; durable when it returns.
    public void keep(List<Letter> letters) {
        keep(letters, "", List::of);
    }

    /// Keeps letters as [#keep(List)], each on a condition.
    ///
    /// @param incarnation of the definition that they are kept under
    /// @param fence gives what is written with one letter, or is its condition; or nothing
    /// @return whether all are kept, by now or long ago; if a condition fails, some may be
    public boolean keep(List<Letter> letters, String incarnation, Supplier<List<TransactWriteItem>> fence) {
        if (letters.isEmpty()) {
            return true;
        }
        String bucket = bucket();
        return Parts.of(letters, KEPT_AT_A_TIME).stream()
                .allMatch(some -> keepTogether(some, letter -> LetterBytes.at(bucket, incarnation, letter), fence));
    }

    private boolean keepTogether(
            List<Letter> letters, Function<Letter, LetterBytes.Place> at, Supplier<List<TransactWriteItem>> fence) {
        List<Boolean> known = store.threads()
                .all(letters, letter -> !get(mark(letter.identity())).isEmpty());
        List<Letter> fresh = IntStream.range(0, letters.size())
                .filter(i -> !known.get(i))
                .mapToObj(letters::get)
                .toList();
        if (fresh.isEmpty()) {
            return true;
        }
        long first = ids.next(fresh.size());
        return !store.threads()
                .all(fresh.size(), i -> {
                    Letter letter = fresh.get(i);
                    LetterBytes.Place place = at.apply(letter);
                    bytes.put(place, letter.arrival().data());
                    return keep(letter, item(first + i, letter, place), fence.get());
                })
                .contains(false);
    }

    static Map<String, AttributeValue> mark(String identity) {
        return single("mark/" + identity);
    }

    /// The mark that says which letter is the one of an identity.
    Map<String, AttributeValue> mark(String identity, long id) {
        return with(
                mark(identity),
                Map.of("n", Items.number(id), "t", Items.number(store.clock().millis())));
    }

    /// After a restore: letters and marks belong together again. A backup may hold one of two items that were
    /// written together and not the other, if both are of its last minutes. The mark of a letter that was lost is
    /// removed, so that the letter is kept when its record comes again; a letter without its mark or its key gets
    /// them, so that it is not kept twice, and is found. A letter of these minutes that a person has removed may
    /// come back, too.
    ///
    /// @return how many marks were removed
    public int matchMarks() {
        AtomicLong last = new AtomicLong();
        Queries.scan(
                store,
                table,
                page -> page.stream()
                        .filter(item -> item.containsKey("t"))
                        .forEach(item -> last.accumulateAndGet(Items.number(item, "t"), Math::max)));
        long from = Math.min(last.get(), store.clock().millis()) - UNSURE.toMillis();
        List<Boolean> removed = new ArrayList<>();
        Queries.scan(store, table, page -> {
            List<Map<String, AttributeValue>> unsure = page.stream()
                    .filter(item -> item.containsKey("t") && Items.number(item, "t") >= from)
                    .toList();
            removed.addAll(store.threads().all(unsure, this::match));
        });
        return Collections.frequency(removed, true);
    }

    /// Whether it was the mark of a letter that was lost.
    private boolean match(Map<String, AttributeValue> item) {
        if (item.containsKey("j")) {
            long id = ByteBuffer.wrap(Items.bytes(item, "i")).getLong();
            keepAs(id, Items.text(item, "j"));
            ofKey.add(id, item);
        }
        return Items.text(item, "p").startsWith("mark/") && removeIfLost(item);
    }

    /// Whoever has made it another letter's mark meanwhile is right.
    private boolean removeIfLost(Map<String, AttributeValue> mark) {
        return get(letterKey(Items.number(mark, "n"))).isEmpty()
                && store.retriedIf(() -> store.client()
                        .deleteItem(request -> request.tableName(table)
                                .key(Map.of("p", Items.require(mark, "p"), "i", Items.require(mark, "i")))
                                .conditionExpression("n = :n")
                                .expressionAttributeValues(Map.of(":n", Items.require(mark, "n")))));
    }

    /// A crash before the transaction leaves an object that the next try writes again, or nobody looks for.
    private boolean keep(Letter letter, Map<String, AttributeValue> item, List<TransactWriteItem> fence) {
        List<TransactWriteItem> items = new ArrayList<>(fence);
        items.addAll(puts(letter, item));
        for (int attempt = 1; ; attempt++) {
            Store.Written written = store.transact(items);
            if (written instanceof Store.Written.Done) {
                return true;
            }
            if (written instanceof Store.Written.Refused refused
                    && IntStream.range(0, fence.size()).anyMatch(refused::failed)) {
                return false;
            }
            store.backOff(attempt);
            if (!get(mark(letter.identity())).isEmpty()) {
                return true;
            }
        }
    }

    /// The mark comes first.
    List<TransactWriteItem> puts(Letter letter, Map<String, AttributeValue> item) {
        long id = ByteBuffer.wrap(Items.bytes(item, "i")).getLong();
        List<TransactWriteItem> puts = new ArrayList<>();
        puts.add(put(mark(letter.identity(), id), "attribute_not_exists(p)"));
        puts.add(put(item, null));
        if (letter.keyHash() != 0) {
            puts.add(put(LettersOfKey.item(letter.keyHash(), id), null));
        }
        return puts;
    }

    /// Letters whose records may state a key of this hash, in the order of their ids; the first thousand.
    public List<Long> ofKeyHash(long keyHash) {
        return ofKey.find(keyHash);
    }

    Map<String, AttributeValue> get(Map<String, AttributeValue> key) {
        return store.get(table, key);
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

    Map<String, AttributeValue> item(long id, Letter letter, LetterBytes.Place place) {
        Arrival arrival = letter.arrival();
        Map<String, AttributeValue> values = letter.content() == DeadLetter.Content.SUMMARY
                ? with(letterKey(id), Map.of("v", Items.number(letter.view())))
                : letterKey(id);
        Map<String, AttributeValue> keyed = new TreeMap<>(values);
        if (letter.keyHash() != 0) {
            keyed.put("k", Items.number(letter.keyHash()));
        }
        if (arrival.atMs() != Arrival.NOT_KNOWN) {
            keyed.put("a", Items.number(arrival.atMs()));
        }
        return with(
                with(keyed, item(place, arrival.data())),
                Map.of(
                        "r", AttributeValue.fromS(letter.reason().name()),
                        "m", AttributeValue.fromS(letter.message()),
                        "s", AttributeValue.fromS(arrival.shard()),
                        "q", AttributeValue.fromS(arrival.sequence()),
                        "u", Items.number(arrival.subSequence()),
                        "w", Items.number(arrival.kind().code()),
                        "j", AttributeValue.fromS(letter.identity()),
                        "t", Items.number(store.clock().millis())));
    }

    /// The ids of letters.
    public LetterIds ids() {
        return ids;
    }

    /// Up to `limit` letters with ids above `after`, in the order of their ids.
    public List<DeadLetter> list(long after, int limit) {
        byte[] from = ByteBuffer.allocate(8).putLong(Math.max(after, 0)).array();
        return store.threads().all(PARTITIONS, partition -> list(partition, from, limit)).stream()
                .flatMap(List::stream)
                .sorted(Comparator.comparingLong(DeadLetter::id))
                .limit(limit)
                .toList();
    }

    private List<DeadLetter> list(int partition, byte[] from, int limit) {
        QueryRequest request = QueryRequest.builder()
                .tableName(table)
                .keyConditionExpression("p = :p AND i > :i")
                .expressionAttributeValues(
                        Map.of(":p", AttributeValue.fromS("letter/" + partition), ":i", Items.bytes(from)))
                .consistentRead(true)
                .limit(limit)
                .build();
        List<DeadLetter> found = new ArrayList<>();
        Queries.pages(store, request, page -> {
            page.items().forEach(item -> found.add(letter(item)));
            return found.size() < limit;
        });
        return found;
    }

    private static DeadLetter letter(Map<String, AttributeValue> item) {
        return new DeadLetter(
                ByteBuffer.wrap(Items.bytes(item, "i")).getLong(),
                Reason.valueOf(Items.text(item, "r")),
                Items.text(item, "m"),
                new Place(Items.text(item, "s") + ":" + Items.text(item, "q"), Items.number(item, "u") + 1, 0),
                Items.number(item, "l"),
                item.containsKey("v") ? DeadLetter.Content.SUMMARY : DeadLetter.Content.RECORD,
                item.containsKey("eo"),
                Items.text(item, "h"),
                Instant.ofEpochMilli(Items.number(item, "t")));
    }

    static LetterBytes.Place place(Map<String, AttributeValue> item) {
        return new LetterBytes.Place(Items.text(item, "b"), Items.text(item, "o"));
    }

    private static Optional<LetterBytes.Place> editPlace(Map<String, AttributeValue> item) {
        return item.containsKey("eo")
                ? Optional.of(new LetterBytes.Place(Items.text(item, "b"), Items.text(item, "eo")))
                : Optional.empty();
    }

    /// A letter; empty if it is not there.
    public Optional<DeadLetter> letter(long id) {
        Map<String, AttributeValue> item = get(letterKey(id));
        return item.isEmpty() ? Optional.empty() : Optional.of(letter(item));
    }

    /// The record of a letter, where it came from and when it arrived; if that is not known, when the letter was kept.
    /// `null` if there is no such letter.
    public @Nullable Arrival arrival(long id) {
        Map<String, AttributeValue> item = get(letterKey(id));
        if (item.isEmpty()) {
            return null;
        }
        try {
            byte[] data = bytes.read(place(item), Items.text(item, "h"));
            long atMs = Items.number(item, item.containsKey("a") ? "a" : "t");
            Arrival place = new Arrival(Items.text(item, "s"), Items.text(item, "q"), Items.number(item, "u"), data);
            return place.as(Items.kind(item, "w"), atMs);
        } catch (RuntimeException failed) {
            if (get(letterKey(id)).isEmpty()) { // Somebody has removed the letter since it was looked for.
                return null;
            }
            throw failed;
        }
    }

    /// The last edit of a letter that was rejected; empty if there is none, or no such letter.
    public Optional<byte[]> edited(long id) {
        Map<String, AttributeValue> item = get(letterKey(id));
        while (true) {
            Optional<LetterBytes.Place> place = editPlace(item);
            if (place.isEmpty()) {
                return Optional.empty();
            }
            try {
                return Optional.of(bytes.read(place.get(), Items.text(item, "eh")));
            } catch (RuntimeException failed) {
                item = get(letterKey(id));
                if (editPlace(item).equals(place)) {
                    throw failed;
                }
                // Somebody has removed the letter, or replaced its edit, since it was looked for.
            }
        }
    }

    /// Keeps of a redriven letter that was rejected again why, and beside its record the edit that was sent
    /// now. Whether the letter is still there.
    ///
    /// Each edit gets an object of its own, and the one before is never named again: what somebody is about
    /// to remove is never what the letter names. If others do the same at once, the last edit stays.
    ///
    /// @param record that was sent now: an edit unless it is the letter's record
    public boolean rejectedAgain(long id, Malformed malformed, byte[] record) {
        Map<String, AttributeValue> item = get(letterKey(id));
        if (item.isEmpty()) {
            return false;
        }
        Map<String, AttributeValue> why = Map.of(
                ":r", AttributeValue.fromS(malformed.reason().name()),
                ":m", AttributeValue.fromS(malformed.message()),
                ":c", AttributeValue.fromBool(isConflict(item)));
        if (Sha256.hex(record).equals(Items.text(item, "h"))) {
            replace(id, "SET r = :r, m = :m, c = :c", "attribute_exists(p)", why);
            return !get(letterKey(id)).isEmpty();
        }
        Optional<LetterBytes.Place> before = editPlace(item);
        LetterBytes.Place after = place(item).with(record, store.newId());
        Map<String, AttributeValue> values = with(
                why,
                Map.of(":o", AttributeValue.fromS(after.object()), ":h", AttributeValue.fromS(Sha256.hex(record))));
        String condition = "attribute_exists(p) AND attribute_not_exists(eo)";
        if (before.isPresent()) {
            condition = "eo = :before";
            values.put(":before", AttributeValue.fromS(before.get().object()));
        }
        bytes.put(after, record);
        replace(id, "SET r = :r, m = :m, c = :c, eo = :o, eh = :h", condition, values);
        Map<String, AttributeValue> now = get(letterKey(id));
        before.ifPresent(place -> removeUnlessNamed(place, now));
        removeUnlessNamed(after, now);
        return !now.isEmpty();
    }

    private void removeUnlessNamed(LetterBytes.Place edit, Map<String, AttributeValue> letter) {
        if (!editPlace(letter).equals(Optional.of(edit))) {
            bytes.remove(edit);
        }
    }

    /// The place, the hash and the length of a record, as attributes of its letter.
    private static Map<String, AttributeValue> item(LetterBytes.Place place, byte[] record) {
        return Map.of(
                "b", AttributeValue.fromS(place.bucket()),
                "o", AttributeValue.fromS(place.object()),
                "h", AttributeValue.fromS(Sha256.hex(record)),
                "l", Items.number(record.length));
    }

    /// If the letter is still as it was. If not, it may have been this very request, answered once before.
    private void replace(long id, String update, String condition, Map<String, AttributeValue> values) {
        store.retriedIf(() -> store.client()
                .updateItem(request -> request.tableName(table)
                        .key(letterKey(id))
                        .updateExpression(update)
                        .conditionExpression(condition)
                        .expressionAttributeValues(values)));
    }

    /// Makes a letter the one that is kept of an identity, unless another one is, or it is gone. The id of the one.
    public long keepAs(long id, String identity) {
        TransactWriteItem mark = put(mark(identity, id), "attribute_not_exists(p)");
        TransactWriteItem isThere = TransactWriteItem.builder()
                .conditionCheck(
                        check -> check.tableName(table).key(letterKey(id)).conditionExpression("attribute_exists(p)"))
                .build();
        for (int attempt = 1; !get(letterKey(id)).isEmpty(); attempt++) {
            Map<String, AttributeValue> found = get(mark(identity));
            if (!found.isEmpty()) {
                return Items.number(found, "n");
            }
            if (store.transact(List.of(mark, isThere)) instanceof Store.Written.Done) {
                return id;
            }
            store.backOff(attempt);
        }
        return id;
    }

    /// The view whose pipeline read what a letter holds instead of a record; 0 if none did, or there is no such letter.
    public int view(long id) {
        Map<String, AttributeValue> item = get(letterKey(id));
        return item.containsKey("v") ? (int) Items.number(item, "v") : 0;
    }

    /// Says in a letter why it was not decided under another pipeline.
    public void undecided(long id, String why) {
        Map<String, AttributeValue> item = get(letterKey(id));
        if (item.isEmpty()) {
            return;
        }
        String message = Items.text(item, "m");
        int before = message.indexOf(UNDECIDED);
        String now = (before < 0 ? message : message.substring(0, before)) + UNDECIDED + why;
        replace(id, "SET m = :m", "attribute_exists(p)", Map.of(":m", AttributeValue.fromS(now)));
    }

    /// Whether a letter is of a record that has lost a conflict, whatever was the reason when it was redriven since.
    public boolean isConflict(long id) {
        Map<String, AttributeValue> item = get(letterKey(id));
        return !item.isEmpty() && isConflict(item);
    }

    private static boolean isConflict(Map<String, AttributeValue> item) {
        return Items.text(item, "r").equals(Reason.CONFLICT.name())
                || item.containsKey("c") && item.get("c").bool();
    }

    /// Removes a letter, then its record; its mark stays, so that the record is not kept again. Whether there was one.
    public boolean remove(long id) {
        Map<String, AttributeValue> item = get(letterKey(id)); // First: an answer may be lost.
        if (item.isEmpty()) {
            return false;
        }
        store.retried(() ->
                store.client().deleteItem(request -> request.tableName(table).key(letterKey(id))));
        ofKey.remove(id, item);
        removeRecords(List.of(item));
        return true;
    }

    /// Removes the record of a letter that is gone then.
    public Runnable removal(long id) {
        Map<String, AttributeValue> item = get(letterKey(id));
        return item.isEmpty() ? () -> {} : () -> removeRecords(List.of(item));
    }

    /// Whether an item says anything of a record, or of how many there were; the others are of the deployment.
    public static boolean isOfRecord(Map<String, AttributeValue> item) {
        String partition = Items.text(item, "p");
        return partition.equals("counts")
                || partition.startsWith("letter/")
                || partition.startsWith("mark/")
                || partition.startsWith("key/");
    }

    /// Removes the records of those of these items that are letters. The letters stay.
    public void removeRecords(List<Map<String, AttributeValue>> items) {
        List<LetterBytes.Place> places = items.stream()
                .filter(item -> Items.text(item, "p").startsWith("letter/"))
                .flatMap(item -> Stream.concat(Stream.of(place(item)), editPlace(item).stream()))
                .toList();
        store.threads().each(places, bytes::remove);
    }

    /// Adds to what became of records.
    public void count(Fates fates) {
        counters.add(fates);
    }

    /// The counts of records by their fates, with the causes of silence.
    public Fates fates() {
        return Counters.of(get(single("counts")));
    }
}
