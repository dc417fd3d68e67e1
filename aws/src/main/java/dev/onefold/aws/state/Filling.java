package dev.onefold.aws.state;

import dev.onefold.aws.Arrival;
import dev.onefold.aws.Store;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.DeltaId;
import dev.onefold.aws.item.Row;
import dev.onefold.core.state.Contribution;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ScanRequest;

/// Adds every row to a view that lacks it, while events go on: each row on condition that it is what was read, with a
/// delta that chains behind the row's last one. From the moment the definition has the view, and all gates are moved,
/// no row can be written without it; so one pass over the table is enough.
public final class Filling {
    private final Store store;
    private final Definition definition;
    private final int view;
    private final UnaryOperator<Contribution> translation;
    private long rows;

    private Filling(Store store, Definition definition, int view, UnaryOperator<Contribution> translation) {
        this.store = store;
        this.definition = definition;
        this.view = view;
        this.translation = translation;
    }

    /// Fills a view of a definition whose gates are moved.
    ///
    /// @param translation what a row that contributes this to the served view contributes to the new one
    /// @return how many rows there are
    public static CompletableFuture<Long> fill(
            Store store, Definition definition, int view, UnaryOperator<Contribution> translation) {
        Filling filling = new Filling(store, definition, view, translation);
        return filling.pages(null).thenApply(_ -> filling.rows);
    }

    private CompletableFuture<Void> pages(@Nullable Map<String, AttributeValue> start) {
        ScanRequest request = ScanRequest.builder()
                .tableName(store.tables().rows())
                .consistentRead(true)
                .exclusiveStartKey(start)
                .build();
        return store.retried(() -> store.client().scan(request)).thenCompose(response -> {
            List<Row> read =
                    response.items().stream().filter(Row::isRow).map(Row::of).toList();
            rows += read.size();
            return fill(read, 1)
                    .thenCompose(_ -> response.lastEvaluatedKey().isEmpty()
                            ? CompletableFuture.completedFuture(null)
                            : pages(response.lastEvaluatedKey()));
        });
    }

    private CompletableFuture<Void> fill(List<Row> read, int attempt) {
        List<Change> changes = new ArrayList<>();
        for (Row row : read) {
            if (!row.views().containsKey(view)) {
                changes.add(new Change(changes.size(), row, candidate(row)));
            }
        }
        List<CompletableFuture<List<Row>>> written = RowTransaction.pack(definition, changes).stream()
                .map(this::write)
                .toList();
        return CompletableFuture.allOf(written.toArray(CompletableFuture[]::new))
                .thenCompose(_ -> {
                    List<byte[]> again = written.stream()
                            .flatMap(part -> part.join().stream())
                            .map(Row::key)
                            .toList();
                    return again.isEmpty()
                            ? CompletableFuture.completedFuture(null)
                            : store.backOff(attempt)
                                    .thenCompose(_ -> new RowReads(store).read(again))
                                    .thenCompose(
                                            (Map<ByteBuffer, Row> now) -> fill(List.copyOf(now.values()), attempt + 1));
                });
    }

    private Candidate candidate(Row row) {
        TreeMap<Integer, Contribution> views = new TreeMap<>();
        definition.views().forEach(each -> {
            Contribution known = row.views().get(each.number());
            if (known != null) {
                views.put(each.number(), known);
            }
        });
        Contribution served = views.get(definition.served());
        if (served == null) {
            throw new IllegalStateException("The row from " + row.place() + " is not in the view that is served, "
                    + definition.served() + ": it was written by hand, or restored from another time. Rebuild.");
        }
        views.put(view, translation.apply(served));
        String[] place = row.place().split(":", -1);
        Arrival arrival = new Arrival(
                String.join(":", Arrays.copyOf(place, place.length - 2)),
                place[place.length - 2],
                Long.parseLong(place[place.length - 1]),
                new byte[0]);
        return new Candidate(row.key(), row.version(), definition.served(), views, arrival);
    }

    /// Returns the rows to be read again: somebody has changed them, or nobody knows.
    private CompletableFuture<List<Row>> write(RowTransaction transaction) {
        int lane =
                RowTransaction.lane(transaction.changes().getFirst().candidate().key(), definition.lanes());
        List<Row> rowsWritten = new ArrayList<>();
        transaction.changes().forEach(change -> {
            Row before = change.before();
            if (before != null) {
                rowsWritten.add(before);
            }
        });
        return store.transact(transaction.items(
                        store, new DeltaId(lane, store.newId()), new Definitions(store).check(definition)))
                .thenApply(written -> {
                    if (written instanceof Store.Written.Refused refused && refused.failed(0)) {
                        throw new IllegalStateException("The definition was changed while view " + view
                                + " was filled; whoever changed it goes on. Nothing is wrong with the totals.");
                    }
                    return written instanceof Store.Written.Done ? List.of() : rowsWritten;
                });
    }
}
