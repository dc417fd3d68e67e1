package dev.onefold.embedded;

import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Level;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.embedded.rows.RowTranslator;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Whether rows that were written under one definition hold all that another one reads. A row keeps the values of
/// levels and inputs, not the record: what no old roll-up read is not there.
sealed interface Derivation {
    /// They do.
    record Possible(RowTranslator.Mapping mapping) implements Derivation {}

    /// They do not, and why.
    record Impossible(String reason) implements Derivation {}

    static Derivation of(Pipeline from, Pipeline to) {
        String reason = identity(from, to);
        if (reason != null) {
            return new Impossible(reason);
        }
        List<List<RowTranslator.Level>> levels = new ArrayList<>();
        for (Rollup rollup : to.rollups()) {
            List<RowTranslator.Level> found = new ArrayList<>();
            for (Level level : rollup.levels()) {
                RowTranslator.Level kept = find(from, level);
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
        return new Possible(new RowTranslator.Mapping(levels, inputs));
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

    private static RowTranslator.@Nullable Level find(Pipeline from, Level wanted) {
        for (int rollup = 0; rollup < from.rollups().size(); rollup++) {
            List<Level> levels = from.rollups().get(rollup).levels();
            for (int level = 0; level < levels.size(); level++) {
                Level each = levels.get(level);
                if (each.source().equals(wanted.source()) && Objects.equals(each.missing(), wanted.missing())) {
                    return new RowTranslator.Level(rollup, level);
                }
            }
        }
        return null;
    }
}
