package dev.onefold.aws.stream;

import dev.onefold.aws.Arrival;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What one request for the records of a shard brought: perhaps none, though there are more.
///
/// @param next where to go on; `null` at the end of a shard that is closed
/// @param behindMs by how much this is behind the newest record; 0 where there is no newer one
record Page(List<Item> items, @Nullable String next, long behindMs) {
    Page {
        items = List.copyOf(items);
    }

    /// A record of the stream. One that several were put into has several arrivals.
    record Item(String sequence, Instant arrived, List<Arrival> arrivals) {}
}
