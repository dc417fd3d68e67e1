package dev.onefold.aws.store;

import java.util.List;
import java.util.stream.IntStream;

/// Cuts a list where a request takes only so many.
public final class Parts {
    private Parts() {}

    /// The list in parts of `most` items, of which the last may have fewer; none if the list is empty.
    public static <T> List<List<T>> of(List<T> all, int most) {
        return IntStream.range(0, Math.ceilDiv(all.size(), most))
                .mapToObj(part -> all.subList(part * most, Math.min(all.size(), (part + 1) * most)))
                .toList();
    }
}
