package dev.onefold.simulator.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.fakes.disk.Faults;
import dev.onefold.fakes.disk.SimulatedCrash;
import dev.onefold.fakes.disk.SimulatedDisk;
import dev.onefold.fixtures.Seeds;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Records of a log count once by their offsets: partitions are taken away and given back at the offset that was
/// committed, batches come again, control records take offsets, and the power goes at any change of the disk. The
/// pipeline has neither key nor id, so that a record that is folded twice or never shows in the sum.
class LogCrashesTest {
    private static final Pipeline SUM = PipelineBuilder.named("sum")
            .rollup(rollup -> rollup.count("records").sum("sum", "n", 18, 0))
            .build();
    private static final int PARTITIONS = 3;

    private static MemoryLog log(RandomGenerator random, int records) {
        MemoryLog log = new MemoryLog("log", PARTITIONS);
        for (int n = 1; n <= records; n++) {
            int partition = random.nextInt(PARTITIONS);
            if (random.nextInt(5) == 0) {
                log.appendControl(partition);
            }
            log.append(partition, random.nextInt(10) == 0 ? "poison\n" + n : "{\n\"n\":" + (1L << n % 40) + "}");
        }
        return log;
    }

    private static BigDecimal right(MemoryLog log) {
        long sum = 0;
        for (int partition = 0; partition < PARTITIONS; partition++) {
            for (var record : log.read(partition, 0, Long.MAX_VALUE / 2).records()) {
                String text = new String(record.bytes(), StandardCharsets.UTF_8);
                sum += text.startsWith("{") ? Long.parseLong(text.replaceAll("[^0-9]", "")) : 0;
            }
        }
        return BigDecimal.valueOf(sum);
    }

    private static void readThroughCrashes(RandomGenerator random) {
        MemoryLog log = log(random, 150);
        SimulatedDisk disk = SimulatedDisk.empty();
        boolean done = false;
        while (!done) {
            disk.inject(Faults.none().withCrashAtChange(random.nextInt(1, 200)));
            var settings = Trades.settings(random.nextInt(1, 4))
                    .withCheckpointInterval(random.nextBoolean() ? Duration.ZERO : Duration.ofHours(1));
            try (EmbeddedEngine engine = EmbeddedEngine.open(Trades.directory(disk), SUM, settings)) {
                read(engine, log, random);
                done = true;
            } catch (SimulatedCrash powerGone) {
                assertThat(disk.isOpen()).isFalse();
            }
            disk = random.nextBoolean() ? disk.kill() : disk.crash(random);
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(Trades.directory(disk), SUM, Trades.settings(2))) {
            read(engine, log, random); // The last life may have crashed while it closed.
            var values = engine.query(Query.all("main")).lines().getFirst().values();
            assertThat(values.get(1)).isEqualTo(right(log));
            assertThat(values.get(0).longValueExact() + engine.deadLetters().size())
                    .isEqualTo(150);
        }
    }

    /// A life of a reader, which knows nothing but what the log tells it: it reads from the committed offset on.
    private static void read(EmbeddedEngine engine, MemoryLog log, RandomGenerator random) {
        Map<Integer, Long> at = new HashMap<>();
        boolean ended = false;
        while (!ended) {
            int partition = random.nextInt(PARTITIONS);
            if (random.nextInt(8) == 0) {
                at.remove(partition); // Taken away; given back at the next turn.
            }
            long from = at.computeIfAbsent(partition, log::committed);
            assertThat(from).isLessThanOrEqualTo(engine.offsets("log").getOrDefault(partition, 0L));
            var batch = log.read(partition, from, random.nextInt(1, 20));
            engine.fold(batch);
            at.put(partition, batch.next());
            if (random.nextInt(5) == 0) {
                log.commit(engine.durableOffsets("log"));
            }
            ended = Map.copyOf(engine.offsets("log")).equals(ends(log));
        }
    }

    private static Map<Integer, Long> ends(MemoryLog log) {
        Map<Integer, Long> ends = new HashMap<>();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            ends.put(partition, log.end(partition));
        }
        return ends;
    }

    @Test
    void each_record_of_a_log_counts_once_by_its_offset_wherever_the_power_goes() {
        Seeds.forAllSeeds(200, LogCrashesTest::readThroughCrashes);
    }

    @Test
    @Tag("campaign")
    void of_many_logs_each_record_counts_once_by_its_offset() {
        Seeds.forAllSeeds(2_000, LogCrashesTest::readThroughCrashes);
    }
}
