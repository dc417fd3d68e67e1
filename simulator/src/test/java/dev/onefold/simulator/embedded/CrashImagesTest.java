package dev.onefold.simulator.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.fixtures.Seeds;
import dev.onefold.simulator.disk.Faults;
import dev.onefold.simulator.disk.SimulatedCrash;
import dev.onefold.simulator.disk.SimulatedDisk;
import java.time.Duration;
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
                acknowledged = (int) engine.append("s", LINES.subList(acknowledged, acknowledged + more));
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
            long records = engine.status().sources().stream()
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
