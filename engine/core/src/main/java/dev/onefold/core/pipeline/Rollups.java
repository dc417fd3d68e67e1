package dev.onefold.core.pipeline;

import java.util.List;

/// Totals over trees of dimensions.
public record Rollups(List<Rollup> all) implements Fold {
    public Rollups {
        all = List.copyOf(all);
    }

    /// The roll-ups of a pipeline: of its events, or of the tables of its function; none if it makes batches.
    public static Rollups of(Pipeline pipeline) {
        return of(pipeline.fold());
    }

    static Rollups of(Fold fold) {
        return switch (fold) {
            case Rollups rollups -> rollups;
            case Processing processing -> processing.rollups();
            case Batching _ -> new Rollups(List.of());
        };
    }

    @Override
    public Rollups stored() {
        return new Rollups(all.stream().map(Rollup::stored).toList());
    }

    @Override
    public Rollups inTexts() {
        return new Rollups(all.stream().map(Rollup::inTexts).toList());
    }

    /// Whether groups are kept for a time alone. It is so in all roll-ups or in none.
    public boolean areKept() {
        return all.stream().anyMatch(rollup -> rollup.keep() != null);
    }

    /// The inputs of the measures, each once, in the order of first use.
    public List<Measure.Input> inputs() {
        return all.stream()
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

    /// The place of the roll-up of this name.
    ///
    /// @throws IllegalArgumentException naming the roll-ups there are
    public int index(String name) {
        List<String> names = all.stream().map(Rollup::name).toList();
        if (!names.contains(name)) {
            throw new IllegalArgumentException(
                    "There is no roll-up '" + name + "'; there is " + String.join(", ", names));
        }
        return names.indexOf(name);
    }

    /// The roll-up of this name.
    ///
    /// @throws IllegalArgumentException naming the roll-ups there are
    public Rollup named(String name) {
        return all.get(index(name));
    }
}
