package dev.onefold.cli.seed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.Engine;
import dev.onefold.core.Sync;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.tables.Rate;
import dev.onefold.tables.RowForm;
import dev.onefold.tables.RowSource;
import dev.onefold.tables.RowVersions;
import dev.onefold.tables.Seeder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Seeding beside live changes: a table that changes while it is read, whose changes arrive when they like.
class SeedHazardsTest {
    private static final int KEYS = 30;
    private static final String STREAM =
            "arn:aws:dynamodb:eu-central-1:123456789012:table/Favourites/stream/2026-11-01T00:00:00.123";

    @TempDir
    Path folder;

    /// Whose version a row has.
    enum Kind {
        OWN,
        PLACE
    }

    private static Pipeline pipeline(Kind kind, boolean byShop) {
        PipelineBuilder builder = PipelineBuilder.named("favourites").key("id");
        return (kind == Kind.OWN
                        ? builder.version("v").delete("gone = true")
                        : builder.dynamoDbStream().table("Favourites"))
                .rollup(r -> (byShop ? r.levels("city", "shop") : r.levels("city"))
                        .sum("n", "n", 18, 2)
                        .count("saves"))
                .build();
    }

    /// A user's table, and its changes that have not arrived. Guarded by itself.
    private static final class Table implements RowSource {
        private final SplittableRandom random;
        private final Map<String, String> rows = new TreeMap<>();
        private final List<String> changes = new ArrayList<>();
        private final Kind kind;
        private long version;

        Table(Kind kind, SplittableRandom random) {
            this.kind = kind;
            this.random = random;
            for (int i = 0; i < KEYS; i++) {
                change();
            }
            changes.clear(); // From before the stream: nobody tells of them.
        }

        /// Somebody saves or removes a row.
        synchronized void change() {
            String id = "k" + random.nextInt(KEYS);
            version++;
            boolean removed = rows.containsKey(id) && random.nextInt(3) == 0;
            String city = "c" + random.nextInt(3);
            String shop = "s" + random.nextInt(9);
            int n = random.nextInt(100);
            if (removed) {
                rows.remove(id);
            } else {
                String own = kind == Kind.OWN ? ",\"v\":" + version : "";
                rows.put(
                        id,
                        "{\"id\":\"%s\"%s,\"city\":\"%s\",\"shop\":\"%s\",\"n\":%d.25}"
                                .formatted(id, own, city, shop, n));
            }
            changes.add(
                    kind == Kind.OWN
                            ? removed ? "{\"id\":\"%s\",\"v\":%d,\"gone\":true}".formatted(id, version) : rows.get(id)
                            : ("{\"eventName\":\"%s\",\"eventSourceARN\":\"" + STREAM + "\",\"dynamodb\":"
                                            + "{\"SequenceNumber\":\"%d00000\",\"Keys\":{\"id\":{\"S\":\"%s\"}}%s}}")
                                    .formatted(
                                            removed ? "REMOVE" : "MODIFY",
                                            version,
                                            id,
                                            removed ? "" : image(id, city, shop, n)));
        }

        private static String image(String id, String city, String shop, int n) {
            return (",\"NewImage\":{\"id\":{\"S\":\"%s\"},\"city\":{\"S\":\"%s\"},\"shop\":{\"S\":\"%s\"},"
                            + "\"n\":{\"N\":\"%d.25\"}}")
                    .formatted(id, city, shop, n);
        }

        /// A change that arrives now, in whatever order; none if there is none.
        synchronized List<String> arrival() {
            return changes.isEmpty() ? List.of() : List.of(changes.remove(random.nextInt(changes.size())));
        }

        @Override
        public String identity() {
            return "table";
        }

        @Override
        public List<String> parts() {
            return List.of("0");
        }

        @Override
        public Extent extent() {
            return new Extent(0, 0, 0);
        }

