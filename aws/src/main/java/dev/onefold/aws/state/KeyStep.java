package dev.onefold.aws.state;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.KeyItem;
import dev.onefold.aws.item.OutputTable;
import dev.onefold.aws.letter.KeyLetters;
import dev.onefold.aws.letter.LettersInStep;
import dev.onefold.aws.store.Store;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.keyed.Change;
import dev.onefold.core.keyed.Change.RowChange;
import dev.onefold.core.map.Delta;
import dev.onefold.core.reduce.DeltaId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.Delete;
import software.amazon.awssdk.services.dynamodb.model.Put;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// The result of some events of a key, as it is written: all of it or nothing.
///
/// @param before head that was read; `null` if there was none
/// @param fates of the first of the key's events, in their order; none where the step upgrades the key
/// @param delta of the roll-ups of tables
record KeyStep(byte[] key, @Nullable KeyItem before, Change change, List<Fate> fates, Delta delta) {
    /// Of a transaction's hundred, one is the check of the definition's epoch.
    static final int ITEMS_MAX = 99;

    /// Of a transaction's 4 MB.
    static final long BYTES_MAX = 3_700_000;

    /// The most items of the totals that the delta of a step touches: Reduce must be able to add them in one
    /// commit.
    static final int DELTA_ITEMS_MAX = 90;

    private static final int PLAIN_TIMES_MAX = 8; // A row's attributes have fewer bytes than so many times the row.

    /// The condition under which a row of a shared table may be put.
    private static final String OWN =
            "attribute_not_exists(" + OutputTable.OWNER + ") OR " + OutputTable.OWNER + " = :me";

    KeyStep {
        fates = List.copyOf(fates);
    }

    /// Whether it and its letters are written in one transaction, rows as plain attributes. If not, and it is of
    /// several events, fewer of them are.
    boolean fits(List<OutputTable> tables) {
        int letters = LettersInStep.ITEMS_MAX
                * (change.letters().size()
                        + KeySteps.withdrawnFor(tables).size()
                                * (int) change.withdrawn().stream()
                                        .filter(Change.Withdrawn::hadLetter)
                                        .count());
        return items() + letters <= ITEMS_MAX && delta.items() <= DELTA_ITEMS_MAX && isPlain(tables) && isSettled();
    }

    /// Whether no letter is both kept and removed: several events may have done it, and their order counts.
    private boolean isSettled() {
        return change.letters().stream()
                .noneMatch(letter -> change.withdrawn().stream()
                        .anyMatch(event -> KeyLetters.identity(letter.why().reason(), letter.origin())
                                .equals(KeyLetters.identity(letter.why().reason(), event.origin()))));
    }

    /// How many items it has beside its letters.
    int items() {
        return 1
                + change.kept().size()
                + (change.base() == null ? 0 : 1)
                + change.rows().size()
                + (delta.isNothing() ? 0 : Math.ceilDiv(delta.items(), DELTA_ITEMS_MAX));
    }

    /// Whether its rows' attributes have few enough bytes for a transaction.
    boolean isPlain(List<OutputTable> tables) {
        long others = bytesBesideRows();
        long rows = change.rows().stream().mapToLong(KeyStep::bytes).sum();
        if (others + PLAIN_TIMES_MAX * rows <= BYTES_MAX) {
            return true;
        }
        long exact = 0;
        for (RowChange row : change.rows()) {
            byte[] after = row.after();
            if (after != null) {
                exact += OutputTable.bytes(
                        tables.get(row.row().table()).item(key, row.row().key(), after, true));
            }
        }
        return others + exact <= BYTES_MAX;
    }

    /// About how many bytes it has, with rows as attributes.
    long bytes() {
        return bytesBesideRows()
                + PLAIN_TIMES_MAX
                        * change.rows().stream().mapToLong(KeyStep::bytes).sum();
    }

    private static long bytes(RowChange row) {
        byte[] after = row.after();
        return 32L + 2L * row.row().key().bytes().length + (after == null ? 0 : after.length);
    }

