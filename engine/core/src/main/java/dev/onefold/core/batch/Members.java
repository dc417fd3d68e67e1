package dev.onefold.core.batch;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// The records of a sealed batch that are delivered together: all of them, or those of a part.
///
/// @param ranges ascending and apart, at least one
public record Members(List<Range> ranges) {
    /// Some records in a row, by their places in the batch.
    ///
    /// @param from the first one, from 0
    /// @param to behind the last one
    public record Range(int from, int to) {
        public Range {
            if (from < 0 || to <= from) {
                throw new IllegalArgumentException("There are no records from " + from + " to " + to);
            }
        }

        int count() {
            return to - from;
        }
    }

    public Members {
        ranges = List.copyOf(ranges);
        int end = -1;
        for (Range range : ranges) {
            if (range.from <= end) {
                throw new IllegalArgumentException("Members are not in order: " + ranges);
            }
            end = range.to;
        }
        if (ranges.isEmpty()) {
            throw new IllegalArgumentException("A batch has no members");
        }
    }

    /// All records of a batch.
    public static Members all(int count) {
        return new Members(List.of(new Range(0, count)));
    }

    /// How many records these are.
    public int count() {
        return ranges.stream().mapToInt(Range::count).sum();
    }

    /// The first half and the second one; the first is the larger one if the count is odd.
    ///
    /// @throws IllegalStateException if it is one record
    public List<Members> halves() {
        int count = count();
        if (count < 2) {
            throw new IllegalStateException("One record has no halves");
        }
        int middle = (count + 1) / 2;
        return List.of(slice(0, middle), slice(middle, count));
    }

    /// Two parts without a common key, if the members have several; else two halves.
    ///
    /// @param keys hashes of the keys of the members, in their order
    public List<Members> halves(long[] keys) {
        Set<Long> distinct = new LinkedHashSet<>();
        for (long key : keys) {
            distinct.add(key);
        }
        if (distinct.size() < 2) {
            return halves();
        }
        Set<Long> first = distinct.stream().limit((distinct.size() + 1) / 2).collect(Collectors.toSet());
        return List.of(only(places(keys, first::contains)), only(places(keys, key -> !first.contains(key))));
    }

    private static List<Integer> places(long[] keys, LongPredicate wanted) {
        return IntStream.range(0, keys.length)
                .filter(i -> wanted.test(keys[i]))
                .boxed()
                .toList();
    }

    /// Those at these places among the members.
    ///
    /// @param places from 0, ascending, each once
    /// @throws IllegalArgumentException if they are not
    public Members only(List<Integer> places) {
        List<Range> found = new ArrayList<>();
        int before = -1;
        for (int place : places) {
            if (place <= before || place >= count()) {
                throw new IllegalArgumentException("There is no member " + place + " behind " + before);
            }
            add(found, slice(place, place + 1).ranges.getFirst());
            before = place;
        }
        return new Members(found);
    }

    private Members slice(int from, int to) {
        List<Range> found = new ArrayList<>();
        int at = 0;
        for (Range range : ranges) {
            int first = Math.max(from, at);
            int end = Math.min(to, at + range.count());
            if (first < end) {
                found.add(new Range(range.from + first - at, range.from + end - at));
            }
            at += range.count();
        }
        return new Members(found);
    }

    private static void add(List<Range> ranges, Range next) {
        if (!ranges.isEmpty() && ranges.getLast().to == next.from) {
            ranges.add(new Range(ranges.removeLast().from, next.to));
        } else {
            ranges.add(next);
        }
    }
}