        /// Row by row, in the order of the keys, each strongly; the table changes meanwhile.
        @Override
        public void read(Map<String, String> from, Taker taker) throws InterruptedException {
            String last = from.getOrDefault("0", "");
            while (true) {
                Map.Entry<String, String> next;
                synchronized (this) {
                    next = ((TreeMap<String, String>) rows).higherEntry(last);
                }
                if (next == null) {
                    taker.take(new Rows("0", new byte[0], 0, 0, END, 0));
                    return;
                }
                last = next.getKey();
                for (int i = random.nextInt(3); i > 0; i--) {
                    change(); // After the row was read, and before it is written.
                }
                byte[] line = (next.getValue() + "\n").getBytes(StandardCharsets.UTF_8);
                if (!taker.take(new Rows("0", line, line.length, 1, last, 1))) {
                    return;
                }
            }
        }

        @Override
        public void close() {}
    }

    /// Rows that were read before.
    private record Taken(byte[] lines, int count) implements RowSource {
        @Override
        public String identity() {
            return "read";
        }

        @Override
        public List<String> parts() {
            return List.of("0");
        }

        @Override
        public Extent extent() {
            return new Extent(0, 0, 0);
        }

        @Override
        public void read(Map<String, String> from, Taker taker) throws InterruptedException {
            taker.take(new Rows("0", lines, lines.length, count, END, count));
        }

        @Override
        public void close() {}
    }

    private static Seeder.Way way(Engine engine, Sync.Run seed) {
        return new Seeder.Way(RowVersions.form(engine.pipeline(), STREAM, seed.number()), RecordEnds.LINES, Rate.of(0));
    }

    private static Seeder.Listener always() {
        return new Seeder.Listener() {
            @Override
            public void at(long done, long rows) {}

            @Override
            public boolean stop() {
                return false;
            }
        };
    }

    /// Seeds until so many rows are in, while changes arrive; whether it came to the end.
    private boolean seed(Engine engine, Table table, int rowsMax, SplittableRandom random)
            throws IOException, InterruptedException {
        int[] left = {rowsMax};
        try (Sync.Run seed = engine.sync().seed(table.identity(), Optional.empty(), false)) {
            Seeder.Way way = way(engine, seed);
            return new Seeder(
                            table,
                            seed,
                            way,
                            (lines, length) -> {
                                for (int i = random.nextInt(3); i > 0; i--) {
                                    engine.append("live", table.arrival());
                                }
                                left[0]--;
                                return way.form().intake(seed).append(lines, length);
                            },
                            new Seeder.Listener() {
                                @Override
                                public void at(long done, long rows) {}

                                @Override
                                public boolean stop() {
                                    return left[0] <= 0;
                                }
                            })
                    .run()
                    .finished();
        }
    }

    private EmbeddedEngine open(Kind kind, boolean byShop) {
        EmbeddedEngine engine =
                EmbeddedEngine.open(folder.resolve("data"), pipeline(kind, byShop), Settings.defaults());
        engine.fillView(_ -> null, true);
        return engine;
    }

