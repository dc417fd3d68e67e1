package dev.onefold.batch;

import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;

/// A sealed batch, or a part of one that was divided. Its content never changes.
///
/// @param pipeline name of the pipeline that sealed it
/// @param id name of the batch, the same at each attempt: the pipeline, a hyphen and the number
/// @param number dense, from 1 on, at least six digits: `000042`; of a part `000042.1`; of a direct record on
///     AWS made of the id of the record, with points in it
/// @param records in the content, one a line; at least 1
/// @param bytes of the content
/// @param sha256 of the content, 64 hex digits
/// @param sealed when the batch was sealed
/// @param attempt number of the attempt to deliver it, from 1
/// @param content of the batch, to be read any number of times
public record Batch(
        String pipeline,
        String id,
        String number,
        long records,
        long bytes,
        String sha256,
        Instant sealed,
        int attempt,
        Content content) {

    /// Opens the content at its first byte. The caller closes it.
    public InputStream open() throws IOException {
        return content.open();
    }

    /// Bytes that can be read any number of times.
    @FunctionalInterface
    public interface Content {
        /// A stream of the same bytes at each call.
        InputStream open() throws IOException;
    }
}
