package dev.onefold.simulator.embedded;

import static dev.onefold.simulator.embedded.Trades.totals;
import static dev.onefold.simulator.embedded.Trades.trade;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.Counts;
import dev.onefold.core.EngineException;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.SpaceListener;
import dev.onefold.fakes.disk.Faults;
import dev.onefold.fakes.disk.Operation;
import dev.onefold.fakes.disk.SimulatedDisk;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Callers beside long work and beside a full disk: nobody waits for somebody else's long work, and what was
/// acknowledged is in.
@Timeout(60)
class CallersBesideTest {
    /// What a full disk says in German.
    private static final String NO_SPACE = "Auf dem Gerät ist kein Speicherplatz mehr verfügbar";

    private static final long WAIT_SECONDS = 20;

    private final SimulatedDisk disk = SimulatedDisk.empty();
    private final ExecutorService others = Executors.newCachedThreadPool();
    private final Semaphore told = new Semaphore(0);
    private final Semaphore pauses = new Semaphore(0);
    private final AtomicBoolean full = new AtomicBoolean();

    @AfterEach
    void end() {
        others.shutdownNow();
    }

    private Settings settings() {
        return Trades.settings(2).withThreads(2).withPause(this::pause).withSpaceListener(new SpaceListener() {
            @Override
            public void waiting(Instant since, Path file) {
                told.release();
            }

            @Override
            public void ended(Instant since) {}
        });
    }

