package dev.onefold.aws.event;

import com.fasterxml.jackson.core.ErrorReportConfiguration;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import dev.onefold.core.json.Json;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// How events are parsed, within limits.
final class EventJson {
    /// A table nests 32 levels, each of which takes two here, below the four of the envelope.
    static final int NESTING_MAX = 100;

    /// As many as the stream's service writes.
    static final int SEQUENCE_DIGITS_MAX = 56;

    private static final int TIME_CHARACTERS_MAX = 40;
    private static final int TIME_EXPONENT_MAX = 40;

    /// No payload in a message: an excerpt is no longer than this.
    private static final int EXCERPT_CHARACTERS_MAX = 40;

    private static final Pattern SEQUENCE = Pattern.compile("[0-9]{1," + SEQUENCE_DIGITS_MAX + "}");

    static final JsonFactory FACTORY = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(NESTING_MAX)
                    .maxStringLength(Invocation.EVENT_BYTES_MAX)
                    .maxNameLength(Invocation.EVENT_BYTES_MAX)
                    .build())
            .errorReportConfiguration(ErrorReportConfiguration.builder()
                    .maxErrorTokenLength(EXCERPT_CHARACTERS_MAX)
                    .build())
            .enable(JsonWriteFeature.COMBINE_UNICODE_SURROGATES_IN_UTF8)
            // Names of attributes are a user's: any number of them, and none may fail a batch by its hash.
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .disable(JsonFactory.Feature.FAIL_ON_SYMBOL_HASH_OVERFLOW)
            .build();

    private EventJson() {}

    /// The text at the parser's place, or `null` where that is what stands there.
    static @Nullable String text(JsonParser parser) throws IOException {
        return switch (parser.currentToken()) {
            case VALUE_NULL -> null;
            case VALUE_STRING -> parser.getText();
            case JsonToken other -> throw broken(parser, parser.currentName() + " is " + other + ", not a text");
        };
    }

    /// The time at the parser's place; `null` where there is none. Services write epoch seconds, as `1480642020`, as
    /// `1795228260.0` and as `1.635734407123E9`.
    static @Nullable Instant instant(JsonParser parser) throws IOException {
        if (!parser.currentToken().isNumeric() || parser.getTextLength() > TIME_CHARACTERS_MAX) {
            parser.skipChildren();
            return null;
        }
        BigDecimal seconds = new BigDecimal(parser.getText());
        if (Math.abs((long) seconds.scale()) > TIME_EXPONENT_MAX
                || seconds.abs().compareTo(BigDecimal.valueOf(Instant.MAX.getEpochSecond())) > 0) {
            return null;
        }
        BigDecimal nanos = seconds.setScale(9, RoundingMode.FLOOR);
        BigDecimal whole = nanos.setScale(0, RoundingMode.FLOOR);
        return Instant.ofEpochSecond(
                whole.longValueExact(), nanos.subtract(whole).unscaledValue().longValueExact());
    }

    /// Fails unless an object begins at the parser's place.
    static void expectObject(JsonParser parser) throws IOException {
        if (parser.currentToken() != JsonToken.START_OBJECT) {
            throw broken(parser, "an object is expected, and there is " + parser.currentToken());
        }
    }

    /// Goes on to the next member of an object, and to its value.
    ///
    /// @return the member's name; `null` at the end of the object
    static @Nullable String member(JsonParser parser) throws IOException {
        if (parser.nextToken() == JsonToken.END_OBJECT) {
            return null;
        }
        String name = parser.currentName();
        parser.nextToken();
        return name;
    }

    /// Fails unless an array begins at the parser's place.
    static void expectArray(JsonParser parser) throws IOException {
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            throw broken(parser, "an array is expected, and there is " + parser.currentToken());
        }
    }

    /// A text as JSON has it.
    static byte[] quoted(String text) {
        return Json.of(text).getBytes(StandardCharsets.UTF_8);
    }

    static JsonParseException broken(JsonParser parser, String message) {
        return new JsonParseException(parser, message);
    }

    static boolean isSequence(String text) {
        return SEQUENCE.matcher(text).matches();
    }

    /// The cause and the place of the failure, without the payload.
    static String reason(IOException failure) {
        if (!(failure instanceof JsonProcessingException json)) {
            return String.valueOf(failure.getMessage());
        }
        JsonLocation location = json.getLocation();
        return json.getOriginalMessage() + (location == null ? "" : ", at byte " + location.getByteOffset());
    }
}
