package dev.onefold.simulator.seeding;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.resync.RowIntake;
import dev.onefold.aws.store.Store;
import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.Engine;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.event.Version;
import dev.onefold.core.form.RowLine;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.simulator.deployment.Deployment;
import dev.onefold.simulator.embedded.PipelineYaml;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Schedules of seeds and repairs that make other designs count wrong, on both runtimes.
class SeedingHazardsTest {
    private static final Pipeline TOWNS = PipelineYaml.read("""
            pipeline: towns
            input: {format: debezium, table: t, key: id}
            rollup:
              levels: [town]
              measures:
                rows: count()
            """);
    private static final long REPAIRED = 1;

    @TempDir
    Path folder;

    private final List<Engine> engines = new ArrayList<>();

    /// Where it runs.
    enum Runtime {
        EMBEDDED,
        AWS
    }

    @AfterEach
    void close() {
        engines.forEach(Engine::close);
    }

    /// A pipeline that takes lines.
    private final class Towns {
        private final Engine engine;
        private final Deployment deployment = Deployment.calm();
        private final Runtime runtime;
        private long seedings;

        Towns(Runtime runtime) {
            this.runtime = runtime;
            engine = runtime == Runtime.EMBEDDED
                    ? EmbeddedEngine.open(folder.resolve("data-" + engines.size()), TOWNS, Settings.defaults())
                    : deployment.engine(TOWNS, 2, 2);
            engines.add(engine);
        }

        /// Takes records in their order: changes as they are sent, and rows as a seeding or a repair brings them.
        Counts take(byte[]... records) {
            Counts counts = new Counts(0, 0, 0, 0, 0);
            for (byte[] record : records) {
                counts = counts.plus(take(record, text(record).contains("\"row\"")));
            }
            return counts;
        }

        private Counts take(byte[] record, boolean isRow) {
            byte[] line = utf8(text(record) + "\n");
            if (runtime == Runtime.EMBEDDED) {
                long next = engine.acknowledged("lines") + 1;
                return (isRow
                                ? engine.appendRows("lines", next, line, line.length)
                                : engine.append("lines", next, line, line.length))
                        .counts();
            }
            Store store = deployment.store(deployment.dynamo.client("seeder"));
            Counts counts = RowIntake.ofSeed(store, TOWNS, ++seedings)
                    .append(isRow ? RecordKind.ROW : RecordKind.SENT, line, line.length)
                    .counts();
            ((AwsEngine) engine).reduce();
            return counts;
        }

        /// The groups with their numbers of rows.
        String totals() {
            StringBuilder totals = new StringBuilder();
            engine.query(Query.all("main")).lines().stream()
                    .filter(line -> line.group().size() == 1)
                    .forEach(line -> totals.append(line.group().getFirst())
                            .append(line.values().getFirst())
                            .append(' '));
            assertThat(engine.verify().differences()).isEmpty();
            assertThat(engine.deadLetters().size()).isZero();
            return totals.toString().strip();
        }
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] live(long position, String town) {
        return utf8(
                ("{\"key\":{\"id\":1},\"value\":{\"op\":\"u\",\"after\":{\"id\":1,\"town\":\"%1$s\"},\"source\":{\"table\":\"t\","
                                + "\"lsn\":%2$d,\"sequence\":\"[\\\"0\\\",\\\"%2$d\\\"]\"}}}")
                        .formatted(town, position));
    }

    private static byte[] gone(long position) {
        return utf8(
                "{\"key\":{\"id\":1},\"value\":{\"op\":\"d\",\"source\":{\"table\":\"t\",\"lsn\":%1$d,\"sequence\":\"[\\\"0\\\",\\\"%1$d\\\"]\"}}}"
                        .formatted(position));
    }

    private static Version at(long position, long number) {
        return Version.of(0, BigInteger.valueOf(position), number);
    }

    private static byte[] seed(long number, String town) {
        return repair(0, number, town);
    }

    private static byte[] repair(long position, long number, String town) {
        return RowLine.of(at(position, number), utf8("{\"id\":1,\"town\":\"" + town + "\"}"));
    }

    private static List<List<byte[]>> orders(List<byte[]> records) {
        if (records.isEmpty()) {
            return List.of(List.of());
        }
        List<List<byte[]>> orders = new ArrayList<>();
        for (byte[] first : records) {
            List<byte[]> others = new ArrayList<>(records);
            others.remove(first);
            for (List<byte[]> order : orders(others)) {
                List<byte[]> all = new ArrayList<>(List.of(first));
                all.addAll(order);
                orders.add(all);
            }
        }
        return orders;
    }

    private void assertInAnyOrder(Runtime runtime, String totals, byte[]... records) {
        for (List<byte[]> order : orders(List.of(records))) {
            Towns towns = new Towns(runtime);
            order.forEach(towns::take);
            assertThat(towns.totals()).isEqualTo(totals);
        }
    }

