package dev.onefold.cli.trial;

import dev.onefold.aws.Connection;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.load.TradeRiskTotals;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ServiceLoader;

/// The servers that stand in for AWS on this machine. The module `local` provides them, and is never shipped: the
/// launcher of a clone puts it on the class path of the commands that need it.
public interface StandIns {
    /// An empty account, which ends when it is closed.
    record EmptyAccount(Connection.Place place, Runnable end) implements AutoCloseable {
        @Override
        public void close() {
            end.run();
        }
    }

    /// Opens an empty account.
    EmptyAccount account() throws IOException;

    /// Folds the messages of the demo by a deployment while requests and processes fail, and compares the totals.
    ExitCode demonstrate(Caller caller, Path messages, Pipeline pipeline, TradeRiskTotals right) throws IOException;

    /// The stand-ins of this process.
    ///
    /// @param command the command that needs them, as a person writes it
    /// @throws CommandFailure if this program was not started from a clone
    static StandIns of(String command) {
        return ServiceLoader.load(StandIns.class)
                .findFirst()
                .orElseThrow(() -> CommandFailure.usage("'" + command
                        + "' builds what stands in for AWS from its source, so it runs from a clone: start it there as"
                        + " ./onefold."));
    }
}
