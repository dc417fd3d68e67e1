package dev.onefold.simulator.embedded;

import static dev.onefold.simulator.embedded.Trades.totals;
import static dev.onefold.simulator.embedded.Trades.trade;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.EngineException;
import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.fakes.disk.Faults;
import dev.onefold.fakes.disk.Operation;
import dev.onefold.fakes.disk.SimulatedCrash;
import dev.onefold.fakes.disk.SimulatedDisk;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Long work of the engine, that is a rebuild, a verification or a filling, beside callers, checkpoints and failures.
@Timeout(60)
class LongWorkHazardsTest {
    private static final long WAIT_SECONDS = 20;

    private final SimulatedDisk disk = SimulatedDisk.empty();
    private final ExecutorService others = Executors.newCachedThreadPool();

    @AfterEach
    void end() {
        others.shutdownNow();
    }

    private EmbeddedEngine open(Settings settings) {
        return Trades.open(Trades.directory(disk), settings);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /// Callers that append until the engine is closed.
    private List<Future<?>> appenders(EmbeddedEngine engine, AtomicLong acknowledged) {
        List<Future<?>> senders = new ArrayList<>();
        for (int sender = 0; sender < 8; sender++) {
            int number = sender;
            senders.add(others.submit(() -> {
                for (int i = 0; ; i++) {
                    engine.append("s", List.of(trade(number + "-" + i, 1, "late", "1")));
                    acknowledged.incrementAndGet();
                }
            }));
        }
        return senders;
    }

    @Test
    void long_work_and_close_come_to_their_turn_although_callers_never_stop_appending() throws Exception {
        FileSource file = Trades.file("file", Trades.trades(20));
        AtomicLong acknowledged = new AtomicLong();
        EmbeddedEngine engine = open(Trades.settings(2).withThreads(2).withKeepJournal(true));
        Trades.fold(engine, file);
        List<Future<?>> senders = appenders(engine, acknowledged);
        for (int time = 0; time < 3; time++) {
            assertThat(others.submit(() -> engine.verify(_ -> file).isEqual()).get(WAIT_SECONDS, TimeUnit.SECONDS))
                    .isTrue();
        }
        others.submit(engine::close).get(WAIT_SECONDS, TimeUnit.SECONDS);
        for (Future<?> sender : senders) {
            assertThatThrownBy(() -> sender.get(WAIT_SECONDS, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("closed");
        }
        try (EmbeddedEngine next = open(Trades.settings(2))) {
            assertThat(next.acknowledged("s")).isEqualTo(acknowledged.get());
        }
    }

    /// A file that waits, at its first byte, until another thread waits.
    private static FileSource waiting(FileSource file, Thread other) {
        return new FileSource(
                file.name(),
                () -> {
                    while (other.getState() != Thread.State.WAITING) {
                        Thread.onSpinWait();
                    }
                    return file.opener().open();
                },
                false);
    }

    @Test
    void closing_ends_a_verification_that_is_under_way() throws InterruptedException {
        FileSource file = Trades.file("file", Trades.trades(5_000));
        EmbeddedEngine engine = open(Trades.settings(2).withThreads(2));
        Trades.fold(engine, file);
        Thread closer = new Thread(engine::close);
        assertThatThrownBy(() -> engine.verify(_ -> {
                    closer.start();
                    return waiting(file, closer);
                }))
                .isInstanceOf(EngineException.class)
                .hasMessageContaining("The engine was closed before this work was done");
        closer.join();
        try (EmbeddedEngine next = open(Trades.settings(2))) {
            assertThat(next.verify(_ -> file).isEqual()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"groups-", "rows-", "CHECKPOINT", "CURRENT"})
    void closing_gives_up_a_filling_that_waits_for_space_and_leaves_the_totals_as_they_were(String full)
            throws Exception {
        List<String> lines = Trades.trades(60);
        Semaphore told = new Semaphore(0);
        Settings settings = Trades.settings(2).withThreads(2).withPause(told::release);
        try (EmbeddedEngine engine = open(settings)) {
            engine.append("s", lines);
        }
        Pipeline changed = PipelineYaml.read(Trades.PIPELINE.replace("max(value)", "min(value)"));
        EmbeddedEngine engine = EmbeddedEngine.open(Trades.directory(disk), changed, settings);
        disk.inject(Faults.none().withHook((operation, path) -> {
            boolean isFresh = path.toString().contains("view-2") || full.equals("CURRENT");
            if (operation == Operation.WRITE && isFresh && path.toString().contains(full)) {
                throw new IOException(Faults.NO_SPACE);
            }
        }));
        Future<?> filling = others.submit(() -> engine.fillView(_ -> null, true));
        assertThat(told.tryAcquire(WAIT_SECONDS, TimeUnit.SECONDS)).isTrue();
        others.submit(engine::close).get(WAIT_SECONDS, TimeUnit.SECONDS);
        assertThatThrownBy(() -> filling.get(WAIT_SECONDS, TimeUnit.SECONDS))
                .cause()
                .isInstanceOf(EngineException.class)
                .hasMessageContaining("The engine was closed before this work was done");
        disk.inject(Faults.none());
        try (EmbeddedEngine next = open(settings)) {
            assertThat(Trades.directory(disk).resolve("view-2")).doesNotExist();
            assertThat(totals(next)).isEqualTo(Trades.right(lines));
        }
        try (EmbeddedEngine next = EmbeddedEngine.open(Trades.directory(disk), changed, settings)) {
            next.fillView(_ -> null, true);
            assertThat(next.pipeline()).isEqualTo(changed.inEdition(Edition.NEWEST));
            assertThat(next.verify().isEqual()).isTrue();
        }
    }

    @Test
    void a_rebuild_from_the_rows_takes_no_log_away_from_a_checkpoint_that_waits_for_space() throws Exception {
        List<String> lines = Trades.trades(60);
        Semaphore told = new Semaphore(0);
        Semaphore pauses = new Semaphore(0);
        Settings settings = Trades.settings(2).withThreads(2).withPause(() -> {
            told.release();
            pauses.acquireUninterruptibly();
        });
        try (EmbeddedEngine engine = open(settings)) {
            engine.append("s", lines.subList(0, 40));
            engine.checkpointNow();
            engine.append("s", lines.subList(40, 60));
            disk.inject(Faults.none().withHook((operation, path) -> {
                if (operation == Operation.WRITE && path.toString().contains("groups-")) {
                    throw new IOException(Faults.NO_SPACE);
                }
            }));
            Future<?> checkpoint = others.submit(engine::checkpointNow);
            assertThat(told.tryAcquire(WAIT_SECONDS, TimeUnit.SECONDS)).isTrue();
            Thread rebuild = new Thread(engine::rebuild);
            rebuild.start();
            while (rebuild.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
            disk.inject(Faults.none());
            pauses.release(1_000_000);
            checkpoint.get(WAIT_SECONDS, TimeUnit.SECONDS);
            rebuild.join();
            assertThat(totals(engine)).isEqualTo(Trades.right(lines));
        }
        try (EmbeddedEngine next = open(settings)) {
            assertThat(totals(next)).isEqualTo(Trades.right(lines));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"WRITE", "FORCE", "RENAME", "OPEN"})
    void whichever_operation_of_a_rebuild_from_sources_fails_the_engine_stops_and_the_next_start_is_right(
            Operation operation) {
        List<String> lines = Trades.trades(60);
        FileSource file = Trades.file("file", lines);
        boolean struck = true;
        int step = operation == Operation.OPEN || operation == Operation.WRITE ? 5 : 1;
        for (int nth = 1; struck; nth += step) {
            SimulatedDisk each = SimulatedDisk.empty();
            EmbeddedEngine engine = Trades.open(Trades.directory(each), Trades.settings(2));
            Trades.fold(engine, file);
            each.inject(Faults.none().failingOnce(operation, nth, Faults.INPUT_OUTPUT_ERROR));
            boolean failed = false;
            try {
                engine.rebuild(_ -> file);
            } catch (EngineException failure) {
                failed = true;
            }
            struck = each.operationCount(operation) >= nth;
            assertThat(failed).describedAs("%s %d", operation, nth).isEqualTo(struck);
            if (failed) {
                assertThatThrownBy(() -> engine.append("s", List.of(trade("late", 1, "FX", "1"))))
                        .describedAs("%s %d", operation, nth)
                        .hasMessageContaining("The engine has stopped");
            }
            SimulatedDisk next = each.crash(new SplittableRandom(nth));
            try (EmbeddedEngine after = Trades.open(Trades.directory(next), Trades.settings(2))) {
                Trades.fold(after, file);
                assertThat(totals(after)).isEqualTo(Trades.right(lines));
            }
        }
    }

    @Test
    void what_the_checkpoint_in_front_of_a_verification_covers_is_there_after_a_crash() {
        List<String> poison = Collections.nCopies(400, "poison " + "x".repeat(200));
        FileSource file = Trades.file("file", poison);
        EmbeddedEngine engine = open(Trades.settings(2));
        Trades.fold(engine, file);
        for (long id = 1; id <= 300; id++) {
            engine.deadLetters().redrive(id, bytes(trade("t" + id, 1, "x".repeat(100), "1")));
        }
        Map<String, String> before = totals(engine);
        try {
            engine.verify(_ -> file);
        } catch (EngineException redrivenAreNotKept) {
            assertThat(redrivenAreNotKept).hasMessageContaining("was not kept");
        }
        SimulatedDisk next = disk.kill();
        try (EmbeddedEngine after = Trades.open(Trades.directory(next), Trades.settings(2))) {
            assertThat(totals(after)).isEqualTo(before);
            assertThat(after.deadLetters().size()).isEqualTo(100);
        }
    }

    @Test
    void of_two_redrives_of_a_letter_at_the_same_time_only_one_is_ever_folded() throws Exception {
        Settings keeping = Trades.settings(2).withThreads(2).withKeepJournal(true);
        try (EmbeddedEngine engine = open(keeping)) {
            for (int time = 1; time <= 40; time++) {
                engine.append("s", List.of("poison"));
                long id = time;
                List<Future<?>> redrives = new ArrayList<>();
                for (int caller = 0; caller < 4; caller++) {
                    byte[] edit = bytes(trade("t" + id + "-" + caller, 1, "FX", "1"));
                    redrives.add(others.submit(() -> engine.deadLetters().redrive(id, edit)));
                }
                for (Future<?> redrive : redrives) {
                    redrive.get(WAIT_SECONDS, TimeUnit.SECONDS);
                }
            }
            assertThat(totals(engine)).containsEntry("FX", "40.00 40 1.00");
            assertThat(engine.verify(_ -> null).isEqual()).isTrue();
        }
    }

    @Test
    void a_letter_that_was_told_keeps_its_number_over_a_crash_and_over_a_rebuild() {
        Settings keeping = Trades.settings(2).withKeepJournal(true);
        FileSource file = Trades.file("file", List.of("one", "two", "three"));
        List<Long> told = new ArrayList<>();
        List<SimulatedDisk> killed = new ArrayList<>();
        try (EmbeddedEngine engine = open(keeping)) {
            engine.fold(file, new FoldListener() {
                @Override
                public void folded(long durableBytes, long foldedBytes, Counts counts) {
                    if (told.isEmpty()) {
                        told.addAll(engine.append("s", List.of("appended")).letters());
                        killed.add(disk.kill());
                        throw new SimulatedCrash("Between two rounds");
                    }
                }

                @Override
                public boolean stop() {
                    return false;
                }
            });
        } catch (SimulatedCrash asIntended) {
            assertThat(told).hasSize(1);
        }
        try (EmbeddedEngine engine = Trades.open(Trades.directory(killed.getFirst()), keeping)) {
            assertThat(engine.deadLetters().record(told.getFirst())).asString().isEqualTo("appended");
            Trades.fold(engine, file);
            List<DeadLetter> before = engine.deadLetters().list(0, 9);
            assertThat(before).hasSize(4);
            engine.rebuild(_ -> file);
            for (DeadLetter letter : before) {
                for (DeadLetter after : engine.deadLetters().list(0, 9)) {
                    if (after.id() == letter.id()) {
                        assertThat(after.place()).isEqualTo(letter.place());
                    }
                }
            }
            assertThat(engine.deadLetters().size()).isEqualTo(4);
        }
    }
}
