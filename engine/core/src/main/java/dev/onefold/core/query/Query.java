package dev.onefold.core.query;

import dev.onefold.core.bytes.Utf8;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A query of a roll-up.
///
/// @param rollup name of the roll-up
/// @param group the group at the top of the answer, by the values of its first levels; empty is the total
/// @param depth number of levels shown below the group, 0 and more
/// @param top only the greatest groups at that depth; `null` shows all
public record Query(
        String rollup,
        List<String> group,
        int depth,
        @Nullable Top top) {
    public Query {
        Objects.requireNonNull(rollup, "The name of the roll-up is null");
        if (group == null || group.stream().anyMatch(Objects::isNull)) {
            throw new IllegalArgumentException("The group is null, or one of its values is");
        }
        group = List.copyOf(group);
        group.forEach(value -> Utf8.encode("A value of the group", value));
        if (depth < 0) {
            throw new IllegalArgumentException("Depth is " + depth + "; it is 0 or more");
        }
    }

    /// The whole tree of a roll-up.
    public static Query all(String rollup) {
        return new Query(rollup, List.of(), Integer.MAX_VALUE, null);
    }

    /// The `count` greatest by a measure, greatest first; equal ones, and those without a value, in the order of
    /// their UTF-8 bytes.
    public record Top(int count, String measure) {
        public Top {
            Objects.requireNonNull(measure, "The measure of a top list is null");
            if (count < 1) {
                throw new IllegalArgumentException("Top is " + count + "; it is 1 or more");
            }
        }
    }
}
