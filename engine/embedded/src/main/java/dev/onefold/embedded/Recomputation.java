package dev.onefold.embedded;

import dev.onefold.core.Capabilities.Capability;
import dev.onefold.core.Truth;
import dev.onefold.core.Verification;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.embedded.definition.Views;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.view.View;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Recomputes the totals from the rows or the sources, to compare them or to repair them.
final class Recomputation {
    /// The comparisons that are not available here, with the reason.
    static final Map<Capability, String> MISSING =
            Map.of(Capability.SAMPLE, "A sample of groups is for totals on AWS; here all groups are recomputed.");

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
                yield opening.guard().reading(() -> view().fold.verify(opening.workers()));
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
        view().fold.requireRecomputable();
        opening.guard().requireWorking();
        if (rows.oneIn() > 1) {
            throw new IllegalArgumentException(MISSING.get(Capability.SAMPLE));
        }
        if (view().pipeline.input().identity() instanceof Identity.ByPlace) {
            throw new IllegalArgumentException("Pipeline " + view().pipeline.name()
                    + " keeps no rows to recompute from: its records count by their place. Verify from its sources"
                    + " (--from-sources).");
        }
    }

    private Verification recompute(Function<String, @Nullable FileSource> reopen, boolean keep) {
        Objects.requireNonNull(reopen, "The function that opens sources again is null");
        view().fold.requireRecomputable();
        views.fill(_ -> null, false);
        return views.recompute(reopen, keep);
    }

    private Verification rebuildFromRows() {
        opening.requireOwner();
        return views.still(() -> {
            Verification before = views.rounds().betweenCheckpoints(() -> {
                Verification difference = view().fold.verify(opening.workers());
                view().state.recount(opening.workers());
                view().groupLogs.beginAnew();
                return difference;
            });
            views.rounds().checkpointNow(() -> false);
            return before;
        });
    }
}
