package dev.onefold.cli.aws;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.resync.SeedLease;
import dev.onefold.aws.state.SeedNumbers;
import dev.onefold.aws.store.Store;
import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/// `onefold aws seed`, on DynamoDB Local.
class DeployedSeedTest {
    private static final String STREAM =
            "arn:aws:dynamodb:eu-central-1:123456789012:table/Favourites/stream/2026-11-01T00:00:00.123";

    private static final String FAVOURITES = """
            pipeline: favourites
            input: {format: dynamodb-stream, table: Favourites, key: id}
            rollup:
              levels: [shop]
              measures: {saves: count()}
            """;

    @RegisterExtension
    static final LocalServices SERVICES = new LocalServices();

    private Deployed deployed;
    private Cli cli;
    private Store store;

    @BeforeEach
    void deploy(@TempDir Path folder) {
        deployed = Deployed.in(folder, SERVICES);
        cli = deployed.cli();
        store = deployed.store();
        deployed.deploy("favourites.yaml", FAVOURITES);
    }

    private Result aws(String... arguments) {
        return deployed.aws(arguments);
    }

    private Path seeds() {
        return cli.folder().resolve("onefold-data/aws-" + deployed.name() + "-seeds");
    }

    @Test
    void hazard_40_rows_are_seeded_beside_the_stream_and_removals_stay() {
        String removal = "{\"eventName\":\"REMOVE\",\"SequenceNumber\":\"7\",\"eventSourceARN\":\"" + STREAM
                + "\",\"Keys\":{\"id\":\"c3\"}}";
        deployed.fold(removal);
        StringBuilder rows = new StringBuilder("garbage\n");
        for (int i = 0; i < 200; i++) {
            rows.append("{\"id\":\"c%d\",\"shop\":\"s%d\"}\n".formatted(i, i % 2));
        }
        cli.write("rows.ndjson", rows.toString());
        String[] seed = {"seed", "favourites.yaml", "--from", "rows.ndjson", "--stream", STREAM, "--rate", "100000"};

        Result dry = aws("seed", "favourites.yaml", "--from", "rows.ndjson", "--stream", STREAM, "--dry-run");
        assertThat(dry.err())
                .contains(
                        "Writes, for each million rows, 2,100,000 to 4,150,000 units ($1.32 to $2.60 on demand)",
                        "8 min 20 s at 4,000 units a second",
                        "50 s");
        Result first = aws(seed);
        assertThat(first.exitCode()).as(first.err()).isZero();
        assertThat(first.out())
                .contains(
                        "  new                    199", "  newer live               1", "  rejected                 1");
        AwsEngine.deployed(store).reduce();
        assertThat(aws("query", "favourites", "--format", "csv").out()).contains("s0,100", "s1,99");

        Result again = aws(seed);
        assertThat(again.out()).contains("  new                    199", "  newer live               1");
        AwsEngine.deployed(store).reduce();
        assertThat(aws("query", "favourites", "--format", "csv").out()).contains("s0,100", "s1,99");
        assertThat(aws("get", "favourites", "c5").out()).containsPattern("1793491200/0/[0-9]{13}");
        assertThat(aws("dead-letters", "favourites", "list").out()).contains("2 dead letters");
    }

    @Test
    void marks_of_a_seeding_into_another_deployment_of_the_same_name_do_not_count_here() throws IOException {
        cli.write("rows.ndjson", "{\"id\":\"c1\",\"shop\":\"s1\"}\n{\"id\":\"c2\",\"shop\":\"s1\"}\n");
        String[] seed = {"seed", "favourites.yaml", "--from", "rows.ndjson", "--stream", STREAM};
        assertThat(aws(seed).exitCode()).isZero();
        Path seeds = seeds();
        Path last;
        try (Stream<Path> files = Files.list(seeds)) {
            last = files.filter(file -> file.toString().endsWith(".json"))
                    .findFirst()
                    .orElseThrow();
        }
        String left = Files.readString(last)
                .replace("\"done\"", "\"running\"")
                .replace("\"marks\":{}", "\"marks\":{\"0\":\"end\"}");
        Files.writeString(last, left);
        assertThat(aws(seed).err()).contains("Goes on where an interrupted seeding has stopped");
        Files.writeString(last, left);
        try (Stream<Path> files = Files.list(seeds)) {
            for (Path file : files.filter(file -> !file.equals(last)).toList()) {
                Files.delete(file);
            }
        }
        for (String table : List.of(
                store.tables().rows(),
                store.tables().deltas(),
                store.tables().totals(),
                store.tables().letters())) {
            store.client().deleteTable(request -> request.tableName(table)).join();
        }
        deployed.deploy("favourites.yaml", FAVOURITES);
        Result fresh = aws(seed);
        assertThat(fresh.err()).doesNotContain("Goes on");
        assertThat(fresh.out()).contains("  new                      2");
    }