    @ParameterizedTest
    @EnumSource
    void hazard_77_a_row_that_was_read_before_a_live_change_loses_whenever_it_is_written(Runtime runtime) {
        assertInAnyOrder(runtime, "B1", seed(1_900_000_000_000L, "A"), live(5, "B"), live(3, "C"));
        assertInAnyOrder(runtime, "", seed(1_900_000_000_000L, "A"), live(5, "B"), gone(6));
    }

    @ParameterizedTest
    @EnumSource
    void hazard_79_a_ghost_survives_every_seeding_and_goes_by_a_removal_at_its_version(Runtime runtime) {
        Towns towns = new Towns(runtime);
        towns.take(live(5, "A")); // Its removal at 6 was lost.
        towns.take(seed(1, "A"));
        assertThat(towns.totals()).isEqualTo("A1");
        Counts counts = towns.take(RowLine.removed(at(5, REPAIRED), utf8("{\"id\":1}")));
        assertThat(counts.accepted()).isEqualTo(1);
        assertThat(towns.totals()).isEmpty();
        towns.take(live(5, "A"), seed(2, "A"));
        assertThat(towns.totals()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void a_removal_that_comes_among_the_changes_is_a_record_and_removes_nothing(Runtime runtime) {
        Towns towns = new Towns(runtime);
        byte[] removal = RowLine.removed(at(5, REPAIRED), utf8("{\"id\":1}"));
        towns.take(live(5, "A"));
        assertThat(towns.take(removal, false).rejected()).isEqualTo(1);
        DeadLetters letters = towns.engine.deadLetters();
        assertThat(letters.redrive(letters.list(0, 1).getFirst().id(), null, DeadLetters.Keys.SAME))
                .isEqualTo(Redriven.REJECTED);
        letters.purge(List.of(letters.list(0, 1).getFirst().id()));
        assertThat(towns.totals()).isEqualTo("A1");
    }

    @ParameterizedTest
    @EnumSource
    void a_row_that_was_rejected_is_a_row_when_it_is_redriven(Runtime runtime) {
        Towns towns = new Towns(runtime);
        assertThat(towns.take(RowLine.of(at(0, 7), utf8("{\"id\":1}"))).rejected())
                .isEqualTo(1);
        DeadLetters letters = towns.engine.deadLetters();
        long id = letters.list(0, 1).getFirst().id();
        assertThat(letters.redrive(id, null, DeadLetters.Keys.SAME)).isEqualTo(Redriven.REJECTED);
        assertThat(letters.list(0, 1).getFirst().message()).contains("town");
        assertThat(letters.redrive(id, seed(7, "A"), DeadLetters.Keys.SAME)).isEqualTo(Redriven.REJECTED);
        assertThat(letters.list(0, 1).getFirst().message()).contains("no op");
    }

    @ParameterizedTest
    @EnumSource
    void hazard_80_a_live_change_wins_over_a_repair_whichever_comes_first(Runtime runtime) {
        assertInAnyOrder(runtime, "C1", live(5, "A"), repair(5, REPAIRED, "B"), live(6, "C"));
        assertInAnyOrder(
                runtime, "C1", live(5, "A"), RowLine.removed(at(5, REPAIRED), utf8("{\"id\":1}")), live(6, "C"));
        assertInAnyOrder(runtime, "", live(5, "A"), repair(5, REPAIRED, "B"), gone(6));
    }

    @ParameterizedTest
    @EnumSource
    void hazard_81_a_row_that_two_seedings_read_is_as_the_later_one_read_it_and_no_conflict(Runtime runtime) {
        assertInAnyOrder(runtime, "B1", seed(1, "A"), seed(2, "B"));
        assertInAnyOrder(runtime, "C1", seed(1, "A"), seed(2, "B"), live(1, "C"));
        Towns towns = new Towns(runtime);
        towns.take(seed(7, "A"));
        assertThat(towns.take(seed(7, "A")).duplicate()).isEqualTo(1);
        assertThat(towns.totals()).isEqualTo("A1");
    }

    @ParameterizedTest
    @EnumSource
    void hazard_94_a_repair_below_the_stored_version_changes_nothing_and_is_counted_so(Runtime runtime) {
        Towns towns = new Towns(runtime);
        towns.take(live(5, "A"));
        Counts below = towns.take(seed(1_900_000_000_000L, "B"));
        assertThat(below.stale()).isEqualTo(1);
        assertThat(below.accepted()).isZero();
        assertThat(towns.totals()).isEqualTo("A1");
        Counts on = towns.take(repair(5, REPAIRED, "B"));
        assertThat(on.accepted()).isEqualTo(1);
        assertThat(towns.totals()).isEqualTo("B1");
    }
}
