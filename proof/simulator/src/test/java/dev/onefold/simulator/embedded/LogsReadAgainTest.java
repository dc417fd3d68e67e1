package dev.onefold.simulator.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.DefinitionChange;
import dev.onefold.core.EngineException;
import dev.onefold.core.Truth;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.LogBatch;
import dev.onefold.embedded.source.LogSource;
import dev.onefold.fakes.disk.Faults;
import dev.onefold.fakes.disk.SimulatedCrash;
import dev.onefold.fakes.disk.SimulatedDisk;
import dev.onefold.fixtures.Seeds;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// A log is read again for another definition and to recompute, while its records go on to be folded.
class LogsReadAgainTest {
    private static final int PARTITIONS = 3;
    private static final Settings SETTINGS = Trades.settings(2).withCheckpointInterval(Duration.ofNanos(1));

    private SimulatedDisk disk = SimulatedDisk.empty();

    /// What is done at each step of a second reading.
    private Runnable between = () -> {};

    private final Log log = new Log();

    /// A record, or what is none.
    private record Trade(int id, int version, int book, int desk, int value) {
        String json() {
            return value < 0
                    ? "no record"
                    : "{\"id\":%d,\"v\":%d,\"book\":%d,\"desk\":%d,\"value\":%d}"
                            .formatted(id, version, book, desk, value);
        }
    }

    /// A log in memory, with offsets that have no record.
    private final class Log {
        private final List<NavigableMap<Long, Trade>> partitions = new ArrayList<>();
        private final long[] ends = new long[PARTITIONS];
        private final long[] begins = new long[PARTITIONS];

        Log() {
            for (int i = 0; i < PARTITIONS; i++) {
                partitions.add(new ConcurrentSkipListMap<>());
            }
        }

        void append(int partition, Trade trade, int hole) {
            partitions.get(partition).put(ends[partition], trade);
            ends[partition] += 1 + hole;
        }

        LogBatch batch(int partition, long from, long to) {
            return new LogBatch(
                    "trades",
                    partition,
                    from,
                    to,
                    partitions.get(partition).subMap(from, to).entrySet().stream()
                            .map(each -> new LogBatch.Entry(
                                    each.getKey(), each.getValue().json().getBytes(StandardCharsets.UTF_8)))
                            .toList(),
                    "mark " + to);
        }

        LogSource source() {
            return new LogSource("trades", (_, _) -> new Again());
        }

        private final class Again implements LogSource.Again {
            private final SortedMap<Integer, LogSource.Range> open = new TreeMap<>();
            private int begun;

            @Override
            public void begin(SortedMap<Integer, LogSource.Range> ranges) throws IOException {
                begun++;
                for (Map.Entry<Integer, LogSource.Range> each : ranges.entrySet()) {
                    long begin = begins[each.getKey()];
                    if (each.getValue().from() < begin) {
                        throw new IOException("offsets " + each.getValue().from() + " to " + (begin - 1) + " of trades/"
                                + each.getKey() + " are gone");
                    }
                }
                open.putAll(ranges);
            }

            @Override
            public @Nullable LogBatch next() {
                if (open.isEmpty()) {
                    return null;
                }
                if (begun == 1) { // Nothing else reads or folds later on.
                    between.run();
                }
                int partition = open.lastKey();
                LogSource.Range range = open.get(partition);
                long to = Math.min(range.to(), range.from() + 7);
                if (to == range.to()) {
                    open.remove(partition);
                } else {
                    open.put(partition, new LogSource.Range(to, range.to(), range.mark()));
                }
                LogBatch batch = batch(partition, range.from(), to);
                return new LogBatch("trades", partition, range.from(), to, batch.records());
            }

            @Override
            public void close() {}
        }
    }

    private static Pipeline byBook() {
        return PipelineBuilder.named("trades")
                .key("id")
                .version("v")
                .rollup(r -> r.levels("book").sum("value", "value", 18, 0).count("trades"))
                .build();
    }

    private static Pipeline byDesk() {
        return PipelineBuilder.named("trades")
                .key("id")
                .version("v")
                .rollup(r -> r.levels("desk").sum("value", "value", 18, 0).count("trades"))
                .build();
    }

