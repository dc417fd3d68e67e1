package dev.onefold.embedded.delivery;

import dev.onefold.core.batch.BatchNumber;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// The deliveries that have not ended, in a line for each key of their records, in the order of their numbers.
/// A delivery is free if it is the first one in each of its lines: no earlier one shares a key with it. Two
/// keys of one hash share a line, so they wait for each other. Guarded by its owner, the [Courier].
///
///     key a   1 2     4        1 is free; 2 waits for 1, and 3 for 2, because of b; 4 waits for 2
///     key b     2 3
///
/// The lines are not on the disk: a process that begins puts all deliveries in line that have not ended.
final class KeyLines {
    private final Map<Long, ArrayDeque<BatchNumber>> lines = new HashMap<>();
    private final Map<BatchNumber, long[]> keys = new HashMap<>();
    private final NavigableSet<BatchNumber> free = new TreeSet<>();
    private int places;

    /// How many places in lines are taken.
    int places() {
        return places;
    }

    /// The free deliveries, by number.
    NavigableSet<BatchNumber> free() {
        return free;
    }

    /// Puts a delivery last in its lines; its number is above all others.
    ///
    /// @param own its keys, each once
    /// @return whether it is free
    boolean add(BatchNumber number, long[] own) {
        for (long key : own) {
            lines.computeIfAbsent(key, _ -> new ArrayDeque<>(1)).addLast(number);
        }
        keys.put(number, own);
        places += own.length;
        return noteIfFree(number);
    }

    private ArrayDeque<BatchNumber> line(long key) {
        return Objects.requireNonNull(lines.get(key), "a delivery is in no line of its key");
    }

    private boolean noteIfFree(BatchNumber number) {
        return before(number) == null && free.add(number);
    }

    /// The delivery that an unfree one waits for, or one of them; `null` if it is free, or in no line.
    @Nullable
    BatchNumber before(BatchNumber number) {
        for (long key : keys.getOrDefault(number, new long[0])) {
            BatchNumber first = line(key).getFirst();
            if (!first.equals(number)) {
                return first;
            }
        }
        return null;
    }

    /// Takes a delivery that has ended out of its lines.
    void remove(BatchNumber number) {
        replace(number, new LinkedHashMap<>());
    }

    /// Puts the parts of a free delivery in its places. The keys of records that no part has are free.
    ///
    /// @param parts the keys of each, each once
    void divide(BatchNumber whole, SequencedMap<BatchNumber, long[]> parts) {
        replace(whole, parts);
    }

    private void replace(BatchNumber number, SequencedMap<BatchNumber, long[]> parts) {
        long[] own = keys.remove(number);
        if (own == null) {
            return; // It is in no line before deliveries begin.
        }
        free.remove(number);
        places -= own.length;
        for (long key : own) {
            line(key).remove(number); // The first one, unless a person has ended it.
        }
        parts.reversed().forEach((part, some) -> {
            for (long key : some) {
                line(key).addFirst(part);
            }
            keys.put(part, some);
            places += some.length;
        });
        NavigableSet<BatchNumber> first = new TreeSet<>(parts.keySet());
        for (long key : own) {
            ArrayDeque<BatchNumber> line = line(key);
            if (line.isEmpty()) {
                lines.remove(key);
            } else {
                first.add(line.getFirst());
            }
        }
        first.forEach(this::noteIfFree);
    }
}
