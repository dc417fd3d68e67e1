package dev.onefold.cli.seed;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.core.Engine;
import dev.onefold.tables.Seeder;
import dev.onefold.tables.compare.Report;
import dev.onefold.tables.compare.SourceComparison.Passing;
import dev.onefold.tables.compare.SourceComparison.Waiting;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;

/// Where the engine is whose rows are compared: a data directory, or a deployment.
public interface Home {
    /// Options that only commands for such an engine have, by a name for each group.
    Map<String, Object> options();

    /// Clients for the source.
    Clients clients();

    /// Notes how the engine's data are, before anything of the source is read.
    void note(Engine engine) throws IOException;

    /// The cost of the engine's side of the comparison; empty if it costs nothing.
    String announcement(Engine engine);

    /// Begins a comparison.
    ///
    /// @throws dev.onefold.cli.call.CommandFailure if it is to repair, and another one repairs
    Session begin(Engine engine, Opened opened, Work work) throws IOException;

    /// The caller and the settings of a comparison.
    ///
    /// @param lag the longest time that a change takes from the source to the engine
    record Work(Caller caller, StopRequest stop, Duration lag, boolean repairs) {
        /// How the engine is waited for.
        public Waiting waiting() {
            return new Waiting(lag, stop::isMade, caller::note);
        }
    }

    /// One comparison.
    interface Session extends AutoCloseable {
        /// The engine, as it is compared.
        Engine engine();

        /// The number of the re-sync; the greatest number there is if nothing is repaired.
        long number();

        /// Waits for the engine.
        Passing passing();

        /// Takes repairs.
        Seeder.Intake intake();

        /// Ends a comparison that has come to its end.
        ///
        /// @throws IOException if what was compared is not what there is
        void finish(Report report) throws IOException;

        @Override
        void close() throws IOException;
    }
}
