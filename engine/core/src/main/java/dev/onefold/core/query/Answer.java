package dev.onefold.core.query;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One consistent cut of a roll-up: every parent is the sum of its children.
///
/// @param levels names of the levels
/// @param measures names of the measures
/// @param lines parents before children, in the order of their UTF-8 bytes; of a top list, greatest first
/// @param cut the cut that it is of
public record Answer(String rollup, List<String> levels, List<String> measures, List<Line> lines, Cut cut) {
    public Answer {
        levels = List.copyOf(levels);
        measures = List.copyOf(measures);
        lines = lines instanceof AutoCloseable ? lines : List.copyOf(lines); // Its maker may keep them off the heap.
    }

    /// A group and the values of its measures, in their order; `null` where there is none.
    public record Line(List<String> group, List<@Nullable BigDecimal> values) {
        public Line {
            group = List.copyOf(group);
            values = Collections.unmodifiableList(new ArrayList<>(values));
        }
    }

    /// The cut of an answer: the progress of each source in it, and the time at which it was taken.
    public record Cut(List<Progress> sources, Instant at) {
        public Cut {
            sources = List.copyOf(sources);
        }
    }

    /// The progress of a source in the results: whole records read, and the bytes of them.
    public record Progress(String source, long records, long bytes) {}
}
