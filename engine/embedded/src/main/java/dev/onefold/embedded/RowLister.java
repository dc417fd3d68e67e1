package dev.onefold.embedded;

import dev.onefold.core.EngineException;
import dev.onefold.core.state.RangeSums;
import dev.onefold.core.state.Row;
import dev.onefold.core.state.RowMark;
import dev.onefold.embedded.guard.Guard;
import dev.onefold.embedded.rows.Rows;
import dev.onefold.embedded.view.View;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// Lists all rows, some thousand at a time: intake continues in between.
final class RowLister {
    /// All of them are in memory.
    private static final int MARKS_MAX = 600_000;

    private final Guard guard;
    private final Supplier<View> serving;

    RowLister(Guard guard, Supplier<View> serving) {
        this.guard = guard;
        this.serving = serving;
    }

    RangeSums sums() {
        while (true) {
            View view = serving.get();
            RangeSums sums = new RangeSums();
            if (forEach(view, row -> {
                RowMark mark = RowMark.of(view.pipeline, row);
                sums.add(mark.key(), mark.content());
            })) {
                return sums;
            }
        }
    }

    List<RowMark> marks(BitSet ranges) {
        while (true) {
            View view = serving.get();
            List<RowMark> marks = new ArrayList<>();
            if (forEach(view, row -> {
                RowMark mark = RowMark.of(view.pipeline, row);
                if (ranges.get(RangeSums.rangeOf(mark.key()))) {
                    if (marks.size() >= MARKS_MAX) {
                        throw new EngineException(
                                EngineException.Kind.ANSWER_REFUSED,
                                "There are more than " + MARKS_MAX + " rows in these ranges. Ask for fewer ranges.");
                    }
                    marks.add(mark);
                }
            })) {
                return marks;
            }
        }
    }

    /// Visits each row; returns whether all were seen: rows change their places when there are many more of
    /// them.
    private boolean forEach(View view, Consumer<Row> visitor) {
        for (Rows shard : view.fold.listed().shards()) {
            long windows = guard.reading(shard::windows);
            for (long window = 0; window < windows; window++) {
                long each = window;
                boolean same = guard.reading(() -> {
                    if (serving.get() != view || shard.windows() != windows) {
                        return false;
                    }
                    shard.forEachRow(each, visitor);
                    return true;
                });
                if (!same) {
                    return false;
                }
            }
        }
        return true;
    }
}
