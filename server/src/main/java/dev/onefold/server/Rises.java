package dev.onefold.server;

import java.util.HashMap;
import java.util.Map;

/// Makes counters of figures that may fall. A record is counted as what became of it last, so a redrive takes it
/// from the rejected ones, and a rebuild counts all records again; a Prometheus counter that falls would be read as
/// one that began again at zero. So each rise that is seen is added, and nothing is taken back. Any thread may
/// call.
final class Rises {
    private final Map<String, Map<String, Rise>> ofPipelines = new HashMap<>();

    /// @param last the figure when it was seen last
    /// @param all what it was at first, and by how much it has risen since
    private record Rise(long last, long all) {}

    /// The counter of a figure that is now so great.
    synchronized long seen(String pipeline, String name, long now) {
        return ofPipelines
                .computeIfAbsent(pipeline, _ -> new HashMap<>())
                .merge(
                        name,
                        new Rise(now, now),
                        (before, _) -> new Rise(now, before.all + Math.max(0, now - before.last)))
                .all;
    }
}
