package dev.onefold.core.bytes;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;

/// The bytes of single values: a tag of one octet, then
///
///     0 absent · 1 false · 2 true           nothing
///     3 int · 4 long                        zigzag LEB128
///     5 decimal                             scale (zigzag), length and bytes of the unscaled value (two's complement)
///     6 text · 10 name of an enum constant  length and UTF-8
///     7 time · 9 duration                   seconds (zigzag), nanoseconds
///     8 date                                days since 1970-01-01 (zigzag)
///     11 list                               number of items, and each as a value
///     12 record                             number of components, and each as name and value
///
/// A decimal has no trailing zeros, so that equal values have equal bytes.
public final class ValueBytes {
    public static final int ABSENT = 0;
    public static final int FALSE = 1;
    public static final int TRUE = 2;
    public static final int INT = 3;
    public static final int LONG = 4;
    public static final int DECIMAL = 5;
    public static final int TEXT = 6;
    public static final int TIME = 7;
    public static final int DATE = 8;
    public static final int DURATION = 9;
    public static final int NAME = 10;
    public static final int LIST = 11;
    public static final int RECORD = 12;

    /// Significant digits of a decimal, as many as a number in DynamoDB has.
    public static final int DIGITS_MAX = 38;
    /// With 38 digits, the greatest number is below 10 to the power of 125, as in DynamoDB.
    public static final int SCALE_MIN = -87;

    public static final int SCALE_MAX = 125;
    private static final int UNSCALED_BYTES_MAX = 16; // 38 digits take 127 bits.
    private static final int NANOS_MAX = 999_999_999;

    private ValueBytes() {}

    /// Writes a decimal.
    ///
    /// @throws IllegalArgumentException if it has too many digits; the message follows a component's name
    public static void decimal(BytesOut out, BigDecimal number) {
        BigDecimal shortest = shortest(number);
        out.octet(DECIMAL)
                .signed(shortest.scale())
                .bytes(shortest.unscaledValue().toByteArray());
    }

    /// Writes a decimal of at most 18 digits.
    ///
    /// @param scale 0 to 18
    public static void decimal(BytesOut out, long unscaled, int scale) {
        long shortest = unscaled;
        int rest = unscaled == 0 ? 0 : scale;
        while (shortest != 0 && shortest % 10 == 0) {
            shortest /= 10;
            rest--;
        }
        int bytes = (Long.SIZE - Long.numberOfLeadingZeros(shortest ^ shortest >> 63)) / Byte.SIZE + 1;
        out.octet(DECIMAL).signed(rest).number(bytes);
        for (int i = bytes - 1; i >= 0; i--) {
            out.octet((int) (shortest >> Byte.SIZE * i));
        }
    }

    /// A decimal without trailing zeros; zero has the scale 0.
    ///
    /// @throws IllegalArgumentException as [#decimal(BytesOut, BigDecimal)] does
    public static BigDecimal shortest(BigDecimal number) {
        BigDecimal shortest = number.signum() == 0 ? BigDecimal.ZERO : number.stripTrailingZeros();
        if (shortest.precision() > DIGITS_MAX) {
            throw new IllegalArgumentException("has " + shortest.precision() + " digits; a decimal has at most "
                    + DIGITS_MAX + ": round it where it is computed");
        }
        if (shortest.scale() < SCALE_MIN || shortest.scale() > SCALE_MAX) {
            throw new IllegalArgumentException(
                    "ends at the digit of 10 to the power of " + -(long) shortest.scale() + "; a decimal ends between "
                            + -SCALE_MAX + " and " + -SCALE_MIN + ": round it where it is computed");
        }
        return shortest;
    }

    /// Writes a time or a duration.
    public static void seconds(BytesOut out, int tag, long seconds, int nanos) {
        out.octet(tag).signed(seconds).number(nanos);
    }

    /// The decimal behind its tag, with a scale that is not negative.
    public static BigDecimal decimal(BytesIn in) {
        long scale = in.signed();
        byte[] unscaled = in.bytes();
        boolean possible = scale >= SCALE_MIN
                && scale <= SCALE_MAX
                && unscaled.length > 0
                && unscaled.length <= UNSCALED_BYTES_MAX;
        BigDecimal number = possible ? new BigDecimal(new BigInteger(unscaled), (int) scale) : BigDecimal.ZERO;
        if (!possible || number.precision() > DIGITS_MAX) {
            throw in.broken("a decimal has the scale " + scale + " and " + unscaled.length + " bytes");
        }
        return plain(number);
    }

    /// The same number, with a scale that is not negative: its text is plain.
    public static BigDecimal plain(BigDecimal number) {
        return number.scale() < 0 ? number.setScale(0) : number;
    }

    public static Instant time(BytesIn in) {
        long seconds = in.signed();
        try {
            return Instant.ofEpochSecond(seconds, nanos(in));
        } catch (DateTimeException beyond) {
            throw in.broken("a time has " + seconds + " seconds");
        }
    }

    public static LocalDate date(BytesIn in) {
        long day = in.signed();
        try {
            return LocalDate.ofEpochDay(day);
        } catch (DateTimeException beyond) {
            throw in.broken("a date has the day " + day);
        }
    }

    public static Duration duration(BytesIn in) {
        return Duration.ofSeconds(in.signed(), nanos(in));
    }

    public static int whole(BytesIn in) {
        long number = in.signed();
        if (number != (int) number) {
            throw in.broken("an int is " + number);
        }
        return (int) number;
    }

    private static int nanos(BytesIn in) {
        long nanos = in.number();
        if (nanos < 0 || nanos > NANOS_MAX) {
            throw in.broken("nanoseconds are " + nanos);
        }
        return (int) nanos;
    }

    /// Passes over a value, which begins with its tag.
    public static void skip(BytesIn in) {
        int tag = in.octet();
        switch (tag) {
            case ABSENT, FALSE, TRUE -> {}
            case INT, LONG, DATE -> in.number();
            case DECIMAL -> {
                in.number();
                in.skip();
            }
            case TEXT, NAME -> in.skip();
            case TIME, DURATION -> {
                in.number();
                in.number();
            }
            case LIST -> {
                for (int left = in.count(); left > 0; left--) {
                    skip(in);
                }
            }
            case RECORD -> {
                for (int left = in.count(); left > 0; left--) {
                    in.skip();
                    skip(in);
                }
            }
            default -> throw in.broken("there is no kind of value " + tag);
        }
    }

    /// The name of a tag's type, in the words of [dev.onefold.core.pipeline.Type].
    public static String word(int tag) {
        return switch (tag) {
            case ABSENT -> "no value";
            case FALSE, TRUE -> "boolean";
            case INT -> "int";
            case LONG -> "long";
            case DECIMAL -> "decimal";
            case TEXT -> "text";
            case TIME -> "time";
            case DATE -> "date";
            case DURATION -> "duration";
            case NAME -> "the name of an enum constant";
            case LIST -> "a list";
            case RECORD -> "a record";
            default -> "something unknown (" + tag + ")";
        };
    }
}
