package dev.onefold.aws.state;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.RowItem;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Version;
import dev.onefold.core.map.Delta;
import dev.onefold.core.map.ViewDeltas;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Contribution;
import dev.onefold.core.state.Transition;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// A row that is to be replaced.
///
/// @param index of the record in its batch
/// @param before row that was read; `null` if the key was never seen
record Change(int index, @Nullable RowItem before, Candidate candidate) {
    private static final Contribution NOTHING = new Contribution(Event.Kind.FILTERED, List.of(), List.of());

    /// Whether the served view refuses the row that was read, and no letter of it is kept yet.
    boolean isRefused() {
        return before != null && before.isRefusedBy(candidate.served());
    }

    /// Whether the row was written under a definition that serves another view than the one this was decoded under: the
    /// two cannot be compared.
    boolean isOutdated() {
        return before != null && !before.isEmpty() && !before.views().containsKey(candidate.served());
    }

    /// The transition that the record makes of the row that was read, as the served view has both.
    Transition transition(Pipeline pipeline) {
        RowItem stored = before;
        if (stored != null && stored.isAside()) {
            Version version = Version.of(pipeline, stored.version());
            if (version.compareTo(Version.of(pipeline, candidate.version())) > 0) {
                return new Transition.Stale(version);
            }
        }
        return Transition.of(
                stored == null || stored.isEmpty()
                        ? null
                        : stored.row(
                                pipeline, Objects.requireNonNull(stored.views().get(candidate.served()))),
                candidate.row(pipeline),
                pipeline.input().isRemovalNewer());
    }

    /// The delta of this change in each view. A row that a view does not have yet is added to it.
    ViewDeltas deltas(Definition definition) {
        TreeMap<Integer, Delta> deltas = new TreeMap<>();
        candidate.views().keySet().forEach(view -> deltas.put(view, delta(definition.view(view))));
        candidate.refused().keySet().forEach(view -> deltas.put(view, delta(definition.view(view))));
        if (candidate.isAside() && before != null) {
            definition.views().stream()
                    .filter(view -> before.views().containsKey(view.number()))
                    .forEach(view -> deltas.put(view.number(), delta(view)));
        }
        return new ViewDeltas(deltas);
    }

    /// The delta of this change in one view. If the view refuses the record, the row's earlier contribution is
    /// removed from the view.
    Delta delta(Definition.View view) {
        Contribution known = before == null ? null : before.views().get(view.number());
        Contribution after = candidate.views().getOrDefault(view.number(), NOTHING);
        return view.of(Delta.between(view.pipeline(), known, after));
    }
}
