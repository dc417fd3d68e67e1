package dev.onefold.aws.stream;

import dev.onefold.aws.event.Arrival;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The answer to one request for the records of a shard: it may have none, though there are more.
///
/// @param next iterator of the next page; `null` at the end of a shard that is closed
/// @param behindMs time by which this page is behind the newest record, in ms; 0 if there is no newer one; `null`
///     if the service does not say
record Page(
        List<Item> items, @Nullable String next, @Nullable Long behindMs) {
    Page {
        items = List.copyOf(items);
    }

    /// Whether nothing newer is there.
    boolean isNewest() {
        return next == null || items.isEmpty() && behindMs != null && behindMs == 0;
    }

    /// A record of the stream. One that several were put into has several arrivals.
    record Item(String sequence, Instant arrived, List<Arrival> arrivals) {}
}
