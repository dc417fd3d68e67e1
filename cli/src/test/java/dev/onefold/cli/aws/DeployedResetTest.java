package dev.onefold.cli.aws;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.resync.SeedLease;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.upkeep.Reset;
import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import dev.onefold.yaml.PipelineFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `onefold aws reset` on DynamoDB Local.
class DeployedResetTest {
    private static final int TRADES = 250;

    private static LocalServices services;

    @TempDir
    private Path folder;

    private Cli cli;
    private Store store;

    @BeforeAll
    static void open() throws IOException {
        services = LocalServices.open();
    }

    @AfterAll
    static void close() {
        services.close();
    }

    @BeforeEach
    void deploy() {
        cli = Cli.in(folder);
        cli.write("trades.yaml", Cli.TRADES);
        for (String table : List.of("rows", "deltas", "totals", "letters")) {
            delete("trades-" + table);
        }
        store = services.deploy("trades", PipelineFile.pipeline(folder.resolve("trades.yaml")));
        bring();
    }

    private static void delete(String table) {
        var client = services.store("trades").client();
        if (client.listTables().join().tableNames().contains(table)) {
            client.deleteTable(request -> request.tableName(table)).join();
        }
    }

    private void bring() {
        List<Arrival> batch = new ArrayList<>();
        for (int i = 0; i < TRADES; i++) {
            byte[] record =
                    (i == 7 ? "poison" : Cli.trade("t" + i, 1, "FX", "EMEA", "2")).getBytes(StandardCharsets.UTF_8);
            batch.add(new Arrival("stream/shard", Integer.toString(i + 1), 0, record));
        }
        StateAndMap.process(store, batch);
        AwsEngine.deployed(store).reduce();
    }

    private Result aws(String... arguments) {
        return cli.run(services.command(arguments));
    }

    private String total() {
        return aws("query", "trades", "--depth", "0", "--format", "csv").out();
    }

    @Test
    @Tag("campaign")
    void a_deployment_is_emptied_and_counts_the_same_records_again() {
        String before = total();
        assertThat(before).contains("498.00,249");
        Result result = aws("reset", "trades.yaml", "--yes");
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.err())
                .contains(
                        "Empties deployment trades: about ",
                        "trades-rows 2",
                        "write units, $0.01 on demand",
                        "records that they take afterwards count",
                        "so the queues for retries are not looked for");
        assertThat(result.out()).matches("Emptied deployment trades: [0-9]+ items deleted\\..*\n");
        assertThat(total()).contains("0.00,0");
        assertThat(aws("dead-letters", "trades", "list").out()).contains("no dead letters");
        assertThat(aws("verify", "trades").exitCode()).isZero();
        bring();
        assertThat(total()).isEqualTo(before);
        assertThat(aws("verify", "trades").exitCode()).isZero();
        assertThat(aws("dead-letters", "trades", "list").out()).contains("1 dead letter");
        assertThat(aws("restored", "trades.yaml").out()).contains("nothing was changed");
    }

    @Test
    void it_asks_and_nothing_is_deleted_without_a_yes() {
        String before = total();
        Result nobody = aws("reset", "trades");
        assertThat(nobody.exitCode()).isEqualTo(2);
        Result no = cli.onTerminal(80).runWithInput("n\n", services.command("reset", "trades"));
        assertThat(no.exitCode()).isEqualTo(1);
        assertThat(no.err()).contains("Delete all of it? [y/N]", "Nothing was deleted.");
        assertThat(total()).isEqualTo(before);
        assertThat(Reset.isUnderWay(store)).isFalse();
    }

    @Test
    @Tag("campaign")
    void a_reset_that_was_stopped_is_gone_on_with_and_nothing_is_answered_until_then() {
        try {
            Reset.run(
                    store,
                    () -> {
                        throw new IllegalStateException("Stopped");
                    },
                    _ -> {});
        } catch (IllegalStateException stopped) {
            assertThat(stopped).hasMessage("Stopped");
        }
        Result refused = aws("query", "trades");
        assertThat(refused.exitCode()).isEqualTo(1);
        assertThat(refused.err()).contains("The deployment is closed", "onefold aws reset");
        Result restored = aws("restored", "trades.yaml", "--anyway");
        assertThat(restored.exitCode()).isEqualTo(1);
        assertThat(restored.err()).contains("run 'onefold aws reset' again");
        Result result = aws("reset", "trades", "--yes");
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.err()).contains("is under way, or was stopped; this one goes on with it");
        assertThat(total()).contains("0.00,0");
    }

    @Test
    void a_seeding_is_waited_for_and_batches_and_what_was_never_deployed_are_refused_by_name() {
        SeedLease lease = SeedLease.begin(store, 5);
        Result seeding = aws("reset", "trades", "--yes");
        assertThat(seeding.exitCode()).isEqualTo(1);
        assertThat(seeding.err()).contains("A seeding of this deployment runs");
        lease.close();
        cli.write("b.yaml", """
                pipeline: trades
                input: {format: json, id: id}
                batch:
                  size: 2
                  wait: 1h
                  deliver: {s3: "s3://drop/b-{number}.ndjson"}
                """);
        Result batches = aws("reset", "b.yaml", "--yes");
        assertThat(batches.exitCode()).isEqualTo(2);
        assertThat(batches.err()).contains("makes batches, and is not emptied", "another name");
        assertThat(total()).contains("498.00,249");
        Result nothing = aws("reset", "trades", "--deployment", "nobody", "--yes");
        assertThat(nobody(nothing)).contains("nobody");
    }

    @Test
    void a_file_of_another_pipeline_than_the_deployment_serves_is_refused() {
        cli.write("other.yaml", Cli.TRADES.replace("pipeline: trades", "pipeline: other"));
        Result result = aws("reset", "other.yaml", "--deployment", "trades", "--yes");
        assertThat(result.exitCode()).as(result.err()).isEqualTo(2);
        assertThat(result.err()).contains("Deployment trades is of pipeline trades, not of other");
        assertThat(total()).contains("498.00,249");
    }

    private static String nobody(Result result) {
        assertThat(result.exitCode()).isNotZero();
        return result.err();
    }
}
