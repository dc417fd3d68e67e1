package dev.onefold.core.event;

import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.bytes.ValueBytes;
import dev.onefold.core.pipeline.TimeType;
import dev.onefold.core.pipeline.Type.Scalar;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.LocalDate;
import org.jspecify.annotations.Nullable;

/// Writes single fields as the values of a record that a user's function takes. Each method returns `null`,
/// or the problem, in words that follow the field's name. It is not thread-safe.
final class ContentScalars {
    private static final int LONG_DIGITS = 18;
    private static final int TEMPORAL_LENGTH_MAX = 60;
    private static final BigDecimal SECONDS_MAX = BigDecimal.valueOf(Long.MAX_VALUE);

    private final Scalars scalars;
    private final Times times;
    // The characters of the field that is read.
    private byte[] bytes = new byte[0];
    private int from;
    private int to;

    ContentScalars(Scalars scalars, Times times) {
        this.scalars = scalars;
        this.times = times;
    }

    /// Writes a field that is not missing.
    ///
    /// @param timeType of a time
    @Nullable
    String write(Scalar scalar, TimeType timeType, Fields fields, int slot, BytesOut out) {
        String wrong = null;
        byte kind = fields.kind[slot];
        boolean good;
        if (scalar == Scalar.TEXT) {
            int length = scalars.text(fields, slot, 0);
            good = length >= 0;
            if (good) {
                out.octet(ValueBytes.TEXT).number(length).raw(scalars.bytes, 0, length);
            }
        } else if (scalar == Scalar.TIME) {
            wrong = times.read(fields, slot, scalars, timeType);
            good = wrong == null;
            if (good) {
                ValueBytes.seconds(out, ValueBytes.TIME, times.seconds, times.nanos);
            }
        } else if (kind == Fields.TRUE || kind == Fields.FALSE) {
            good = scalar == Scalar.BOOLEAN;
            out.octet(kind == Fields.TRUE ? ValueBytes.TRUE : ValueBytes.FALSE);
        } else if (find(fields, slot)) {
            switch (scalar) {
                case BOOLEAN -> good = kind != Fields.NUMBER && flag(out);
                case INT, LONG -> good = whole(scalar, out);
                case DATE -> good = kind != Fields.NUMBER && date(out);
                case DURATION -> good = duration(out);
                default -> {
                    wrong = decimal(out);
                    good = wrong == null;
                }
            }
        } else {
            good = false;
        }
        return good || wrong != null ? wrong : misfit(fields, slot, wanted(scalar));
    }

    static String misfit(Fields fields, int slot, String wanted) {
        return "is " + Malformed.excerpt(fields.bytes, fields.from[slot], fields.to[slot]) + "; " + wanted
                + " is wanted";
    }

    private static String wanted(Scalar scalar) {
        return switch (scalar) {
            case BOOLEAN -> "boolean: true or false";
            case INT -> "int: an integer from " + Integer.MIN_VALUE + " to " + Integer.MAX_VALUE + ",";
            case LONG -> "long: an integer from " + Long.MIN_VALUE + " to " + Long.MAX_VALUE + ",";
            case DATE -> "date: ISO-8601, such as 2026-11-21,";
            case DURATION -> "duration: ISO-8601, such as PT1M30S, or a number of seconds,";
            case DECIMAL, TEXT, TIME -> scalar.toString();
        };
    }

    /// Whether the field has characters: a number or a text.
    boolean find(Fields fields, int slot) {
        if (scalars.isEscaped(fields, slot)) {
            bytes = scalars.bytes;
            from = 0;
            to = scalars.textLength;
            return true;
        }
        bytes = fields.bytes;
        from = fields.from[slot];
        to = fields.to[slot];
        return fields.kind[slot] == Fields.NUMBER || fields.kind[slot] == Fields.TEXT;
    }

    /// Whether the characters that were found are these.
    boolean found(byte[] text) {
        return java.util.Arrays.equals(bytes, from, to, text, 0, text.length);
    }

