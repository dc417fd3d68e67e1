package dev.onefold.simulator.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Real processes on a real disk, killed by SIGKILL at random instants: what they had acknowledged is in, and once they
/// are let run to the end the totals are right.
class KillTest {
    private static final int KILLS = 50;
    private static final int TRADES = 120_000;
    private static final int WAIT_MS_MAX = 900;
    private static final long END_SECONDS_MAX = 120;

    @TempDir
    private Path folder;

    private String tell(Path data, Path file) throws IOException, InterruptedException {
        Path told = folder.resolve("told");
        Process child = KilledChild.start(told, "256m", "tell", data.toString(), file.toString(), "0");
        assertThat(child.waitFor(END_SECONDS_MAX, TimeUnit.SECONDS)).isTrue();
        return Files.readString(told);
    }

    @Test
    @Tag("campaign")
    void killed_fifty_times_it_keeps_what_it_acknowledged() throws IOException, InterruptedException {
        SplittableRandom random = new SplittableRandom(1);
        List<String> lines = Trades.trades(TRADES);
        Path file = Files.write(folder.resolve("trades.ndjson"), lines);
        Path log = folder.resolve("log");
        String right = Trades.right(lines).toString();
        int killed = 0;
        for (int run = 0; killed < KILLS; run++) {
            Path data = folder.resolve("data-" + run);
            String verb = run % 2 == 0 ? "append" : "fold";
            long told = 0;
            boolean ended = false;
            while (!ended) {
                Process child =
                        KilledChild.start(log, "256m", verb, data.toString(), file.toString(), String.valueOf(told));
                // Some die while the JVM starts, some at work, and each time it comes further.
                ended = child.waitFor(
                        killed >= KILLS ? END_SECONDS_MAX * 1_000 : random.nextInt(150, WAIT_MS_MAX),
                        TimeUnit.MILLISECONDS);
                if (!ended) {
                    child.destroyForcibly().waitFor();
                    killed++;
                }
                assertThat(ended && child.exitValue() != 0)
                        .describedAs(Files.readString(log))
                        .isFalse();
                told = Math.max(told, KilledChild.acknowledged(log));
            }
            assertThat(tell(data, file)).contains(right, "verified");
        }
    }
}
