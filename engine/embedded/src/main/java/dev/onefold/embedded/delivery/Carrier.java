package dev.onefold.embedded.delivery;

import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import java.io.IOException;
import java.io.InputStream;

/// Hands the content of a batch to its receiver, and reports the outcome. Several threads may call.
public interface Carrier {
    /// Makes one attempt.
    ///
    /// @param manifest of the batch or of a part of it
    /// @param attempt from 1
    Outcome deliver(Manifest manifest, int attempt, Content content) throws InterruptedException;

    /// The content of a batch as it is delivered: the same bytes however often it is opened.
    interface Content {
        InputStream open() throws IOException;
    }
}
