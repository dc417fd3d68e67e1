package dev.onefold.aws.state;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.store.Store;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.reduce.DeltaId;
import dev.onefold.core.state.Contribution;
import dev.onefold.core.state.Derivation;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import software.amazon.awssdk.services.dynamodb.model.ScanRequest;
import software.amazon.awssdk.services.dynamodb.model.ScanResponse;

/// Adds every row to a view that lacks it, while events go on: each row on condition that it is what was read,
/// with a delta that chains behind the row's last one. When the definition has the view, all gates are moved,
/// and what was on its way then has arrived, no row can be written without it; so one pass over the table is
/// enough, whoever makes which part of it.
public final class RowFill {
    private final Store store;
    private final Definition definition;
    private final Definition.View view;
    private final Derivation.Possible derivation;
    private final Progress progress;
    private final BooleanSupplier goesOn;
    private final ServedViews servedViews;

    /// The definition was changed meanwhile, and this view may not be in it any more. Whoever changed it goes
    /// on.
    public static final class Overtaken extends IllegalStateException {
        private static final long serialVersionUID = 1L;

        public Overtaken(int view) {
            super("Somebody else has changed the definition while view " + view
                    + " was filled or compared, with verify, rebuild or a new pipeline. The totals are right;"
                    + " try again when that is done.");
        }
    }

    private RowFill(
            Store store, Definition definition, Definition.View view, Progress progress, BooleanSupplier goesOn) {
        this.store = store;
        this.definition = definition;
        this.view = view;
        this.progress = progress;
        this.goesOn = goesOn;
        servedViews = new ServedViews(store, definition);
        derivation = derivation(definition.servedView().pipeline(), view);
    }

    /// How what a row contributes to a view is made of what it contributes to the served one.
    static Derivation.Possible derivation(Pipeline served, Definition.View view) {
        return switch (Derivation.of(served, view.pipeline())) {
            case Derivation.Possible possible -> possible;
            case Derivation.Impossible(var reason) ->
                throw new IllegalArgumentException(
                        "View " + view.number() + " cannot be filled from the rows: " + reason);
        };
    }

    /// Fills a view of a definition, for as long as there is time, from where the last one stopped. When it is
    /// done, what it has written is visible.
    ///
    /// @param goesOn asked before each part whether there is time
    /// @return how far it is
    public static Progress fill(Store store, Definition definition, int view, BooleanSupplier goesOn) {
        Progress begun = Progress.begin(store, view);
        if (begun.view() != view) {
            throw new Overtaken(view);
        }
        RefusedRows.noteIfAny(store, definition, definition.view(view));
        if (!begun.isFenced()) {
            fence(store, definition, begun);
        }
        RowFill filling = new RowFill(store, definition, definition.view(view), begun, goesOn);
        store.threads().each(Progress.SEGMENTS, filling::pages);
        Progress progress = Progress.find(store);
        if (progress.isDone()) {
            store.threads().pause(Store.IN_FLIGHT_MAX);
        }
        return progress;
    }

    /// A row of an older definition may still be on its way when its gate is free again and has been moved: the
    /// items of a transaction become visible one after the other.
    private static void fence(Store store, Definition definition, Progress progress) {
        new Definitions(store).moveGates(definition);
        store.threads().pause(Store.IN_FLIGHT_MAX);
        if (!progress.fence(store)) {
            throw new Overtaken(progress.view());
        }
    }

    private void pages(int segment) {
        Progress.Segment at = progress.segments().get(segment);
        while (!at.done() && goesOn.getAsBoolean()) {
            ScanRequest request = ScanRequest.builder()
                    .tableName(store.tables().rows())
                    .consistentRead(true)
                    .segment(segment)
                    .totalSegments(Progress.SEGMENTS)
                    .exclusiveStartKey(at.cursor())
                    .build();
            ScanResponse page = store.retried(() -> store.client().scan(request));
            List<RowItem> read = page.items().stream()
                    .filter(RowItem::isRow)
                    .map(RowItem::of)
                    .toList();
            fill(read);
            boolean done = page.lastEvaluatedKey().isEmpty();
            at = new Progress.Segment(done ? at.cursor() : page.lastEvaluatedKey(), at.rows() + read.size(), done);
            if (!progress.save(store, segment, at)) {
                throw new Overtaken(view.number());
            }
        }
    }

    private void fill(List<RowItem> page) {
        List<RowItem> read = page;
        for (int attempt = 1; ; attempt++) {
            List<byte[]> again = new ArrayList<>();
            List<RowItem> known = new ArrayList<>();
            for (RowItem row : read) {
                if (servedViews.whole(row).isPresent()) {
                    known.add(row);
                } else if (!servedViews.putAside(row, new Definitions(store).anyGate(definition))) {
                    throw new Overtaken(view.number());
                } else {
                    again.add(row.key());
                }
            }
            store.threads()
                    .all(RowTransaction.pack(definition, changes(known)), this::write)
                    .forEach(some -> some.forEach(row -> again.add(row.key())));
            if (again.isEmpty()) {
                return;
            }
            store.backOff(attempt);
            read = List.copyOf(new RowReads(store).read(again).values());
        }
    }

    private List<Change> changes(List<RowItem> read) {
        List<Change> changes = new ArrayList<>();
        for (RowItem row : read) {
            boolean isFilled =
                    row.isEmpty() || row.views().containsKey(view.number()) || row.isRefusedBy(view.number());
            if (!isFilled) {
                Change change = new Change(changes.size(), row, candidate(row));
                // A row that an audit does not look at may lack its view: nothing was added that would be retracted.
                if (view.oneIn() == 1 || !change.delta(view).isNothing()) {
                    changes.add(change);
                }
            }
        }
        return changes;
    }

    private Candidate candidate(RowItem stored) {
        RowItem row = servedViews.whole(stored).orElseThrow();
        TreeMap<Integer, Contribution> views = new TreeMap<>(row.views());
        TreeMap<Integer, Contribution> refused = new TreeMap<>(row.refused());
        Set<Integer> known =
                definition.views().stream().map(Definition.View::number).collect(Collectors.toSet());
        views.keySet().retainAll(known);
        refused.keySet().retainAll(known);
        Contribution served = views.get(definition.served());
        if (served != null) {
            (derivation.refusal(served).isPresent() ? refused : views).put(view.number(), derivation.of(served));
        } else {
            // Refused. A view of the same pipeline; one of another one begins when there are no such rows any more.
            refused.put(
                    view.number(),
                    derivation.of(Objects.requireNonNull(row.refused().get(definition.served()))));
        }
        return new Candidate(
                row.key(), row.version(), definition.served(), views, refused, Candidate.arrival(row, new byte[0]));
    }

    /// Returns the rows to be read again: somebody has changed them, or nobody knows.
    private List<RowItem> write(RowTransaction transaction) {
        List<RowItem> rowsWritten = new ArrayList<>();
        transaction.changes().forEach(change -> {
            RowItem before = change.before();
            if (before != null) {
                rowsWritten.add(before);
            }
        });
        Definitions definitions = new Definitions(store);
        Store.Written written = store.transact(transaction.items(
                store,
                definition,
                new DeltaId(transaction.lane(), store.newId()),
                definitions.check(definition, definitions.anyGate(definition))));
        if (written instanceof Store.Written.Refused refused && refused.failed(0)) {
            throw new Overtaken(view.number());
        }
        return written instanceof Store.Written.Done ? List.of() : rowsWritten;
    }
}