    private static Map<List<String>, List<BigDecimal>> totals(EmbeddedEngine engine) {
        return engine.query(Query.all("main")).lines().stream().collect(Collectors.toMap(Answer.Line::group, line -> {
            List<BigDecimal> values = new ArrayList<>();
            line.values().forEach(values::add);
            return values;
        }));
    }

    /// The right totals, by plain maps, of the records below offsets.
    private Map<List<String>, List<BigDecimal>> expected(
            boolean isByDesk, Map<Integer, Long> offsets, Map<Integer, Long> from) {
        Map<Integer, Trade> rows = new HashMap<>();
        offsets.forEach((partition, next) -> log
                .partitions
                .get(partition)
                .subMap(from.getOrDefault(partition, 0L), Math.max(next, from.getOrDefault(partition, 0L)))
                .values()
                .stream()
                .filter(trade -> trade.value >= 0)
                .forEach(trade ->
                        rows.merge(trade.id, trade, (one, other) -> one.version >= other.version ? one : other)));
        Map<List<String>, List<BigDecimal>> totals = new HashMap<>();
        totals.put(List.of(), List.of(BigDecimal.ZERO, BigDecimal.ZERO));
        for (Trade trade : rows.values()) {
            for (List<String> group :
                    List.of(List.<String>of(), List.of(String.valueOf(isByDesk ? trade.desk : trade.book)))) {
                totals.merge(
                        group,
                        List.of(BigDecimal.valueOf(trade.value), BigDecimal.ONE),
                        (one, more) ->
                                List.of(one.get(0).add(more.get(0)), one.get(1).add(more.get(1))));
            }
        }
        return totals;
    }

    private long malformed(Map<Integer, Long> offsets) {
        return offsets.entrySet().stream()
                .mapToLong(each -> log.partitions.get(each.getKey()).headMap(each.getValue()).values().stream()
                        .filter(trade -> trade.value < 0)
                        .count())
                .sum();
    }

    /// A version has one content, so that the order of arrival does not matter.
    private void appendSome(RandomGenerator random) {
        for (int i = random.nextInt(12); i > 0; i--) {
            int id = random.nextInt(40);
            int version = random.nextInt(20);
            boolean isOne = random.nextInt(15) > 0;
            log.append(
                    random.nextInt(PARTITIONS),
                    new Trade(id, version, (id + version) % 4, (id * version) % 5, isOne ? id * 100 + version : -1),
                    random.nextInt(4) == 0 ? random.nextInt(3) : 0);
        }
    }

    private void foldSome(EmbeddedEngine engine, RandomGenerator random) {
        int partition = random.nextInt(PARTITIONS);
        long next = engine.offsets("trades").getOrDefault(partition, 0L);
        engine.fold(log.batch(partition, next, next + random.nextLong(log.ends[partition] - next + 1)));
    }

    @Tag("campaign")
    @Test
    void the_old_definition_folds_on_while_a_log_is_read_again_and_then_the_new_one_serves() {
        Seeds.forAllSeeds(25, random -> new LogsReadAgainTest().live(random));
    }

    private EmbeddedEngine open(Pipeline pipeline) {
        return EmbeddedEngine.open(Trades.directory(disk), pipeline, SETTINGS);
    }

    private void beginByBook(RandomGenerator random) {
        try (EmbeddedEngine engine = open(byBook())) {
            for (int i = random.nextInt(30); i >= 0; i--) {
                appendSome(random);
                foldSome(engine, random);
            }
        }
    }