    private String text() {
        return new String(bytes, from, to - from, StandardCharsets.UTF_8);
    }

    private boolean flag(BytesOut out) {
        boolean truth = text().equals("true");
        out.octet(truth ? ValueBytes.TRUE : ValueBytes.FALSE);
        return truth || text().equals("false");
    }

    private boolean whole(Scalar scalar, BytesOut out) {
        boolean negative = from < to && bytes[from] == '-';
        int at = negative ? from + 1 : from;
        boolean plain = at < to && to - at <= LONG_DIGITS;
        long number = 0;
        for (int i = at; i < to && plain; i++) {
            int digit = bytes[i] - '0';
            plain = digit >= 0 && digit <= 9;
            number = number * 10 + digit;
        }
        number = negative ? -number : number;
        if (!plain) {
            BigDecimal any = Decimals.parse(bytes, from, to);
            try {
                number = any == null ? 0 : any.longValueExact();
            } catch (ArithmeticException notWhole) {
                return false;
            }
            plain = any != null;
        }
        if (scalar == Scalar.INT) {
            out.octet(ValueBytes.INT).signed(number);
            return plain && number == (int) number;
        }
        out.octet(ValueBytes.LONG).signed(number);
        return plain;
    }

    private @Nullable String decimal(BytesOut out) {
        boolean negative = from < to && bytes[from] == '-';
        long unscaled = 0;
        int digits = 0;
        int point = -1;
        int at = negative ? from + 1 : from;
        for (; at < to && digits <= LONG_DIGITS; at++) {
            int digit = bytes[at] - '0';
            if (digit >= 0 && digit <= 9) {
                unscaled = unscaled * 10 + digit;
                digits++;
            } else if (bytes[at] == '.' && point < 0 && digits > 0) {
                point = digits;
            } else {
                break;
            }
        }
        if (at == to && digits > 0 && digits <= LONG_DIGITS && point != digits) {
            ValueBytes.decimal(out, negative ? -unscaled : unscaled, point < 0 ? 0 : digits - point);
            return null;
        }
        BigDecimal number = Decimals.parse(bytes, from, to);
        if (number == null) {
            return "is " + Malformed.excerpt(bytes, from, to) + "; a decimal is wanted";
        }
        try {
            ValueBytes.decimal(out, number);
            return null;
        } catch (IllegalArgumentException tooManyDigits) {
            return "is " + Malformed.excerpt(bytes, from, to) + ", which " + tooManyDigits.getMessage();
        }
    }

    private boolean date(BytesOut out) {
        if (to - from > TEMPORAL_LENGTH_MAX) {
            return false;
        }
        try {
            out.octet(ValueBytes.DATE).signed(LocalDate.parse(text()).toEpochDay());
            return true;
        } catch (DateTimeException notIso) {
            return false;
        }
    }

    private boolean duration(BytesOut out) {
        BigDecimal seconds = Decimals.parse(bytes, from, to);
        if (seconds != null) {
            boolean tooLong = seconds.abs().compareTo(SECONDS_MAX) >= 0;
            if (tooLong || seconds.signum() != 0 && seconds.stripTrailingZeros().scale() > 9) {
                return false;
            }
            BigInteger nanos = seconds.movePointRight(9)
                    .setScale(0, RoundingMode.UNNECESSARY)
                    .toBigInteger();
            BigInteger billion = BigInteger.valueOf(1_000_000_000);
            int fraction = nanos.mod(billion).intValue();
            long whole =
                    nanos.subtract(BigInteger.valueOf(fraction)).divide(billion).longValue();
            ValueBytes.seconds(out, ValueBytes.DURATION, whole, fraction);
            return true;
        }
        if (to - from > TEMPORAL_LENGTH_MAX) {
            return false;
        }
        try {
            Duration duration = Duration.parse(text());
            ValueBytes.seconds(out, ValueBytes.DURATION, duration.getSeconds(), duration.getNano());
            return true;
        } catch (DateTimeException notIso) {
            return false;
        }
    }
}
