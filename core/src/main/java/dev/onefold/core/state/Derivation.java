package dev.onefold.core.state;

import dev.onefold.core.event.Event;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Level;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Whether contributions that were made under one definition hold all that another one reads. They keep the values of
/// levels and inputs, not the record: what no old roll-up read is not there.
public sealed interface Derivation {
    /// They do.
    ///
    /// @param levels per new roll-up and level: where the old definition has it
    /// @param inputs per new input: the old one
    record Possible(List<List<Kept>> levels, List<Integer> inputs) implements Derivation {
        public Possible {
            levels = levels.stream().map(List::copyOf).toList();
            inputs = List.copyOf(inputs);
        }

        /// What a row that contributes this under the old definition contributes under the new one: the same as if its
        /// record were read again.
        public Contribution of(Contribution old) {
            if (old.kind() != Event.Kind.COUNTED) {
                return old;
            }
            List<List<String>> parts = old.groups().stream().map(Tuple::parts).toList();
            return new Contribution(
                    old.kind(),
                    levels.stream()
                            .map(rollup -> Tuple.of(rollup.stream()
                                    .map(kept -> parts.get(kept.rollup).get(kept.level))
                                    .toList()))
                            .toList(),
                    inputs.stream().map(old.amounts()::get).toList());
        }
    }

    /// A level of the old definition, by its roll-up and its place there.
    record Kept(int rollup, int level) {}

    /// They do not, and why.
    record Impossible(String reason) implements Derivation {}

    /// Compares two definitions.
    static Derivation of(Pipeline from, Pipeline to) {
        String reason = identity(from, to);
        if (reason != null) {
            return new Impossible(reason);
        }
        List<List<Kept>> levels = new ArrayList<>();
        for (Rollup rollup : to.rollups()) {
            List<Kept> found = new ArrayList<>();
            for (Level level : rollup.levels()) {
                Kept kept = find(from, level);
                if (kept == null) {
                    return new Impossible(
                            "level " + level.name() + " of roll-up " + rollup.name() + " was not read before");
                }
                found.add(kept);
            }
            levels.add(found);
        }
        List<Integer> inputs = new ArrayList<>();
        for (Measure.Input input : to.inputs()) {
            int kept = from.inputs().indexOf(input);
            if (kept < 0) {
                return new Impossible("field " + input.field() + " was not read before as " + describe(input));
            }
            inputs.add(kept);
        }
        return new Possible(levels, inputs);
    }

    private static String describe(Measure.Input input) {
        return switch (input) {
            case Measure.Input.Decimal decimal -> decimal.type().toString();
            case Measure.Input.Text _ -> "a text";
        };
    }

    private static @Nullable String identity(Pipeline from, Pipeline to) {
        if (from.identity() instanceof Identity.ByPlace || to.identity() instanceof Identity.ByPlace) {
            return "records that count by their place leave no rows";
        }
        boolean same = switch (from.identity()) {
            case Identity.Versioned old -> old.equals(to.identity());
            case Identity.ById old ->
                to.identity() instanceof Identity.ById now && now.id().equals(old.id());
            case Identity.ByPlace _ -> false;
        };
        if (!same) {
            return "the key, id or version has changed";
        }
        if (!Objects.equals(from.delete(), to.delete())) {
            return "the delete condition has changed";
        }
        return Objects.equals(from.filter(), to.filter()) ? null : "the filter has changed";
    }

    private static @Nullable Kept find(Pipeline from, Level wanted) {
        for (int rollup = 0; rollup < from.rollups().size(); rollup++) {
            List<Level> levels = from.rollups().get(rollup).levels();
            for (int level = 0; level < levels.size(); level++) {
                Level each = levels.get(level);
                if (each.source().equals(wanted.source()) && Objects.equals(each.missing(), wanted.missing())) {
                    return new Kept(rollup, level);
                }
            }
        }
        return null;
    }
}
