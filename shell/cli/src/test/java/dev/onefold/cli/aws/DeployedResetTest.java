package dev.onefold.cli.aws;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.resync.SeedLease;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.upkeep.Reset;
import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import dev.onefold.yaml.PipelineFile;
import dev.onefold.yaml.PipelineFunction;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/// `onefold aws reset` on DynamoDB Local.
class DeployedResetTest {
    private static final int TRADES = 250;

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
        deployed.deploy("trades.yaml", Cli.TRADES);
        bring();
    }

    private void bring() {
        deployed.fold(IntStream.range(0, TRADES)
                .mapToObj(i -> i == 7 ? "poison" : Cli.trade("t" + i, 1, "FX", "EMEA", "2"))
                .toArray(String[]::new));
    }

    private Result aws(String... arguments) {
        return deployed.aws(arguments);
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
                        "Empties deployment " + deployed.name() + ": about ",
                        deployed.name() + "-rows 2",
                        "write units, $0.01 on demand",
                        "records that they take afterwards count",
                        "so the queues for retries are not looked for");
        assertThat(result.out()).matches("Emptied deployment test-[0-9]+: [0-9]+ items deleted\\..*\n");
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
        Result no = cli.onTerminal(80).runWithInput("n\n", deployed.command("reset", "trades"));
        assertThat(no.exitCode()).isEqualTo(1);
        assertThat(no.err()).contains("Delete all of it? [y/N]", "Nothing was deleted.");
        assertThat(total()).isEqualTo(before);
        assertThat(Reset.isUnderWay(store)).isFalse();
    }

    @Test
    @Tag("campaign")
    void a_reset_that_was_stopped_is_gone_on_with_and_the_queues_are_purged_while_nothing_is_answered()
            throws IOException {
        try {
            Reset.run(
                    store,
                    _ -> {
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
        List<Boolean> closed = new ArrayList<>();
        Runnable purged = () -> closed.add(Reset.isUnderWay(store));
        try (HttpQueue retries = new HttpQueue(3, purged);
                HttpQueue aside = new HttpQueue(1, purged)) {
            Result result = aws("reset", "trades", "--yes", "--retries", retries.url(), "--retries", aside.url());
            assertThat(result.exitCode()).as(result.err()).isZero();
            assertThat(result.err())
                    .contains(
                            "is under way, or was stopped; this one goes on with it",
                            "The queues for retries are purged: retries about 3 messages, retries about 1 message.");
        }
        assertThat(closed).containsExactly(true, true);
        assertThat(total()).contains("0.00,0");
    }

    @Test
    void a_seeding_is_waited_for_and_what_was_never_deployed_is_refused_by_name() {
        SeedLease lease = SeedLease.begin(store, 5);
        Result seeding = aws("reset", "trades", "--yes");
        assertThat(seeding.exitCode()).isEqualTo(1);
        assertThat(seeding.err()).contains("A seeding of this deployment runs");
        lease.close();
        Result nobody = cli.run(SERVICES.command("reset", "trades", "--deployment", "nobody", "--yes"));
        assertThat(nobody.exitCode()).isNotZero();
        assertThat(nobody.err()).contains("nobody");
        assertThat(total()).contains("498.00,249");
    }

    @Test
    void a_file_of_another_pipeline_than_the_deployment_serves_is_refused() {
        cli.write("other.yaml", Cli.TRADES.replace("pipeline: trades", "pipeline: other"));
        Result result = aws("reset", "other.yaml", "--yes");
        assertThat(result.exitCode()).as(result.err()).isEqualTo(2);
        assertThat(result.err()).contains("Deployment " + deployed.name() + " is of pipeline trades, not of other");
        assertThat(total()).contains("498.00,249");
    }

    @Test
    void batches_and_a_function_are_refused_by_file_and_by_name_with_what_to_do_instead() {
        Deployed orders = Deployed.in(cli.folder(), SERVICES);
        Path batches = cli.write("orders.yaml", """
                pipeline: orders
                input: {format: json, id: id}
                batch:
                  size: 2
                  wait: 1h
                  deliver: {s3: "s3://drop/b-{number}.ndjson"}
                """);
        BatchDefinition.openOrCreate(SERVICES.tables(orders.name()), PipelineFile.pipeline(batches), 2);
        requireRefused(orders, "makes batches, and is not emptied", "orders", "orders.yaml", "trades.yaml");
        Deployed sums = Deployed.in(cli.folder(), SERVICES);
        Path function = cli.write("sums.yaml", """
                pipeline: sums
                input: {key: user, version: n}
                process: {class: dev.onefold.cli.verbs.Adding, version: 1, order: in-order, tables: {totals: user}}
                """);
        sums.deploy(PipelineFunction.load(function).function().pipeline());
        requireRefused(sums, "is of a pipeline with a function (process), and is not emptied", "sums", "sums.yaml");
    }

    private static void requireRefused(Deployed deployed, String why, String... pipelines) {
        for (String pipeline : pipelines) {
            Result refused = deployed.aws("reset", pipeline, "--yes");
            assertThat(refused.exitCode()).as(refused.err()).isEqualTo(2);
            assertThat(refused.err()).contains("Deployment " + deployed.name() + " " + why, "another name");
        }
        assertThat(Reset.isUnderWay(deployed.store())).isFalse();
    }
}
