package dev.onefold.aws.event;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.onefold.tables.ItemJson;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// A change of a table's item, which becomes one record of plain JSON, so that an ordinary pipeline file reads it:
///
/// ```json
/// {"eventName":"MODIFY","SequenceNumber":"4421584500000000017450439092","eventSourceARN":"arn:aws:dynamodb:…",
/// "ApproximateCreationDateTime":"2021-11-01T02:40:07.123Z","Keys":{"id":"t-1"},"NewImage":{"id":"t-1","value":7.50},"OldImage":{"id":"t-1","value":7}}
/// ```
///
/// A member that the stream does not carry is not there either: an image, or the time. An item that was removed by its
/// time to live has a `userIdentity`.
record TableChange(
        @Nullable String sequence,
        @Nullable Instant time,
        byte @Nullable [] keys,
        byte @Nullable [] newImage,
        byte @Nullable [] oldImage) {
    /// The principal that removes an item whose time to live is over.
    static final String EXPIRY = "dynamodb.amazonaws.com";

    /// The kind of change to the item.
    enum Kind {
        INSERT,
        MODIFY,
        REMOVE;

        static @Nullable Kind named(@Nullable String name) {
            return switch (name) {
                case "INSERT" -> INSERT;
                case "MODIFY" -> MODIFY;
                case "REMOVE" -> REMOVE;
                case null, default -> null;
            };
        }
    }

    /// Reads the object that begins at the parser's place.
    static @Nullable TableChange read(JsonParser parser) throws IOException {
        if (parser.currentToken() == JsonToken.VALUE_NULL) {
            return null;
        }
        EventJson.expectObject(parser);
        String sequence = null;
        Instant time = null;
        byte[] keys = null;
        byte[] newImage = null;
        byte[] oldImage = null;
        for (String name = EventJson.member(parser); name != null; name = EventJson.member(parser)) {
            switch (name) {
                case "SequenceNumber" -> sequence = EventJson.text(parser);
                case "ApproximateCreationDateTime" -> time = time(parser);
                case "Keys" -> keys = item(parser);
                case "NewImage" -> newImage = item(parser);
                case "OldImage" -> oldImage = item(parser);
                default -> parser.skipChildren();
            }
        }
        return new TableChange(sequence, time, keys, newImage, oldImage);
    }

    private static byte @Nullable [] item(JsonParser parser) throws IOException {
        if (parser.currentToken() == JsonToken.VALUE_NULL) {
            return null;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator generator = EventJson.FACTORY.createGenerator(bytes)) {
            ItemJson.copyItem(parser, generator);
        }
        return bytes.toByteArray();
    }

    private static @Nullable Instant time(JsonParser parser) throws IOException {
        if (parser.currentToken() == JsonToken.VALUE_NULL) {
            return null;
        }
        Instant time = EventJson.instant(parser);
        if (time == null) {
            throw EventJson.broken(parser, "ApproximateCreationDateTime is not a number of seconds, or no time");
        }
        return time;
    }

    /// As [Arrival#atMs] has it.
    long atMs() {
        return Arrival.ms(time);
    }

    /// The record.
    ///
    /// @param stream the ARN of the stream
    /// @param isExpiry whether the item was removed by its time to live
    byte[] json(Kind kind, String sequenceNumber, String stream, boolean isExpiry) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        ascii(bytes, "{\"eventName\":\"" + kind + "\",\"SequenceNumber\":\"" + sequenceNumber + "\"");
        member(bytes, "eventSourceARN", EventJson.quoted(stream));
        if (isExpiry) {
            ascii(bytes, ",\"userIdentity\":{\"type\":\"Service\",\"principalId\":\"" + EXPIRY + "\"}");
        }
        if (time != null) {
            ascii(bytes, ",\"ApproximateCreationDateTime\":\"" + time + "\"");
        }
        member(bytes, "Keys", keys);
        member(bytes, "NewImage", newImage);
        member(bytes, "OldImage", oldImage);
        bytes.write('}');
        return bytes.toByteArray();
    }

    private static void member(ByteArrayOutputStream bytes, String name, byte @Nullable [] json) {
        if (json != null) {
            ascii(bytes, ",\"" + name + "\":");
            bytes.writeBytes(json);
        }
    }

    private static void ascii(ByteArrayOutputStream bytes, String text) {
        bytes.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    }
}
