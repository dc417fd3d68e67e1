package dev.onefold.aws.event;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// The part of a record that the stream wrote.
///
/// @param atMs as [Arrival#atMs] has it
record KinesisData(@Nullable String sequence, byte @Nullable [] data, long atMs) {
    /// Reads the object that begins at the parser's place.
    static @Nullable KinesisData read(JsonParser parser) throws IOException {
        if (parser.currentToken() == JsonToken.VALUE_NULL) {
            return null;
        }
        EventJson.expectObject(parser);
        String sequence = null;
        byte[] data = null;
        Instant at = null;
        for (String name = EventJson.member(parser); name != null; name = EventJson.member(parser)) {
            switch (name) {
                case "sequenceNumber" -> sequence = EventJson.text(parser);
                case "data" -> data = parser.getBinaryValue();
                case "approximateArrivalTimestamp" -> at = EventJson.instant(parser);
                default -> parser.skipChildren();
            }
        }
        return new KinesisData(sequence, data, Arrival.ms(at));
    }
}
