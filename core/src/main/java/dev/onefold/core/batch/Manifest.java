package dev.onefold.core.batch;

import dev.onefold.core.document.Json;
import dev.onefold.core.document.JsonText;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The proof of the content of a batch: its receiver needs nothing else to find out whether a batch or a record
/// is missing or doubled. It is written as one line of JSON.
///
/// @param id of the batch: the pipeline's name, a hyphen and the number; the same at each attempt
/// @param file name of the content, without its folder; empty if the content is no file
/// @param records in the content, one a line
/// @param bytes of the content as it is delivered, compressed or not
/// @param sha256 of the content as it is delivered, in hex
/// @param previous SHA-256 of the content of the batch before; of a part: of the batch before the whole one. Empty for
///     the first batch and its parts, and for parts that an earlier version delivered
/// @param of of a part: the SHA-256 of the whole batch; empty for a whole batch
/// @param first when the first record arrived
/// @param last when the last record arrived
/// @param sealed when the batch was sealed
public record Manifest(
        String id,
        BatchNumber number,
        String file,
        long records,
        long bytes,
        String sha256,
        String previous,
        String of,
        Instant first,
        Instant last,
        Instant sealed) {
    private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");

    /// The id of a batch.
    public static String id(String pipeline, BatchNumber number) {
        return pipeline + "-" + number;
    }

    /// The same, of a content that is in this file.
    ///
    /// @param name of the file, without its folder
    public Manifest in(String name) {
        return new Manifest(id, number, name, records, bytes, sha256, previous, of, first, last, sealed);
    }

    /// The name of the pipeline; empty if the id is not made of it and the number.
    public String pipeline() {
        String end = "-" + number;
        return id.endsWith(end) ? id.substring(0, id.length() - end.length()) : "";
    }

    /// As it is written, without a line end.
    public String toJson() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("batch", id);
        fields.put("number", number.toString());
        if (!file.isEmpty()) {
            fields.put("file", file);
        }
        fields.put("records", records);
        fields.put("bytes", bytes);
        fields.put("sha256", sha256);
        if (!previous.isEmpty()) {
            fields.put("previous", previous);
        }
        if (!of.isEmpty()) {
            fields.put("of", of);
        }
        fields.put("first", first.toString());
        fields.put("last", last.toString());
        fields.put("sealed", sealed.toString());
        return Json.of(fields);
    }

    /// The manifest that a text is; empty if it is none.
    public static Optional<Manifest> read(String text) {
        Problems problems = new Problems();
        if (!(JsonText.read(text, problems) instanceof Node.Mapping fields) || !problems.isEmpty()) {
            return Optional.empty();
        }
        Map<String, String> texts = new LinkedHashMap<>();
        for (Node.Entry entry : fields.entries()) {
            if (!(entry.value() instanceof Node.Scalar scalar)) {
                return Optional.empty();
            }
            texts.put(entry.name().text(), scalar.text());
        }
        try {
            return Optional.ofNullable(of(texts));
        } catch (NumberFormatException | DateTimeException e) {
            return Optional.empty();
        }
    }

    private static @Nullable Manifest of(Map<String, String> texts) {
        Optional<BatchNumber> number = BatchNumber.read(texts.getOrDefault("number", ""));
        String sha256 = texts.getOrDefault("sha256", "");
        String previous = texts.getOrDefault("previous", "");
        String of = texts.getOrDefault("of", "");
        if (number.isEmpty() || !isHash(sha256) || !isHashOrNone(previous) || !isHashOrNone(of)) {
            return null;
        }
        return new Manifest(
                texts.getOrDefault("batch", ""),
                number.get(),
                texts.getOrDefault("file", ""),
                Long.parseLong(texts.getOrDefault("records", "")),
                Long.parseLong(texts.getOrDefault("bytes", "")),
                sha256,
                previous,
                of,
                Instant.parse(texts.getOrDefault("first", "")),
                Instant.parse(texts.getOrDefault("last", "")),
                Instant.parse(texts.getOrDefault("sealed", "")));
    }

    private static boolean isHash(String text) {
        return SHA256.matcher(text).matches();
    }

    private static boolean isHashOrNone(String text) {
        return text.isEmpty() || isHash(text);
    }
}