    private static void assertEqual(Engine engine, Table table) {
        for (List<String> late = table.arrival(); !late.isEmpty(); late = table.arrival()) {
            engine.append("live", late);
        }
        EmbeddedEngine fresh = (EmbeddedEngine) engine;
        Map<String, Long> right = table.rows.values().stream()
                .map(row -> row.replaceAll(".*\"city\":\"(c.)\".*", "$1"))
                .collect(Collectors.groupingBy(city -> city, TreeMap::new, Collectors.counting()));
        Map<String, Long> found = new TreeMap<>();
        fresh.query(Query.all("main"), answer -> {
            answer.lines().forEach(line -> {
                if (line.group().size() == 1) {
                    found.put(line.group().getFirst(), line.values().getLast().longValueExact());
                }
            });
            return true;
        });
        assertThat(found).isEqualTo(right);
        assertThat(engine.verify().differences()).isEmpty();
        assertThat(engine.deadLetters().size()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void hazard_77_a_row_that_was_read_before_a_live_change_and_written_after_it_loses(Kind kind) throws Exception {
        for (int i = 0; i < 10; i++) {
            SplittableRandom random = new SplittableRandom(i);
            Table table = new Table(kind, random.split());
            Path data = folder.resolve("77-" + i);
            try (EmbeddedEngine engine = EmbeddedEngine.open(data, pipeline(kind, true), Settings.defaults())) {
                Deque<String> read = new ArrayDeque<>(table.rows.values());
                for (int change = 0; change < 40; change++) {
                    table.change();
                }
                List<String> live = new ArrayList<>(table.changes);
                table.changes.clear();
                engine.append("live", live);
                byte[] lines = (String.join("\n", read) + "\n").getBytes(StandardCharsets.UTF_8);
                Taken taken = new Taken(lines, read.size());
                try (Sync.Run seed = engine.sync().seed("read", Optional.empty(), false)) {
                    Seeder.Way way = way(engine, seed);
                    Seeder.Intake intake = way.form().intake(seed);
                    new Seeder(taken, seed, way, intake, always()).run();
                }
                assertEqual(engine, table);
            }
        }
    }

    @Test
    void an_export_of_before_a_repair_does_not_bring_back_what_was_repaired() {
        Instant export = Instant.now().minusSeconds(600);
        try (EmbeddedEngine engine = open(Kind.PLACE, false)) {
            bring(engine, engine.sync().seed("table", Optional.empty(), false), "old");
            assertCity(engine, "old");
            bring(engine, engine.sync().repair(), "repaired");
            for (int again = 0; again < 2; again++) {
                bring(engine, engine.sync().seed("export", Optional.of(export), true), "old");
                assertCity(engine, "repaired");
            }
            bring(engine, engine.sync().seed("table", Optional.empty(), false), "newer");
            assertCity(engine, "newer");
        }
    }

    private static void bring(Engine engine, Sync.Run run, String city) {
        try (run) {
            RowForm form = RowVersions.form(engine.pipeline(), STREAM, run.number());
            byte[] row =
                    "{\"id\":\"a\",\"city\":\"%s\",\"n\":1}".formatted(city).getBytes(StandardCharsets.UTF_8);
            byte[] line = form.record(row, 1);
            line[line.length - 1] = '\n';
            run.appendRows(line, line.length);
            run.finish();
        }
    }

    private static void assertCity(Engine engine, String city) {
        List<String> found = new ArrayList<>();
        engine.query(Query.all("main"), answer -> {
            answer.lines().stream()
                    .filter(line -> line.group().size() == 1)
                    .forEach(line -> found.add(line.group().getFirst()));
            return true;
        });
        assertThat(found).containsExactly(city);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("campaign")
    void hazard_81_a_seed_that_is_stopped_at_every_row_and_goes_on_is_exact(Kind kind) throws Exception {
        for (int rows = 1; rows <= KEYS; rows++) {
            SplittableRandom random = new SplittableRandom(rows);
            Table table = new Table(kind, random.split());
            Path data = folder.resolve("81-" + rows);
            try (EmbeddedEngine engine = EmbeddedEngine.open(data, pipeline(kind, true), Settings.defaults())) {
                if (!seed(engine, table, rows, random)) {
                    assertThat(seed(engine, table, Integer.MAX_VALUE, random)).isTrue();
                }
                assertEqual(engine, table);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void hazard_81_two_seeds_at_once_and_live_changes_are_exact(Kind kind) throws Exception {
        Table table = new Table(kind, new SplittableRandom(1));
        try (EmbeddedEngine engine = open(kind, true)) {
            List<Thread> seeds = new ArrayList<>();
            List<Throwable> failures = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                SplittableRandom random = new SplittableRandom(i);
                Thread thread = Thread.ofPlatform().unstarted(() -> {
                    try {
                        assertThat(seed(engine, table, Integer.MAX_VALUE, random))
                                .isTrue();
                    } catch (Exception | AssertionError e) {
                        failures.add(e);
                    }
                });
                thread.start();
                seeds.add(thread);
            }
            for (Thread seed : seeds) {
                seed.join();
            }
            assertThat(failures).isEmpty();
            assertEqual(engine, table);
        }
    }

    @ParameterizedTest
    @EnumSource
    void hazard_81_a_seed_while_the_view_changes_is_exact(Kind kind) throws Exception {
        SplittableRandom random = new SplittableRandom(7);
        Table table = new Table(kind, random.split());
        try (EmbeddedEngine engine = open(kind, true)) {
            assertThat(seed(engine, table, KEYS / 2, random)).isFalse();
        }
        try (EmbeddedEngine engine = open(kind, false)) {
            assertThat(seed(engine, table, Integer.MAX_VALUE, random)).isTrue();
            assertEqual(engine, table);
        }
    }
}
