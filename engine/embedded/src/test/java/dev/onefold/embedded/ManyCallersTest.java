package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.EngineException;
import dev.onefold.core.Truth;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.LogBatch;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The public Java API as a stranger uses it: many threads on one source, interrupts, cancelled calls,
/// arguments that make no sense, and `close` beside all of it. A plain map says what must be in the totals.
@Timeout(60)
class ManyCallersTest {
    private static final Pipeline ORDERS = PipelineBuilder.named("orders")
            .key("k")
            .version("v")
            .rollup(r -> r.levels("g").sum("s", "x", 18, 2).count("n"))
            .build();

    @TempDir
    private Path directory;

    private static String order(String key, int amount) {
        return "{\"k\":\"" + key + "\",\"v\":1,\"g\":\"g\",\"x\":" + amount + "}";
    }

    private EmbeddedEngine open() {
        return EmbeddedEngine.open(
                directory, ORDERS, Settings.defaults().withThreads(2).withShards(3));
    }

    private static long count(EmbeddedEngine engine) {
        Answer answer = engine.query(Query.all("main"));
        return answer.lines().getFirst().values().get(1).longValueExact();
    }

    @Test
    void hazard_8_every_record_that_eight_threads_append_to_one_source_is_in_the_totals() throws Exception {
        int threads = 8;
        int appends = 100;
        try (EmbeddedEngine engine = open();
                ExecutorService callers = Executors.newFixedThreadPool(threads)) {
            List<Future<?>> ends = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                int number = thread;
                ends.add(callers.submit(() -> {
                    for (int i = 0; i < appends; i++) {
                        engine.append("orders", List.of(order(number + "-" + i, 1)));
                    }
                }));
            }
            for (Future<?> end : ends) {
                end.get();
            }
            assertThat(count(engine)).isEqualTo((long) threads * appends);
            assertThat(engine.acknowledged("orders")).isEqualTo((long) threads * appends);
        }
    }

    @Test
    void arguments_that_make_no_sense_are_refused_and_the_engine_goes_on() {
        byte[] line = (order("a", 1) + "\n").getBytes(java.nio.charset.StandardCharsets.UTF_8);
        try (EmbeddedEngine engine = open()) {
            List<Runnable> calls = List.of(
                    () -> engine.append(null, List.of(order("a", 1))),
                    () -> engine.append("", List.of(order("a", 1))),
                    () -> engine.append("orders", (List<String>) null),
                    () -> engine.append("orders", Arrays.asList(order("a", 1), null)),
                    () -> engine.append("orders", List.of(order("a", 1) + "\n" + order("b", 1))),
                    () -> engine.append("orders", List.of("\ud800")),
                    () -> engine.append("orders", 1, null, 0),
                    () -> engine.append("orders", 1, line, line.length + 1),
                    () -> engine.append("orders", 1, line, -1),
                    () -> engine.append("orders", 0, line, line.length),
                    () -> engine.append("orders", -7, line, line.length),
                    () -> engine.appendOversized("orders", 1, -1, new byte[32]),
                    () -> engine.appendOversized("orders", 1, 1, new byte[3]),
                    () -> engine.appendOversized("orders", 1, 1, null),
                    () -> engine.acknowledged(null),
                    () -> engine.query(null),
                    () -> engine.query(Query.all("there is no such roll-up")),
                    () -> engine.get(null),
                    () -> engine.get(Arrays.asList((String) null)),
                    () -> engine.get(List.of("too", "many")),
                    () -> engine.fold(null, FoldListener.silent()),
                    () -> engine.fold(new FileSource(null, () -> null, false), FoldListener.silent()),
                    () -> engine.fillView(null, false),
                    () -> engine.verify((Truth) null),
                    () -> engine.rebuild((Truth) null),
                    () -> engine.deadLetters().record(99),
                    () -> engine.deadLetters().list(0, -1),
                    () -> engine.deadLetters().ofKey(null, 5),
                    () -> engine.deadLetters().ofKey(Arrays.asList((String) null), 5),
                    () -> engine.deadLetters().ofKey(List.of("too", "many"), 5),
                    () -> engine.deadLetters().ofKey(List.of("a"), -1),
                    () -> engine.deadLetters().redrive(1, null, null),
                    () -> engine.query(new Query("main", Arrays.asList((String) null), 1, null)),
                    () -> engine.query(new Query("main", null, 1, null)),
                    () -> engine.query(new Query(null, List.of(), 1, null)),
                    () -> engine.query(new Query("main", List.of(), 1, new Query.Top(1, null))),
                    () -> engine.query(Query.all("main"), null),
                    () -> engine.deadLetters().purge(null),
                    () -> engine.deadLetters().purge(Arrays.asList(1L, null)));
            for (int i = 0; i < calls.size(); i++) {
                assertThatThrownBy(calls.get(i)::run)
                        .describedAs("call %d", i)
                        .isInstanceOfAny(IllegalArgumentException.class, NullPointerException.class)
                        .message()
                        .isNotBlank();
            }
            engine.append("orders", List.of(order("a", 1), ""));
            assertThat(count(engine)).isEqualTo(1);
            assertThat(engine.deadLetters().size()).isEqualTo(1);
        }
    }

    @Test
    void half_a_surrogate_pair_is_refused_and_becomes_no_other_name() {
        byte[] line = (order("a", 1) + "\n").getBytes(java.nio.charset.StandardCharsets.UTF_8);
        try (EmbeddedEngine engine = open()) {
            List<Runnable> calls = List.of(
                    () -> engine.append("\ud800", List.of(order("a", 1))),
                    () -> engine.append("\ud800", 1, line, line.length),
                    () -> engine.acknowledged("\udc00"),
                    () -> engine.get(List.of("\ud800")),
                    () -> engine.deadLetters().ofKey(List.of("\ud800"), 5),
                    () -> engine.fold(new FileSource("\ud800", () -> null, false), FoldListener.silent()),
                    () -> new LogBatch("\ud800", 0, 0, 0, List.of()));
            for (Runnable call : calls) {
                assertThatThrownBy(call::run).hasMessageEndingWith("it holds half of a surrogate pair");
            }
        }
    }

    @Test
    void an_interrupted_caller_stops_nobody_and_learns_what_became_of_its_call() throws Exception {
        try (EmbeddedEngine engine = open()) {
            engine.append("a", List.of(order("1", 1), "bad"));
            engine.checkpointNow();
            List<Runnable> calls = List.of(
                    () -> engine.append("b", List.of(order("2", 1))),
                    () -> engine.deadLetters().record(1),
                    () -> engine.query(Query.all("main")),
                    engine::checkpointNow,
                    () -> engine.deadLetters().redrive(1, null),
                    engine::rebuild);
            for (Runnable call : calls) {
                Thread.currentThread().interrupt();
                call.run();
                assertThat(Thread.interrupted()).isTrue();
            }
            engine.append("c", List.of(order("3", 1)));
            assertThat(count(engine)).isEqualTo(3);
            assertThat(engine.deadLetters().record(1)).asString().isEqualTo("bad");
        }
    }

    @Test
    void an_engine_opens_and_closes_on_an_interrupted_thread() {
        Thread.currentThread().interrupt();
        try (EmbeddedEngine engine = open()) {
            engine.append("a", List.of(order("1", 1)));
        }
        assertThat(Thread.interrupted()).isTrue();
        try (EmbeddedEngine engine = open()) {
            assertThat(count(engine)).isEqualTo(1);
        }
    }

    @Test
    void whatever_is_cancelled_or_closed_meanwhile_what_was_acknowledged_is_in_and_nothing_is_in_twice()
            throws Exception {
        Map<String, Integer> acknowledged = new ConcurrentHashMap<>();
        Map<String, Integer> sent = new ConcurrentHashMap<>();
        for (int life = 0; life < 5; life++) {
            int number = life;
            EmbeddedEngine engine = open();
            try (ExecutorService callers = Executors.newFixedThreadPool(8)) {
                List<Future<?>> calls = new ArrayList<>();
                for (int i = 0; i < 300; i++) {
                    String key = number + "-" + i;
                    calls.add(callers.submit(() -> {
                        sent.put(key, 2);
                        engine.append("orders", List.of(order(key, 2)));
                        acknowledged.put(key, 2);
                    }));
                }
                for (int i = 0; i < calls.size(); i++) {
                    if (ThreadLocalRandom.current().nextInt(4) == 0) {
                        calls.get(i).cancel(true);
                    }
                    if (i == 200 && number % 2 == 0) {
                        engine.close();
                    }
                }
                callers.shutdown();
                assertThat(callers.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
                for (Future<?> call : calls) {
                    requireExcuse(call);
                }
            }
            engine.close();
        }
        try (EmbeddedEngine engine = open()) {
            acknowledged
                    .keySet()
                    .forEach(key -> assertThat(engine.get(List.of(key)))
                            .describedAs(key)
                            .isPresent());
            long in = sent.keySet().stream()
                    .filter(key -> engine.get(List.of(key)).isPresent())
                    .count();
            assertThat(count(engine)).isEqualTo(in).isGreaterThan(100);
            assertThat(engine.acknowledged("orders")).isEqualTo(in);
        }
    }

    @Test
    void a_verification_from_sources_ends_its_shadow_only_when_no_checkpoint_of_it_is_being_written() {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 20_000; i++) {
            lines.append(order("k" + i, 1)).append('\n');
        }
        byte[] content = lines.toString().getBytes(java.nio.charset.StandardCharsets.UTF_8);
        FileSource file = new FileSource("file", () -> new java.io.ByteArrayInputStream(content), false);
        Settings busy =
                Settings.defaults().withThreads(2).withShards(3).withCheckpointInterval(java.time.Duration.ZERO);
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, ORDERS, busy)) {
            engine.fold(file, FoldListener.silent());
            for (int time = 0; time < 3; time++) {
                assertThat(engine.verify(_ -> file).isEqual()).isTrue();
                assertThat(directory.resolve("view-2")).doesNotExist();
            }
            engine.append("orders", List.of(order("late", 1)));
        }
    }

    /// Starts threads that append without end, until the engine is closed. When this returns each has appended once.
    private static List<Future<?>> appendForEver(EmbeddedEngine engine, ExecutorService callers, int threads)
            throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(threads);
        List<Future<?>> calls = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            int number = thread;
            calls.add(callers.submit(() -> {
                for (int i = 0; !Thread.currentThread().isInterrupted(); i++) {
                    engine.append("orders", List.of(order(number + "-" + i, 1)));
                    begun.countDown();
                }
            }));
        }
        begun.await();
        return calls;
    }

    @Test
    @Timeout(20)
    void closing_does_not_wait_for_appends_that_come_later() throws Exception {
        int threads = 16;
        try (ExecutorService callers = Executors.newFixedThreadPool(threads)) {
            EmbeddedEngine engine = open();
            List<Future<?>> calls = appendForEver(engine, callers, threads);
            engine.close();
            for (Future<?> call : calls) {
                requireExcuse(call);
            }
        }
    }

    @Test
    @Timeout(20)
    void totals_are_recomputed_from_the_journal_while_appends_keep_coming() throws Exception {
        int threads = 16;
        try (ExecutorService callers = Executors.newFixedThreadPool(threads)) {
            EmbeddedEngine engine = EmbeddedEngine.open(
                    directory,
                    ORDERS,
                    Settings.defaults().withThreads(2).withShards(3).withKeepJournal(true));
            List<Future<?>> calls = appendForEver(engine, callers, threads);
            assertThat(engine.rebuild(_ -> null).isEqual()).isTrue();
            engine.close();
            for (Future<?> call : calls) {
                requireExcuse(call);
            }
        }
    }

    /// A call that failed did so because it was cancelled or the engine was closed.
    private static void requireExcuse(Future<?> call) throws InterruptedException {
        if (call.isCancelled()) {
            return;
        }
        try {
            call.get();
        } catch (ExecutionException e) {
            assertThat(e.getCause()).isInstanceOf(EngineException.class);
            assertThat(((EngineException) e.getCause()).kind()).isEqualTo(EngineException.Kind.STOPPED);
            assertThat(e.getCause().getMessage()).contains("closed");
        }
    }
}
