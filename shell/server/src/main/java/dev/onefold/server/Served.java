package dev.onefold.server;

import dev.onefold.api.Failure;
import dev.onefold.core.Engine;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// A pipeline that is served.
///
/// @param engine closed by the caller, after the service
/// @param answers the file that remembers the answers to requests with an idempotency key; `null` if such requests are
///     refused
/// @param refusal why records cannot be taken now; empty while they can
/// @param troubles inputs that have stopped, as an operator reads it; empty while all is well
public record Served(
        Engine engine, @Nullable Path answers, Supplier<Optional<Failure>> refusal, Supplier<List<String>> troubles) {
    /// A pipeline that takes records at any time and has no other input.
    public static Served of(Engine engine, @Nullable Path answers) {
        return new Served(engine, answers, Optional::empty, List::of);
    }
}
