package dev.onefold.cli.seed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.api.RemoteEngine;
import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import dev.onefold.cli.OnefoldProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Seedings and comparisons by TCP, with commands and a service in processes of their own that are killed.
@Timeout(300)
class SeedAtServiceTest {
    private static final Pattern AT = Pattern.compile("(http://\\S+:\\d+)");
    private static final int ROWS = 6_000;
    private static final int LIVE = 1_000;

    /// Keys whose live change is a removal.
    private static final int REMOVED_EACH = 3;

    @TempDir
    Path folder;

    private Cli cli;

    @BeforeEach
    void write() {
        cli = Cli.in(folder);
        cli.write("towns.yaml", """
                pipeline: towns
                input: {format: debezium, table: t, key: id}
                rollup: {levels: [town], measures: {n: count(), sum: 'sum(v) decimal(18,2)'}}
                """);
        cli.write(
                "rows.ndjson",
                IntStream.range(0, ROWS).mapToObj(SeedAtServiceTest::row).collect(Collectors.joining()));
        cli.write("live.ndjson", live(0, LIVE).stream().map(line -> line + "\n").collect(Collectors.joining()));
        Result token = cli.run("token", "all", "--allow", "read,write,operate,administer", "--file", "tokens.txt");
        cli.write("all.token", token.out());
        Result before = cli.run("token", "before", "--allow", "read,write,operate", "--file", "tokens.txt");
        cli.write("before.token", before.out());
    }

    private static String row(int i) {
        return "{\"id\":\"k%d\",\"town\":\"Row\",\"v\":%d.50}\n".formatted(i, i % 7);
    }

    /// Changes of every fifth key, of which some are removals.
    private static List<String> live(int from, int to) {
        return IntStream.range(from, to)
                .mapToObj(i -> ("{\"op\":\"%1$s\",\"%2$s\":{\"id\":\"k%3$d\",\"town\":\"Live\",\"v\":1.25},\"source\":{"
                                + "\"table\":\"t\",\"name\":\"grid\",\"lsn\":%4$d,\"sequence\":\"[\\\"0\\\",\\\"%4$d\\\"]\"}}")
                        .formatted(
                                i % REMOVED_EACH == 0 ? "d" : "u",
                                i % REMOVED_EACH == 0 ? "before" : "after",
                                5 * i,
                                100 + i))
                .toList();
    }

    private OnefoldProcess serve() throws IOException {
        return OnefoldProcess.start(folder, "serve", "towns.yaml", "--port", "0", "--tokens", "tokens.txt");
    }

    private static String address(OnefoldProcess service) {
        OnefoldProcess.await(
                "it serves",
                () -> AT.matcher(service.err()).find() || !service.process().isAlive());
        Matcher at = AT.matcher(service.err());
        assertThat(at.find()).as(service.err()).isTrue();
        return at.group(1);
    }

    private OnefoldProcess seed(String address, String... more) throws IOException {
        List<String> all = new ArrayList<>(
                List.of("seed", "towns.yaml", "--from", "rows.ndjson", "--at", address, "--token-file", "all.token"));
        all.addAll(List.of(more));
        return OnefoldProcess.start(folder, all.toArray(new String[0]));
    }

    private Result at(String address, String... verb) {
        List<String> all = new ArrayList<>(List.of(verb));
        all.addAll(List.of("--at", address, "--token-file", "all.token"));
        return cli.run(all.toArray(new String[0]));
    }

    private String done(Result result) {
        assertThat(result.exitCode()).as(result.out() + result.err()).isZero();
        return result.out();
    }

    /// The totals of the same rows and changes, brought to a data directory here.
    private String embedded() {
        done(cli.run("seed", "towns.yaml", "--from", "rows.ndjson", "--data", "here"));
        done(cli.run("run", "towns.yaml", "--input", "live.ndjson", "--data", "here"));
        return done(cli.run("query", "towns.yaml", "--data", "here", "--format", "csv"));
    }

    private void requireSame(String address) {
        assertThat(done(at(address, "query", "towns.yaml", "--format", "csv"))).isEqualTo(embedded());
        done(at(address, "verify", "towns.yaml"));
        assertThat(done(at(address, "status", "towns", "--format", "json"))).contains("\"deadLetters\":0");
    }

    private RemoteEngine connect(String address) {
        return RemoteEngine.connect(URI.create(address), "towns", secret());
    }

