package dev.onefold.embedded;

import dev.onefold.core.Truth;
import dev.onefold.core.Verification;
import dev.onefold.embedded.definition.Views;
import dev.onefold.embedded.fold.Comparison;
import dev.onefold.embedded.fold.State;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.view.View;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Recomputes the totals from what they were made of, to compare them or to put them right.
final class Recomputation {
    private final View.Opening opening;
    private final Views views;

    Recomputation(View.Opening opening, Views views) {
        this.opening = opening;
        this.views = views;
    }

    Verification verify(Truth truth) {
        return switch (Truth.given(truth)) {
            case Truth.Sources _ -> verify(FileSource::reopen);
            case Truth.Rows rows -> {
                requireRows(rows);
                yield opening.guard().reading(() -> Comparison.ofRows(view().state, view().folding, opening.workers()));
            }
        };
    }

    Verification verify(Function<String, @Nullable FileSource> reopen) {
        return recompute(reopen, false);
    }

    Verification rebuild(Truth truth) {
        return switch (Truth.given(truth)) {
            case Truth.Sources _ -> rebuild(FileSource::reopen);
            case Truth.Rows rows -> {
                requireRows(rows);
                yield rebuildFromRows();
            }
        };
    }

    Verification rebuild(Function<String, @Nullable FileSource> reopen) {
        opening.requireOwner();
        return recompute(reopen, true);
    }

    private View view() {
        return views.serving();
    }

    private void requireRows(Truth.Rows rows) {
        requireTotals();
        opening.guard().requireWorking();
        Comparison.requireRows(view().pipeline, rows);
    }

    /// Refuses a pipeline that makes batches. A sealed batch cannot be recomputed: its cut is recorded and cannot
    /// be derived from the records.
    private void requireTotals() {
        if (view().state.batches != null) {
            throw new IllegalArgumentException("Pipeline " + view().pipeline.name()
                    + " makes batches, which cannot be recomputed. 'onefold batches verify FOLDER' proves what was"
                    + " delivered with manifests");
        }
    }

    private Verification recompute(Function<String, @Nullable FileSource> reopen, boolean keep) {
        Objects.requireNonNull(reopen, "The function that opens sources again is null");
        requireTotals();
        views.fill(_ -> null, false);
        return views.recompute(reopen, keep);
    }

    private Verification rebuildFromRows() {
        opening.requireOwner();
        return views.still(() -> {
            Verification before = views.rounds().betweenCheckpoints(() -> {
                State state = view().state;
                Verification difference = Comparison.ofRows(state, view().folding, opening.workers());
                state.recount(opening.workers());
                view().groupLogs.beginAnew();
                return difference;
            });
            views.rounds().checkpointNow(() -> false);
            return before;
        });
    }
}
