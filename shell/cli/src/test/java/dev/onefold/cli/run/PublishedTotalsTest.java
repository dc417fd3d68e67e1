package dev.onefold.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.cli.Cli;
import dev.onefold.core.Engine;
import dev.onefold.core.TotalsTable;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Publishing;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
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
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Totals in a real PostgreSQL, beside the engine that they are of. It is one idea: all that moves, hides or
/// doubles a row there.
class PublishedTotalsTest {
    private static EmbeddedPostgres postgres;

    @TempDir
    Path folder;

    private Cli cli;
    private Pipeline pipeline;
    private final FaultyTotals faults = new FaultyTotals();

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
        run("drop schema public cascade; create schema public");
        cli = Cli.in(folder);
        pipeline = pipeline(Cli.TRADES);
    }

    private static String publishing(String file) {
        return file + "publish: {jdbc: \"" + postgres.getJdbcUrl("postgres", "postgres") + "\", table: totals}\n";
    }

    private Pipeline pipeline(String file) {
        cli.write("trades.yaml", publishing(file));
        return PipelineFile.pipeline(folder.resolve("trades.yaml"));
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
                List<String> row = new ArrayList<>();
                for (int i = 1; i <= found.getMetaData().getColumnCount(); i++) {
                    row.add(found.getString(i));
                }
                rows.add(String.join("|", row));
            }
        }
        return rows;
    }

    private EmbeddedEngine open() {
        EmbeddedEngine engine = EmbeddedEngine.open(
                folder.resolve("data"),
                pipeline,
                Settings.defaults().withThreads(0).withShards(2));
        engine.publish(this::table, Duration.ofSeconds(1));
        return engine;
    }

    private static boolean published(EmbeddedEngine engine) {
        return engine.publishNow(() -> true);
    }

    private TotalsTable table(Pipeline served) {
        TotalsTable table =
                JdbcTotals.open(served, (Publishing.Database) Objects.requireNonNull(pipeline.publishing()), _ -> null);
        return faults.over(table);
    }

    private static void append(Engine engine, String trade) {
        engine.append("live", List.of(trade.strip()));
    }

    private static void remove(Engine engine, String id, int version) {
        engine.append("live", List.of("{\"id\":\"" + id + "\",\"v\":" + version + ",\"gone\":true}"));
    }

    /// What the tables have to hold, as an answer says it.
    private static void requireEqual(Engine engine) throws SQLException {
        List<Rollup> rollups = Rollups.of(engine.pipeline()).all();
        for (Rollup rollup : rollups) {
            TreeSet<String> expected = new TreeSet<>();
            for (Answer.Line line :
                    engine.query(new Query(rollup.name(), List.of(), 16, null)).lines()) {
                List<String> row = new ArrayList<>(line.group());
                while (row.size() < rollup.levels().size()) {
                    row.add("");
                }
                row.add(String.valueOf(line.group().size()));
                line.values().forEach(value -> row.add(value == null ? "null" : value.toPlainString()));
                expected.add(String.join("|", row));
            }
            String table = rollups.size() == 1 || rollup.name().equals("main") ? "totals" : "totals_" + rollup.name();
            TreeSet<String> found = new TreeSet<>();
            for (String row : rows("select * from " + table)) {
                found.add(row.substring(0, row.lastIndexOf('|', row.lastIndexOf('|') - 1)));
            }
            assertThat(found).as(table).isEqualTo(expected);
        }
    }

    @Test
    void a_database_that_has_not_all_characters_is_refused_before_the_first_one_is_missing() throws SQLException {
        run("create database latin encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0");
        var at = (Publishing.Database) Objects.requireNonNull(pipeline.publishing());
        Publishing.Database latin = new Publishing.Database(
                at.address().replace("/postgres?", "/latin?"), at.table(), at.every(), at.user(), at.password());
        JdbcTotals totals = JdbcTotals.open(pipeline, latin, _ -> null);
        assertThatThrownBy(totals::begin)
                .isInstanceOf(TotalsTable.Unavailable.class)
                .hasMessageContaining("has the encoding LATIN1");
    }

    @Test
    void each_group_is_a_row_with_plain_columns_and_the_cut_that_changed_it() throws SQLException {
        try (EmbeddedEngine engine = open()) {
            append(engine, Cli.trade("1", 1, "FX", "EMEA", "5"));
            append(engine, Cli.trade("2", 1, "FX", "", "7.25"));
            assertThat(published(engine)).isTrue();
            assertThat(rows("select desk, region, depth, value, trades, cut from totals order by 1, 2, 3"))
                    .containsExactly("||0|12.25|2|1", "FX||1|12.25|2|1", "FX||2|7.25|1|1", "FX|EMEA|2|5.00|1|1");
            append(engine, Cli.trade("1", 2, "IR", "EMEA", "5"));
            assertThat(published(engine)).isTrue();
            assertThat(rows("select desk, region, depth, value, trades, cut from totals order by 1, 2, 3"))
                    .containsExactly(
                            "||0|12.25|2|1",
                            "FX||1|7.25|1|2",
                            "FX||2|7.25|1|1",
                            "IR||1|5.00|1|2",
                            "IR|EMEA|2|5.00|1|2");
            assertThat(rows("select name, pipeline, cut from onefold_published"))
                    .containsExactly("totals|trades|2");
            remove(engine, "1", 3);
            remove(engine, "2", 3);
            published(engine);
            requireEqual(engine);
            assertThat(engine.status().publication().orElseThrow().cut()).isEqualTo(3);
            published(engine);
            published(engine);
            assertThat(rows("select cut from onefold_published")).containsExactly("3"); // Nothing has changed since.
        }
    }

    @Test
    void names_that_a_database_does_not_take_become_plain_ones() throws SQLException {
        pipeline = pipeline("""
                pipeline: trades
                input: {key: id, version: v, delete: gone = true}
                rollup:
                  levels: ["prefix(desk, 2)", {field: region, name: "1 Region!"}]
                  measures: {Cut: count(), cut-2: count(), Value: "sum(value) decimal(18,2)"}
                """);
        try (EmbeddedEngine engine = open()) {
            append(engine, Cli.trade("1", 1, "F\\u0000X", "A\u2400'\\\"\\\\", "5"));
            published(engine);
            assertThat(rows("select prefix_desk_2, c_1_region, cut_2, cut_2_2, value from totals where depth = 2"))
                    .containsExactly("F\u24000|A\u2400\u2400'\"\\|1|1|5.00");
        }
    }

    @Test
    void hazard_82_a_table_and_the_cut_that_it_names_are_committed_together() throws SQLException {
        try (EmbeddedEngine engine = open()) {
            for (int i = 0; i < 12; i++) {
                append(engine, Cli.trade("k" + i % 4, i + 1, "D" + i % 3, "R", String.valueOf(i)));
                faults.failingCommits = i % 3;
                boolean isDone = published(engine);
                assertThat(isDone).isEqualTo(i % 3 == 0);
                if (i % 3 != 1) {
                    requireEqual(engine); // Also where the answer of the commit was lost.
                }
                if (i > 0) {
                    assertThat(rows("select max(totals.cut) <= max(p.cut) from totals, onefold_published p"))
                            .containsExactly("t");
                }
            }
            published(engine);
            requireEqual(engine);
        }
    }

    @Test
    void hazard_83_a_receiver_that_was_restored_from_a_backup_is_brought_forward_from_where_it_is()
            throws SQLException {
        try (EmbeddedEngine engine = open()) {
            append(engine, Cli.trade("1", 1, "FX", "EMEA", "5"));
            append(engine, Cli.trade("2", 1, "IR", "EMEA", "5"));
            published(engine);
            run("create table b as table totals; create table p as table onefold_published");
            append(engine, Cli.trade("1", 2, "EQ", "EMEA", "6"));
            published(engine);
            append(engine, Cli.trade("3", 1, "EQ", "ASIA", "6"));
            published(engine);
            run("delete from totals; insert into totals table b; delete from onefold_published;"
                    + " insert into onefold_published table p");
            append(engine, Cli.trade("4", 1, "FX", "ASIA", "1"));
            published(engine);
            requireEqual(engine);
            run("drop table totals, onefold_published"); // A backup of before the first cut.
            append(engine, Cli.trade("4", 2, "FX", "ASIA", "2"));
            published(engine);
            requireEqual(engine);
        }
    }

    @Test
    void a_receiver_that_is_down_holds_up_nobody_and_is_said_in_the_status() throws SQLException {
        try (EmbeddedEngine engine = open()) {
            faults.isDown = true;
            for (int i = 0; i < 5; i++) {
                append(engine, Cli.trade("k" + i, 1, "FX", "EMEA", "5"));
                assertThat(published(engine)).isFalse();
            }
            var status = engine.status().publication().orElseThrow();
            assertThat(status.failure()).isEqualTo("It is down");
            assertThat(status.failingSince()).isPresent();
            faults.isDown = false;
            assertThat(published(engine)).isTrue();
            assertThat(engine.status().publication().orElseThrow().failingSince())
                    .isEmpty();
            requireEqual(engine);
        }
    }

    @Test
    void a_changed_pipeline_makes_its_tables_new_and_a_table_of_somebody_else_is_left_alone() throws SQLException {
        try (EmbeddedEngine engine = open()) {
            append(engine, Cli.trade("1", 1, "FX", "EMEA", "5"));
            published(engine);
        }
        pipeline = pipeline("""
                pipeline: trades
                input: {key: id, version: v, delete: gone = true}
                rollups:
                  main: {levels: [region], measures: {trades: count(), most: "max(value) decimal(18,2)"}}
                  desks: {levels: [desk], measures: {value: "sum(value) decimal(18,2)"}}
                """);
        try (EmbeddedEngine engine = open()) {
            append(engine, Cli.trade("2", 1, "IR", "EMEA", "7"));
            published(engine);
            requireEqual(engine);
            append(engine, Cli.trade("2", 2, "IR", "ASIA", "3"));
            published(engine);
            requireEqual(engine);
        }
        run("update onefold_published set pipeline = 'another'");
        try (EmbeddedEngine engine = open()) {
            append(engine, Cli.trade("3", 2, "IR", "ASIA", "3"));
            assertThat(published(engine)).isFalse();
            assertThat(engine.status().publication().orElseThrow().failure())
                    .contains("The table totals has the totals of pipeline another");
        }
        run("drop table onefold_published");
        try (EmbeddedEngine engine = open()) {
            assertThat(published(engine)).isFalse();
            assertThat(engine.status().publication().orElseThrow().failure())
                    .contains("The table totals already exists", "Drop it");
        }
    }

    @Test
    void hazard_82_groups_that_end_leave_the_tables_with_the_record_that_ends_them() throws SQLException {
        pipeline = pipeline("""
                pipeline: trades
                input: {key: id, version: v, time: {field: at, type: epoch-seconds}, filter: desk = "FX"}
                rollups:
                  main:
                    levels: ["bucket(at, 1h, epoch-seconds)", region]
                    measures: {trades: count(), value: "sum(value) decimal(18,2)"}
                    keep: 1d
                  most: {levels: ["bucket(at, 1d, epoch-seconds)"], measures: {n: "max(value) decimal(18,2)"}, keep: 3d}
                """);
        Random random = new Random(1);
        long at = 1_600_000_000L;
        EmbeddedEngine engine = open();
        for (int i = 0; i < 120; i++) {
            at += random.nextInt(20_000);
            long late = random.nextInt(4) == 0 ? random.nextInt(300_000) : 0;
            String trade = Cli.trade("k" + random.nextInt(6), i, "FX", "R" + random.nextInt(3), String.valueOf(i));
            append(engine, trade.replace("{", "{\"at\":" + (at - late) + ","));
            faults.failingCommits = random.nextInt(8) / 6;
            published(engine);
            if (random.nextInt(3) == 0) {
                faults.failingCommits = 0;
                published(engine);
                requireEqual(engine);
            }
            if (random.nextInt(20) == 0) {
                engine.close();
                engine = open();
            }
        }
        String last = Cli.trade("last", 1, "FX", "R", "5");
        append(engine, last.replace("{", "{\"at\":" + (at + 9_000_000) + ",")); // It ends all others.
        faults.failingCommits = 0;
        published(engine);
        requireEqual(engine);
        assertThat(rows("select depth, trades from totals order by depth")).containsExactly("0|1", "1|1", "2|1");
        published(engine); // Once more: the changes that the checkpoint has written meanwhile are given again.
        String cut = rows("select cut from onefold_published").getFirst();
        published(engine);
        assertThat(rows("select cut from onefold_published")).containsExactly(cut); // Nothing has changed since.
        String counted = Cli.trade("filtered", 1, "IR", "R", "5"); // It is in no group, and moves the clock.
        append(engine, counted.replace("{", "{\"at\":" + (at + 18_000_000) + ","));
        published(engine);
        requireEqual(engine);
        engine.close();
    }

    @Test
    void of_two_engines_the_one_that_was_opened_last_publishes_and_the_other_one_says_so() throws SQLException {
        try (EmbeddedEngine first = open();
                EmbeddedEngine second = EmbeddedEngine.open(
                        folder.resolve("other"), pipeline, Settings.defaults().withThreads(0))) {
            second.publish(this::table, Duration.ofSeconds(1));
            append(first, Cli.trade("1", 1, "FX", "EMEA", "5"));
            assertThat(published(first)).isTrue();
            append(second, Cli.trade("2", 1, "IR", "EMEA", "7"));
            assertThat(published(second)).isTrue();
            for (int i = 2; i < 4; i++) {
                append(first, Cli.trade("1", i, "FX", "EMEA", "6"));
                assertThat(published(first)).isFalse();
                assertThat(first.status().publication().orElseThrow().failure())
                        .startsWith("Another engine publishes to the same table since cut " + i);
                append(second, Cli.trade("2", i, "IR", "EMEA", String.valueOf(i)));
                assertThat(published(second)).isTrue();
                requireEqual(second);
            }
        }
    }

    @Test
    void a_database_that_does_not_answer_holds_up_neither_intake_nor_the_end_of_the_engine() throws Exception {
        try (EmbeddedEngine engine = EmbeddedEngine.open(
                folder.resolve("data"), pipeline, Settings.defaults().withThreads(1))) {
            faults.isHanging = true;
            engine.publish(this::table, Duration.ofSeconds(1));
            while (!faults.isAsked) {
                Thread.onSpinWait();
            }
            append(engine, Cli.trade("1", 1, "FX", "EMEA", "5"));
            int[] asked = {0};
            assertThat(engine.publishNow(() -> asked[0]++ < 3)).isFalse();
            assertThat(engine.status().publication().orElseThrow().failure()).contains("has not answered");
            faults.isHanging = false;
            assertThat(engine.publishNow(() -> true)).isTrue();
            requireEqual(engine);
            append(engine, Cli.trade("1", 2, "FX", "EMEA", "6"));
        }
        assertThat(rows("select value from totals where depth = 0"))
                .containsExactly("6.00"); // At the latest at its end.
    }

    @Test
    void names_that_are_alike_or_long_or_reserved_make_tables_and_columns_of_their_own() throws SQLException {
        String longName = "x".repeat(63);
        pipeline = pipeline("""
                pipeline: trades
                input: {key: id, version: v, delete: gone = true}
                rollups:
                  a-b: {levels: [desk], measures: {select: count()}}
                  a--b: {levels: [{field: region, name: table}], measures: {%1$sA: count(), %1$sB: count()}}
                  nothing: {levels: [], measures: {trades: count(), average: "average(value) decimal(18,2)"}}
                  %1$sa: {levels: [desk], measures: {trades: count()}}
                  %1$sb: {levels: [desk, region], measures: {trades: count(), most: "max(value) decimal(18,2)"}}
                """.formatted(longName));
        try (EmbeddedEngine engine = open()) {
            assertThat(published(engine)).isTrue();
            assertThat(rows("select depth, trades, average from totals_nothing"))
                    .containsExactly("0|0|null");
            append(engine, Cli.trade("1", 1, "FX", "EMEA", "5"));
            append(engine, Cli.trade("2", 1, "", "EMEA", "99999999999999.99"));
            assertThat(published(engine))
                    .as(engine.status().publication().orElseThrow().failure())
                    .isTrue();
            assertThat(rows("select desk, depth, \"select\" from totals_a_b order by 1, 2"))
                    .containsExactly("|0|2", "|1|1", "FX|1|1");
            assertThat(rows("select \"table\", " + longName + ", " + longName.substring(2) + "_2 from totals_a_b_2"
                            + " order by depth"))
                    .containsExactly("|2|2", "EMEA|2|2");
            assertThat(rows("select count(*) from pg_tables where tablename like 'totals_xxx%'"))
                    .containsExactly("2");
            remove(engine, "1", 2);
            remove(engine, "2", 2);
            assertThat(published(engine)).isTrue();
            assertThat(rows("select depth, trades, average from totals_nothing"))
                    .containsExactly("0|0|null");
        }
    }

    @Test
    void verify_names_each_published_row_that_is_not_as_the_totals_are() throws SQLException {
        cli.write("in.ndjson", Cli.trade("1", 1, "FX", "EMEA", "5") + Cli.trade("2", 1, "IR", "A\\u0000", "7"));
        cli.run("run", "trades.yaml", "--input", "in.ndjson");
        Cli.Result equal = cli.run("verify", "trades.yaml", "--published");
        assertThat(equal.exitCode()).as(equal.err()).isZero();
        assertThat(equal.out()).contains("Equal: 5 published rows.");
        run("update totals set value = 6 where desk = 'FX' and depth = 2;"
                + " delete from totals where desk = 'IR' and depth = 1; insert into totals values"
                + " ('ZZ', '', 1, 3, 1, 1, now())");
        Cli.Result different = cli.run("verify", "trades.yaml", "--published");
        assertThat(different.exitCode()).isEqualTo(1);
        assertThat(different.out())
                .contains("Different: 3 published rows of 5.", "6, 1", "5.00, 1", "not there", "No engine publishes");
        run("drop table totals");
        assertThat(cli.run("verify", "trades.yaml", "--published").err()).contains("are not there");
        cli.write("trades.yaml", Cli.TRADES);
        assertThat(cli.run("run", "trades.yaml", "--input", "in.ndjson").exitCode())
                .isZero();
        Cli.Result nothing = cli.run("verify", "trades.yaml", "--published");
        assertThat(nothing.exitCode()).isEqualTo(2);
        assertThat(nothing.err()).contains("has no 'publish' section");
    }

    @Test
    void whatever_fails_and_whoever_is_restored_the_tables_become_the_totals() throws SQLException {
        for (long seed = 0; seed < 3; seed++) {
            clean();
            String rollups = seed % 2 == 0
                    ? Cli.TRADES
                    : Cli.TRADES.replace("trades: count()", "trades: count()\n    regions: distinct(region)");
            pipeline = pipeline(rollups.replace("trades\ninput", "trades" + seed + "\ninput"));
            Path data = folder.resolve("data" + seed);
            live(new Random(seed), data, seed);
        }
    }

    private void live(Random random, Path data, long seed) throws SQLException {
        int version = 0;
        boolean hasBackup = false;
        for (int life = 0; life < 4; life++) {
            try (EmbeddedEngine engine = EmbeddedEngine.open(
                    data, pipeline, Settings.defaults().withThreads(0).withShards(2))) {
                engine.publish(this::table, Duration.ofSeconds(1));
                for (int step = 0; step < 25; step++) {
                    version++;
                    switch (random.nextInt(8)) {
                        case 0 -> faults.isDown = random.nextBoolean();
                        case 1 -> faults.failingCommits = random.nextInt(3);
                        case 2 -> remove(engine, "k" + random.nextInt(9), version);
                        case 3 -> {
                            if (!rows("select 1 from pg_tables where tablename = 'totals'")
                                    .isEmpty()) {
                                run("drop table if exists b, p; create table b as table totals;"
                                        + " create table p as table onefold_published");
                                hasBackup = true;
                            }
                        }
                        case 4 -> {
                            if (hasBackup && random.nextInt(3) == 0) {
                                run("delete from totals; insert into totals table b; delete from onefold_published;"
                                        + " insert into onefold_published table p");
                            }
                        }
                        case 5 -> published(engine);
                        default -> {
                            String desk = "D" + random.nextInt(3);
                            append(
                                    engine,
                                    Cli.trade(
                                            "k" + random.nextInt(9),
                                            version,
                                            desk,
                                            "R" + random.nextInt(3),
                                            "1." + step));
                        }
                    }
                }
                faults.isDown = false;
                faults.failingCommits = 0;
                version++;
                append(engine, Cli.trade("last", version, "D", "R", String.valueOf(version)));
                assertThat(published(engine)).as("seed " + seed).isTrue();
                requireEqual(engine);
            }
        }
    }

    @Test
    void a_run_publishes_what_it_has_folded_before_it_ends_and_says_so_if_it_cannot() throws SQLException {
        cli.write("in.ndjson", Cli.trade("1", 1, "FX", "EMEA", "5"));
        Cli.Result run = cli.run("run", "trades.yaml", "--input", "in.ndjson");
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(rows("select value from totals where depth = 0")).containsExactly("5.00");
        cli.write("trades.yaml", publishing(Cli.TRADES).replaceAll("localhost:\\d+", "localhost:1"));
        Cli.Result down = cli.run("run", "trades.yaml", "--input", "in.ndjson");
        assertThat(down.exitCode()).as(down.err()).isZero();
        assertThat(down.err()).contains("The totals are not published: The database says:");
    }

    @Test
    void where_totals_are_published_changes_nothing_that_is_stored_and_is_written_back() {
        assertThat(PipelineText.read(PipelineText.write(pipeline))).isEqualTo(new Reading.Read(pipeline));
        Cli.Result check = cli.run("check", "trades.yaml");
        assertThat(check.exitCode()).as(check.err()).isZero();
        cli.write("wrong.yaml", Cli.TRADES + "publish: {jdbc: \"jdbc:mysql://x\", table: \"a b\", evry: 1s}\n");
        assertThat(cli.run("check", "wrong.yaml").err())
                .contains("is not an address of PostgreSQL", "is not the name of a table", "every");
    }
}
