package dev.onefold.aws.letter;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.store.Store;
import dev.onefold.core.DeadLetter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.Delete;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// Letters that are kept or removed in a transaction of their caller's, so that they are so with all else that it
/// writes. Any thread may call.
public final class LettersInStep {
    /// How many items a letter has at most.
    public static final int ITEMS_MAX = 3;

    private final Store store;
    private final LetterTable table;
    private final LetterBytes bytes;

    public LettersInStep(Store store) {
        this.store = store;
        table = new LetterTable(store);
        bytes = new LetterBytes(store);
    }

    /// For each letter the items that keep it, or that require that it is kept still. Its record is in the bucket when
    /// this returns.
    public List<List<TransactWriteItem>> keep(List<Letter> letters) {
        List<Letter> once = new ArrayList<>();
        for (Letter letter : letters) {
            if (once.stream().noneMatch(each -> each.identity().equals(letter.identity()))) {
                once.add(letter);
            }
        }
        if (once.isEmpty()) {
            return List.of();
        }
        String bucket = table.bucket();
        List<Marked> marked = store.threads().all(once, this::marked);
        long fresh = marked.stream().filter(each -> !each.isSettled).count();
        long next = fresh == 0 ? 0 : table.ids().next((int) fresh);
        List<Numbered> numbered = new ArrayList<>();
        for (Marked each : marked) {
            numbered.add(new Numbered(each, each.isSettled ? 0 : next++)); // The order in which they came.
        }
        return store.threads()
                .all(
                        numbered,
                        each -> each.marked.isSettled
                                ? List.of(check(each.marked.mark))
                                : keep(bucket, each.marked.letter, each.marked.mark, each.id));
    }

    private record Marked(Letter letter, Map<String, AttributeValue> mark, boolean isSettled) {}

    private record Numbered(Marked marked, long id) {}

    private Marked marked(Letter letter) {
        Map<String, AttributeValue> mark = table.get(LetterTable.mark(letter.identity()));
        return new Marked(letter, mark, !mark.isEmpty() && isSettled(letter, Items.number(mark, "n")));
    }

    private List<TransactWriteItem> keep(String bucket, Letter letter, Map<String, AttributeValue> mark, long id) {
        LetterBytes.Place place = LetterBytes.at(bucket, "", letter);
        if (!mark.isEmpty()) {
            place = place.with(letter.arrival().data(), store.newId()); // The one of before may be just being removed.
        }
        bytes.put(place, letter.arrival().data());
        List<TransactWriteItem> puts = table.puts(letter, table.item(id, letter, place));
        if (!mark.isEmpty()) {
            puts.set(
                    0,
                    TransactWriteItem.builder()
                            .put(put -> put.tableName(store.tables().letters())
                                    .item(table.mark(letter.identity(), id))
                                    .conditionExpression("n = :n")
                                    .expressionAttributeValues(Map.of(":n", Items.require(mark, "n"))))
                            .build());
        }
        return puts;
    }

    /// Whether a letter is kept, or a person has removed it for good. If the key held the event until this step, the
    /// one that was removed was of another time: this is all that is left of the event.
    private boolean isSettled(Letter letter, long id) {
        boolean leavesState = letter.reason().isOfStep() || letter.content() == DeadLetter.Content.SUMMARY;
        return !leavesState || !table.get(LetterTable.letterKey(id)).isEmpty();
    }

    /// The step before may be just removing the mark.
    private TransactWriteItem check(Map<String, AttributeValue> mark) {
        return TransactWriteItem.builder()
                .conditionCheck(check -> check.tableName(store.tables().letters())
                        .key(Map.of("p", Items.require(mark, "p"), "i", Items.require(mark, "i")))
                        .conditionExpression("n = :n")
                        .expressionAttributeValues(Map.of(":n", Items.require(mark, "n"))))
                .build();
    }

    /// The items that remove the letter of an identity, and its mark, so that it may be kept again; none if none
    /// was kept. Its record stays in the bucket, because another step may be about to keep the same letter under
    /// the same name.
    public List<TransactWriteItem> removal(String identity) {
        Map<String, AttributeValue> mark = table.get(LetterTable.mark(identity));
        if (mark.isEmpty()) {
            return List.of();
        }
        long id = Items.number(mark, "n");
        List<TransactWriteItem> items = new ArrayList<>();
        items.add(delete(LetterTable.mark(identity), id));
        items.add(delete(LetterTable.letterKey(id), null));
        Map<String, AttributeValue> letter = table.get(LetterTable.letterKey(id));
        if (letter.containsKey("k")) {
            items.add(delete(LettersOfKey.item(Items.number(letter, "k"), id), null));
        }
        return items;
    }

    private TransactWriteItem delete(Map<String, AttributeValue> key, @org.jspecify.annotations.Nullable Long id) {
        Delete.Builder delete =
                Delete.builder().tableName(store.tables().letters()).key(key);
        if (id != null) {
            delete.conditionExpression("n = :n").expressionAttributeValues(Map.of(":n", Items.number(id)));
        }
        return TransactWriteItem.builder().delete(delete.build()).build();
    }
}
