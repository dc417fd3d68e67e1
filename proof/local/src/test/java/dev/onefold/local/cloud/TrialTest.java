package dev.onefold.local.cloud;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `onefold aws trial` and `onefold aws clean`, each in a process of its own, on an account of this machine.
@Tag("campaign")
class TrialTest {
    private static final String PIPELINE = """
            pipeline: trade-risk
            input: {format: json, key: TradeID, version: Version, time: Timestamp, delete: Deleted = true}
            rollup:
              levels: [Hierarchy.RiskType, Hierarchy.TradeDesk, Hierarchy.Region]
              measures: {value: 'sum(Value) decimal(18,2)', trades: count()}
            """;

    private static final String ORDERS = """
            pipeline: orders
            input: {format: json, id: id}
            rollup:
              levels: [shop]
              measures: {amount: 'sum(amount) decimal(12,2)', least: 'min(amount) decimal(12,2)'}
            """;

    private static final int INTERRUPTIONS = Integer.getInteger("interruptions", 2);

    @TempDir
    private static Path folder;

    private static LocalAccount account;
    private static Commands commands;

    @BeforeAll
    static void open() throws IOException {
        account = LocalAccount.open();
        commands = new Commands(account, folder);
        Files.writeString(folder.resolve("trade-risk.yaml"), PIPELINE);
        Files.writeString(folder.resolve("orders.yaml"), ORDERS);
        Files.write(folder.resolve("functions.zip"), WholeStackTest.archive());
    }

    @AfterAll
    static void close() {
        account.close();
    }

    private static Process trial(String pipeline, String... more) throws IOException {
        List<String> words = new ArrayList<>(
                List.of("trial", pipeline, "--archive", "functions.zip", "--parameter", "Gates=64", "--minutes", "1"));
        words.addAll(List.of(more));
        return commands.start(words.toArray(String[]::new));
    }

    @Test
    void a_trial_ends_equal_while_invocations_fail_and_says_its_price_and_leaves_nothing() throws Exception {
        Commands.Ended ended = commands.ended(trial(
                "trade-risk.yaml", "--rate", "400", "--records", "4000", "--fail-state", "2", "--fail-reduce", "2"));
        assertThat(ended.exitCode()).as(ended.out()).isZero();
        assertThat(ended.out())
                .contains("4,000 in all: trade-risk messages, 5 % of them duplicates, 5 % late and 0 % poison")
                .contains("equal: all 19 groups after 4,000 records.")
                .contains("write units of tables")
                .contains("All that was made is deleted.")
                .doesNotContain("DIFFERENT", "\u001b");
        assertThat(account.stored()).isEmpty();
    }