    private String secret() {
        try {
            return Files.readString(folder.resolve("all.token")).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void awaitRows(RemoteEngine engine, long rows) {
        OnefoldProcess.await("rows are in", () -> engine.counts().records() >= rows);
    }

    @Test
    void hazard_81_a_seeding_that_is_killed_beside_others_and_live_changes_is_exact() throws Exception {
        try (OnefoldProcess service = serve()) {
            String address = address(service);
            try (OnefoldProcess killed = seed(address, "--rate", "2000");
                    RemoteEngine engine = connect(address)) {
                awaitRows(engine, 1_000);
                engine.append("live", live(0, LIVE / 2));
                killed.kill();
            }
            try (OnefoldProcess one = seed(address);
                    OnefoldProcess other = seed(address, "--rate", "6000");
                    RemoteEngine engine = connect(address)) {
                for (int from = LIVE / 2; from < LIVE; from += 100) {
                    engine.append("live", live(from, from + 100));
                }
                assertThat(one.exitCode()).as(one.err()).isZero();
                assertThat(other.exitCode()).as(other.err()).isZero();
            }
            requireSame(address);
        }
    }

    @Test
    void hazard_81_a_seeding_whose_service_is_killed_goes_on_at_its_marks_and_is_exact() throws Exception {
        OnefoldProcess seeding;
        try (OnefoldProcess killed = serve()) {
            String address = address(killed);
            seeding = seed(address, "--rate", "2000");
            try (RemoteEngine engine = connect(address)) {
                awaitRows(engine, 2_500);
                engine.append("live", live(0, LIVE / 2));
            }
            killed.kill();
            try (seeding) {
                assertThat(seeding.exitCode()).as(seeding.err()).isEqualTo(4);
                assertThat(seeding.err()).contains("The service at " + address);
            }
        }
        try (OnefoldProcess service = serve()) {
            String address = address(service);
            try (RemoteEngine engine = connect(address)) {
                engine.append("live", live(LIVE / 2, LIVE));
            }
            Result again = at(address, "seed", "towns.yaml", "--from", "rows.ndjson");
            assertThat(again.exitCode()).as(again.err()).isZero();
            assertThat(again.err()).contains("Goes on where an interrupted seeding has stopped");
            requireSame(address);
        }
    }

    @Test
    void rows_that_have_drifted_are_found_and_repaired_by_tcp_as_beside_the_data() throws Exception {
        try (OnefoldProcess service = serve()) {
            String address = address(service);
            done(at(address, "seed", "towns.yaml", "--from", "rows.ndjson"));
            try (RemoteEngine engine = connect(address)) {
                engine.append("live", live(0, 90));
            }
            String[] verify = {"verify", "towns.yaml", "--against", "rows.ndjson", "--lag", "1ms", "--progress", "none"
            };
            Result found = at(address, verify);
            assertThat(found.exitCode()).as(found.err()).isEqualTo(1);
            Result beside = cli.run(Stream.concat(Arrays.stream(verify), Stream.of("--data", "onefold-data/towns"))
                    .toArray(String[]::new));
            assertThat(timeless(found.out())).isEqualTo(timeless(beside.out())).contains("missing here            30");
            String[] repair = Stream.concat(Arrays.stream(verify), Stream.of("--repair", "--at-rest"))
                    .toArray(String[]::new);
            assertThat(done(at(address, repair))).contains("repaired");
            assertThat(done(at(address, verify))).contains("All rows are equal.");
            assertThat(done(at(address, "query", "towns", "--format", "csv"))).contains("Row," + ROWS);
        }
    }

    private static String timeless(String text) {
        return text.replaceAll(" in [0-9.]+ .*", "");
    }

    @Test
    void a_token_of_before_is_told_the_scope_and_what_to_write() throws Exception {
        try (OnefoldProcess service = serve()) {
            String address = address(service);
            for (List<String> verb : List.of(
                    List.of("seed", "towns.yaml", "--from", "rows.ndjson"),
                    List.of("verify", "towns", "--against", "rows.ndjson", "--lag", "1ms"),
                    List.of("verify", "towns", "--against", "rows.ndjson", "--repair", "--at-rest"),
                    List.of("journal", "towns", "release", "--yes"))) {
                List<String> all = new ArrayList<>(verb);
                all.addAll(List.of("--at", address, "--token-file", "before.token"));
                Result refused = cli.run(all.toArray(new String[0]));
                assertThat(refused.exitCode()).as(verb + refused.err()).isEqualTo(3);
                assertThat(refused.err())
                        .as(verb.toString())
                        .contains("does not allow to administer in pipeline towns", "Add the scope 'administer'");
            }
            assertThat(done(at(address, "query", "towns", "--format", "csv"))).doesNotContain("Row");
        }
    }
}
