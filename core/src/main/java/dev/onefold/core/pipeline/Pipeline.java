package dev.onefold.core.pipeline;

import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// What a pipeline file says: what an event is, what makes it the same again, and which totals it feeds.
/// Equal pipelines give equal answers on equal input.
///
/// @param filter a record for which it does not hold contributes nothing, yet replaces its predecessor
/// @param delete a record for which it holds deletes its key
public record Pipeline(
        String name,
        Format format,
        Identity identity,
        @Nullable EventTime time,
        @Nullable Condition delete,
        @Nullable Condition filter,
        List<Rollup> rollups) {
    public Pipeline {
        rollups = List.copyOf(rollups);
    }

    /// Begins a pipeline of this name.
    public static PipelineBuilder named(String name) {
        return new PipelineBuilder(Objects.requireNonNull(name, "The pipeline's name is null"));
    }

    /// What events contribute to measures, each input once, in the order of first use.
    public List<Measure.Input> inputs() {
        return rollups.stream()
                .flatMap(rollup -> rollup.measures().stream())
                .<Measure.Input>mapMulti((measure, sink) -> {
                    switch (measure) {
                        case Measure.Count _ -> {}
                        case Measure.Numeric numeric -> sink.accept(numeric.input());
                        case Measure.Distinct distinct -> sink.accept(distinct.input());
                    }
                })
                .distinct()
                .toList();
    }

    /// The roll-up of this name.
    ///
    /// @throws IllegalArgumentException naming the roll-ups there are
    public Rollup rollup(String rollupName) {
        return rollups.stream()
                .filter(rollup -> rollup.name().equals(rollupName))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "There is no roll-up '" + rollupName + "' in pipeline " + name + "; there is "
                                + rollups.stream().map(Rollup::name).collect(Collectors.joining(", "))));
    }
}
