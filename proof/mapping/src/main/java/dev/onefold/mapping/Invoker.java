package dev.onefold.mapping;

import java.util.concurrent.CompletableFuture;

/// Invokes one function.
public interface Invoker {
    /// The answer's bytes; fails if the function failed, was killed or took too long.
    ///
    /// @param event JSON, as Lambda gives it to the function
    CompletableFuture<byte[]> invoke(byte[] event);
}