    /// Waits for a permit of the test, as a real pause waits for half a second.
    private void pause() {
        try {
            if (!pauses.tryAcquire(WAIT_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("Nobody has made space");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new EngineException(EngineException.Kind.INTERRUPTED, "Interrupted while waiting for space", e);
        }
    }

    private EmbeddedEngine open() {
        return Trades.open(Trades.directory(disk), settings());
    }

    private <T> T soon(Callable<T> call) throws Exception {
        return others.submit(call).get(WAIT_SECONDS, TimeUnit.SECONDS);
    }

    private <T> T soon(Future<T> result) throws Exception {
        return result.get(WAIT_SECONDS, TimeUnit.SECONDS);
    }

    private void await(Semaphore event) throws InterruptedException {
        assertThat(event.tryAcquire(WAIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    }

    /// Closes an engine whose waits end by themselves, as real pauses do.
    private void close(EmbeddedEngine engine) throws Exception {
        Future<?> closed = others.submit(engine::close);
        while (!closed.isDone()) {
            pauses.release();
            Thread.onSpinWait();
        }
        soon(closed);
    }

    /// From now on each operation of these kinds finds the disk full, in German.
    private void fillDisk(Operation... operations) {
        full.set(true);
        List<Operation> failing = List.of(operations);
        disk.inject(Faults.none()
                .withHook((operation, path) -> {
                    boolean needsSpace = operation != Operation.OPEN || !Files.exists(path);
                    if (full.get()
                            && failing.contains(operation)
                            && path.toString().startsWith("/data")
                            && needsSpace) {
                        throw operation == Operation.WRITE
                                ? new IOException(NO_SPACE)
                                : new FileSystemException(path.toString(), null, NO_SPACE);
                    }
                })
                .withSpaceBytesMax(1));
    }

    private void makeSpace() {
        full.set(false);
        disk.inject(Faults.none());
        pauses.release(1_000_000);
    }

    /// A listener that is called between two rounds, and lets the fold go on when it is told to.
    private static final class Held implements FoldListener {
        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch mayGoOn = new CountDownLatch(1);

        @Override
        public void folded(long durableBytes, long foldedBytes, Counts counts) {}

        @Override
        public boolean stop() {
            begun.countDown();
            try {
                return !mayGoOn.await(WAIT_SECONDS, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return true;
            }
        }
    }

    @Test
    void append_redrive_and_purge_do_not_wait_for_a_file_that_is_being_folded() throws Exception {
        try (EmbeddedEngine engine = open()) {
            engine.append("bad", List.of("poison", "more poison"));
            Held held = new Held();
            Future<?> fold = others.submit(() -> engine.fold(Trades.file("file", Trades.trades(20)), held));
            assertThat(held.begun.await(WAIT_SECONDS, TimeUnit.SECONDS)).isTrue();
            soon(() -> engine.append("s", List.of(trade("beside", 1, "FX", "1"))));
            soon(() -> engine.deadLetters()
                    .redrive(1, trade("edited", 1, "FX", "2").getBytes(StandardCharsets.UTF_8)));
            assertThat(soon(() -> engine.deadLetters().purge(List.of(2L)))).isEqualTo(1);
            assertThat(soon(() -> totals(engine))).isEqualTo(java.util.Map.of("", "3.00 2 2.00", "FX", "3.00 2 2.00"));
            held.mayGoOn.countDown();
            soon(fold);
        }
    }

    @Test
    void a_fold_waits_for_another_one_and_an_interrupted_caller_gives_the_wait_up() throws Exception {
        try (EmbeddedEngine engine = open()) {
            Held held = new Held();
            Future<?> first = others.submit(() -> engine.fold(Trades.file("a", Trades.trades(20)), held));
            assertThat(held.begun.await(WAIT_SECONDS, TimeUnit.SECONDS)).isTrue();
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> Trades.fold(engine, Trades.file("b", Trades.trades(30))))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("Nothing of this call was done");
            assertThat(Thread.interrupted()).isTrue();
            held.mayGoOn.countDown();
            soon(first);
            Trades.fold(engine, Trades.file("b", Trades.trades(30)));
            assertThat(totals(engine)).isEqualTo(Trades.right(Trades.trades(30)));
        }
    }

    @Test
    void a_reader_that_dies_of_any_exception_ends_its_fold_with_that_exception() {
        try (EmbeddedEngine engine = open()) {
            FileSource broken = new FileSource(
                    "broken",
                    () -> new InputStream() {
                        @Override
                        public int read() {
                            throw new IllegalStateException("This stream is broken");
                        }

                        @Override
                        public int read(byte[] into, int from, int length) {
                            return read();
                        }
                    },
                    false);
            assertThatThrownBy(() -> Trades.fold(engine, broken)).hasMessage("This stream is broken");
            engine.append("s", List.of(trade("a", 1, "FX", "1")));
            assertThat(totals(engine)).containsEntry("FX", "1.00 1 1.00");
        }
    }

    @Test
    void an_append_that_waits_for_space_beside_a_rebuild_is_neither_lost_nor_left() throws Exception {
        List<String> lines = Trades.trades(40);
        Settings keeping = settings().withKeepJournal(true);
        try (EmbeddedEngine engine = Trades.open(Trades.directory(disk), keeping)) {
            FileSource file = Trades.file("file", lines);
            Trades.fold(engine, file);
            fillDisk(Operation.OPEN, Operation.WRITE);
            Future<?> append = others.submit(() -> engine.append("s", List.of(trade("late", 1, "FX", "1"))));
            await(told);
            Future<?> rebuild = others.submit(() -> engine.rebuild(_ -> file));
            makeSpace();
            soon(append);
            soon(rebuild);
            engine.append("s", List.of(trade("later", 1, "FX", "1")));
            assertThat(engine.get(List.of("late"))).isPresent();
            assertThat(engine.verify(_ -> file).isEqual()).isTrue();
        }
        try (EmbeddedEngine engine = Trades.open(Trades.directory(disk), keeping)) {
            assertThat(engine.get(List.of("late"))).isPresent();
            assertThat(engine.get(List.of("later"))).isPresent();
        }
    }

    @Test
    void every_append_beside_rebuilds_from_sources_is_in_the_totals() throws Exception {
        List<String> lines = Trades.trades(40);
        Settings keeping = settings().withKeepJournal(true);
        FileSource file = Trades.file("file", lines);
        int appends = 200;
        try (EmbeddedEngine engine = Trades.open(Trades.directory(disk), keeping)) {
            Trades.fold(engine, file);
            List<Future<?>> senders = new ArrayList<>();
            for (int sender = 0; sender < 3; sender++) {
                int number = sender;
                senders.add(others.submit(() -> {
                    for (int i = 0; i < appends; i++) {
                        engine.append("s", List.of(trade("late" + number + "-" + i, 1, "late", "1")));
                    }
                }));
            }
            while (senders.stream().anyMatch(sender -> !sender.isDone())) {
                engine.rebuild(_ -> file);
                engine.rebuild();
            }
            for (Future<?> sender : senders) {
                soon(sender);
            }
            assertThat(totals(engine)).containsEntry("late", 3 * appends + ".00 " + 3 * appends + " 1.00");
            assertThat(engine.verify(_ -> file).isEqual()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"OPEN", "WRITE", "RENAME"})
    void whichever_operation_finds_the_disk_full_in_whatever_language_intake_waits_and_goes_on(Operation operation)
            throws Exception {
        List<String> lines = Trades.trades(60);
        try (EmbeddedEngine engine = open()) {
            Trades.fold(engine, Trades.file("first", lines.subList(0, 20)));
            fillDisk(operation);
            Future<?> append = others.submit(() -> engine.append("s", lines.subList(20, 40)));
            Future<?> fold = others.submit(() -> Trades.fold(engine, Trades.file("second", lines.subList(40, 60))));
            await(told);
            assertThat(engine.status().waitingForSpaceSince()).isPresent();
            assertThat(soon(() -> totals(engine))).isNotEmpty();
            assertThat(soon(() -> engine.get(List.of("t7")))).isPresent();
            assertThat(soon(() -> engine.verify().isEqual())).isTrue();
            assertThat(soon(() -> engine.deadLetters().list(0, 9))).hasSizeLessThan(2);
            makeSpace();
            soon(append);
            soon(fold);
            assertThat(totals(engine)).isEqualTo(Trades.right(lines));
            assertThat(engine.status().waitingForSpaceSince()).isEqualTo(Optional.empty());
        }
    }

    @Test
    void an_engine_whose_directory_cannot_be_created_for_want_of_space_opens_when_there_is_some() throws Exception {
        fillDisk(Operation.CREATE_DIRECTORY);
        Future<EmbeddedEngine> opened = others.submit(this::open);
        await(told);
        makeSpace();
        try (EmbeddedEngine engine = soon(opened)) {
            engine.append("s", List.of(trade("a", 1, "FX", "1")));
        }
    }

    @Test
    void a_failing_disk_with_space_is_not_taken_for_a_full_one() {
        EmbeddedEngine engine = open();
        disk.inject(Faults.none().failingOnce(Operation.WRITE, 1, "Eingabe-/Ausgabefehler"));
        assertThatThrownBy(() -> engine.append("s", Trades.trades(3)))
                .isInstanceOf(EngineException.class)
                .hasMessageContaining("Storage failed");
    }

    @Test
    void a_fold_that_is_stopped_while_the_disk_is_full_ends_and_the_next_life_goes_on() throws Exception {
        List<String> lines = Trades.trades(60);
        AtomicBoolean stop = new AtomicBoolean();
        EmbeddedEngine engine = Trades.open(Trades.directory(disk), settings().withCheckpointInterval(Duration.ZERO));
        engine.append("s", lines.subList(0, 20));
        engine.checkpointNow();
        fillDisk(Operation.OPEN, Operation.WRITE);
        Future<?> fold =
                others.submit(() -> engine.fold(Trades.file("file", lines.subList(20, 60)), new FoldListener() {
                    @Override
                    public void folded(long durableBytes, long foldedBytes, Counts counts) {}

                    @Override
                    public boolean stop() {
                        return stop.get();
                    }
                }));
        await(told);
        stop.set(true);
        assertThatThrownBy(() -> soon(fold))
                .cause()
                .isInstanceOf(EngineException.class)
                .hasMessageContaining("Stopped while the disk was full")
                .extracting(failure -> ((EngineException) failure).kind())
                .isEqualTo(EngineException.Kind.NO_SPACE);
        assertThat(totals(engine)).isNotEmpty();
        close(engine);
        makeSpace();
        try (EmbeddedEngine next = open()) {
            assertThat(next.acknowledged("s")).isEqualTo(20);
            Trades.fold(next, Trades.file("file", lines.subList(20, 60)));
            assertThat(totals(next)).isEqualTo(Trades.right(lines));
        }
    }

    @Test
    void an_append_behind_a_checkpoint_that_waits_for_space_ends_when_its_pause_gives_up() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        Settings patient = settings().withCheckpointInterval(Duration.ZERO).withPause(() -> {
            pause();
            if (stop.get()) {
                throw new EngineException(EngineException.Kind.NO_SPACE, "Stopped while the disk was full");
            }
        });
        EmbeddedEngine engine = Trades.open(Trades.directory(disk), patient);
        engine.append("s", List.of(trade("a", 1, "FX", "1")));
        engine.checkpointNow();
        fillDisk(Operation.OPEN); // The journal has space yet, and no checkpoint has.
        engine.append("s", List.of(trade("b", 1, "FX", "1")));
        await(told);
        Future<?> behind = others.submit(() -> engine.append("s", List.of(trade("c", 1, "FX", "1"))));
        stop.set(true);
        pauses.release(1_000_000);
        assertThatThrownBy(() -> soon(behind))
                .hasMessageContaining("Stopped while the disk was full. Nothing of this call was done");
        close(engine);
        makeSpace();
        try (EmbeddedEngine next = open()) {
            assertThat(next.acknowledged("s")).isEqualTo(2);
        }
    }

    @Test
    void an_append_that_waits_for_space_ends_when_its_caller_is_interrupted_or_the_engine_is_closed() throws Exception {
        EmbeddedEngine engine = open();
        engine.append("s", List.of(trade("a", 1, "FX", "1")));
        engine.checkpointNow();
        fillDisk(Operation.OPEN, Operation.WRITE);
        Thread[] caller = new Thread[1];
        CountDownLatch begun = new CountDownLatch(1);
        Future<?> interrupted = others.submit(() -> {
            caller[0] = Thread.currentThread();
            begun.countDown();
            engine.append("s", List.of(trade("b", 1, "FX", "1")));
        });
        assertThat(begun.await(WAIT_SECONDS, TimeUnit.SECONDS)).isTrue();
        await(told);
        caller[0].interrupt();
        assertThatThrownBy(() -> soon(interrupted)).hasMessageContaining("Nothing of this call was done");
        Future<?> closed = others.submit(() -> engine.append("s", List.of(trade("c", 1, "FX", "1"))));
        await(told);
        close(engine);
        assertThatThrownBy(() -> soon(closed)).hasMessageContaining("Nothing of this call was done");
        makeSpace();
        try (EmbeddedEngine next = open()) {
            assertThat(next.acknowledged("s")).isEqualTo(1);
        }
    }
}
