package dev.onefold.cli.reset;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A published table is far ahead of an engine that was emptied.
class ResetPublishedTest {
    @TempDir
    private Path folder;

    private static List<String> rows(EmbeddedPostgres postgres, String sql) throws SQLException {
        List<String> rows = new ArrayList<>();
        try (Connection connection = postgres.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement();
                ResultSet found = statement.executeQuery(sql)) {
            while (found.next()) {
                rows.add(found.getString(1));
            }
        }
        return rows;
    }

    @Test
    @Tag("campaign")
    void the_next_run_replaces_the_published_totals_and_their_cuts_go_on() throws Exception {
        try (EmbeddedPostgres postgres = EmbeddedPostgres.start()) {
            Cli cli = Cli.in(folder);
            cli.write(
                    "trades.yaml",
                    Cli.TRADES + "publish: {jdbc: \"" + postgres.getJdbcUrl("postgres", "postgres")
                            + "\", table: totals}\n");
            for (int i = 0; i < 5; i++) {
                cli.write("in" + i + ".ndjson", Cli.trade("t" + i, 1, "desk" + i, "EMEA", "5"));
                run(cli, "run", "trades.yaml", "--input", "in" + i + ".ndjson");
            }
            long cut = Long.parseLong(
                    rows(postgres, "select cut from onefold_published").getFirst());
            Result reset = run(cli, "reset", "trades.yaml", "--yes");
            assertThat(reset.err())
                    .contains("The published table totals keeps the totals of before until the next run");
            assertThat(rows(postgres, "select trades from totals where depth = 0"))
                    .containsExactly("5");
            cli.write("one.ndjson", Cli.trade("t9", 1, "desk3", "EMEA", "7"));
            run(cli, "run", "trades.yaml", "--input", "one.ndjson");
            assertThat(rows(postgres, "select desk || ' ' || trades || ' ' || value from totals order by desk, depth"))
                    .containsExactly(" 1 7.00", "desk3 1 7.00", "desk3 1 7.00");
            assertThat(Long.parseLong(
                            rows(postgres, "select cut from onefold_published").getFirst()))
                    .isGreaterThan(cut);
            run(cli, "verify", "trades.yaml", "--published");
        }
    }

    private static Result run(Cli cli, String... arguments) {
        Result result = cli.run(arguments);
        assertThat(result.exitCode()).as(result.err()).isZero();
        return result;
    }
}
