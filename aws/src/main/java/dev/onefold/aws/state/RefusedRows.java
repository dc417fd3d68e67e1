package dev.onefold.aws.state;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.letter.Letter;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.store.Store;
import dev.onefold.core.RowSummary;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.reduce.DeltaId;
import dev.onefold.core.state.Contribution;
import dev.onefold.core.state.Derivation;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ScanResponse;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// Rows that a view cannot take, because a value does not fit its narrower decimal. As long as the view is filled,
/// such a row keeps beside its other views what the letter will hold. Nothing is decided before the view serves, so
/// a view that never serves leaves no letter. Then one transaction makes the letter and empties the row: Upkeep
/// goes through the table, and State does it for a row whose key comes again before that.
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

    /// Notes that a view may refuse rows, before it is filled: by itself, or because the served one does and its rows
    /// are not letters yet.
    static CompletableFuture<Void> noteIfAny(Store store, Definition definition, Definition.View view) {
        if (view.oneIn() != 1) {
            return CompletableFuture.completedFuture(null); // It will never serve.
        }
        boolean mayRefuse =
                Filling.derivation(definition.servedView().pipeline(), view).mayRefuse();
        return (mayRefuse
                        ? CompletableFuture.completedFuture(true)
                        : new RefusedRows(store, definition)
                                .item()
                                .thenApply(item -> item.containsKey(mark(definition.served()))))
                .thenCompose(any -> any
                        ? update(
                                store,
                                "SET " + mark(view.number()) + " = :yes",
                                Map.of(":yes", AttributeValue.fromBool(true)))
                        : CompletableFuture.completedFuture(null));
    }

    private static CompletableFuture<Void> update(Store store, String update, Map<String, AttributeValue> values) {
        return store.retried(() -> store.client().updateItem(request -> {
                    request.tableName(store.tables().rows()).key(key()).updateExpression(update);
                    if (!values.isEmpty()) {
                        request.expressionAttributeValues(values);
                    }
                }))
                .thenApply(_ -> null);
    }

    private CompletableFuture<Map<String, AttributeValue>> item() {
        return store.retried(() -> store.client()
                        .getItem(request -> request.tableName(store.tables().rows())
                                .key(key())
                                .consistentRead(true)))
                .thenApply(response -> response.item());
    }

    /// Whether the served view may have refused rows of which no letters are kept yet.
    public CompletableFuture<Boolean> isAny() {
        return item().thenApply(item -> item.containsKey(mark(definition.served())));
    }

    /// Makes letters of all rows that the served view refuses, for as long as there is time. Only after nothing can be
    /// on its way any more that was written before the view served.
    ///
    /// @return whether that is done
    public CompletableFuture<Boolean> settleAll(BooleanSupplier goesOn) {
        return item().thenCompose(item -> {
            if (!item.containsKey(mark(definition.served()))) {
                return CompletableFuture.completedFuture(true);
            }
            boolean isBegun = item.containsKey("n") && Items.number(item, "n") == definition.served();
            return pages(isBegun ? Map.of("k", Items.require(item, "c")) : null, 1, goesOn)
                    .thenCompose(all -> all ? forget(item) : CompletableFuture.completedFuture(false));
        });
    }

    private CompletableFuture<Boolean> forget(Map<String, AttributeValue> item) {
        List<String> done = new ArrayList<>();
        item.keySet().forEach(name -> {
            if (name.startsWith("v") && Integer.parseInt(name, 1, name.length(), 10) <= definition.served()) {
                done.add(name);
            }
        });
        return update(store, "REMOVE " + String.join(", ", done), Map.of()).thenApply(_ -> true);
    }

    private CompletableFuture<Boolean> pages(
            @Nullable Map<String, AttributeValue> start, int attempt, BooleanSupplier goesOn) {
        if (!goesOn.getAsBoolean()) {
            return CompletableFuture.completedFuture(false);
        }
        return store.retried(() -> store.client()
                        .scan(request -> request.tableName(store.tables().rows())
                                .consistentRead(true)
                                .exclusiveStartKey(start)))
                .thenCompose(page -> settle(page).thenCompose(all -> {
                    if (!all) {
                        return again(start, attempt, goesOn);
                    }
                    return page.lastEvaluatedKey().isEmpty()
                            ? CompletableFuture.completedFuture(true)
                            : save(page.lastEvaluatedKey()).thenCompose(_ -> pages(page.lastEvaluatedKey(), 1, goesOn));
                }));
    }

    private CompletableFuture<Void> save(Map<String, AttributeValue> cursor) {
        return update(
                store,
                "SET n = :n, c = :c",
                Map.of(":n", Items.number(definition.served()), ":c", Items.require(cursor, "k")));
    }

    /// Somebody has changed a row of the page, or the definition.
    private CompletableFuture<Boolean> again(
            @Nullable Map<String, AttributeValue> start, int attempt, BooleanSupplier goesOn) {
        return store.backOff(attempt)
                .thenCompose(_ -> new Definitions(store).load())
                .thenCompose(now -> now.equals(definition)
                        ? pages(start, attempt + 1, goesOn)
                        : CompletableFuture.completedFuture(false));
    }

    private CompletableFuture<Boolean> settle(ScanResponse page) {
        List<RowItem> refused = page.items().stream()
                .filter(RowItem::isRow)
                .map(RowItem::of)
                .filter(row -> row.isRefusedBy(definition.served()))
                .toList();
        Definitions definitions = new Definitions(store);
        return settle(refused, () -> definitions.anyGate(definition), _ -> CompletableFuture.completedFuture(null));
    }

    /// Makes letters of rows, some at a time, and empties them.
    ///
    /// @param gates gives a gate for each row
    /// @param failed told the gate of a row whose letter is not kept, because the row or the definition has changed
    /// @return whether all letters are kept
    CompletableFuture<Boolean> settle(
            List<RowItem> rows, IntSupplier gates, IntFunction<CompletableFuture<Void>> failed) {
        CompletableFuture<Boolean> settled = CompletableFuture.completedFuture(true);
        for (int from = 0; from < rows.size(); from += AT_A_TIME) {
            List<RowItem> some = rows.subList(from, Math.min(rows.size(), from + AT_A_TIME));
            settled =
                    settled.thenCompose(before -> together(some, gates, failed).thenApply(all -> before && all));
        }
        return settled;
    }

    private CompletableFuture<Boolean> together(
            List<RowItem> rows, IntSupplier gates, IntFunction<CompletableFuture<Void>> failed) {
        List<CompletableFuture<Boolean>> settled = rows.stream()
                .map(row -> {
                    int gate = gates.getAsInt();
                    return settle(row, gate)
                            .thenCompose(kept -> kept
                                    ? CompletableFuture.completedFuture(true)
                                    : failed.apply(gate).thenApply(_ -> false));
                })
                .toList();
        return CompletableFuture.allOf(settled.toArray(CompletableFuture[]::new))
                .thenApply(_ -> settled.stream().allMatch(CompletableFuture::join));
    }

    /// Makes a letter of a row, and empties it. The row's delta and key are the letter's identity: rows that were
    /// written together have one delta, and a place may be that of several edits of one record.
    ///
    /// @return whether the letter is kept; if not, the row or the definition has changed since it was read
    private CompletableFuture<Boolean> settle(RowItem row, int gate) {
        TreeMap<Integer, Contribution> nothing = new TreeMap<>();
        Letter letter = letter(row);
        Change change = new Change(
                0,
                row,
                new Candidate(
                        row.key(),
                        row.version(),
                        definition.served(),
                        nothing,
                        nothing,
                        Candidate.arrival(row, new byte[0])));
        RowTransaction emptied =
                RowTransaction.pack(definition, List.of(change)).getFirst();
        List<TransactWriteItem> items = emptied.items(
                store,
                definition,
                new DeltaId(emptied.lane(), store.newId()),
                new Definitions(store).check(definition, gate));
        return letters.keep(List.of(letter), () -> items)
                .thenCompose(kept -> kept ? empty(row, items) : CompletableFuture.completedFuture(false));
    }

    /// A table of rows from before the letter was kept has the row still.
    private CompletableFuture<Boolean> empty(RowItem row, List<TransactWriteItem> items) {
        return new RowReads(store).read(List.of(row.key())).thenCompose(rows -> {
            RowItem now = rows.get(ByteBuffer.wrap(row.key()));
            return now == null || !now.delta().equals(row.delta())
                    ? CompletableFuture.completedFuture(true)
                    : store.transact(items).thenApply(written -> written instanceof Store.Written.Done);
        });
    }

    private Letter letter(RowItem row) {
        Pipeline pipeline = definition.servedView().pipeline();
        Contribution kept = Objects.requireNonNull(row.refused().get(definition.served()));
        Malformed why = Derivation.of(pipeline, pipeline) instanceof Derivation.Possible same
                ? same.refusal(kept).orElse(UNKNOWN)
                : UNKNOWN;
        return Letter.ofRow(
                "row/" + row.delta() + "/" + Sha256.hex(row.key()),
                why,
                Candidate.arrival(row, RowSummary.of(row.row(pipeline, kept), pipeline)),
                definition.served());
    }
}
