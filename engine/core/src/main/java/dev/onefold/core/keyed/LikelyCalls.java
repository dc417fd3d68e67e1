package dev.onefold.core.keyed;

import dev.onefold.core.event.Tuple;
import dev.onefold.core.keyed.StepFunction.Chain;
import dev.onefold.core.pipeline.Processing.Order;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The calls that events are likely to lead to: each is folded onto the context that the event before it leaves, if
/// the order of the function folds it there. An event that is folded elsewhere is left out. Not thread-safe.
public final class LikelyCalls {
    private static final long BYTES_MAX = 1 << 20;

    private final Order order;
    private final int eventsMax;
    private final Map<Tuple, Likely> keys = new LinkedHashMap<>();
    private int events;
    private long bytes;

    private static final class Likely {
        final @Nullable Head head;
        final byte[] context;
        final List<byte[]> contents = new ArrayList<>();
        final Set<BigInteger> versions = new HashSet<>();
        byte[] highest;

        Likely(@Nullable Head head, byte[] start) {
            this.head = head;
            context = head == null ? start : head.context();
            highest = head == null ? new byte[0] : head.version();
        }
    }

    public LikelyCalls(Order order, int eventsMax) {
        this.order = order;
        this.eventsMax = eventsMax;
    }

    /// Whether more events may be added.
    public boolean hasRoom() {
        return events < eventsMax && bytes < BYTES_MAX;
    }

    /// Adds an event.
    ///
    /// @param head of the key, if it has one
    /// @param start the context of a key without events
    public void add(byte[] key, Supplier<@Nullable Head> head, byte[] start, Arrival event) {
        events++;
        bytes += event.content().length;
        Tuple name = new Tuple(key);
        Likely likely = keys.get(name);
        if (likely == null) {
            likely = new Likely(head.get(), start);
            bytes += likely.context.length;
            keys.put(name, likely);
        }
        if (isNext(likely, event) && !Arrival.isFiltered(event.content())) {
            likely.contents.add(event.content());
        }
    }

    private boolean isNext(Likely likely, Arrival event) {
        if (order == Order.EVERY) {
            BigInteger version = event.number();
            return likely.versions.add(version)
                    && (likely.head == null || !likely.head.runs().contains(version));
        }
        boolean isHigher = Arrays.compareUnsigned(event.version(), likely.highest) > 0;
        if (isHigher) {
            likely.highest = event.version();
        }
        return isHigher;
    }

    /// The calls of each key that has some.
    public List<Chain> chains() {
        return keys.values().stream()
                .filter(likely -> !likely.contents.isEmpty())
                .map(likely -> new Chain(likely.context, likely.contents))
                .toList();
    }
}
