package dev.onefold.kafka.format;

import dev.onefold.core.json.Json;
import dev.onefold.core.pipeline.Limits;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.util.Base64;

/// The JSON of a record, of bounded length and depth: few bytes of a record may mean any number of values. Not
/// thread-safe.
final class JsonOut {
    private static final long NANOS = 1_000_000_000;

    private final StringBuilder json = new StringBuilder();
    private int depth;

    /// Appends a part of JSON as it is.
    JsonOut raw(String part) throws Undecodable {
        json.append(part);
        if (json.length() > Limits.RECORD_BYTES_MAX) {
            throw new Undecodable("as JSON it has more than " + Limits.RECORD_BYTES_MAX + " bytes");
        }
        return this;
    }

    JsonOut text(String text) throws Undecodable {
        Json.append(json, text);
        return raw("");
    }

    JsonOut bytes(byte[] bytes) throws Undecodable {
        return text(Base64.getEncoder().encodeToString(bytes));
    }

    /// The shortest decimal number that only this fraction is nearest to; a text of what is no number, which a
    /// pipeline that does not read it passes over.
    JsonOut fraction(double value, boolean isFloat) throws Undecodable {
        if (!Double.isFinite(value)) {
            return text(Double.toString(value));
        }
        return raw(isFloat ? Float.toString((float) value) : Double.toString(value));
    }

    /// An instant in UTC.
    ///
    /// @param digits of the fraction of a second; -1 for 0, 3, 6 or 9, as needed
    static String instant(long seconds, long nanos, int digits) throws Undecodable {
        DateTimeFormatterBuilder form = new DateTimeFormatterBuilder();
        DateTimeFormatter text = (digits < 0 ? form.appendInstant() : form.appendInstant(digits)).toFormatter();
        try {
            return text.format(Instant.ofEpochSecond(seconds, nanos));
        } catch (DateTimeException | ArithmeticException e) {
            throw new Undecodable(seconds + " s is no time");
        }
    }

    /// The same, counted in parts of a second.
    static String instant(long value, int digits) throws Undecodable {
        long parts = digits == 3 ? 1_000 : digits == 6 ? 1_000_000 : NANOS;
        return instant(Math.floorDiv(value, parts), Math.floorMod(value, parts) * (NANOS / parts), digits);
    }

    /// Begins an object or array.
    JsonOut open(String bracket) throws Undecodable {
        if (++depth > Limits.NESTING_MAX) {
            throw new Undecodable("it is nested deeper than " + Limits.NESTING_MAX);
        }
        return raw(bracket);
    }

    JsonOut close(String bracket) throws Undecodable {
        depth--;
        return raw(bracket);
    }

    /// Separates the next value of an object or array from the one before.
    JsonOut next() throws Undecodable {
        char last = json.charAt(json.length() - 1);
        return last == '{' || last == '[' ? this : raw(",");
    }

    /// Begins the next value of an object.
    JsonOut name(String name) throws Undecodable {
        return next().text(name).raw(":");
    }

    byte[] written() {
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }
}
