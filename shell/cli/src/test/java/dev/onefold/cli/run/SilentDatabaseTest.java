package dev.onefold.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Where a server hangs, or its machine has gone, the system takes the connection, and nobody answers.
@Tag("campaign")
class SilentDatabaseTest {
    @TempDir
    Path folder;

    @Test
    @Timeout(120)
    void a_run_folds_says_that_nothing_was_published_and_ends() throws IOException {
        Cli cli = Cli.in(folder);
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            cli.write(
                    "trades.yaml",
                    Cli.TRADES + "publish: {jdbc: \"jdbc:postgresql://127.0.0.1:" + silent.getLocalPort()
                            + "/postgres\", table: totals}\n");
            cli.write("rows.ndjson", Cli.trade("t1", 1, "FX", "EMEA", "1.50"));
            Result run = cli.run("run", "trades.yaml", "--input", "rows.ndjson");
            assertThat(run.out()).contains("accepted");
            assertThat(run.err()).contains("The database says: Connection attempt timed out. ");
            Result verified = cli.run("verify", "trades.yaml", "--published");
            assertThat(verified.exitCode()).isEqualTo(1);
            assertThat(verified.err()).contains("The database says: Connection attempt timed out");
        }
    }
}
