package dev.onefold.aws.event;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/// A function's answer to a batch where `ReportBatchItemFailures` is on. Without failures the whole batch is
/// done. For a stream, all records from the lowest sequence number on come again; for a queue, exactly these
/// messages.
///
/// @param failures sequence numbers, or ids of messages
public record BatchResponse(List<String> failures) {
    public static final BatchResponse DONE = new BatchResponse(List.of());

    public BatchResponse {
        failures = List.copyOf(failures);
        if (failures.stream().anyMatch(String::isEmpty)) {
            // The service takes an empty identifier for a failure of the whole batch, and says so nowhere else.
            throw new IllegalArgumentException("A failure has no identifier: " + failures);
        }
    }

    /// The answer's bytes.
    public byte[] json() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator generator = EventJson.FACTORY.createGenerator(bytes)) {
            generator.writeStartObject();
            generator.writeArrayFieldStart("batchItemFailures");
            for (String failure : failures) {
                generator.writeStartObject();
                generator.writeStringField("itemIdentifier", failure);
                generator.writeEndObject();
            }
            generator.writeEndArray();
            generator.writeEndObject();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return bytes.toByteArray();
    }
}
