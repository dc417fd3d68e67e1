package dev.onefold.cli.seed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.tables.SeedLog;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `verify --against`: rows compared with a file, which is what the table holds.
class AgainstTest {
    private static final String TOWNS = """
            pipeline: towns
            input: {format: debezium, table: t, key: id}
            rollup: {levels: [town], measures: {n: count(), people: 'sum(people) decimal(18,0)'}}
            """;

    @TempDir
    Path folder;

    private Cli cli;

    @BeforeEach
    void write() {
        cli = Cli.in(folder);
    }

    private Result verify(String pipeline, String file, String... more) {
        List<String> arguments =
                new ArrayList<>(List.of("verify", pipeline, "--against", file, "--lag", "1ms", "--progress", "none"));
        arguments.addAll(List.of(more));
        return cli.run(arguments.toArray(new String[0]));
    }

    private Result done(String... arguments) {
        Result result = cli.run(arguments);
        assertThat(result.exitCode()).as(result.err()).isZero();
        return result;
    }

    private static String change(long lsn, String id, String town, int people) {
        return ("{\"op\":\"c\",\"after\":{\"id\":\"%s\",\"town\":\"%s\",\"people\":%d},\"source\":{\"table\":\"t\","
                        + "\"lsn\":%d}}\n")
                .formatted(id, town, people, lsn);
    }

    private static String removal(long lsn, String id) {
        return "{\"op\":\"d\",\"before\":{\"id\":\"%s\"},\"source\":{\"table\":\"t\",\"lsn\":%d}}\n".formatted(id, lsn);
    }

    private static String row(String id, String town, int people) {
        return "{\"id\":\"%s\",\"town\":\"%s\",\"people\":%d}\n".formatted(id, town, people);
    }

    /// Here: a is well, b is older than the table, d is gone from it, e was removed here alone. c is missing.
    private void drift() {
        cli.write("towns.yaml", TOWNS);
        cli.write(
                "live.ndjson",
                change(1, "a", "Ulm", 1)
                        + change(2, "b", "Ulm", 2)
                        + change(3, "d", "Bonn", 4)
                        + change(4, "e", "Bonn", 5)
                        + removal(5, "e"));
        done("run", "towns.yaml", "--input", "live.ndjson");
        cli.write("rows.ndjson", row("a", "Ulm", 1) + row("b", "Ulm", 20) + row("c", "Ulm", 3) + row("e", "Bonn", 5));
    }

    @Test
    void rows_that_are_equal_cost_one_reading_and_what_differs_is_named_with_both_contents() {
        drift();
        Result found = verify("towns.yaml", "rows.ndjson");
        assertThat(found.exitCode()).isEqualTo(1);
        assertThat(found.err()).contains("Compares towns with rows.ndjson");
        assertThat(found.out())
                .contains(
                        "Compared towns with rows.ndjson: 4 rows, read 2 times, in ",
                        "  missing here             2",
                        "  different                1",
                        "  gone from the source     1",
                        "  [\"b\"]\n    here   version 0/2/0, Ulm, 2\n    source Ulm, 20\n",
                        "  [\"d\"]\n    here   version 0/3/0, Bonn, 4\n    source -\n",
                        "The same command with --repair");
        cli.write("rows.ndjson", row("a", "Ulm", 1) + row("b", "Ulm", 2) + row("d", "Bonn", 4));
        Result equal = verify("towns", "rows.ndjson");
        assertThat(equal.exitCode()).isZero();
        assertThat(equal.out()).contains("3 rows, read once, in ", "All rows are equal.");
    }

    @Test
    void hazard_80_a_repair_stands_at_the_place_of_the_row_and_every_live_change_is_above_it() {
        drift();
        assertThat(verify("towns.yaml", "rows.ndjson", "--repair").err()).contains("say --at-rest");
        Result repaired = verify("towns.yaml", "rows.ndjson", "--repair", "--at-rest");
        assertThat(repaired.exitCode()).as(repaired.out() + repaired.err()).isZero();
        assertThat(repaired.out())
                .contains(
                        "  missing here             2\n    repaired               2\n",
                        "  different                1\n    repaired               1\n",
                        "  gone from the source     1\n    repaired               1\n");
        assertThat(done("get", "towns", "b").out()).containsPattern("0/2/[0-9]{13}");
        assertThat(done("get", "towns", "c").out()).containsPattern("0/0/[0-9]{13}");
        assertThat(done("get", "towns", "d").out()).containsPattern("0/3/[0-9]{13}");
        assertThat(done("get", "towns", "e").out()).containsPattern("0/5/[0-9]{13}");
        assertThat(done("query", "towns", "--format", "csv").out()).contains("Bonn,1,5", "Ulm,3,24");
        assertThat(verify("towns", "rows.ndjson").out()).contains("All rows are equal.");

        cli.write("late.ndjson", change(6, "b", "Ulm", 21)); // What was lost comes after all.
        done("run", "towns.yaml", "--input", "late.ndjson");
        assertThat(done("query", "towns", "--format", "csv").out()).contains("Ulm,3,25");
        Result again = verify("towns.yaml", "rows.ndjson", "--repair", "--at-rest");
        assertThat(again.out()).contains("  different                1\n    repaired               1\n");
        assertThat(done("dead-letters", "towns", "list").out()).doesNotContain("conflict");
    }

