package dev.onefold.api.body;

import dev.onefold.core.pipeline.Input;
import dev.onefold.core.pipeline.Input.Records;
import dev.onefold.core.pipeline.Pipeline;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Locale;
import java.util.Optional;

/// The format of the records, as a request declares it.
public final class ContentFormat {
    private ContentFormat() {}

    /// The reason to refuse a content that is declared to be of another format than the pipeline's, because
    /// each line would become a dead letter; empty if the content may be read.
    ///
    /// @param contentType the field `Content-Type`; empty without it
    public static Optional<String> refusal(String contentType, Pipeline pipeline) {
        String type = type(contentType);
        boolean isCsv = pipeline.input().format() instanceof Input.Format.Csv;
        if (isCsv ? type.endsWith("json") : type.equals("text/csv")) {
            return Optional.of("Pipeline " + pipeline.name() + " reads " + (isCsv ? "CSV" : "JSON, one record a line")
                    + ", and the content says to be something else.");
        }
        return Optional.empty();
    }

    /// The records of a content that does not hold one a line: with `application/json` it may be an array, or
    /// objects over several lines.
    ///
    /// @return the records, one a line; empty if the content is such lines already
    /// @throws IllegalArgumentException if the content cannot be read as records; the message is the reason
    public static Optional<byte[]> lines(String contentType, Pipeline pipeline, byte[] content) {
        if (pipeline.input().format() instanceof Input.Format.Csv) {
            return Optional.empty();
        }
        boolean isJson = type(contentType).equals("application/json");
        Records held = isJson ? JsonRecords.seenAsJson(content) : JsonRecords.seen(content, content.length);
        if (held == Records.LINES || !isJson && !pipeline.input().readsBy(3)) {
            return Optional.empty();
        }
        if (!isJson) {
            throw new IllegalArgumentException("The content holds " + JsonRecords.described(held)
                    + ", and is read as one object a line. Nothing was taken. Send it with Content-Type:"
                    + " application/json, or one record a line.");
        }
        try (InputStream lines = JsonRecords.of(held, new ByteArrayInputStream(content))) {
            return Optional.of(lines.readAllBytes());
        } catch (IOException e) {
            String reason = e instanceof JsonRecords.Broken broken ? broken.reason() : String.valueOf(e.getMessage());
            throw new IllegalArgumentException(
                    "The content is sent as application/json, but " + reason
                            + ". Nothing was taken. Send whole JSON texts, or one record a line.",
                    e);
        }
    }

    private static String type(String contentType) {
        return contentType.replaceFirst(";.*", "").strip().toLowerCase(Locale.ROOT);
    }
}
