package dev.onefold.fakes.aws;

import dev.onefold.fakes.aws.table.Table;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;

/// What goes wrong, how often, and how long things take: an immutable plan. By default nothing goes wrong, and nothing
/// takes any time.
///
/// @param chances from 0 to 1; what is not named never happens
public record Faults(Map<Fault, Double> chances, Timing timing) {
    private static final Faults NONE = new Faults(Map.of(), Timing.NONE);

    /// How long things take; each longest one is also the bound of a duration that is drawn every time.
    ///
    /// @param networkMax each way between client and service
    /// @param transactionMax from the first look at its items to the last write
    /// @param lagMax how old an eventually consistent read is
    /// @param clientTimeout after it a client hears no more of its request
    /// @param zombieMax after the client gave up
    /// @param attemptsMax how often the client sends a request that failed in a way that may pass
    /// @param creation from when a table is asked for to when it is there
    public record Timing(
            Duration networkMax,
            Duration transactionMax,
            Duration lagMax,
            Duration clientTimeout,
            Duration zombieMax,
            int attemptsMax,
            Duration creation) {
        /// No time at all, and clients that wait for two seconds.
        public static final Timing NONE = new Timing(
                Duration.ZERO,
                Duration.ZERO,
                Duration.ZERO,
                Duration.ofSeconds(2),
                Duration.ofMinutes(20),
                1,
                Duration.ZERO);

        /// What one region of AWS does on an ordinary day.
        public static final Timing USUAL = new Timing(
                Duration.ofMillis(8),
                Duration.ofMillis(30),
                Duration.ofMillis(800),
                Duration.ofSeconds(2),
                Duration.ofMinutes(20),
                1,
                Duration.ofSeconds(8));

        public Timing {
            if (lagMax.compareTo(Table.PAST_MAX) > 0 || attemptsMax < 1 || clientTimeout.isZero()) {
                throw new IllegalArgumentException("Lag %s (at most %s), attempts %d, time-out %s"
                        .formatted(lagMax, Table.PAST_MAX, attemptsMax, clientTimeout));
            }
        }

        public Timing withAttemptsMax(int attempts) {
            return new Timing(networkMax, transactionMax, lagMax, clientTimeout, zombieMax, attempts, creation);
        }
    }

    public Faults {
        Map<Fault, Double> ordered = new EnumMap<>(Fault.class);
        ordered.putAll(chances);
        if (ordered.values().stream().anyMatch(chance -> !(chance >= 0 && chance <= 1))) {
            throw new IllegalArgumentException("A chance is from 0 to 1: " + ordered);
        }
        chances = Collections.unmodifiableMap(ordered);
    }

    /// Nothing goes wrong, and nothing takes any time.
    public static Faults none() {
        return NONE;
    }

    /// Also this, so often.
    public Faults with(Fault fault, double chance) {
        Map<Fault, Double> more = new EnumMap<>(Fault.class);
        more.putAll(chances);
        more.put(fault, chance);
        return new Faults(more, timing);
    }

    public Faults with(Timing newTiming) {
        return new Faults(chances, newTiming);
    }

    /// Whether this goes wrong now.
    public boolean strikes(Fault fault, SplittableRandom random) {
        Double chance = chances.get(fault);
        return chance != null && random.nextDouble() < chance;
    }

    /// A duration from none to this one.
    public static Duration upTo(Duration max, SplittableRandom random) {
        return max.isZero() ? max : Duration.ofNanos(random.nextLong(max.toNanos() + 1));
    }
}
