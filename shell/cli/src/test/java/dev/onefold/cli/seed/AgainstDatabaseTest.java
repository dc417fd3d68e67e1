package dev.onefold.cli.seed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `verify --against` a table of PostgreSQL whose changes come from Debezium.
class AgainstDatabaseTest {
    private static EmbeddedPostgres postgres;

    @TempDir
    Path folder;

    @BeforeAll
    static void begin() throws IOException {
        postgres = EmbeddedPostgres.builder().start();
    }

    @AfterAll
    static void end() throws IOException {
        postgres.close();
    }

    private static String change(long lsn, String op, int id, String town) {
        return "{\"op\":\"%1$s\",\"before\":{\"id\":%2$d},\"after\":%3$s,\"source\":{\"schema\":\"public\",\"table\":\"t\",\"lsn\":%4$d,\"sequence\":\"[\\\"0\\\",\\\"%4$d\\\"]\"}}\n"
                .formatted(op, id, op.equals("d") ? "null" : "{\"id\":" + id + ",\"town\":\"" + town + "\"}", lsn);
    }

    private Result verify(Cli cli, String... more) {
        List<String> arguments = new ArrayList<>(List.of(
                "verify",
                "towns.yaml",
                "--against",
                "postgresql://postgres@localhost:" + postgres.getPort() + "/postgres",
                "--query",
                "select id, town from t",
                "--lag",
                "1ms",
                "--progress",
                "none"));
        arguments.addAll(List.of(more));
        return cli.run(arguments.toArray(new String[0]));
    }

    @Test
    void a_change_that_the_log_has_and_no_query_sees_yet_is_waited_for_and_what_was_lost_is_repaired()
            throws Exception {
        Cli cli = Cli.in(folder);
        cli.write("towns.yaml", """
                pipeline: towns
                input: {format: debezium, table: public.t, key: id}
                rollup: {levels: [town], measures: {n: count()}}
                """);
        cli.write(
                "live.ndjson",
                change(1, "c", 1, "Ulm")
                        + change(2, "c", 2, "Ulm")
                        + change(3, "c", 3, "Bonn")
                        + change(4, "u", 1, "Trier"));
        assertThat(cli.run("run", "towns.yaml", "--input", "live.ndjson").exitCode())
                .isZero();
        try (Connection connection = postgres.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("create table t (id int primary key, town text)");
            statement.execute("insert into t values (1, 'Ulm'), (2, 'Ulm'), (4, 'Ulm')"); // 3 was removed, 4 is lost.
            connection.setAutoCommit(false);
            statement.execute("update t set town = 'Trier' where id = 1"); // The stream has it; it is not yet seen.
            CompletableFuture<Result> repairing = CompletableFuture.supplyAsync(() -> verify(cli, "--repair"));
            awaitWaiting(repairing);
            connection.commit();
            Result repaired = repairing.join();
            assertThat(repaired.exitCode()).as(repaired.out() + repaired.err()).isZero();
            assertThat(repaired.out())
                    .contains("  missing here             1\n    repaired               1\n")
                    .contains("  gone from the source     1\n    repaired               1\n")
                    .doesNotContain("different");
        }
        assertThat(verify(cli).out()).contains("All rows are equal.");
        assertThat(cli.run("query", "towns", "--format", "csv").out()).contains("Trier,1", "Ulm,2");
    }

    /// Until the comparison has asked for the transactions that are open, or has ended without that.
    private static void awaitWaiting(CompletableFuture<Result> comparing) throws SQLException {
        try (Connection connection = postgres.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            boolean waits = false;
            while (!waits && !comparing.isDone()) {
                try (var answer = statement.executeQuery(
                        "select exists(select from pg_stat_activity where query like '%xmin(pg_current%'"
                                + " and pid <> pg_backend_pid())")) {
                    answer.next();
                    waits = answer.getBoolean(1);
                }
            }
        }
    }
}
