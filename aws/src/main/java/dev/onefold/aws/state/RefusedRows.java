package dev.onefold.aws.state;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.letter.AsideKeys;
import dev.onefold.aws.letter.Letter;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.store.Parts;
import dev.onefold.aws.store.Store;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import dev.onefold.core.event.Version;
import dev.onefold.core.json.Json;
import dev.onefold.core.letter.RowSummary;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.reduce.DeltaId;
import dev.onefold.core.state.Contribution;
import dev.onefold.core.state.Derivation;
import dev.onefold.core.state.Key;
import dev.onefold.core.state.Row;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ScanRequest;
import software.amazon.awssdk.services.dynamodb.model.ScanResponse;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// Rows that a view cannot take, because a value does not fit its narrower decimal. As long as the view is
/// filled, such a row keeps beside its other views what the letter will hold. Nothing is decided before the
/// view serves, so a view that never serves leaves no letter. Then one transaction makes the letter and empties
/// the row: Upkeep goes through the table, and State does it for a row whose key comes again before that.
///
///     item = k 00 "refused", v<view> for each view that may refuse rows; of the view whose rows are gone
///            through: n its number, c the key of the last item that is done
public final class RefusedRows {
    private static final int AT_A_TIME = 32;
    private static final Malformed UNKNOWN = new Malformed(
            Reason.REFUSED, "The record was in the totals under an older pipeline file, and does not fit this one");

    private final Store store;
    private final Definition definition;
    private final LetterTable letters;

    /// @param definition whose served view refuses rows
    public RefusedRows(Store store, Definition definition) {
        this.store = store;
        this.definition = definition;
        letters = new LetterTable(store);
    }

    private static Map<String, AttributeValue> key() {
        return RowItem.other("refused");
    }

    private static String mark(int view) {
        return "v" + view;
    }

    /// Notes that a view may refuse rows, before it is filled: by itself, or because the served one does and
    /// its rows are not letters yet.
    static void noteIfAny(Store store, Definition definition, Definition.View view) {
        if (view.oneIn() != 1) {
            return; // It will never serve.
        }
        boolean mayRefuse =
                RowFill.derivation(definition.servedView().pipeline(), view).mayRefuse();
        RefusedRows rows = new RefusedRows(store, definition);
        if (mayRefuse || rows.isAny()) {
            rows.update("SET " + mark(view.number()) + " = :yes", Map.of(":yes", AttributeValue.fromBool(true)));
        }
    }

    private void update(String update, Map<String, AttributeValue> values) {
        store.retried(() -> store.client().updateItem(request -> {
            request.tableName(store.tables().rows()).key(key()).updateExpression(update);
            if (!values.isEmpty()) {
                request.expressionAttributeValues(values);
            }
        }));
    }

    private Map<String, AttributeValue> item() {
        return store.get(store.tables().rows(), key());
    }

    /// Whether the served view may have refused rows of which no letters are kept yet.
    public boolean isAny() {
        return item().containsKey(mark(definition.served()));
    }

    /// Makes letters of all rows that the served view refuses, for as long as there is time. Only after nothing
    /// can be on its way any more that was written before the view served.
    ///
    /// @return whether that is done
    public boolean settleAll(BooleanSupplier goesOn) {
        Map<String, AttributeValue> item = item();
        if (!item.containsKey(mark(definition.served()))) {
            return true;
        }
        boolean isBegun = item.containsKey("n") && Items.number(item, "n") == definition.served();
        boolean all = settleFrom(isBegun ? Map.of("k", Items.require(item, "c")) : Map.of(), goesOn);
        if (all) {
            forget(item);
        }
        return all;
    }

    private void forget(Map<String, AttributeValue> item) {
        List<String> done = item.keySet().stream()
                .filter(name ->
                        name.startsWith("v") && Integer.parseInt(name, 1, name.length(), 10) <= definition.served())
                .toList();
        update("REMOVE " + String.join(", ", done), Map.of());
    }

    private boolean settleFrom(Map<String, AttributeValue> begin, BooleanSupplier goesOn) {
        Map<String, AttributeValue> start = begin;
        int attempt = 1;
        while (goesOn.getAsBoolean()) {
            ScanRequest request = ScanRequest.builder()
                    .tableName(store.tables().rows())
                    .consistentRead(true)
                    .exclusiveStartKey(start.isEmpty() ? null : start)
                    .build();
            ScanResponse page = store.retried(() -> store.client().scan(request));
            if (!settle(page)) {
                // Somebody has changed a row of the page, or the definition.
                store.backOff(attempt++);
                if (!new Definitions(store).load().equals(definition)) {
                    return false;
                }
            } else if (page.lastEvaluatedKey().isEmpty()) {
                return true;
            } else {
                start = page.lastEvaluatedKey();
                attempt = 1;
                update(
                        "SET n = :n, c = :c",
                        Map.of(":n", Items.number(definition.served()), ":c", Items.require(start, "k")));
            }
        }
        return false;
    }

