package dev.onefold.core.map;

import dev.onefold.core.event.Event;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Level;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.state.Horizon;
import java.time.Duration;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Objects;
import java.util.Optional;

/// The end of groups and rows in a pipeline with `keep`.
///
/// The clock is the latest time seen: the greatest time of all accepted records. A record whose time is too far ahead
/// of its arrival is refused, so one wrong clock ends nothing that is of now. A group is shown from the time bucket on
/// that holds the latest time less `keep`. Which groups are shown depends on nothing else: a record of an older bucket
/// is
/// folded like any other, and its group is not shown.
///
/// A row is freed when no group that a record of its last time could be in has been shown for a day. Until then
/// it decides which version counts, whatever is shown. It has a mark: the latest time seen when it was written,
/// or its own if that is later. So an older version of its key counts again only if it is of a later bucket
/// than all records that had come when the newer one was written.
public final class Keep {
    /// For how long a row is kept after its groups: where a zone goes back behind midnight, a day may be shown
    /// again.
    private static final long BEYOND_SECONDS = Duration.ofDays(1).toSeconds();

    /// The latest time seen, before any.
    public static final long NOTHING_SEEN = Long.MIN_VALUE;

    private record Bucketed(Level.Source.Timed first, long keepSeconds) {
        /// Whether each bucket that is kept by another one is kept by this one, too.
        boolean keeps(Bucketed other) {
            return first.equals(other.first) && keepSeconds >= other.keepSeconds;
        }

        /// The first second of the oldest bucket that is kept.
        long from(long seenMs, long beyondSeconds) {
            return first.start(Math.floorDiv(seenMs, 1_000L) - keepSeconds - beyondSeconds);
        }
    }

    private final List<Bucketed> rollups;
    private final Duration ahead;
    private final long longestMs;

    private Keep(List<Rollup> rollups) {
        this.rollups = rollups.stream()
                .map(rollup -> new Bucketed(
                        (Level.Source.Timed) rollup.levels().getFirst().source(),
                        Objects.requireNonNull(rollup.keep()).toSeconds()))
                .toList();
        LongSummaryStatistics seconds =
                this.rollups.stream().mapToLong(Bucketed::keepSeconds).summaryStatistics();
        ahead = Duration.ofSeconds(Math.min(Horizon.AHEAD_MAX.toSeconds(), seconds.getMin()));
        longestMs = seconds.getMax() * 1_000;
    }

    /// The end of groups in a pipeline; empty if it keeps them for ever.
    public static Optional<Keep> of(Pipeline pipeline) {
        Rollups rollups = Rollups.of(pipeline);
        return rollups.areKept() ? Optional.of(new Keep(rollups.all())) : Optional.empty();
    }

    /// Whether all groups that another definition keeps are kept by this one, so that its rows are enough.
    public boolean keeps(Keep other) {
        return other.rollups.stream().allMatch(wanted -> rollups.stream().anyMatch(each -> each.keeps(wanted)));
    }

    /// Why an event does not count, by its time; empty if it does. After it, a record of the time of its arrival is
    /// still shown.
    public Optional<Malformed> refusal(Event event, long arrivedMs) {
        return Horizon.tooNew(event.timeMs, arrivedMs, ahead, "'keep'");
    }

    /// Whether a time may be behind [#shownFromMs] or [#rowsFromMs]; asked for each record, because these cost more.
    public boolean mayHaveEnded(long timeMs, long seenMs) {
        return seenMs != NOTHING_SEEN && timeMs < seenMs - longestMs;
    }

    /// The beginning of the time bucket of a group, in milliseconds since 1970.
    public long startMs(int rollup, Tuple group) {
        return rollups.get(rollup).first.start(group.parts().getFirst()) * 1_000;
    }

    /// The first group of a roll-up that is shown. All before it in the order of the groups are not.
    public Tuple first(int rollup, long seenMs) {
        if (seenMs == NOTHING_SEEN) {
            return Tuple.of(List.of());
        }
        Bucketed bucketed = rollups.get(rollup);
        return Tuple.of(List.of(bucketed.first.text(bucketed.from(seenMs, 0))));
    }

    /// The time before which a record is in no group that is shown, in milliseconds since 1970.
    public long shownFromMs(long seenMs) {
        return fromMs(seenMs, 0);
    }

    /// The mark below which a row is freed.
    public long rowsFromMs(long seenMs) {
        return fromMs(seenMs, BEYOND_SECONDS);
    }

    private long fromMs(long seenMs, long beyondSeconds) {
        return seenMs == NOTHING_SEEN
                ? NOTHING_SEEN
                : rollups.stream()
                                .mapToLong(each -> each.from(seenMs, beyondSeconds))
                                .min()
                                .orElseThrow()
                        * 1_000;
    }
}
