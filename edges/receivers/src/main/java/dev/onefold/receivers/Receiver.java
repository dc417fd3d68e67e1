package dev.onefold.receivers;

import dev.onefold.core.batch.Outcome;
import java.util.Optional;

/// Hands batches over, and reports the outcome of each attempt. Several threads may call it at a time, each
/// with another batch.
public interface Receiver extends AutoCloseable {
    /// Makes one attempt. It ends in bounded time.
    ///
    /// @throws InterruptedException if the thread is interrupted; then the effect is unknown
    /// @throws dev.onefold.core.EngineException if the content cannot be read or is not that of the
    ///     manifest; then the receiver has nothing that it could take for the batch
    Outcome deliver(Handover handover) throws InterruptedException;

    /// The reason why the next attempt would fail, as far as it is known without sending anything; empty if none
    /// is known. A name service may answer slowly, so the caller has a thread for this call.
    default Optional<String> trouble() {
        return Optional.empty();
    }

    /// Whether a call that was given up, because its time was over, still runs in this process.
    default boolean isLeftRunning() {
        return false;
    }

    /// May be called twice. No attempt may be under way.
    @Override
    default void close() {}
}
