package dev.onefold.simulator.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.fakes.disk.Faults;
import dev.onefold.fakes.disk.SimulatedCrash;
import dev.onefold.fakes.disk.SimulatedDisk;
import dev.onefold.fixtures.Seeds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The power goes at any change of the disk, and of what was not forced any part is lost, torn or out of order. From
/// each instant several images are taken.
class CrashImagesTest {
    private static final List<String> LINES = Trades.trades(160);
    private static final int IMAGES_PER_INSTANT = 5;

    private static void cut(RandomGenerator random) {
        SimulatedDisk disk = SimulatedDisk.empty();
        disk.inject(Faults.none().withCrashAtChange(random.nextInt(1, 400)));
        int acknowledged = 0;
        int folded = 0;
        var settings = Trades.settings(random.nextInt(1, 4));
        if (random.nextBoolean()) {
            settings = settings.withCheckpointInterval(Duration.ZERO);
        }
        try (EmbeddedEngine engine = Trades.open(Trades.directory(disk), settings)) {
            while (acknowledged < 80) {
                int more = Math.min(80 - acknowledged, random.nextInt(1, 20));
                acknowledged = (int) engine.append("s", LINES.subList(acknowledged, acknowledged + more))
                        .acknowledged();
                if (random.nextInt(3) == 0) {
                    int to = Math.min(80, folded + random.nextInt(1, 40));
                    Trades.fold(engine, Trades.file("file", LINES.subList(80, 80 + to)));
                    folded = to;
                }
            }
        } catch (SimulatedCrash powerGone) {
            assertThat(disk.isOpen()).isFalse();
        }
        for (int image = 0; image < IMAGES_PER_INSTANT; image++) {
            requireRight(disk.copy().crash(random), acknowledged, folded);
        }
    }

    private static void requireRight(SimulatedDisk image, int acknowledged, int folded) {
        try (EmbeddedEngine engine = Trades.open(image)) {
            int in = (int) engine.acknowledged("s");
            assertThat(in).isGreaterThanOrEqualTo(acknowledged);
            long records = engine.progress().stream()
                    .filter(source -> source.source().equals("file"))
                    .mapToLong(source -> source.records())
                    .sum();
            assertThat(records).isGreaterThanOrEqualTo(folded);
            if (in < 80) {
                engine.append("s", LINES.subList(in, 80));
            }
            Trades.fold(engine, Trades.file("file", LINES.subList(80, 160)));
            assertThat(Trades.totals(engine)).isEqualTo(Trades.right(LINES));
            assertThat(engine.verify().isEqual()).isTrue();
        }
    }

    /// Corrections without end: most rows are dead, so segments are cleaned and let go, and logs are begun again.
    private static void cutWhileCleaning(RandomGenerator random) {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < 2_400; i++) {
            String key = "t" + random.nextInt(40);
            lines.add(
                    random.nextInt(20) == 0
                            ? Trades.delete(key, i)
                            : Trades.trade(key, i, "desk" + random.nextInt(9), random.nextInt(9_999) + ".5"));
        }
        SimulatedDisk disk = SimulatedDisk.empty();
        int done = 0;
        while (done < lines.size()) {
            disk.inject(Faults.none().withCrashAtChange(random.nextInt(60, 600)));
            var settings = Trades.settings(random.nextInt(1, 3)).withCheckpointInterval(Duration.ZERO);
            try (EmbeddedEngine engine = Trades.open(Trades.directory(disk), settings)) {
                int in = (int) engine.acknowledged("s");
                assertThat(in).isGreaterThanOrEqualTo(done);
                assertThat(Trades.totals(engine)).isEqualTo(Trades.right(lines.subList(0, in)));
                assertThat(engine.verify().isEqual()).isTrue();
                done = in;
                while (done < lines.size()) {
                    int to = Math.min(lines.size(), done + random.nextInt(20, 120));
                    done = (int) engine.append("s", lines.subList(done, to)).acknowledged();
                }
            } catch (SimulatedCrash powerGone) {
                assertThat(disk.isOpen()).isFalse();
            }
            disk = random.nextBoolean() ? disk.kill() : disk.crash(random);
        }
        try (EmbeddedEngine engine = Trades.open(disk)) {
            assertThat(Trades.totals(engine)).isEqualTo(Trades.right(lines));
        }
    }

    @Test
    void while_rows_are_cleaned_away_a_power_cut_takes_nothing() {
        Seeds.forAllSeeds(10, CrashImagesTest::cutWhileCleaning);
    }

    @Test
    @Tag("campaign")
    void while_many_rows_are_cleaned_away_a_power_cut_takes_nothing() {
        Seeds.forAllSeeds(300, CrashImagesTest::cutWhileCleaning);
    }

    @Test
    void of_fifty_images_of_a_power_cut_each_is_right() {
        Seeds.forAllSeeds(50 / IMAGES_PER_INSTANT, CrashImagesTest::cut);
    }

    @Test
    @Tag("campaign")
    void of_a_thousand_images_of_a_power_cut_each_is_right() {
        Seeds.forAllSeeds(1_000 / IMAGES_PER_INSTANT, CrashImagesTest::cut);
    }
}
