package dev.onefold.server;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/// Makes counters from figures of a pipeline that may fall. A record is counted by its last fate, so a
/// redrive takes it from the rejected ones, and a rebuild counts all records again; a Prometheus counter that
/// falls would be read as one that began again at zero. So each observed rise is added, and nothing is
/// subtracted. Any thread may call.
final class Rises {
    private final Map<String, Rise> ofFigures = new HashMap<>();

    /// @param last the figure when it was seen last
    /// @param all the first figure, plus all rises since
    private record Rise(long last, long all) {}

    /// @param of the value that was read
    /// @param counters of its figures
    record Seen<T>(T of, Map<String, Long> counters) {}

    /// Reads something, and its figures in it. One after the other: a figure that was read earlier and noted later
    /// would seem to have fallen, and its rise would count once more.
    synchronized <T> Seen<T> see(Supplier<T> read, Function<T, Map<String, Long>> figures) {
        T now = read.get();
        Map<String, Long> counters = new LinkedHashMap<>();
        figures.apply(now).forEach((name, figure) -> counters.put(name, seen(name, figure)));
        return new Seen<>(now, counters);
    }

    private long seen(String name, long now) {
        Rise before = ofFigures.getOrDefault(name, new Rise(0, 0));
        Rise after = new Rise(now, before.all + Math.max(0, now - before.last));
        ofFigures.put(name, after);
        return after.all;
    }
}