    @Test
    void a_key_whose_dead_letter_waits_is_explained_and_not_repaired() {
        drift();
        cli.write(
                "letters.ndjson",
                change(7, "b", "Ulm", 20).replace(":20", ":\"many\"")
                        + change(1, "d", "Bonn", 4).replace(":4}", ":\"many\"}"));
        done("run", "towns.yaml", "--input", "letters.ndjson");
        Result repaired = verify("towns.yaml", "rows.ndjson", "--repair", "--at-rest");
        assertThat(repaired.out())
                .as("a letter below the row of d explains nothing")
                .contains(
                        "  different                1\n    dead letters wait      1\n",
                        "  gone from the source     1\n    repaired               1\n");
        assertThat(done("get", "towns", "b").out()).contains("0/2/0");
    }

    @Test
    void a_row_that_the_pipeline_refuses_is_no_ghost() {
        drift();
        cli.write(
                "rows.ndjson",
                row("a", "Ulm", 1) + row("b", "Ulm", 2) + row("d", "Bonn", 4).replace(":4}", ":\"many\"}"));
        Result refused = verify("towns.yaml", "rows.ndjson", "--repair", "--at-rest");
        assertThat(refused.exitCode()).isEqualTo(1);
        assertThat(refused.out())
                .contains(
                        "  refused                  1\n    not repaired           1\n", "source refused: Field people")
                .doesNotContain("gone from the source");
        cli.write("rows.ndjson", row("a", "Ulm", 1) + row("b", "Ulm", 2) + "{\"town\":\"Bonn\",\"people\":4}\n");
        Result unknown = verify("towns.yaml", "rows.ndjson", "--repair", "--at-rest");
        assertThat(unknown.out())
                .contains(
                        "  gone from the source     1\n    not repaired           1\n",
                        "  without a readable key   1\n");
        assertThat(done("query", "towns", "--format", "csv").out()).contains("Bonn,1,4");
    }

    @Test
    void with_versions_of_the_user_s_own_a_repair_is_the_row_and_a_lower_version_is_reported() {
        cli.write("trades.yaml", Cli.TRADES);
        cli.write(
                "live.ndjson",
                Cli.trade("a", 1, "FX", "EMEA", "1")
                        + Cli.trade("b", 1, "FX", "EMEA", "2")
                        + Cli.trade("c", 5, "FX", "EMEA", "4")
                        + Cli.trade("d", 2, "FX", "EMEA", "8"));
        done("run", "trades.yaml", "--input", "live.ndjson");
        cli.write(
                "rows.ndjson",
                Cli.trade("a", 1, "FX", "EMEA", "1")
                        + Cli.trade("b", 2, "FX", "EMEA", "3")
                        + Cli.trade("c", 4, "FX", "EMEA", "5")
                        + Cli.trade("e", 1, "FX", "EMEA", "16"));
        Result repaired = verify("trades.yaml", "rows.ndjson", "--repair", "--at-rest", "--format", "json");
        assertThat(repaired.exitCode()).isEqualTo(1);
        assertThat(repaired.out())
                .contains(
                        "\"equal\":false",
                        "\"different\":{\"count\":1,\"reported\":0,\"explained\":0,\"repaired\":1",
                        "\"missing\":{\"count\":1,\"reported\":0,\"explained\":0,\"repaired\":1",
                        "\"ghost\":{\"count\":1,\"reported\":0,\"explained\":0,\"repaired\":1",
                        "\"version_broken\":{\"count\":1,\"reported\":0,\"explained\":0,\"repaired\":0,"
                                + "\"overtaken\":0,\"not_repairable\":1,\"first\":[{\"key\":[\"c\"]");
        assertThat(done("query", "trades", "--depth", "0", "--format", "csv").out())
                .contains("24.00,4");
        Result again = verify("trades.yaml", "rows.ndjson");
        assertThat(again.out()).contains("  version not above ours   1").doesNotContain("missing", "gone");
    }

    @Test
    void rows_of_a_running_engine_are_compared_and_repaired_through_its_socket_by_one_at_a_time() throws IOException {
        drift();
        Path data = folder.resolve("onefold-data/towns");
        try (EmbeddedEngine engine = EmbeddedEngine.open(data, Settings.defaults())) {
            assertThat(verify("towns", "rows.ndjson").out()).contains("  missing here             2");
            SeedLog log = new SeedLog(data.resolve("seeds"));
            try (FileChannel _ = log.alone("resync").orElseThrow()) {
                Result busy = verify("towns", "rows.ndjson", "--repair", "--at-rest");
                assertThat(busy.exitCode()).isEqualTo(3);
                assertThat(busy.err()).contains("one repairs at a time");
            }
            assertThat(verify("towns", "rows.ndjson", "--repair", "--at-rest").exitCode())
                    .isZero();
            assertThat(engine.get(List.of("d")).orElseThrow().payload().groups())
                    .isEmpty();
            assertThat(verify("towns", "rows.ndjson").out()).contains("All rows are equal.");
        }
    }

    @Test
    void what_cannot_be_compared_is_refused() {
        drift();
        assertThat(verify("towns.yaml", "export:exports").exitCode()).isNotZero();
        Result alone = cli.run("verify", "towns.yaml", "--repair");
        assertThat(alone.exitCode()).isEqualTo(2);
        assertThat(alone.err()).contains("Say with --against");
        cli.write("ids.yaml", """
                pipeline: ids
                input: {id: id}
                rollup: {levels: [town], measures: {n: count()}}
                """);
        cli.write("ids.ndjson", "{\"id\":\"1\",\"town\":\"Ulm\"}\n");
        done("run", "ids.yaml", "--input", "ids.ndjson");
        assertThat(verify("ids.yaml", "ids.ndjson").err()).contains("keeps no rows with versions");
    }
}
