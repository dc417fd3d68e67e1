package dev.onefold.tables;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.Counts;
import dev.onefold.core.Engine.Appended;
import dev.onefold.core.Sync;
import dev.onefold.core.event.RecordEnds;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The end of a seeding that does not reach the end of its source.
@Timeout(60)
class SeederTest {
    private static final int PARTS = 8;

    @TempDir
    Path folder;

    private final AtomicInteger reading = new AtomicInteger();

    /// Parts without an end, whose threads are faster than any intake.
    private class Endless implements RowSource {
        @Override
        public String identity() {
            return "endless";
        }

        @Override
        public List<String> parts() {
            return IntStream.range(0, PARTS).mapToObj(Integer::toString).toList();
        }

        @Override
        public Extent extent() {
            return new Extent(0, 0, 0);
        }

        @Override
        public void read(Map<String, String> from, Taker taker) throws IOException, InterruptedException {
            byte[] row = "{}\n".getBytes(StandardCharsets.UTF_8);
            Beside.run(
                    parts().stream()
                            .map(part -> (Beside.Work) going -> {
                                reading.incrementAndGet();
                                try {
                                    for (int i = 1; going.isOn(); i++) {
                                        if (!taker.take(new Rows(part, row, row.length, 1, Integer.toString(i), 1))) {
                                            return false;
                                        }
                                    }
                                    return false;
                                } finally {
                                    reading.decrementAndGet();
                                }
                            })
                            .toList(),
                    PARTS);
        }

        @Override
        public void close() {}
    }

    private Seeder seeding(RowSource source, Noted seed, Seeder.Intake intake, CountDownLatch stop) {
        return seeding(source, seed, new Seeder.Way(RowForm.plain(), RecordEnds.LINES, Rate.of(0)), intake, stop);
    }

    private Seeder seeding(RowSource source, Noted seed, Seeder.Way way, Seeder.Intake intake, CountDownLatch stop) {
        return new Seeder(source, seed, way, intake, new Seeder.Listener() {
            @Override
            public void at(long done, long rows) {}

            @Override
            public boolean stop() {
                return stop.getCount() == 0;
            }
        });
    }

    private static Noted seed() {
        return new Noted(new HashMap<>());
    }

    /// A seeding whose marks are in memory.
    private record Noted(Map<String, String> marks) implements Sync.Run {
        @Override
        public long number() {
            return 1;
        }

        @Override
        public long continued() {
            return 0;
        }

        @Override
        public Appended append(byte[] lines, int length) {
            throw new AssertionError("The intake of the test takes the rows");
        }

        @Override
        public Appended appendRows(byte[] lines, int length) {
            return append(lines, length);
        }

        @Override
        public void save(Map<String, String> noted) {
            marks.putAll(noted);
        }

        @Override
        public void finish() {
            marks.clear();
        }

        @Override
        public void close() {}
    }

    @Test
    void it_ends_when_the_intake_fails_while_all_parts_wait_for_room() throws IOException {
        try (Noted seed = seed()) {
            Seeder seeding = seeding(
                    new Endless(),
                    seed,
                    (_, _) -> {
                        awaitReaders();
                        throw new IllegalStateException("the tables are throttled");
                    },
                    new CountDownLatch(1));
            assertThatThrownBy(seeding::run).hasMessage("the tables are throttled");
            assertThat(reading).hasValue(0);
        }
    }

    @Test
    void it_ends_when_it_is_stopped_while_all_parts_wait_for_room() throws IOException, InterruptedException {
        CountDownLatch stop = new CountDownLatch(1);
        try (Noted seed = seed()) {
            Seeder seeding = seeding(
                    new Endless(),
                    seed,
                    (_, _) -> {
                        awaitReaders();
                        stop.countDown();
                        return new Appended(1, new Counts(1, 0, 0, 0, 0), List.of());
                    },
                    stop);
            assertThat(seeding.run().finished()).isFalse();
            assertThat(reading).hasValue(0);
        }
    }

    @Test
    void no_more_rows_than_those_of_a_second_are_appended_at_once_and_a_stop_between_them_reads_them_again()
            throws IOException, InterruptedException {
        Path file = Files.writeString(folder.resolve("rows"), "{\"id\":1}\n".repeat(1_000));
        CountDownLatch stop = new CountDownLatch(1);
        List<Integer> appended = new ArrayList<>();
        try (Noted seed = seed()) {
            Seeder seeding = seeding(
                    new FileRows(
                            FileRows.Content.of(file, new AtomicLong(), () -> Files.newInputStream(file)),
                            new FileRows.Form.Lines(false, RecordEnds.LINES)),
                    seed,
                    new Seeder.Way(RowForm.plain(), RecordEnds.LINES, Rate.of(7)),
                    (lines, length) -> {
                        appended.add((int) new String(lines, 0, length, StandardCharsets.UTF_8)
                                .lines()
                                .count());
                        stop.countDown();
                        return new Appended(7, new Counts(7, 0, 0, 0, 0), List.of());
                    },
                    stop);
            assertThat(seeding.run().finished()).isFalse();
            assertThat(seed.marks()).isEmpty();
        }
        assertThat(appended).containsExactly(7);
    }

    @Test
    void it_ends_when_it_is_stopped_while_the_source_brings_nothing() throws IOException, InterruptedException {
        CountDownLatch stop = new CountDownLatch(1);
        try (Noted seed = seed()) {
            RowSource silent = new Endless() {
                @Override
                public void read(Map<String, String> from, Taker taker) throws InterruptedException {
                    stop.countDown();
                    new CountDownLatch(1).await();
                }
            };
            assertThat(seeding(silent, seed, (_, _) -> Appended.none(0), stop)
                            .run()
                            .finished())
                    .isFalse();
        }
    }

    @Test
    void an_error_of_the_reader_is_told() throws IOException {
        try (Noted seed = seed()) {
            RowSource broken = new Endless() {
                @Override
                public void read(Map<String, String> from, Taker taker) {
                    throw new OutOfMemoryError("no heap");
                }
            };
            assertThatThrownBy(seeding(broken, seed, (_, _) -> Appended.none(0), new CountDownLatch(1))::run)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("no heap");
        }
    }

    private void awaitReaders() {
        while (reading.get() < PARTS) {
            Thread.onSpinWait();
        }
    }
}
