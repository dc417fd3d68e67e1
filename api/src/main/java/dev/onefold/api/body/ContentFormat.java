package dev.onefold.api.body;

import dev.onefold.core.pipeline.Input;
import dev.onefold.core.pipeline.Pipeline;
import java.util.Locale;
import java.util.Optional;

/// What a request says that its records are.
public final class ContentFormat {
    private ContentFormat() {}

    /// Why a content is not taken that says to be of the other format: each line would be a dead letter.
    ///
    /// @param contentType the field `Content-Type`; empty without it
    public static Optional<String> refusal(String contentType, Pipeline pipeline) {
        String type = contentType.replaceFirst(";.*", "").strip().toLowerCase(Locale.ROOT);
        boolean isCsv = pipeline.input().format() instanceof Input.Format.Csv;
        if (isCsv ? type.endsWith("json") : type.equals("text/csv")) {
            return Optional.of("Pipeline " + pipeline.name() + " reads " + (isCsv ? "CSV" : "JSON, one record a line")
                    + ", and the content says to be something else.");
        }
        return Optional.empty();
    }
}