    private void live(RandomGenerator random) {
        beginByBook(random);
        try (EmbeddedEngine engine = open(byDesk())) {
            foldSome(engine, random); // Without the log nothing can be filled, and the old definition goes on.
            assertThat(engine.wanted()).isPresent();
            engine.rereads(log.source());
            between = () -> {
                appendSome(random);
                foldSome(engine, random);
                assertThat(totals(engine)).isEqualTo(expected(false, engine.offsets("trades"), Map.of()));
            };
            engine.fillView(_ -> null, false);
            assertThat(engine.wanted()).isEmpty();
            assertThat(engine.partitions("trades").values())
                    .allSatisfy(position -> assertThat(position.mark())
                            .isEqualTo(position.next() == 0 ? "" : "mark " + position.next()));
            requireNew(engine, random);
            assertThat(engine.verify(new Truth.Sources()).isEqual()).isTrue();
            assertThat(engine.rebuild(new Truth.Sources()).isEqual()).isTrue();
            requireNew(engine, random);
        }
        between = () -> {};
        try (EmbeddedEngine engine = open(byDesk())) {
            requireNew(engine, random);
        }
    }

    private void requireNew(EmbeddedEngine engine, RandomGenerator random) {
        between = () -> {
            appendSome(random);
            foldSome(engine, random);
        };
        between.run();
        assertThat(totals(engine)).isEqualTo(expected(true, engine.offsets("trades"), Map.of()));
        assertThat(engine.deadLetters().size()).isEqualTo(malformed(engine.offsets("trades")));
        assertThat(engine.verify().isEqual()).isTrue();
    }

    @Test
    void what_a_log_has_lost_is_named_and_an_accepted_gap_is_left_out_again() {
        for (int i = 0; i < 30; i++) {
            log.append(0, new Trade(i, 1, 1, 2, i), 0);
        }
        try (EmbeddedEngine engine = open(byBook())) {
            engine.begin("trades", new TreeMap<>(Map.of(0, 0L)), "");
            engine.skip("trades", 0, 0, 10);
            engine.fold(log.batch(0, 10, 30));
            engine.rereads(log.source());
            log.begins[0] = 10;
            assertThat(engine.verify(new Truth.Sources()).isEqual()).isTrue();
            log.begins[0] = 20;
            assertThatThrownBy(() -> engine.verify(new Truth.Sources()))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("log trades cannot be read again: offsets 10 to 19 of trades/0 are gone")
                    .hasMessageContaining("From the rows they can be, without --from-sources.");
        }
        try (EmbeddedEngine engine = open(byDesk())) {
            engine.rereads(log.source());
            assertThat(engine.change(byDesk())).isInstanceOf(DefinitionChange.Impossible.class);
            assertThatThrownBy(() -> engine.fillView(_ -> null, true)).hasMessageContaining("offsets 10 to 19");
            log.append(0, new Trade(99, 1, 1, 2, 7), 0);
            engine.fold(log.batch(0, 30, 31));
            log.begins[0] = 10;
            engine.fillView(_ -> null, false);
            assertThat(totals(engine)).isEqualTo(expected(true, Map.of(0, 31L), Map.of(0, 10L)));
            assertThat(engine.partitions("trades").get(0).gaps()).hasSize(1);
        }
    }

    @Test
    void records_of_requests_that_were_not_kept_would_be_lost_and_so_the_log_is_not_read_again() {
        log.append(0, new Trade(1, 1, 1, 2, 5), 0);
        try (EmbeddedEngine engine = open(byBook())) {
            engine.fold(log.batch(0, 0, 1));
            engine.append("door", List.of(new Trade(2, 1, 1, 2, 6).json()));
        }
        try (EmbeddedEngine engine = open(byDesk())) {
            engine.rereads(log.source());
            assertThatThrownBy(() -> engine.fillView(_ -> null, false))
                    .hasMessageContaining("what came as door was not kept");
            log.append(0, new Trade(3, 1, 1, 2, 7), 0);
            assertThat(engine.fold(log.batch(0, 1, 2))).isEqualTo(2);
            assertThat(totals(engine).get(List.of("1"))).containsExactly(BigDecimal.valueOf(18), BigDecimal.valueOf(3));
        }
    }