    @Test
    void numbers_are_drawn_in_the_deployment_also_where_the_machine_has_a_greater_one() throws IOException {
        cli.write("rows.ndjson", "{\"id\":\"c1\",\"shop\":\"s1\"}\n");
        Path seeds = seeds();
        Files.createDirectories(seeds);
        Files.writeString(seeds.resolve("9000000000000.lock"), "");
        assertThat(aws("seed", "favourites.yaml", "--from", "rows.ndjson", "--stream", STREAM)
                        .exitCode())
                .isZero();
        assertThat(aws("get", "favourites", "c1").out()).contains("1793491200/0/9000000000001");
        assertThat(SeedNumbers.draw(store, 5)).isEqualTo(9_000_000_000_002L);
    }

    @Test
    @Tag("campaign")
    void a_seeding_says_in_the_tables_that_it_runs_from_its_beginning_to_its_end() {
        StringBuilder rows = new StringBuilder();
        for (int i = 0; i < 4; i++) {
            rows.append("{\"id\":\"r%d\",\"shop\":\"s\"}\n".formatted(i));
        }
        cli.write("rows.ndjson", rows.toString());
        CompletableFuture<Result> seeding = CompletableFuture.supplyAsync(
                () -> aws("seed", "favourites.yaml", "--from", "rows.ndjson", "--stream", STREAM, "--rate", "1"));
        while (!SeedLease.isRunning(store, Long.MAX_VALUE)) {
            assertThat(seeding).isNotDone();
        }
        assertThat(seeding.join().exitCode()).isZero();
        assertThat(SeedLease.isRunning(store, Long.MAX_VALUE)).isFalse();
    }

    @Test
    void without_the_stream_of_the_pipeline_nothing_is_written() {
        cli.write("rows.ndjson", "{\"id\":\"c1\",\"shop\":\"s1\"}\n");
        Result refused = aws("seed", "favourites.yaml", "--from", "rows.ndjson");
        assertThat(refused.exitCode()).isEqualTo(1);
        assertThat(refused.err()).contains("nothing says in which one");
    }

    @Test
    void a_stream_of_another_kind_than_the_deployment_reads_is_refused_and_nothing_is_written() {
        cli.write("rows.ndjson", "{\"id\":\"n1\",\"shop\":\"nowhere\"}\n");
        String kinesis = "arn:aws:kinesis:eu-central-1:123456789012:stream/archive";
        for (List<String> streams : List.of(List.of(STREAM, kinesis), List.of(kinesis, STREAM))) {
            new LetterTable(store).useInput(streams.getFirst());
            Result refused = aws("seed", "favourites.yaml", "--from", "rows.ndjson", "--stream", streams.getLast());
            assertThat(refused.exitCode()).isEqualTo(1);
            assertThat(refused.err()).contains("reads " + streams.getFirst(), "which is of another kind");
            assertThat(aws("query", "favourites.yaml").out()).doesNotContain("nowhere");
        }
        new LetterTable(store).useInput(STREAM);
        Result seeded = aws("seed", "favourites.yaml", "--from", "rows.ndjson", "--stream", STREAM);
        assertThat(seeded.exitCode()).as(seeded.err()).isZero();
        assertThat(seeded.err()).contains("The key of the table is taken to be id.");
    }
}
