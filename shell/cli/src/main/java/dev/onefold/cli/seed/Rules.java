package dev.onefold.cli.seed;

import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import java.util.function.Supplier;

/// The rules that make a seeding or a comparison exact, as reasons why a command is refused.
final class Rules {
    private Rules() {}

    /// What a rule gives.
    ///
    /// @throws CommandFailure with the reason of an [IllegalArgumentException]
    static <T> T orRefused(Supplier<T> rule) {
        try {
            return rule.get();
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(ExitCode.DIFFERENT, e.getMessage() + ".", e);
        }
    }

    /// Requires that a rule holds.
    ///
    /// @throws CommandFailure with the reason of an [IllegalArgumentException]
    static void require(Runnable rule) {
        orRefused(() -> {
            rule.run();
            return true;
        });
    }
}