    @Test
    void requests_and_edits_that_come_while_a_log_is_read_again_are_in_what_is_recomputed() {
        for (int i = 0; i < 40; i++) {
            log.append(0, new Trade(i, 1, i % 3, 2, i == 5 ? -1 : i), 0);
        }
        try (EmbeddedEngine engine =
                EmbeddedEngine.open(Trades.directory(disk), byBook(), SETTINGS.withKeepJournal(true))) {
            engine.fold(log.batch(0, 0, 40));
            engine.rereads(log.source());
            List<Runnable> steps = new ArrayList<>(List.of(
                    () -> engine.append("door", List.of(new Trade(100, 1, 1, 2, 6).json())),
                    () -> engine.deadLetters()
                            .redrive(1, new Trade(5, 1, 2, 2, 5).json().getBytes(StandardCharsets.UTF_8))));
            between = () -> {
                if (!steps.isEmpty()) {
                    steps.removeFirst().run();
                }
            };
            assertThat(engine.verify(new Truth.Sources()).differences()).isEmpty();
            assertThat(steps).isEmpty();
            assertThat(engine.rebuild(new Truth.Sources()).isEqual()).isTrue();
            assertThat(engine.deadLetters().size()).isZero();
            assertThat(totals(engine).get(List.of())).containsExactly(BigDecimal.valueOf(786), BigDecimal.valueOf(41));
        }
    }

    @Tag("campaign")
    @Test
    void a_crash_at_any_step_leaves_one_definition_whole_and_the_reading_begins_anew() {
        for (int change = 1; ; change += 7) {
            if (!new LogsReadAgainTest().crashesAt(change)) {
                assertThat(change).isGreaterThan(20);
                return;
            }
        }
    }

    private boolean crashesAt(int change) {
        RandomGenerator random = new SplittableRandom(change);
        beginByBook(random);
        boolean isCrashed = false;
        disk.inject(Faults.none().withCrashAtChange(change));
        try (EmbeddedEngine engine = open(byDesk())) {
            engine.rereads(log.source());
            between = () -> {
                appendSome(random);
                foldSome(engine, random);
            };
            engine.fillView(_ -> null, false);
        } catch (SimulatedCrash | EngineException crash) {
            isCrashed = true;
        }
        between = () -> {};
        disk = random.nextBoolean() ? disk.kill() : disk.crash(random);
        try (EmbeddedEngine engine = open(byDesk())) {
            assertThat(totals(engine))
                    .describedAs("crash at change %d", change)
                    .isEqualTo(expected(engine.wanted().isEmpty(), engine.offsets("trades"), Map.of()));
            engine.rereads(log.source());
            engine.fillView(_ -> null, false);
            requireNew(engine, random);
        }
        return isCrashed;
    }

    @Test
    void answers_and_folds_of_other_threads_go_on_while_a_log_is_read_again() throws InterruptedException {
        Settings threads = SETTINGS.withThreads(2);
        int records = 4_000;
        for (int i = 0; i < records; i++) {
            log.append(0, new Trade(i, 1, i % 3, i % 4, i), 0);
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(Trades.directory(disk), byBook(), threads)) {
            engine.fold(log.batch(0, 0, 500));
        }
        AtomicBoolean isFilled = new AtomicBoolean();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        try (EmbeddedEngine engine = EmbeddedEngine.open(Trades.directory(disk), byDesk(), threads)) {
            engine.rereads(log.source());
            Thread filling = Thread.ofPlatform().start(() -> {
                try {
                    engine.fillView(_ -> null, false);
                    assertThat(engine.verify(new Truth.Sources()).isEqual()).isTrue();
                    assertThat(engine.rebuild(new Truth.Sources()).isEqual()).isTrue();
                    isFilled.set(true);
                } catch (RuntimeException | Error e) {
                    failure.set(e);
                }
            });
            for (long next = 500; next < records; ) {
                next = engine.fold(log.batch(0, next, Math.min(records, next + 5)));
                Answer answer = engine.query(Query.all("main"));
                boolean isByDesk = answer.lines().getLast().group().getFirst().equals("3");
                assertThat(answer.lines().getFirst().values().getFirst())
                        .isEqualByComparingTo(BigDecimal.valueOf(next * (next - 1) / 2));
                assertThat(answer.lines()).hasSize(isByDesk ? 5 : 4);
            }
            filling.join();
            assertThat(failure.get()).isNull();
            assertThat(isFilled).isTrue();
            assertThat(totals(engine)).isEqualTo(expected(true, Map.of(0, (long) records), Map.of()));
        }
    }
}
