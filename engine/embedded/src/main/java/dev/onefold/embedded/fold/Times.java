package dev.onefold.embedded.fold;

import dev.onefold.core.event.Event;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.state.Horizon;
import dev.onefold.embedded.rows.RowBatch;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Decides by the times of events whether they count, if the pipeline has a horizon. A decision depends on
/// the event, on its arrival, and on the events seen before the round; so a replay decides alike. Any thread
/// may ask.
final class Times {
    private final State state;
    private final Optional<Horizon> horizon;

    Times(State state) {
        this.state = state;
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

    /// Notes the time of an event whose row was just added.
    void note(Event event, Chunk chunk, RowBatch rows, long arrivedMs) {
        if (state.forgets) {
            chunk.seenMs = Math.max(chunk.seenMs, Math.min(event.timeMs, arrivedMs));
            rows.time(event.timeMs);
        }
    }

    /// When a record was read. With a horizon that is when it arrived, which decides again when it is redriven.
    Instant readAt(long arrivedMs, InstantSource clock) {
        return horizon.isPresent() ? Instant.ofEpochMilli(arrivedMs) : clock.instant();
    }
}