    private long bytesBesideRows() {
        long bytes = change.head().encoded().length + 300L;
        bytes += change.kept().stream()
                .mapToLong(kept -> kept.encoded().length + 100L + key.length)
                .sum();
        bytes += change.base() == null ? 0 : change.base().encoded().length + 100L;
        return bytes + delta.bytes() + 1_000L * change.letters().size();
    }

    /// Its items, the head first, on condition that it is as it was read.
    ///
    /// @param deltas that were made of it; none if it comes to nothing
    List<TransactWriteItem> items(Store store, List<OutputTable> tables, String step, Set<DeltaId> deltas) {
        List<TransactWriteItem> items = new ArrayList<>();
        Set<DeltaId> last = !deltas.isEmpty() || before == null ? deltas : before.deltas();
        KeyItem after = new KeyItem(key, change.head(), step, store.clock().millis(), last);
        Put.Builder head = Put.builder().tableName(store.tables().rows()).item(after.item());
        if (before == null) {
            head.conditionExpression("attribute_not_exists(k)");
        } else {
            head.conditionExpression(KeyItem.STEP + " = :s")
                    .expressionAttributeValues(Map.of(":s", AttributeValue.fromS(before.step())));
        }
        items.add(TransactWriteItem.builder().put(head.build()).build());
        change.kept().forEach(kept -> items.add(put(store.tables().rows(), KeyItem.item(key, kept))));
        if (change.base() != null) {
            items.add(put(
                    store.tables().rows(),
                    KeyItem.item(key, change.base(), change.head().revision())));
        }
        boolean plain = isPlain(tables);
        for (RowChange row : change.rows()) {
            items.add(write(store, tables.get(row.row().table()), row, plain));
        }
        return items;
    }

    /// A row of a shared table is put on condition that no other key owns it. A row that is deleted was this key's when
    /// the head was read, and stays so until the head is another one.
    private TransactWriteItem write(Store store, OutputTable table, RowChange row, boolean plain) {
        String name = store.tables().output(table.name());
        Tuple rowKey = row.row().key();
        byte[] content = row.after();
        if (content == null) {
            return TransactWriteItem.builder()
                    .delete(Delete.builder()
                            .tableName(name)
                            .key(table.keyOf(rowKey))
                            .build())
                    .build();
        }
        Put.Builder put = Put.builder().tableName(name).item(table.item(key, rowKey, content, plain));
        if (table.isShared()) {
            put.conditionExpression(OWN).expressionAttributeValues(Map.of(":me", Items.bytes(key)));
        }
        return TransactWriteItem.builder().put(put.build()).build();
    }

    /// Whether both write the same row, which no transaction can do twice.
    boolean meets(KeyStep other, List<OutputTable> tables) {
        return change.rows().stream()
                .filter(row -> tables.get(row.row().table()).isShared())
                .anyMatch(row ->
                        other.change.rows().stream().anyMatch(each -> each.row().equals(row.row())));
    }

    private static TransactWriteItem put(String table, Map<String, AttributeValue> item) {
        return TransactWriteItem.builder()
                .put(Put.builder().tableName(table).item(item).build())
                .build();
    }

    /// Deletes what the step keeps no longer. Whatever fails is left: nobody reads it any more.
    void clean(Store store) {
        String rows = store.tables().rows();
        store.threads()
                .each(
                        change.dropped(),
                        ordinal -> store.tried(() -> store.client()
                                .deleteItem(request -> request.tableName(rows).key(KeyItem.keptOf(key, ordinal)))));
        if (change.dropsBase()) {
            // Another step may have written another base since.
            store.tried(() -> store.client()
                    .deleteItem(request -> request.tableName(rows)
                            .key(KeyItem.baseOf(key))
                            .conditionExpression(KeyItem.REVISION + " < :r")
                            .expressionAttributeValues(
                                    Map.of(":r", Items.number(change.head().revision())))));
        }
    }
}
