package dev.onefold.core.event;

import dev.onefold.core.pipeline.TimeType;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Reads times of a type that [orders equal times][TimeType#ordersEqualTimes()]: a number orders them, and the
/// time is its first part. Not thread-safe.
final class OrderedTimes {
    private static final Pattern HLC = Pattern.compile("([0-9]{19})\\.([0-9]{10})");
    private static final Pattern UUID7 =
            Pattern.compile("\\p{XDigit}{8}-\\p{XDigit}{4}-7\\p{XDigit}{3}-[89abAB]\\p{XDigit}{3}-\\p{XDigit}{12}");
    private static final Pattern ULID = Pattern.compile("[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}");
    private static final String CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"; // Douglas Crockford's base 32
    private static final int LETTER_BITS = 5;
    private static final int BITS_BEHIND_MS = 80; // Of the 128 of an id.
    private static final int LENGTH_MAX = 36;
    private static final BigInteger SECOND_NANOS = BigInteger.valueOf(1_000_000_000);
    private static final long RECENT_SECONDS_MIN = 946_684_800L; // 2000-01-01T00:00Z
    private static final long RECENT_SECONDS_MAX = 4_102_444_800L; // 2100-01-01T00:00Z

    /// The number that orders.
    BigInteger order = BigInteger.ZERO;

    long seconds;
    int nanos;

    /// Whether the text is of the type; then the time is read.
    boolean read(byte[] bytes, int from, int to, TimeType type) {
        String text = to - from > LENGTH_MAX ? "" : new String(bytes, from, to - from, StandardCharsets.US_ASCII);
        switch (type) {
            case HLC -> {
                Matcher clock = HLC.matcher(text);
                if (!clock.matches()) {
                    return false;
                }
                order = new BigInteger(clock.group(1) + clock.group(2));
                BigInteger[] parts = new BigInteger(clock.group(1)).divideAndRemainder(SECOND_NANOS);
                seconds = parts[0].longValueExact();
                nanos = parts[1].intValueExact();
                return true;
            }
            case UUID7 -> {
                return UUID7.matcher(text).matches() && id(new BigInteger(text.replace("-", ""), 16));
            }
            default -> {
                return ULID.matcher(text).matches() && id(ulid(text.toUpperCase(Locale.ROOT)));
            }
        }
    }

    private static BigInteger ulid(String text) {
        BigInteger id = BigInteger.ZERO;
        for (int i = 0; i < text.length(); i++) {
            id = id.shiftLeft(LETTER_BITS).or(BigInteger.valueOf(CROCKFORD.indexOf(text.charAt(i))));
        }
        return id;
    }

    private boolean id(BigInteger id) {
        order = id;
        long ms = id.shiftRight(BITS_BEHIND_MS).longValueExact();
        seconds = ms / 1_000;
        nanos = (int) (ms % 1_000) * 1_000_000;
        return true;
    }

    /// Advice for a text that is a time of CockroachDB, or an id with a time of recent years in front, as a
    /// part of a sentence; empty if it is neither.
    static String advice(byte[] bytes, int from, int to) {
        OrderedTimes times = new OrderedTimes();
        for (TimeType type : new TimeType[] {TimeType.HLC, TimeType.UUID7, TimeType.ULID}) {
            if (times.read(bytes, from, to, type)
                    && times.seconds >= RECENT_SECONDS_MIN
                    && times.seconds < RECENT_SECONDS_MAX) {
                return type == TimeType.HLC
                        ? ". It has a counter, as CockroachDB's times: write the type hlc"
                        : ". It has the form of a " + (type == TimeType.ULID ? "ULID" : "UUID of version 7")
                                + ": write the type " + type.word() + " if one source makes them in order";
            }
        }
        return "";
    }
}
