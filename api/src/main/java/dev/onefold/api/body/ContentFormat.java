package dev.onefold.api.body;

import dev.onefold.core.pipeline.Input;
import dev.onefold.core.pipeline.Pipeline;
import java.util.Locale;
import java.util.Optional;

/// The format of the records, as a request declares it.
public final class ContentFormat {
    private ContentFormat() {}

    /// The reason to refuse a content that is declared to be of another format than the pipeline's, because each
    /// line would become a dead letter; empty if the content may be read.
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

    /// Whether a content is declared to be one JSON text, and not one for each line.
    public static boolean isJson(String contentType) {
        return type(contentType).equals("application/json");
    }

    private static String type(String contentType) {
        return contentType.replaceFirst(";.*", "").strip().toLowerCase(Locale.ROOT);
    }
}
