package dev.onefold.mapping.source;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;

/// Writes what stands in an event.
final class RecordJson {
    private static final JsonFactory FACTORY = new JsonFactory();

    private RecordJson() {}

    /// The members of an object.
    interface Members {
        void write(JsonGenerator json) throws IOException;
    }

    /// An object's bytes.
    static byte[] object(Members members) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator json = FACTORY.createGenerator(bytes)) {
            json.writeStartObject();
            members.write(json);
            json.writeEndObject();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return bytes.toByteArray();
    }

    /// Seconds with milliseconds, as the services write instants.
    static BigDecimal seconds(Instant instant) {
        return BigDecimal.valueOf(instant.toEpochMilli(), 3).setScale(3, RoundingMode.UNNECESSARY);
    }

    /// The region that an ARN names.
    static String region(String arn) {
        String[] parts = arn.split(":", 6);
        if (parts.length < 6 || !parts[0].equals("arn")) {
            throw new IllegalArgumentException(
                    "'" + arn + "' is no ARN such as arn:aws:kinesis:eu-central-1:000000000000:stream/trades");
        }
        return parts[3];
    }
}
