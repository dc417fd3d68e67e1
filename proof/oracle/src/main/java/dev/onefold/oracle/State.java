package dev.onefold.oracle;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a version says of its key. Of two that a version says, the greater one counts: a delete, then what
/// contributes, then what is filtered out.
sealed interface State extends Comparable<State> {
    /// The order of answers and of groups: by the bytes of UTF-8.
    Comparator<String> BY_UTF8 =
            (a, b) -> Arrays.compareUnsigned(a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));

    /// Parents before children.
    Comparator<List<String>> GROUPS = lexicographic(BY_UTF8);

    /// A missing input is least, numbers go by value, texts by the bytes of UTF-8.
    Comparator<@Nullable Object> INPUTS = State::compareInputs;

    /// The key is gone.
    record Deleted() implements State {}

    /// The key is there and contributes nothing.
    record Filtered() implements State {}

    /// The key contributes.
    ///
    /// @param groups for each roll-up the group at its leaves
    /// @param inputs for each roll-up what its measures get
    record Contributing(List<List<String>> groups, List<List<@Nullable Object>> inputs) implements State {
        private int compareContent(Contributing other) {
            int byGroups = lexicographic(GROUPS).compare(groups, other.groups);
            return byGroups != 0
                    ? byGroups
                    : lexicographic(lexicographic(INPUTS)).compare(inputs, other.inputs);
        }
    }

    @Override
    default int compareTo(State other) {
        if (this instanceof Contributing mine && other instanceof Contributing its) {
            return mine.compareContent(its);
        }
        return Integer.compare(rank(), other.rank());
    }

    private int rank() {
        return switch (this) {
            case Deleted _ -> 2;
            case Contributing _ -> 1;
            case Filtered _ -> 0;
        };
    }

    private static int compareInputs(@Nullable Object a, @Nullable Object b) {
        if (a == null || b == null) {
            return Boolean.compare(a != null, b != null);
        }
        return a instanceof BigDecimal number && b instanceof BigDecimal another
                ? number.compareTo(another)
                : BY_UTF8.compare((String) a, (String) b);
    }

    private static <T extends @Nullable Object> Comparator<List<T>> lexicographic(Comparator<? super T> elements) {
        return (a, b) -> {
            for (int index = 0; index < Math.min(a.size(), b.size()); index++) {
                int order = elements.compare(a.get(index), b.get(index));
                if (order != 0) {
                    return order;
                }
            }
            return Integer.compare(a.size(), b.size());
        };
    }
}
