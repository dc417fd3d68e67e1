package dev.onefold.core.totals;

import dev.onefold.core.query.Answer;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/// A group, and some of the groups one level below it by their rank: the part of a large tree that a reader
/// sees at a time. All of it is of one cut.
///
/// @param answer the group at the top, and then those below it, greatest first; nothing if the group is not there
/// @param below how many groups there are one level below, seen or not
public record Ranked(Answer answer, int below) {
    /// The greatest rank that can be read: the groups up to it are kept while the ranking is made.
    public static final int RANKS_MAX = 100_000;

    /// The part of a level that is seen.
    ///
    /// @param measure name of the measure by which the groups rank; equal ones, and those without a value, in the
    ///     order of their UTF-8 bytes. `null` takes that order for all
    /// @param skip number of groups that are passed over, 0 and more
    /// @param limit greatest number of groups that are seen, 0 and more
    public record Part(@Nullable String measure, int skip, int limit) {
        public Part {
            if (skip < 0 || limit < 0) {
                throw new IllegalArgumentException("Skip and limit are 0 or more");
            }
            if (measure != null && (long) skip + limit > RANKS_MAX) {
                throw new IllegalArgumentException("Of a ranking the first " + RANKS_MAX
                        + " groups can be read. Name the group, or read without a measure");
            }
        }

        private long end() {
            return (long) skip + limit;
        }
    }

    /// The part of an answer without a top list, whose depth is 1.
    ///
    /// @throws IllegalArgumentException for a measure that is not there
    public static Ranked of(Answer whole, Part part) {
        List<Answer.Line> lines = whole.lines();
        int below = Math.max(0, lines.size() - 1);
        List<Answer.Line> seen = new ArrayList<>();
        if (!lines.isEmpty()) {
            seen.add(lines.getFirst());
        }
        if (part.measure() == null) {
            for (int i = part.skip(); i < Math.min(part.end(), below); i++) {
                seen.add(lines.get(i + 1));
            }
        } else {
            greatest(whole, part.measure(), (int) part.end()).stream()
                    .skip(part.skip())
                    .forEach(entry -> seen.add(lines.get(entry.index)));
        }
        return new Ranked(new Answer(whole.rollup(), whole.levels(), whole.measures(), seen, whole.cut()), below);
    }

    private record Entry(@Nullable BigDecimal value, int index) {
        static final Comparator<Entry> GREATEST_FIRST = Comparator.comparing(
                        Entry::value, Comparator.nullsLast(Comparator.<BigDecimal>reverseOrder()))
                .thenComparingInt(Entry::index); // The lines are in the order of their bytes.
    }

    private static List<Entry> greatest(Answer whole, String measure, int count) {
        int figure = whole.measures().indexOf(measure);
        if (figure < 0) {
            throw new IllegalArgumentException("There is no measure '" + measure + "' in roll-up " + whole.rollup()
                    + "; there is " + String.join(", ", whole.measures()));
        }
        PriorityQueue<Entry> kept = new PriorityQueue<>(Entry.GREATEST_FIRST.reversed()); // The least is the first.
        int at = 0;
        for (Answer.Line line : whole.lines()) {
            if (at > 0 && count > 0) {
                Entry entry = new Entry(line.values().get(figure), at);
                if (kept.size() < count) {
                    kept.add(entry);
                } else if (Entry.GREATEST_FIRST.compare(entry, kept.element()) < 0) {
                    kept.remove();
                    kept.add(entry);
                }
            }
            at++;
        }
        return kept.stream().sorted(Entry.GREATEST_FIRST).toList();
    }
}
