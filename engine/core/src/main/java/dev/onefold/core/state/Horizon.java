package dev.onefold.core.state;

import dev.onefold.core.event.Event;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;

/// The horizon of a pipeline. A record is too old if its time lies more than the horizon before its own
/// arrival, and too new if its time lies more than a day ahead of it.
///
/// The arrival is the time at which the stream, the queue or the journal recorded the record. It stays the same
/// however often the record is delivered, replayed or redriven, and it does not depend on other records. So the order
/// of records decides nothing, and records can be decoded in parallel.
public record Horizon(Duration span) {
    /// How far a time may be ahead of the arrival: clocks and time zones differ by less.
    public static final Duration AHEAD_MAX = Duration.ofDays(1);

    /// How long beyond the horizon an id is kept: clocks go back, and dead letters are redriven. A record
    /// that comes even later is refused.
    public static final Duration BEYOND = Duration.ofDays(1);

    /// The horizon of a pipeline; empty if it has none.
    public static Optional<Horizon> of(Pipeline pipeline) {
        return pipeline.input().identity() instanceof Identity.ById byId && byId.horizon() != null
                ? Optional.of(new Horizon(byId.horizon()))
                : Optional.empty();
    }

    /// The horizon of a pipeline that forgets ids. The contributions of forgotten rows are kept as sums, and sums
    /// are not enough for `min`, `max` and `distinct`: beside one of these measures no id is forgotten.
    public static Optional<Horizon> ofForgetting(Pipeline pipeline) {
        boolean isSummed = Rollups.of(pipeline).all().stream()
                .flatMap(rollup -> rollup.measures().stream())
                .allMatch(measure -> switch (measure) {
                    case Measure.Count _ -> true;
                    case Measure.Distinct _ -> false;
                    case Measure.Numeric numeric -> numeric.fold().isSummed();
                });
        return isSummed ? of(pipeline) : Optional.empty();
    }

    /// The time until which the id of a record is kept.
    ///
    /// @param timeMs of the record; if its id has come with several, the latest of them
    public long keptUntilMs(long timeMs) {
        return timeMs + span.toMillis() + BEYOND.toMillis();
    }

    /// Why an event does not count although its time is right for its arrival: the row of its id may be
    /// forgotten, so nobody knows whether it counts already. This happens at a late redrive, and when clocks
    /// go back.
    ///
    /// @param seenMs latest time that is certain to have come, see [#keptUntilMs]
    public Optional<Malformed> refusalOfForgotten(Event event, long seenMs) {
        return keptUntilMs(event.timeMs) >= seenMs
                ? Optional.empty()
                : Optional.of(new Malformed(
                        Reason.TOO_OLD,
                        "The record's time is " + at(event.timeMs) + ", and ids are forgotten "
                                + span(span.plus(BEYOND).toMillis())
                                + " after their time, so nobody can tell whether it"
                                + " counts already; records up to " + at(seenMs) + " have come"));
    }

    /// Requires that a pipeline has no horizon: the records of this source have no known arrival.
    ///
    /// @param source the source to be folded, as the subject of a sentence
    /// @throws IllegalArgumentException if the pipeline has one
    public static void requireNone(Pipeline pipeline, String source) {
        problem(pipeline, source).ifPresent(problem -> {
            throw new IllegalArgumentException(problem);
        });
    }

    /// Why a source whose records have no known arrival cannot be folded; empty if it can.
    public static Optional<String> problem(Pipeline pipeline, String source) {
        return of(pipeline)
                .map(_ -> "Pipeline " + pipeline.name() + " has a horizon, which compares each record's time with its"
                        + " arrival; " + source + " has no arrival. Send the records through standard input, HTTP or"
                        + " append, or leave 'horizon' out of the pipeline file.");
    }

    /// The meaning of the horizon, in a sentence.
    @Override
    public String toString() {
        return "A record is too old if its time is more than " + span(span.toMillis()) + " before its arrival, and too"
                + " new if its time is more than " + span(AHEAD_MAX.toMillis()) + " ahead of it; it becomes a dead"
                + " letter then.";
    }

    /// Why an event does not count, by its time; empty if it does.
    ///
    /// @param arrivedMs arrival of its record, epoch milliseconds
    public Optional<Malformed> refusal(Event event, long arrivedMs) {
        return refusal(event.timeMs, arrivedMs);
    }

    Optional<Malformed> refusal(long timeMs, long arrivedMs) {
        if (timeMs >= arrivedMs - span.toMillis()) {
            return tooNew(timeMs, arrivedMs, AHEAD_MAX, "a horizon");
        }
        return Optional.of(new Malformed(
                Reason.TOO_OLD,
                "The record's time, " + at(timeMs) + ", is " + span(arrivedMs - timeMs) + " before its arrival at "
                        + at(arrivedMs) + "; the horizon is " + span(span.toMillis())));
    }

    /// Why an event does not count whose time is too far ahead of its arrival; empty if it is not.
    ///
    /// @param with the setting that refuses it, with its article
    public static Optional<Malformed> tooNew(long timeMs, long arrivedMs, Duration ahead, String with) {
        return timeMs <= arrivedMs + ahead.toMillis()
                ? Optional.empty()
                : Optional.of(new Malformed(
                        Reason.TOO_NEW,
                        "The record's time, " + at(timeMs) + ", is " + span(timeMs - arrivedMs)
                                + " ahead of its arrival at " + at(arrivedMs) + ", and so is wrong; with " + with
                                + " at most " + span(ahead.toMillis()) + " is accepted"));
    }

    private static String at(long ms) {
        return Instant.ofEpochMilli(ms).toString();
    }

    private static String span(long ms) {
        Duration span = Duration.ofMillis(ms);
        if (span.toDays() > 1) {
            return String.format(Locale.ROOT, "%,d days", span.toDays());
        }
        if (span.toHours() > 1) {
            return span.toHours() + " hours";
        }
        return span.toMinutes() > 1 ? span.toMinutes() + " minutes" : span.toSeconds() + " s";
    }
}
