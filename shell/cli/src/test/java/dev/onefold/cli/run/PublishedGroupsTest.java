package dev.onefold.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Publishing;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.jdbc.JdbcTotals;
import dev.onefold.yaml.PipelineFile;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A table in a real PostgreSQL: a change writes the groups that it touches, however many there are. With
/// `-Dgroups=1000000` for as many; it prints how long that takes.
class PublishedGroupsTest {
    private static final int BATCH = 10_000;

    private static long number(Statement statement, String sql) throws SQLException {
        try (ResultSet found = statement.executeQuery(sql)) {
            found.next();
            return found.getLong(1);
        }
    }

    private static String trade(int group, int version) {
        return "{\"id\":\"%d\",\"v\":%d,\"restaurant\":\"r%d\",\"value\":%d}".formatted(group, version, group, version);
    }

    @Test
    void a_change_writes_the_groups_that_it_touches_however_many_there_are(@TempDir Path folder)
            throws IOException, SQLException {
        int groups = Integer.getInteger("groups", 2_000);
        try (EmbeddedPostgres postgres = EmbeddedPostgres.start();
                Connection connection = postgres.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            Cli.in(folder).write("counts.yaml", """
                    pipeline: counts
                    input: {key: id, version: v}
                    rollup:
                      levels: [restaurant]
                      measures: {favourites: count(), value: "sum(value) decimal(18,2)"}
                    publish: {jdbc: "%s", table: totals}
                    """.formatted(postgres.getJdbcUrl("postgres", "postgres")));
            Pipeline pipeline = PipelineFile.pipeline(folder.resolve("counts.yaml"));
            Publishing.Database to = (Publishing.Database) Objects.requireNonNull(pipeline.publishing());
            try (EmbeddedEngine engine = EmbeddedEngine.open(
                    folder.resolve("data"),
                    pipeline,
                    Settings.defaults().withThreads(0).withShards(2))) {
                engine.publish(served -> JdbcTotals.open(served, to, _ -> null), Duration.ofSeconds(1));
                for (int from = 0; from < groups; from += BATCH) {
                    List<String> trades = new ArrayList<>();
                    for (int group = from; group < Math.min(groups, from + BATCH); group++) {
                        trades.add(trade(group, 1));
                    }
                    engine.append("live", trades);
                }
                long begun = System.nanoTime();
                assertThat(engine.publishNow(() -> true)).isTrue();
                long first = System.nanoTime() - begun;
                long all = 0;
                for (int i = 0; i < 20; i++) {
                    engine.append("live", List.of(trade(i * 97 % groups, 2 + i)));
                    long before = System.nanoTime();
                    assertThat(engine.publishNow(() -> true)).isTrue();
                    all += System.nanoTime() - before;
                    assertThat(number(
                                    statement, "select count(*) from totals where cut = (select max(cut) from totals)"))
                            .isEqualTo(2);
                }
                assertThat(number(statement, "select count(*) from totals")).isEqualTo(groups + 1L);
                System.out.println(groups + " groups: the first cut " + first / 1_000_000 + " ms, a change "
                        + all / 20_000 + " microseconds");
            }
        }
    }
}
