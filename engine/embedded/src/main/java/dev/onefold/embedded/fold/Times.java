package dev.onefold.embedded.fold;

import dev.onefold.core.event.Event;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.map.Keep;
import dev.onefold.core.state.Horizon;
import dev.onefold.embedded.rows.RowBatch;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Decides by the times of events whether they count, if the pipeline has a horizon, and notes them if ids are
/// forgotten or groups end. A decision depends on the event, on its arrival, and on the events seen before the
/// round; so a replay decides alike. Any thread may ask.
final class Times {
    private final State state;
    private final InstantSource clock;
    private final Optional<Horizon> horizon;
    private final boolean ends;

    Times(State state, InstantSource clock) {
        this.state = state;
        this.clock = clock;
        ends = state.keep.isPresent();
        horizon = Horizon.of(state.pipeline);
    }

    /// Why an event of a chunk does not count; `null` if it does.
    ///
    /// @param arrivedMs of its record
    @Nullable
    Malformed refusal(Event event, Chunk chunk, long arrivedMs) {
        if (horizon.isEmpty()) {
            return null;
        }
        if (arrivedMs == Chunk.NO_ARRIVAL) {
            throw new IllegalStateException("Records of " + chunk.source.name() + " have no arrival");
        }
        Horizon span = horizon.get();
        Optional<Malformed> refusal = span.refusal(event, arrivedMs);
        return refusal.isEmpty() && state.forgets
                ? span.refusalOfForgotten(event, state.seenMs()).orElse(null)
                : refusal.orElse(null);
    }

    /// Notes the time of an event whose row was just added. A delete has none: before any time was seen, its row
    /// has that of its arrival, or it would be freed as the oldest of all.
    void note(Event event, Chunk chunk, RowBatch rows, long arrivedMs) {
        if (!state.forgets && !ends) {
            return;
        }
        long seenMs = Math.max(state.seenMs(), chunk.seenMs);
        boolean isFirst = ends && event.timeMs == Keep.NOTHING_SEEN && seenMs == Keep.NOTHING_SEEN;
        if (event.timeMs > chunk.seenMs) {
            chunk.seenMs = Math.max(chunk.seenMs, Math.min(event.timeMs, latestMs(arrivedMs)));
        }
        rows.time(isFirst ? latestMs(arrivedMs) : event.timeMs);
    }

    /// The latest time that a record can have: in a file or a log that of its folding.
    private long latestMs(long arrivedMs) {
        return arrivedMs == Chunk.NO_ARRIVAL ? clock.instant().toEpochMilli() : arrivedMs;
    }

    /// When a record was read. With a horizon that is when it arrived, which decides again when it is redriven.
    Instant readAt(long arrivedMs) {
        return horizon.isPresent() ? Instant.ofEpochMilli(arrivedMs) : clock.instant();
    }
}
