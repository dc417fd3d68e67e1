package dev.onefold.oracle.generate;

import static dev.onefold.oracle.KeyedOracle.value;

import dev.onefold.oracle.KeyedOracle.Failed;
import dev.onefold.oracle.KeyedOracle.Outcome;
import dev.onefold.oracle.KeyedOracle.SharingFunction;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;

/// A function per key, drawn at random: it commutes, looks at its event alone, or depends on the order of
/// its events; it writes and removes rows, and fails at some events.
///
/// @param kind says what a context depends on
/// @param buckets how many rows of table `buckets` a key has at most
/// @param places how many rows table `places` has at most, which all keys write; 0: there is no such table
/// @param failing of 0 to 9: how often it fails at an event that says so
/// @param code the version of it: another one computes something else
public record RandomFunction(Kind kind, int buckets, int places, int failing, int code) implements SharingFunction {
    /// What a context depends on.
    public enum Kind {
        COMMUTING,
        ABSOLUTE,
        ORDERED
    }

    private static final long MODULUS = 1_000_003;

    /// Draws a function.
    public static RandomFunction of(RandomGenerator random) {
        Kind kind = Kind.values()[random.nextInt(3)];
        int buckets = random.nextInt(1, 6);
        int places = random.nextBoolean() ? 0 : random.nextInt(1, 12);
        return new RandomFunction(kind, buckets, places, kind == Kind.ORDERED ? random.nextInt(10) : 0, 1);
    }

    /// The next version of it.
    public RandomFunction next() {
        return new RandomFunction(kind, buckets, places, failing, code + 1);
    }

    /// The next version of it, which fails nowhere.
    public RandomFunction mended() {
        return new RandomFunction(kind, buckets, places, 0, code + 1);
    }

    @Override
    public boolean isShared(String table) {
        return table.equals("places");
    }

    @Override
    public Map<String, Object> start() {
        return Map.of("trail", 7L, "count", 0);
    }

    @Override
    public Outcome step(String key, Map<String, Object> context, Map<String, Object> event) {
        long amount = (int) value(event, "amount");
        String what = (String) value(event, "what");
        long trail = (long) value(context, "trail");
        if (what.equals("fail") && Math.floorMod(trail + amount, 10) < failing) {
            throw new Failed();
        }
        int count = (int) value(context, "count") + 1;
        long next = switch (kind) {
            case COMMUTING -> trail + amount * code;
            case ABSOLUTE -> amount * code;
            case ORDERED -> (trail * 31 + amount + code) % MODULUS;
        };
        Map<List<String>, Optional<Map<String, Object>>> rows = new HashMap<>();
        long bucket = kind == Kind.COMMUTING ? amount % buckets : next % buckets;
        if (what.equals("remove")) {
            rows.put(List.of("buckets", String.valueOf(bucket)), Optional.empty());
        } else {
            rows.put(
                    List.of("buckets", String.valueOf(bucket)),
                    Optional.of(Map.of("k", key, "bucket", bucket, "trail", next)));
        }
        if (amount % 2 == 0) {
            rows.put(List.of("last"), Optional.of(Map.of("k", key, "trail", next, "count", count)));
        }
        if (places > 0 && amount % 3 != 1) {
            long place = (kind == Kind.ORDERED ? next : amount) % places;
            rows.put(
                    List.of("places", String.valueOf(place)),
                    what.equals("remove") || amount % 4 == 0
                            ? Optional.empty()
                            : Optional.of(Map.of("place", place, "k", key, "trail", next)));
        }
        return new Outcome(Map.of("trail", next, "count", count), rows);
    }
}
