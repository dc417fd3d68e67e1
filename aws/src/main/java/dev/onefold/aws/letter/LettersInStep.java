package dev.onefold.aws.letter;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.store.Store;
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

    /// For each letter that is not kept yet the items that keep it. Its record is in the bucket when this returns.
    public List<List<TransactWriteItem>> keep(List<Letter> letters) {
        List<Letter> fresh = new ArrayList<>();
        for (Letter letter : letters) {
            boolean isTwice = fresh.stream().anyMatch(each -> each.identity().equals(letter.identity()));
            if (!isTwice && table.get(LetterTable.mark(letter.identity())).isEmpty()) {
                fresh.add(letter);
            }
        }
        if (fresh.isEmpty()) {
            return List.of();
        }
        String bucket = table.bucket();
        long first = table.ids().next(fresh.size());
        return store.threads().all(fresh.size(), i -> {
            Letter letter = fresh.get(i);
            LetterBytes.Place place = LetterBytes.at(bucket, "", letter);
            bytes.put(place, letter.arrival().data());
            return table.puts(letter, table.item(first + i, letter, place));
        });
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