    private boolean settle(ScanResponse page) {
        List<RowItem> refused = page.items().stream()
                .filter(RowItem::isRow)
                .map(RowItem::of)
                .filter(row -> row.isRefusedBy(definition.served()))
                .toList();
        Definitions definitions = new Definitions(store);
        return settle(refused, () -> definitions.anyGate(definition), _ -> {});
    }

    /// Makes letters of rows, some at a time, and empties them.
    ///
    /// @param gates gives a gate for each row
    /// @param failed told the gate of a row whose letter is not kept, because the row or the definition has
    ///     changed
    /// @return whether all letters are kept
    boolean settle(List<RowItem> rows, IntSupplier gates, IntConsumer failed) {
        boolean all = true;
        for (List<RowItem> some : Parts.of(rows, AT_A_TIME)) {
            List<Boolean> kept = store.threads().all(some, row -> {
                int gate = gates.getAsInt();
                boolean isKept = settle(row, gate);
                if (!isKept) {
                    failed.accept(gate);
                }
                return isKept;
            });
            all &= !kept.contains(false);
        }
        return all;
    }

    /// Makes a letter of a row, and empties it. The row's delta and key are the letter's identity: rows that
    /// were written together have one delta, and a place may be that of several edits of one record.
    ///
    /// @return whether the letter is kept; if not, the row or the definition has changed since it was read
    private boolean settle(RowItem row, int gate) {
        return settle(row, gate, letter(row), false);
    }

    private boolean settle(RowItem row, int gate, Letter letter, boolean isAside) {
        Change change = new Change(0, row, Candidate.nothing(row, definition.served(), isAside));
        RowTransaction emptied =
                RowTransaction.pack(definition, List.of(change)).getFirst();
        List<TransactWriteItem> items = emptied.items(
                store,
                definition,
                new DeltaId(emptied.lane(), store.newId()),
                new Definitions(store).check(definition, gate));
        if (isAside) {
            items.add(AsideKeys.oneMore(store));
        }
        return letters.keep(List.of(letter), definition.incarnation().id(), () -> items) && isEmptied(row, items);
    }

    /// Puts a row aside of which nobody knows what the served view has: makes a letter of what it holds, and
    /// leaves its version, so that a lesser one resurrects nothing.
    ///
    /// @return whether the letter is kept; if not, the row or the definition has changed since it was read
    boolean putAside(RowItem row, int gate) {
        Pipeline pipeline = definition.servedView().pipeline();
        Map<String, @Nullable Object> summary = new LinkedHashMap<>();
        summary.put("key", Key.parts(pipeline, row.key()));
        summary.put("version", Version.of(pipeline, row.version()).toString());
        row.item().forEach((name, value) -> {
            if (value.b() != null) {
                summary.put(name, HexFormat.of().formatHex(value.b().asByteArray()));
            }
        });
        Malformed why = new Malformed(
                Reason.REFUSED,
                "The row is in no view whose pipeline is known, as after a restore of tables of several times; it has "
                        + row.views().keySet() + ", and " + definition.served()
                        + " is served. It is in no totals. Send the record again, or a newer one of its key");
        Arrival read = Candidate.arrival(row, Json.of(summary).getBytes(StandardCharsets.UTF_8));
        return settle(row, gate, Letter.ofRow("aside/" + identity(row), why, read, 0), true);
    }

    private static String identity(RowItem row) {
        return row.delta() + "/" + Sha256.hex(row.key());
    }

    /// A table of rows from before the letter was kept has the row still.
    private boolean isEmptied(RowItem row, List<TransactWriteItem> items) {
        RowItem now = new RowReads(store).read(List.of(row.key())).get(ByteBuffer.wrap(row.key()));
        return now == null || !now.delta().equals(row.delta()) || store.transact(items) instanceof Store.Written.Done;
    }

    private Letter letter(RowItem row) {
        Pipeline pipeline = definition.servedView().pipeline();
        Contribution kept = Objects.requireNonNull(row.refused().get(definition.served()));
        Malformed why = Derivation.of(pipeline, pipeline) instanceof Derivation.Possible same
                ? same.refusal(kept).orElse(UNKNOWN)
                : UNKNOWN;
        return Letter.ofRow(
                "row/" + identity(row),
                why,
                Candidate.arrival(row, RowSummary.of(row.row(pipeline, kept), pipeline)),
                definition.served());
    }

    /// A row that lost a conflict, and whose record is gone.
    ///
    /// @param pipeline that read the record
    public record LostRow(Row row, Pipeline pipeline) {}
}
