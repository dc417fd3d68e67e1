package dev.onefold.simulator.keyed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.EngineException;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.fakes.disk.Faults;
import dev.onefold.fakes.disk.SimulatedCrash;
import dev.onefold.fakes.disk.SimulatedDisk;
import dev.onefold.fixtures.Seeds;
import dev.onefold.oracle.KeyedOracle.Order;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Several sources and threads hand over events of the same keys, and the process ends at any moment: by a simulated
/// crash or power cut, and by SIGKILL.
class ManySourcesTest {
    private static final int PIECES_MAX = 9;
    private static final int LOOK_MS = 5;

    @TempDir
    private Path folder;

    /// Lives on a simulated disk, each with a raised version.
    private static void live(Order order, SplittableRandom random) throws InterruptedException {
        ManySources sources = new ManySources(order, 20, random.nextLong());
        SimulatedDisk disk = SimulatedDisk.empty();
        for (int life = 1; life <= 5; life++) {
            boolean isLast = life == 5;
            disk.inject(isLast ? Faults.none() : Faults.none().withCrashAtChange(random.nextInt(20, 400)));
            EmbeddedEngine engine = null;
            try {
                engine = EmbeddedEngine.open(
                        disk.getPath("/data/runs"),
                        sources.function(life),
                        KeyedSimulation.settings(random.nextInt(1, 4), random.nextBoolean(), disk, random.split())
                                .withThreads(2));
                for (Feed feed : sources.feeds) {
                    assertThat((long) feed.in(engine)).describedAs(feed.name()).isGreaterThanOrEqualTo(feed.durable());
                }
                sources.send(engine, _ -> {});
                sources.check(engine);
            } catch (ExecutionException | SimulatedCrash | EngineException crash) {
                assertThat(isLast).describedAs(String.valueOf(crash)).isFalse();
            }
            disk = random.nextBoolean() ? disk.crash(random) : disk.kill();
            end(engine);
        }
    }

    /// Releases the memory of a process that has ended.
    private static void end(@Nullable EmbeddedEngine killed) {
        try {
            if (killed != null) {
                killed.close();
            }
        } catch (SimulatedCrash | EngineException ended) {
            assertThat(ended).isNotNull(); // Its disk is gone.
        }
    }

    private static void liveAll(int seeds) {
        Seeds.forAllSeeds(seeds, random -> {
            for (Order order : Order.values()) {
                live(order, new SplittableRandom(random.nextLong()));
            }
        });
    }

    @Test
    void hazard_64_whenever_the_process_ends_events_of_several_sources_are_each_folded_once() {
        liveAll(1);
    }

    @Test
    @Tag("campaign")
    void whenever_the_process_ends_in_many_lives_events_of_several_sources_are_each_folded_once() {
        liveAll(40);
    }

    /// Real processes, each killed after it has reported some pieces.
    private void kill(int times, long seed) throws IOException, InterruptedException {
        SplittableRandom random = new SplittableRandom(seed);
        for (Order order : Order.values()) {
            Path log = folder.resolve("log-" + order);
            Path data = folder.resolve("data-" + order);
            List<String> arguments = new ArrayList<>(List.of(data.toString(), order.name(), "0", "0", "0", "0"));
            for (int killed = 0; killed <= times; killed++) {
                Process child = ManySourcesChild.start(log, arguments);
                int pieces = killed < times ? random.nextInt(1, PIECES_MAX) : Integer.MAX_VALUE;
                boolean ended = child.waitFor(LOOK_MS, TimeUnit.MILLISECONDS);
                while (!ended && told(log).size() < pieces) {
                    ended = child.waitFor(LOOK_MS, TimeUnit.MILLISECONDS);
                }
                child.destroyForcibly().waitFor();
                assertThat(ended ? child.exitValue() : 0)
                        .describedAs(Files.readString(log))
                        .isZero();
                for (String line : told(log)) {
                    int feed = 2 + line.charAt(0) - '0';
                    long told = Math.max(Long.parseLong(arguments.get(feed)), Long.parseLong(line.substring(2)));
                    arguments.set(feed, String.valueOf(told));
                }
            }
        }
    }

    private static List<String> told(Path log) throws IOException {
        String text = Files.readString(log);
        return text.substring(0, text.lastIndexOf('\n') + 1)
                .lines()
                .filter(line -> line.matches("\\d \\d+"))
                .toList();
    }

    @Test
    @Tag("campaign")
    void hazard_64_killed_six_times_in_each_order_it_has_folded_each_event_once()
            throws IOException, InterruptedException {
        kill(6, 2);
    }
}
