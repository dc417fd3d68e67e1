package dev.onefold.core.batch;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.json.Json;
import dev.onefold.core.json.JsonRecord;
import dev.onefold.core.json.JsonText;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Optional;
import java.util.regex.Pattern;

/// The proof of the content of a batch: its receiver needs nothing else to find out whether a batch or a record
/// is missing or doubled. It is written as one line of JSON.
///
/// @param id of the batch: the pipeline's name, a hyphen and the number; the same at each attempt
/// @param file name of the content, without its folder; empty if the content is not a file
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
    private static final JsonRecord<Manifest> JSON = JsonRecord.of(
            Manifest.class,
            "batch=id? number file? records bytes sha256 previous? of? first last sealed",
            BatchNumber.JSON);
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
        return Json.of(JSON.write(this));
    }

    /// The manifest of a text; empty if the text is not a manifest.
    public static Optional<Manifest> read(String text) {
        Node json = JsonText.read(text, new Problems());
        if (json == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(JSON.read(json)).filter(Manifest::hasHashes);
        } catch (IllegalStateException | IllegalArgumentException | DateTimeException e) {
            return Optional.empty();
        }
    }

    private boolean hasHashes() {
        return isHash(sha256) && isHashOrNone(previous) && isHashOrNone(of);
    }

    private static boolean isHash(String text) {
        return SHA256.matcher(text).matches();
    }

    private static boolean isHashOrNone(String text) {
        return text.isEmpty() || isHash(text);
    }
}
