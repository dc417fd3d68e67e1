package dev.onefold.embedded.fold;

import dev.onefold.core.event.Event;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Which times of events count where ids are forgotten after a time.
final class Horizon {
    /// How far ahead of the clock a time may be that moves the watermark: clocks and time zones differ by less.
    private static final Duration AHEAD_MAX = Duration.ofDays(1);

    private Horizon() {}

    /// Why an event does not count, by its time; `null` if it does.
    ///
    /// @param watermarkMs greatest time that came before; [Long#MIN_VALUE]: none did
    static @Nullable Malformed refusal(Event event, Duration horizon, long watermarkMs, long arrivedMs) {
        if (event.timeMs - arrivedMs > AHEAD_MAX.toMillis()) {
            return new Malformed(
                    Reason.TOO_NEW,
                    "The record's time is " + span(event.timeMs - arrivedMs) + " ahead of the clock, and so is wrong: "
                            + at(event.timeMs) + "; with a horizon at most " + span(AHEAD_MAX.toMillis())
                            + " is accepted");
        }
        if (watermarkMs == Long.MIN_VALUE || event.timeMs >= watermarkMs - horizon.toMillis()) {
            return null;
        }
        return new Malformed(
                Reason.TOO_OLD,
                "The record's time, " + at(event.timeMs) + ", is " + span(watermarkMs - event.timeMs)
                        + " older than the newest time that came before, " + at(watermarkMs) + "; the horizon is "
                        + span(horizon.toMillis()));
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
