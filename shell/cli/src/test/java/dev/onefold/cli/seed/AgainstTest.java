package dev.onefold.cli.seed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.api.sync.SeedLog;
import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.PlaceOptions;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.core.Engine;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

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
        return ("{\"op\":\"c\",\"after\":{\"id\":\"%1$s\",\"town\":\"%2$s\",\"people\":%3$d},\"source\":{\"table\":\"t\","
                        + "\"lsn\":%4$d,\"sequence\":\"[\\\"0\\\",\\\"%4$d\\\"]\"}}\n")
                .formatted(id, town, people, lsn);
    }

    private static String removal(long lsn, String id) {
        return "{\"op\":\"d\",\"before\":{\"id\":\"%1$s\"},\"source\":{\"table\":\"t\",\"lsn\":%2$d,\"sequence\":\"[\\\"0\\\",\\\"%2$d\\\"]\"}}\n"
                .formatted(id, lsn);
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
                        "The same command with --repair --at-rest brings them",
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
        Result letters = cli.run("run", "towns.yaml", "--input", "letters.ndjson");
        assertThat(letters.exitCode()).isEqualTo(1);
        assertThat(letters.err()).contains("Every record of letters.ndjson was rejected: 2.");
        Result repaired = verify("towns.yaml", "rows.ndjson", "--repair", "--at-rest");
        assertThat(repaired.out())
                .as("a letter below the row of d explains nothing")
                .contains(
                        "  different                1\n    dead letters wait      1\n",
                        "  gone from the source     1\n    repaired               1\n");
        assertThat(done("get", "towns", "b").out()).contains("0/2/0");
        Result explained = verify("towns", "rows.ndjson");
        assertThat(explained.exitCode()).isZero();
        assertThat(explained.out())
                .contains(
                        "All rows are equal, but for these:\n  different                1\n    dead letters wait      1\n")
                .doesNotContain("All rows are equal.");
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
                                + "\"overtaken\":0,\"not_repairable\":1,\"held_back\":0,\"first\":[{\"key\":[\"c\"]");
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
            try (Closeable _ = log.alone("resync").orElseThrow()) {
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
    void a_source_that_is_empty_or_lacks_more_than_a_tenth_takes_no_row_with_it_without_a_word() {
        drift();
        cli.write("none.ndjson", "");
        Result empty = verify("towns.yaml", "none.ndjson", "--repair", "--at-rest");
        assertThat(empty.exitCode()).isEqualTo(1);
        assertThat(empty.out())
                .contains("  gone from the source     3\n    too many to remove     3\n", "say --remove-many");
        StringBuilder live = new StringBuilder();
        StringBuilder rows = new StringBuilder();
        for (int i = 0; i < 200; i++) {
            live.append(change(10 + i, "k" + i, "Trier", 1));
            rows.append(i < 90 ? row("k" + i, "Trier", 1) : "");
        }
        cli.write("many.ndjson", live.toString());
        done("run", "towns.yaml", "--input", "many.ndjson");
        cli.write("rows.ndjson", rows + row("c", "Ulm", 3));
        Result held = verify("towns.yaml", "rows.ndjson", "--repair", "--at-rest", "--format", "json");
        assertThat(held.exitCode()).isEqualTo(1);
        assertThat(held.out())
                .contains("\"ghost\":{\"count\":113,", "\"held_back\":113", "\"missing\":{\"count\":1,\"reported\":0,")
                .contains("\"explained\":0,\"repaired\":1,");
        assertThat(done("query", "towns", "--format", "csv").out()).contains("Trier,200,200", "Bonn,1,4", "Ulm,3,6");
        Result removed = verify("towns.yaml", "rows.ndjson", "--repair", "--at-rest", "--remove-many");
        assertThat(removed.exitCode()).as(removed.out()).isZero();
        assertThat(done("query", "towns", "--format", "csv").out()).contains("Trier,90,90", "Ulm,1,3");
    }

    @Test
    void a_wrong_option_ends_a_comparison_that_would_be_made_again_and_again() {
        drift();
        Result wrong = verify("towns.yaml", "rows.ndjson", "--every", "1d", "--rate", "0");
        assertThat(wrong.exitCode()).isEqualTo(2);
        assertThat(wrong.err()).contains("--rate is 1 or more");
        assertThat(verify("towns.yaml", "rows.ndjson", "--remove-many").err()).contains("part of --repair");
    }

    private AgainstOptions options(String... arguments) {
        AgainstOptions options = new AgainstOptions();
        new CommandLine(options).parseArgs(arguments);
        return options;
    }

    /// An engine that does something before its rows are summed.
    private static Engine before(Engine engine, Runnable summing) {
        return (Engine) Proxy.newProxyInstance(
                Engine.class.getClassLoader(), new Class<?>[] {Engine.class}, (_, method, arguments) -> {
                    if (method.getName().equals("rangeSums")) {
                        summing.run();
                    }
                    return method.invoke(engine, arguments);
                });
    }

    @Test
    void an_engine_that_begins_to_run_while_its_files_are_compared_is_no_difference() throws IOException {
        drift();
        cli.write("rows.ndjson", row("a", "Ulm", 1) + row("b", "Ulm", 2) + row("d", "Bonn", 40));
        cli.write("later.ndjson", change(9, "d", "Bonn", 40));
        AgainstOptions options =
                options("--against", folder.resolve("rows.ndjson").toString(), "--lag", "1ms", "--progress", "none");
        Path data = folder.resolve("onefold-data/towns");
        Caller caller =
                cli.caller(InputStream.nullInputStream(), new ByteArrayOutputStream(), new ByteArrayOutputStream());
        Against against = new Against(caller, options, new StopRequest(), new PlaceOptions());
        try (EmbeddedEngine files = EmbeddedEngine.read(data, Settings.defaults())) {
            Engine engine = before(files, () -> done("run", "towns.yaml", "--input", "later.ndjson"));
            assertThatThrownBy(() -> against.compare(engine)).hasMessageContaining("has begun to run meanwhile");
        }
        assertThat(verify("towns", "rows.ndjson").out()).contains("All rows are equal.");
    }

    @Test
    void a_comparison_that_is_stopped_does_not_end_as_if_the_rows_were_equal() throws IOException {
        drift();
        AgainstOptions options =
                options("--against", folder.resolve("rows.ndjson").toString(), "--lag", "1ms", "--progress", "none");
        Path data = folder.resolve("onefold-data/towns");
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Caller caller = cli.caller(InputStream.nullInputStream(), new ByteArrayOutputStream(), err);
        StopRequest terminated = new StopRequest();
        Against against = new Against(caller, options, terminated, new PlaceOptions());
        try (EmbeddedEngine files = EmbeddedEngine.read(data, Settings.defaults())) {
            Engine engine = before(files, () -> terminated.make(ExitCode.DONE)); // As SIGTERM does.
            assertThat(against.compare(engine)).isEqualTo(ExitCode.INTERRUPTED);
        }
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("Stopped. Not all rows were compared.");
    }

    @Test
    void rows_of_a_pipeline_of_csv_are_compared_with_a_file_of_csv() {
        cli.write("towns.yaml", """
                pipeline: towns
                input: {format: csv, key: id, version: v}
                rollup: {levels: [town], measures: {n: count()}}
                """);
        cli.write("live.csv", "id,v,town\na,1,Ulm\nb,1,Ulm\nc,1,Bonn\n");
        done("run", "towns.yaml", "--input", "live.csv");
        assertThat(verify("towns.yaml", "live.csv").out()).contains("3 rows, read once", "All rows are equal.");
        cli.write("rows.csv", "town,v,id\nUlm,2,a\nUlm,1,b\n");
        assertThat(verify("towns.yaml", "rows.csv").out())
                .contains("2 rows, read 2 times", "  different                1\n", "  gone from the source     1\n");
        assertThat(verify("towns.yaml", "rows.csv", "--repair", "--at-rest").err())
                .contains("reads CSV, and a repair is a record of JSON");
    }

    @Test
    void rows_with_keys_of_several_parts_and_times_for_versions_are_compared_and_removed() {
        cli.write("visits.yaml", """
                pipeline: visits
                input:
                  key: [user.id, shop]
                  version: {field: at, type: epoch-millis}
                  time: {field: at, type: epoch-millis}
                  filter: kind = "visit"
                rollups:
                  by-day:
                    levels: ["bucket(at, 1d, epoch-millis)", shop missing "none"]
                    measures:
                      n: count()
                      least: min(spent) decimal(18,2) missing ignore
                      users: distinct(user.name) missing ignore
                  by-shop:
                    levels: [shop]
                    measures:
                      mean: average(spent) decimal(18,4) missing ignore
                      calls: count() where spent is missing
                """);
        StringBuilder live = new StringBuilder();
        for (int i = 0; i < 30; i++) {
            live.append(visit(
                    i, "\"s/" + i % 3 + "\\u00e9\"", i % 4 == 0 ? "null" : i + ".50", i % 7 == 0 ? "call" : "visit"));
        }
        live.append(visit(40, "7", "1e1", "visit")).append(visit(41, "7.0", "10", "visit"));
        cli.write("live.ndjson", live.toString());
        cli.write("rows.ndjson", live.toString());
        done("run", "visits.yaml", "--input", "live.ndjson");
        assertThat(verify("visits.yaml", "rows.ndjson").out()).contains("All rows are equal.");

        String gone = live.toString()
                .lines()
                .filter(line -> !line.contains("\"id\":4"))
                .reduce("", (x, y) -> x + y + "\n");
        cli.write("rows.ndjson", gone);
        Result removed = verify("visits.yaml", "rows.ndjson", "--repair", "--at-rest");
        assertThat(removed.exitCode()).as(removed.out()).isZero();
        assertThat(removed.out()).contains("  gone from the source     3\n    repaired               3\n");
        assertThat(verify("visits.yaml", "rows.ndjson").out()).contains("All rows are equal.");
        assertThat(done("verify", "visits.yaml").out()).doesNotContain("differ");
    }

    private static String visit(int user, String shop, String spent, String kind) {
        return "{\"user\":{\"id\":%d,\"name\":\"n%d\"},\"shop\":%s,\"at\":%d,\"spent\":%s,\"kind\":\"%s\"}\n"
                .formatted(user, user % 5, shop, 1_790_000_000_123L + user * 10_000_000L, spent, kind);
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