    @Test
    void records_of_a_persons_own_are_compared_with_what_the_embedded_engine_makes_of_them() throws Exception {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 1_000; i++) {
            lines.append("{\"id\": %d, \"shop\": \"s%d\", \"amount\": %d.25}%n".formatted(i % 900, i % 7, i % 900));
        }
        Files.writeString(folder.resolve("orders.ndjson"), lines);
        Commands.Ended ended =
                commands.ended(trial("orders.yaml", "--input", "orders.ndjson", "--rate", "500", "--fail-state", "2"));
        assertThat(ended.out()).contains("after 1,000 records.", "All that was made is deleted.");
        assertThat(ended.exitCode()).as(ended.out()).isZero();
        assertThat(account.stored()).isEmpty();
    }

    @Test
    void interrupted_at_any_moment_it_leaves_nothing_that_it_has_made() throws Exception {
        Random random = new Random(42);
        for (int i = 1; i <= INTERRUPTIONS; i++) {
            Process process = trial("trade-risk.yaml", "--rate", "200", "--records", "2000");
            boolean isOver = process.waitFor(2_000 + random.nextInt(30_000), TimeUnit.MILLISECONDS);
            if (!isOver) {
                new ProcessBuilder("kill", random.nextBoolean() ? "-INT" : "-TERM", String.valueOf(process.pid()))
                        .start()
                        .waitFor();
            }
            Commands.Ended ended = commands.ended(process);
            assertThat(ended.exitCode())
                    .as(ended.out())
                    .isIn(0, 1, 130, 143); // The last: before there was anything to delete.
            assertThat(account.stored()).as(ended.out()).isEmpty();
        }
    }

    @Test
    void what_is_kept_is_there_and_cleaned_later_and_what_cannot_be_deleted_is_said() throws Exception {
        Commands.Ended kept = commands.ended(trial("trade-risk.yaml", "--rate", "200", "--records", "400", "--keep"));
        assertThat(kept.out()).contains("equal: all", "onefold aws clean trade-risk-trial");
        assertThat(account.stored()).isNotEmpty();
        Commands.Ended taken = commands.ended(trial("trade-risk.yaml", "--rate", "200", "--records", "400"));
        assertThat(taken.out()).contains("There is a stack called trade-risk-trial (made 20");
        assertThat(taken.exitCode()).isEqualTo(3);
        protect(true);
        Commands.Ended left = commands.ended(commands.start("clean", "trade-risk-trial"));
        assertThat(left.out()).contains("Not deleted:", "AWS::DynamoDB::Table Rows (trade-risk-trial-rows)");
        assertThat(left.exitCode()).isEqualTo(1);
        protect(false);
        Commands.Ended cleaned = commands.ended(commands.start("clean", "trade-risk-trial"));
        assertThat(cleaned.out()).contains("All of trade-risk-trial is deleted.");
        assertThat(cleaned.exitCode()).isZero();
        assertThat(account.stored()).isEmpty();
        assertThat(commands.ended(commands.start("clean", "trade-risk-trial")).out())
                .contains("There is nothing of a trial");
    }

    /// State, Reduce and Upkeep are at work meanwhile, and take what comes afterwards.
    @Test
    void a_deployment_that_runs_is_emptied_and_counts_what_comes_then() throws Exception {
        String name = "trade-risk-trial";
        Commands.Ended kept = commands.ended(trial("trade-risk.yaml", "--rate", "200", "--records", "400", "--keep"));
        assertThat(kept.exitCode()).as(kept.out()).isZero();
        Files.writeString(folder.resolve("one.ndjson"), """
                {"TradeID":"r1","Version":1,"Timestamp":"2026-11-21T06:09:29.281Z","Value":7.25,\
                "Hierarchy":{"RiskType":"PV","TradeDesk":"FXSpot","Region":"EMEA"}}
                """);
        Commands.Ended emptied = commands.ended(commands.start("reset", "trade-risk.yaml", "--deployment", name));
        assertThat(emptied.out()).contains("Emptied deployment " + name + ": ", "begin with nothing");
        assertThat(emptied.exitCode()).isZero();
        List<String> query =
                List.of("query", "trade-risk.yaml", "--deployment", name, "--format", "csv", "--depth", "0");
        assertThat(commands.ended(commands.begin(query)).out()).contains(",,,0.00,0");
        Commands.Ended put = commands.ended(commands.begin(List.of(
                "produce",
                "trade-risk.yaml",
                "one.ndjson",
                "--deployment",
                name,
                "--kinesis-endpoint",
                account.cloud.endpoint().toString())));
        assertThat(put.exitCode()).as(put.out()).isZero();
        String counted = commands.ended(commands.begin(query)).out();
        for (int tries = 0; tries < 20 && !counted.contains("7.25,1"); tries++) {
            counted = commands.ended(commands.begin(query)).out();
        }
        assertThat(counted).contains(",,,7.25,1");
        assertThat(commands.ended(commands.start("clean", name)).exitCode()).isZero();
        assertThat(account.stored()).isEmpty();
    }

    private static void protect(boolean isProtected) {
        account.tables
                .updateTable(
                        request -> request.tableName("trade-risk-trial-rows").deletionProtectionEnabled(isProtected))
                .join();
    }
}
