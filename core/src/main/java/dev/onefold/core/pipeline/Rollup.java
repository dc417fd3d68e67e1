package dev.onefold.core.pipeline;

import java.util.List;

/// A tree of groups with measures at each node. A single unnamed roll-up is called `main`.
public record Rollup(String name, List<Level> levels, List<Measure> measures) {
    public static final String MAIN = "main";

    public Rollup {
        levels = List.copyOf(levels);
        measures = List.copyOf(measures);
    }
}
