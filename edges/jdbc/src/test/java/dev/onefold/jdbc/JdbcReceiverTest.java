package dev.onefold.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.EngineException;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Destination;
import dev.onefold.core.pipeline.Batching.Kind;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.receivers.Context;
import dev.onefold.receivers.Handover;
import dev.onefold.receivers.Receiver;
import dev.onefold.receivers.Receivers;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// On a real PostgreSQL.
class JdbcReceiverTest {
    private static final Instant SEALED = Instant.parse("2026-02-03T04:05:06Z");
    private static final String INSERT =
            "insert into quakes (id, size, felt, place) values (:id, :size, :felt, ':id' || :place::text)";

    private static EmbeddedPostgres postgres;

    @BeforeAll
    static void start() throws IOException {
        postgres = EmbeddedPostgres.start();
    }

    @AfterAll
    static void stop() throws IOException {
        postgres.close();
    }

    @BeforeEach
    void clean() throws SQLException {
        run("drop table if exists onefold_batches; drop table if exists quakes;"
                + " create table quakes (id int primary key, size numeric(4,2), felt boolean, place text)");
    }

    private static void run(String sql) throws SQLException {
        try (Connection connection = postgres.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static List<String> rows(String sql) throws SQLException {
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

    private static Handover handover(int number, String content) {
        byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
        BatchNumber batch = BatchNumber.of(number);
        Manifest manifest = new Manifest(
                Manifest.id("quakes", batch),
                batch,
                "",
                content.lines().count(),
                bytes.length,
                Sha256.hex(bytes),
                "",
                "",
                SEALED,
                SEALED,
                SEALED);
        return new Handover(manifest, 1, () -> new ByteArrayInputStream(bytes));
    }

    private static Receiver open(String address, String insert) {
        Destination destination = new Destination(
                Kind.JDBC,
                List.of(address),
                new TreeMap<>(Map.of("insert", insert, "user", "postgres", "password", "SECRET")));
        Batching batching = new Batching(
                10,
                Batching.BYTES_DEFAULT,
                Duration.ofMinutes(1),
                destination,
                Batching.Receiver.TRANSACTIONAL,
                false,
                Batching.Order.STRICT,
                1,
                Batching.RETRY_DEFAULT,
                new Batching.Forget.Never(),
                null);
        return Receivers.open(
                batching,
                new Context(
                        Path.of("."),
                        Path.of("."),
                        Map.of("SECRET", "postgres")::get,
                        JdbcReceiverTest.class.getClassLoader(),
                        Map.of(Kind.JDBC, JdbcReceiver::open),
                        new Format.Json()));
    }

    private static Outcome deliver(Handover handover) throws InterruptedException {
        try (Receiver receiver = open(postgres.getJdbcUrl("postgres", "postgres"), INSERT)) {
            return receiver.deliver(handover);
        }
    }

    @Test
    void rows_and_the_number_are_written_together_and_once() throws Exception {
        Handover batch = handover(
                1,
                "{\"id\":1,\"size\":5.25,\"felt\":true,\"place\":\"Kos\"}\n{\"id\":2,\"size\":null,\"place\":\"é\"}\n");
        assertThat(deliver(batch)).isEqualTo(new Outcome.Done());
        assertThat(deliver(batch)).isEqualTo(new Outcome.Done());
        assertThat(rows("select concat_ws('|', id, size, felt, place) from quakes order by id"))
                .containsExactly("1|5.25|t|:idKos", "2|:idé");
        assertThat(rows("select concat_ws('|', pipeline, number, sha256) from onefold_batches"))
                .containsExactly("quakes|000001|" + batch.manifest().sha256());
    }

    /// Where the server hangs, or its machine has gone, the system takes the connection, and nobody answers.
    @Test
    @Tag("campaign")
    @Timeout(120)
    void a_database_that_takes_the_connection_and_says_nothing_is_not_waited_for() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Receiver receiver =
                        open("jdbc:postgresql://127.0.0.1:" + silent.getLocalPort() + "/postgres", INSERT)) {
            assertThat(receiver.deliver(handover(1, "{\"id\":1}\n"))).isInstanceOf(Outcome.NotNow.class);
        }
    }

    @Test
    void another_content_under_the_number_is_a_conflict() throws Exception {
        deliver(handover(1, "{\"id\":1}\n"));
        assertThat(deliver(handover(1, "{\"id\":2}\n"))).isInstanceOf(Outcome.Conflict.class);
        assertThat(rows("select id from quakes")).containsExactly("1");
    }

    @Test
    void a_row_that_the_database_refuses_leaves_nothing_behind() throws Exception {
        StringBuilder many = new StringBuilder();
        for (int id = 0; id < 2_500; id++) {
            many.append("{\"id\":").append(id).append("}\n");
        }
        for (String bad : List.of(
                "{\"id\":7}",
                "{\"id\":9999999999}",
                "{}",
                "[]",
                "{\"id\":1e999999999}",
                "{\"id\":1e99999999999}",
                "{\"id\":[1]}",
                "{\"id\":3001,\"size\":1e9}")) {
            assertThat(deliver(handover(1, many + bad + "\n"))).as(bad).isInstanceOf(Outcome.Refused.class);
            assertThat(rows("select id from quakes")).isEmpty();
            assertThat(rows("select number from onefold_batches")).isEmpty();
        }
        assertThat(deliver(handover(1, many.toString()))).isEqualTo(new Outcome.Done());
        assertThat(rows("select count(*) from quakes")).containsExactly("2500");
    }

    @Test
    void a_content_that_is_not_the_sealed_one_leaves_nothing_behind() throws Exception {
        Handover whole = handover(1, "{\"id\":1}\n{\"id\":2}\n");
        Handover damaged = new Handover(
                whole.manifest(), 1, () -> new ByteArrayInputStream("{\"id\":1}\n".getBytes(StandardCharsets.UTF_8)));
        assertThatThrownBy(() -> deliver(damaged)).isInstanceOf(EngineException.class);
        assertThat(rows("select id from quakes")).isEmpty();
        assertThat(deliver(whole)).isEqualTo(new Outcome.Done());
    }

    @Test
    void a_table_or_a_server_that_is_missing_is_waited_for() throws Exception {
        run("drop table quakes");
        assertThat(deliver(handover(1, "{\"id\":1}\n")))
                .isInstanceOfSatisfying(
                        Outcome.NotNow.class,
                        outcome -> assertThat(outcome.reason()).contains("relation \"quakes\" does not exist"));
        try (Receiver nowhere = open("jdbc:postgresql://127.0.0.1:1/none", INSERT)) {
            assertThat(nowhere.deliver(handover(1, "{\"id\":1}\n"))).isInstanceOf(Outcome.NotNow.class);
        }
    }

    @Test
    void attempts_at_the_same_time_write_the_rows_once() throws Exception {
        Handover batch = handover(1, "{\"id\":1}\n{\"id\":2}\n");
        List<Outcome> outcomes = Collections.synchronizedList(new ArrayList<>());
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    outcomes.add(deliver(batch));
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(outcomes)
                .hasSize(4)
                .contains(new Outcome.Done())
                .allMatch(outcome -> outcome instanceof Outcome.Done || outcome instanceof Outcome.NotNow);
        assertThat(rows("select count(*) from quakes")).containsExactly("2");
        assertThat(deliver(batch)).isEqualTo(new Outcome.Done());
    }

    @Test
    void a_statement_without_fields_is_refused_at_the_start() {
        assertThatThrownBy(() -> open("jdbc:postgresql://127.0.0.1/x", "insert into t values ('x:y', \":z\")"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("names no field");
    }
}
