package dev.onefold.embedded.fold;

import dev.onefold.core.event.Event;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.map.Keep;
import dev.onefold.core.state.Horizon;
import dev.onefold.embedded.framing.Records;
import dev.onefold.embedded.rows.RowBatch;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Decides by the times of events whether they count, if the pipeline has a horizon or `keep`, and notes them if ids
/// are forgotten or groups end. A decision depends on the event, on its arrival, and with a horizon on the events seen
/// before the round; so a replay decides alike. A record of a file or a log has arrived when it is read first. Any
/// thread may ask.
final class Times {
    private final State state;
    private final InstantSource clock;
    private final Optional<Horizon> horizon;

    Times(State state, InstantSource clock) {
        this.state = state;
        this.clock = clock;
        horizon = Horizon.of(state.pipeline);
    }

    /// Why an event of a chunk does not count; `null` if it does.
    ///
    /// @param record of the event
    @Nullable
    Malformed refusal(Event event, Chunk chunk, Records record) {
        if (state.keep.isPresent()) {
            return tooNew(state.keep.get(), event, chunk, record);
        }
        if (horizon.isEmpty()) {
            return null;
        }
        long arrivedMs = chunk.arrivedMs(record);
        if (arrivedMs == Chunk.NO_ARRIVAL) {
            throw new IllegalStateException("Records of " + chunk.source.name() + " have no arrival");
        }
        Horizon span = horizon.get();
        Optional<Malformed> refusal = span.refusal(event, arrivedMs);
        return refusal.isEmpty() && state.forgets
                ? span.refusalOfForgotten(event, state.seenMs()).orElse(null)
                : refusal.orElse(null);
    }

    private @Nullable Malformed tooNew(Keep keep, Event event, Chunk chunk, Records record) {
        long arrivedMs = chunk.arrivedMs(record);
        return arrivedMs == Chunk.NO_ARRIVAL && (chunk.isReadAgain() || event.timeMs <= chunk.seenMs)
                ? null
                : keep.refusal(event, readMs(arrivedMs)).orElse(null);
    }

    /// Notes the time of an event whose row was just added. A delete has none: before any time was seen, its row
    /// has that of its arrival, or it would be freed as the oldest of all.
    void note(Event event, Chunk chunk, RowBatch rows, Records record) {
        if (state.keep.isPresent()) {
            if (event.timeMs == Keep.NOTHING_SEEN && chunk.seenMs == Keep.NOTHING_SEEN) {
                rows.arrivedAt(readMs(chunk.arrivedMs(record)));
            }
            rows.seen(chunk.seenMs);
            rows.time(event.timeMs);
            chunk.seenMs = Math.max(chunk.seenMs, event.timeMs);
        } else if (state.forgets) {
            rows.time(event.timeMs);
            chunk.seenMs = Math.max(chunk.seenMs, Math.min(event.timeMs, chunk.arrivedMs(record)));
        }
    }

    private long readMs(long arrivedMs) {
        return arrivedMs == Chunk.NO_ARRIVAL ? clock.instant().toEpochMilli() : arrivedMs;
    }

    /// When a record was read. Where its time decides, that is when it arrived, which decides again when it is
    /// redriven.
    Instant readAt(long arrivedMs) {
        return horizon.isPresent() || state.keep.isPresent()
                ? Instant.ofEpochMilli(readMs(arrivedMs))
                : clock.instant();
    }
}
