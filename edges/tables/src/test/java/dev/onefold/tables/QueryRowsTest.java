package dev.onefold.tables;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// On a real PostgreSQL.
class QueryRowsTest {
    private static EmbeddedPostgres postgres;

    @BeforeAll
    static void start() throws IOException {
        postgres = EmbeddedPostgres.builder()
                .setServerConfig("wal_level", "logical")
                .start();
    }

    @AfterAll
    static void stop() throws IOException {
        postgres.close();
    }

    private static void run(String sql) throws SQLException {
        try (Connection connection = postgres.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static QueryRows rows(String query) {
        return new QueryRows(new QueryRows.Database(postgres.getJdbcUrl("postgres", "postgres"), Map.of()), query);
    }

    @Test
    void numbers_keep_their_digits_and_times_are_iso() throws Exception {
        String query = "select 12345678901234567890.10::numeric(30,2) as n, 7::int as i, 1.5::float8 as f, true as t,"
                + " null::text as nothing, 'a\"\nb' as text, timestamptz '2026-11-01 12:00:00.25+02' as at,"
                + " timestamp '2026-11-01 12:00:00.123456' as local, date '2026-11-01' as day, '\\x0102'::bytea as raw,"
                + " '{\"a\": 1}'::jsonb as doc, array[1,2] as list, 'NaN'::float8 as none";
        assertThat(Taken.all(rows(query)).lines)
                .containsExactly("{\"n\":12345678901234567890.10,\"i\":7,\"f\":1.5,\"t\":true,\"nothing\":null,"
                        + "\"text\":\"a\\\"\\u000ab\",\"at\":\"2026-11-01T10:00:00.250Z\","
                        + "\"local\":\"2026-11-01T12:00:00.123456\",\"day\":\"2026-11-01\",\"raw\":\"AQI=\","
                        + "\"doc\":{\"a\": 1},\"list\":[1,2],\"none\":\"NaN\"}");
    }

    @Test
    void all_rows_are_of_one_snapshot_and_few_are_in_memory() throws Exception {
        run("create table big as select i as id, repeat('x', 100) as text from generate_series(1, 60000) i");
        int[] rows = new int[1];
        rows("select * from big").read(Map.of(), some -> {
            if (rows[0] == 0) {
                changeBig();
            }
            rows[0] += some.count();
            return true;
        });
        assertThat(rows[0]).isEqualTo(60_000);
        assertThat(Taken.some(rows("select * from big"), Map.of(), 1).lines).isEmpty();
    }

    private static void changeBig() {
        try {
            run("delete from big");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Where the server hangs, or its machine has gone, the system takes the connection, and nobody answers.
    @Test
    @Tag("campaign")
    @Timeout(120)
    void a_database_that_takes_the_connection_and_says_nothing_is_not_waited_for() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String url = "jdbc:postgresql://127.0.0.1:" + silent.getLocalPort() + "/postgres";
            QueryRows rows = new QueryRows(new QueryRows.Database(url, Map.of()), "select 1");
            assertThatThrownBy(rows::slots).isInstanceOf(IOException.class);
        }
    }

    @Test
    void a_slot_is_there_when_it_is_ready() throws Exception {
        assertThat(rows("select 1").slots()).isEmpty();
        run("select pg_create_logical_replication_slot('onefold', 'pgoutput')");
        assertThat(rows("select 1").slots()).containsExactly("onefold");
    }

    @Test
    void a_second_look_waits_for_every_transaction_that_has_written_and_is_open() throws Exception {
        run("create table moving (id int primary key, n int)");
        run("insert into moving values (1, 1)");
        QueryRows rows = rows("select * from moving");
        assertThat(rows.isStandby()).isFalse();
        rows.awaitWriters(() -> false); // Nothing is open.
        try (Connection open = postgres.getPostgresDatabase().getConnection();
                Statement statement = open.createStatement()) {
            open.setAutoCommit(false);
            statement.execute("update moving set n = 2");
            CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> await(rows));
            assertThat(Taken.all(rows).lines).containsExactly("{\"id\":1,\"n\":1}");
            run("insert into moving values (2, 2)"); // One that began later is not waited for.
            assertThat(waiting).isNotDone();
            rows.awaitWriters(() -> true); // A stopped caller does not wait.
            open.commit();
            waiting.join();
        }
        assertThat(Taken.all(rows).lines).contains("{\"id\":1,\"n\":2}");
    }

    private static void await(QueryRows rows) {
        try {
            rows.awaitWriters(() -> false);
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void a_query_that_fails_or_writes_is_refused_with_the_reason() {
        assertThatThrownBy(() -> Taken.all(rows("select * from nowhere")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("nowhere");
        assertThatThrownBy(() -> Taken.all(rows("with t as (select 1) insert into x select * from t returning 1")))
                .isInstanceOf(IOException.class);
    }
}
