package dev.onefold.aws.state;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.store.SettledReads;
import dev.onefold.aws.store.Store;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.reduce.DeltaId;
import dev.onefold.core.state.Contribution;
import dev.onefold.core.state.Derivation;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntConsumer;
import java.util.function.IntSupplier;
import java.util.stream.Collectors;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// The contributions of rows to the served view. A row may lack its contribution: a backup may hold rows from
/// before a view began to serve, and a transaction may be on its way for longer than any process waits. The
/// contribution is then derived from any view that the row has and whose pipeline is known. The totals of the
/// served view have nothing of such a row, so its contribution is added to them with its row. A row that has no
/// such view is put aside. Thread-safe.
public final class ServedViews {
    private final Store store;
    private final Definition definition;
    private final Definitions definitions;
    private final Map<Integer, Optional<Derivation.Possible>> derivations = new ConcurrentHashMap<>();

    public ServedViews(Store store, Definition definition) {
        this.store = store;
        this.definition = definition;
        definitions = new Definitions(store);
    }

    /// The row with the served view, or with what is kept for it if it refuses the row; empty if nobody knows that.
    public Optional<RowItem> whole(RowItem row) {
        int served = definition.served();
        if (row.isEmpty() || row.views().containsKey(served) || row.isRefusedBy(served)) {
            return Optional.of(row);
        }
        for (Map.Entry<Integer, Contribution> view :
                new TreeMap<>(row.views()).descendingMap().entrySet()) {
            Optional<Derivation.Possible> derivation = derivations.computeIfAbsent(view.getKey(), this::derivation);
            if (derivation.isPresent()) {
                TreeMap<Integer, Contribution> views = new TreeMap<>(row.views());
                TreeMap<Integer, Contribution> refused = new TreeMap<>(row.refused());
                boolean isRefused = derivation.get().refusal(view.getValue()).isPresent();
                (isRefused ? refused : views).put(served, derivation.get().of(view.getValue()));
                return Optional.of(
                        new RowItem(row.key(), row.version(), row.delta(), row.place(), views, refused, row.isAside()));
            }
        }
        return Optional.empty();
    }

    private Optional<Derivation.Possible> derivation(int view) {
        Optional<Pipeline> pipeline = definition.views().stream()
                .filter(each -> each.number() == view)
                .map(Definition.View::pipeline)
                .findFirst()
                .or(() -> definitions.past(view));
        return pipeline.flatMap(
                from -> Derivation.of(from, definition.servedView().pipeline()) instanceof Derivation.Possible possible
                        ? Optional.of(possible)
                        : Optional.empty());
    }

    /// Adds rows to the served view that lack it, or puts them aside, each in a transaction of its own. Whatever fails
    /// is the next attempt's.
    ///
    /// @param gates gives a gate for each row
    /// @param failed told the gate of a transaction that was refused
    void settle(List<RowItem> rows, IntSupplier gates, IntConsumer failed) {
        store.threads().each(rows, row -> {
            int gate = gates.getAsInt();
            boolean isSettled = whole(row).map(whole -> write(row, whole, gate)).orElseGet(() -> putAside(row, gate));
            if (!isSettled) {
                failed.accept(gate);
            }
        });
    }

    private boolean write(RowItem row, RowItem whole, int gate) {
        Set<Integer> known =
                definition.views().stream().map(Definition.View::number).collect(Collectors.toSet());
        TreeMap<Integer, Contribution> views = new TreeMap<>(whole.views());
        TreeMap<Integer, Contribution> refused = new TreeMap<>(whole.refused());
        views.keySet().retainAll(known);
        refused.keySet().retainAll(known);
        Candidate candidate = new Candidate(
                row.key(), row.version(), definition.served(), views, refused, Candidate.arrival(row, new byte[0]));
        RowTransaction transaction = RowTransaction.pack(definition, List.of(new Change(0, row, candidate)))
                .getFirst();
        return !(store.transact(transaction.items(
                        store,
                        definition,
                        new DeltaId(transaction.lane(), store.newId()),
                        definitions.check(definition, gate)))
                instanceof Store.Written.Refused);
    }

    /// Only if the row is the same, read in a transaction, when nothing can be on its way of the views and pipelines
    /// of before; and if this definition is still the one that there is.
    ///
    /// @return whether the row or the definition is another one now
    boolean putAside(RowItem row, int gate) {
        store.threads().pause(Store.IN_FLIGHT_MAX);
        Optional<List<Map<String, AttributeValue>>> read =
                SettledReads.of(store, store.tables().rows(), List.of(RowItem.keyOf(row.key())));
        boolean isSame = read.isPresent()
                && read.get().stream()
                        .map(RowItem::of)
                        .anyMatch(now -> now.delta().equals(row.delta()));
        return !isSame
                || !definitions.load().equals(definition)
                || new ServedViews(store, definition).whole(row).isPresent()
                || new RefusedRows(store, definition).putAside(row, gate);
    }
}
