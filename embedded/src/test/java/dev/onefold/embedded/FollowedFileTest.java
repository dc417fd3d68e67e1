package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.Counts;
import dev.onefold.core.EngineException;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.FollowedFile;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A pipeline without ids, so that a line that is folded twice or never shows in the count.
class FollowedFileTest {
    private static final Pipeline JSON = PipelineBuilder.named("lines")
            .rollup(rollup -> rollup.count("lines").sum("sum", "n", 18, 0))
            .build();

    @TempDir
    Path folder;

    private Pipeline pipeline = JSON;
    private int next;

    private Path log() {
        return folder.resolve("app.log");
    }

    /// Someone who follows until the test has seen enough.
    private final class Follower implements AutoCloseable {
        private final EmbeddedEngine engine =
                EmbeddedEngine.open(folder.resolve("data"), pipeline, Settings.defaults());
        private final AtomicBoolean stop = new AtomicBoolean();
        private final CompletableFuture<Void> following;

        Follower(boolean forgetRotated) {
            following = CompletableFuture.runAsync(
                    () -> engine.follow(new FollowedFile(log(), forgetRotated, false), stop::get));
        }

        void awaitAll() {
            await(next + " lines are folded", () -> following.isDone() || lines() >= next);
            assertThat(following).isNotCompletedExceptionally();
            assertThat(lines()).isEqualTo(next);
            assertThat(sum()).isEqualTo((long) next * (next + 1) / 2);
        }

        long lines() {
            return value(0);
        }

        long sum() {
            return value(1);
        }

        private long value(int measure) {
            return engine.query(Query.all("main"))
                    .lines()
                    .getFirst()
                    .values()
                    .get(measure)
                    .longValueExact();
        }

        @Override
        public void close() {
            stop.set(true);
            following.exceptionally(_ -> null).join();
            engine.close();
        }
    }

    private void followToEnd() {
        try (Follower follower = new Follower(false)) {
            follower.awaitAll();
        }
    }

    private String lines(int count) {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < count; i++) {
            lines.append("{\"n\":").append(++next).append("}\n");
        }
        return lines.toString();
    }

    private void write(Path file, String text) throws Exception {
        Files.writeString(file, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /// Leaves a rotated file that is compressed.
    private void compress(String text) throws Exception {
        try (OutputStream gzip = new GZIPOutputStream(Files.newOutputStream(folder.resolve("app.log.1.gz")))) {
            gzip.write(text.getBytes(StandardCharsets.UTF_8));
        }
    }

    private void rotate(String name) throws Exception {
        Files.move(log(), folder.resolve(name));
    }

    private void age(String name, int seconds) throws Exception {
        Files.setLastModifiedTime(
                folder.resolve(name), FileTime.from(Instant.now().minusSeconds(seconds)));
    }

    @Test
    void what_is_appended_is_folded_and_an_unfinished_line_waits_for_its_end() throws Exception {
        write(log(), lines(3));
        try (Follower follower = new Follower(false)) {
            follower.awaitAll();
            String line = lines(1);
            next--;
            write(log(), line.substring(0, 4));
            write(log(), line.substring(4));
            next++;
            follower.awaitAll();
        }
    }

    @Test
    void a_rotated_file_is_finished_before_the_new_one_is_begun() throws Exception {
        write(log(), lines(3));
        try (Follower follower = new Follower(false)) {
            follower.awaitAll();
            write(log(), lines(2) + lines(1).strip()); // Its last line has no end, and never gets one.
            rotate("app.log.1");
            write(log(), lines(4));
            follower.awaitAll();
            write(log(), lines(1));
            follower.awaitAll();
        }
        try (Follower again = new Follower(false)) {
            write(log(), lines(1));
            again.awaitAll();
        }
    }

    @Test
    void files_rotated_while_nobody_read_are_caught_up_with_in_order() throws Exception {
        write(log(), lines(3));
        followToEnd();
        write(log(), lines(2));
        rotate("app.log.3");
        write(folder.resolve("app.log.2"), lines(2));
        compress(lines(2));
        age("app.log.3", 30);
        age("app.log.2", 20);
        age("app.log.1.gz", 10);
        write(folder.resolve("app.log-errors"), "{\"n\":1000000}\n");
        write(log(), lines(5));
        followToEnd();
    }

    @Test
    void a_rotated_file_is_known_by_its_content_when_it_was_compressed_since() throws Exception {
        write(log(), lines(3));
        followToEnd();
        write(log(), lines(2));
        compress(Files.readString(log()));
        age("app.log.1.gz", 10);
        Files.delete(log());
        write(log(), lines(4));
        followToEnd();
    }

    @Test
    void a_rotated_file_that_is_gone_is_missed_and_forgotten_only_on_request() throws Exception {
        write(log(), lines(3));
        followToEnd();
        Files.delete(log());
        write(log(), lines(2));
        try (Follower follower = new Follower(false)) {
            await("it is refused", follower.following::isDone);
            assertThat(follower.following)
                    .isCompletedExceptionally()
                    .failsWithin(Duration.ZERO)
                    .withThrowableThat()
                    .withCauseInstanceOf(EngineException.class)
                    .withMessageContaining("--forget-rotated");
        }
        try (Follower follower = new Follower(true)) {
            follower.awaitAll();
        }
    }

    /// What cannot be read may be the file: to forget it would lose its rest, or count it twice later.
    @Test
    void a_rotated_file_that_cannot_be_read_is_never_taken_for_another_one() throws Exception {
        write(log(), lines(3));
        followToEnd();
        Files.delete(log());
        write(log(), lines(2));
        byte[] cutOff = {0x1f, (byte) 0x8b, 8, 0, 0};
        Files.write(folder.resolve("app.log.1.gz"), cutOff);
        for (boolean forgetRotated : new boolean[] {false, true}) {
            try (Follower follower = new Follower(forgetRotated)) {
                await("it is refused", follower.following::isDone);
                assertThat(follower.following)
                        .isCompletedExceptionally()
                        .failsWithin(Duration.ZERO)
                        .withThrowableThat()
                        .withCauseInstanceOf(EngineException.class)
                        .withMessageContaining("app.log.1.gz: ")
                        .withMessageContaining("cannot be read");
            }
        }
    }

    /// Without ids, two files of the same lines are two files, if both lie there. One was taken for the other's copy.
    @Test
    void rotated_files_with_the_content_of_another_one_or_more_count_though_nobody_read_meanwhile() throws Exception {
        write(log(), "{\"n\":1}\n");
        next = 1;
        followToEnd();
        rotate("app.log.4");
        write(folder.resolve("app.log.3"), "{\"n\":1}\n");
        write(folder.resolve("app.log.2"), "{\"n\":1}\n{\"n\":1}\n");
        compress("{\"n\":1}\n".repeat(3));
        age("app.log.4", 30);
        age("app.log.3", 20);
        age("app.log.2", 10);
        write(log(), "{\"n\":1}\n");
        for (int i = 0; i < 2; i++) {
            try (Follower follower = new Follower(false)) {
                await("all are folded", () -> follower.following.isDone() || follower.lines() >= 8);
                assertThat(follower.following).isNotCompletedExceptionally();
                assertThat(follower.lines()).isEqualTo(8);
            }
        }
    }

    @Test
    void a_compressed_copy_of_a_rotated_file_counts_nothing_though_that_one_is_kept() throws Exception {
        write(log(), lines(3));
        followToEnd();
        rotate("app.log.1");
        compress(Files.readString(folder.resolve("app.log.1")));
        write(log(), lines(1));
        for (int i = 0; i < 2; i++) {
            try (Follower follower = new Follower(false)) {
                follower.awaitAll();
                assertThat(follower.engine.progress().getLast().source()).contains("#2@");
            }
        }
    }

    /// What comes to a finished file is folded at the next rotation, though its name is gone by then. It counted again
    /// with all of the file.
    @Test
    void late_lines_of_a_file_that_is_compressed_meanwhile_count_once() throws Exception {
        write(log(), lines(3));
        try (Follower follower = new Follower(false)) {
            follower.awaitAll();
            rotate("app.log.1");
            write(log(), lines(1));
            follower.awaitAll();
            write(folder.resolve("app.log.1"), lines(2)); // By a writer that has not turned yet.
            compress(Files.readString(folder.resolve("app.log.1")));
            Files.delete(folder.resolve("app.log.1"));
            rotate("app.log.0");
            write(log(), lines(1));
            follower.awaitAll();
        }
        followToEnd();
    }

    /// The files behind the one at which it was stopped were never read.
    @Test
    void a_stop_between_rotated_files_leaves_none_out() throws Exception {
        write(log(), lines(1));
        followToEnd();
        rotate("app.log.4");
        age("app.log.4", 40);
        for (int i = 3; i > 0; i--) {
            write(folder.resolve("app.log." + i), lines(2));
            age("app.log." + i, 10 * i);
        }
        write(log(), lines(1));
        long folded = 0;
        for (int calls = 1; folded < next; calls++) {
            assertThat(calls).isLessThan(100);
            AtomicInteger left = new AtomicInteger(calls);
            try (EmbeddedEngine engine = EmbeddedEngine.open(folder.resolve("data"), pipeline, Settings.defaults())) {
                engine.follow(new FollowedFile(log()), () -> left.decrementAndGet() < 0);
                folded = engine.counts().records();
            }
        }
        followToEnd();
    }

    /// One was left out, and the live file was folded twice.
    @Test
    void names_that_move_on_while_a_rotated_file_is_folded_lose_and_double_nothing() throws Exception {
        write(log(), lines(1));
        followToEnd();
        rotate("app.log.4");
        write(folder.resolve("app.log.2"), lines(2));
        write(folder.resolve("app.log.1"), lines(3));
        age("app.log.4", 30);
        age("app.log.2", 20);
        age("app.log.1", 10);
        write(log(), lines(4));
        AtomicBoolean moved = new AtomicBoolean();
        try (EmbeddedEngine engine = EmbeddedEngine.open(folder.resolve("data"), pipeline, Settings.defaults())) {
            Thread thread = Thread.ofPlatform()
                    .start(() -> engine.follow(new FollowedFile(log()), new FoldListener() {
                        @Override
                        public boolean stop() {
                            return false;
                        }

                        @Override
                        public void finished(Path file) {
                            if (file.endsWith("app.log.2") && !moved.getAndSet(true)) {
                                moveOn();
                            }
                        }
                    }));
            await("all is folded", () -> engine.counts().records() >= next);
            thread.interrupt();
            thread.join();
        }
        assertThat(moved).isTrue();
        followToEnd();
    }

    private void moveOn() {
        try {
            rotate("app.log.0");
            Files.move(folder.resolve("app.log.2"), folder.resolve("app.log.3"));
            Files.move(folder.resolve("app.log.1"), folder.resolve("app.log.2"));
            Files.move(folder.resolve("app.log.0"), folder.resolve("app.log.1"));
            write(log(), lines(1));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void half_a_compressed_file_is_waited_for() throws Exception {
        write(log(), lines(3));
        followToEnd();
        rotate("app.log.1");
        compress(lines(2));
        Path whole = folder.resolve("app.log.1.gz");
        byte[] bytes = Files.readAllBytes(whole);
        Path making = folder.resolve("app.log.0.gz");
        Files.delete(whole);
        Files.write(making, Arrays.copyOf(bytes, bytes.length / 2));
        write(log(), lines(1));
        try (Follower follower = new Follower(false)) {
            await("it reads the first file", () -> follower.following.isDone() || follower.lines() >= 3);
            Files.write(making, bytes);
            follower.awaitAll();
        }
    }

    /// Such a file was taken for one that was rotated away, and each start counted all of it once more.
    @Test
    void a_name_that_is_a_link_to_a_file_beside_it_goes_on_there() throws Exception {
        Path monday = folder.resolve("app-monday.log");
        write(monday, lines(3));
        Files.createSymbolicLink(log(), monday.getFileName());
        followTwice(monday);

        Path tuesday = folder.resolve("app-tuesday.log");
        write(monday, lines(2));
        write(tuesday, lines(4));
        Files.delete(log());
        Files.createSymbolicLink(log(), tuesday.getFileName());
        followTwice(tuesday);

        Files.delete(log());
        Files.createLink(log(), tuesday);
        followTwice(tuesday);
    }

    private void followTwice(Path file) throws Exception {
        for (int i = 0; i < 2; i++) {
            write(file, lines(1));
            followToEnd();
        }
    }

    @Test
    void a_file_that_is_cut_in_place_is_refused() throws Exception {
        write(log(), lines(5));
        try (Follower follower = new Follower(false)) {
            follower.awaitAll();
            Files.writeString(log(), "{\"n\":1}\n");
            await("it is refused", follower.following::isDone);
            assertThat(follower.following).isCompletedExceptionally();
        }
    }

    @Test
    void a_file_that_was_folded_before_it_was_followed_goes_on() throws Exception {
        write(log(), lines(3));
        try (EmbeddedEngine engine = EmbeddedEngine.open(folder.resolve("data"), pipeline, Settings.defaults())) {
            engine.fold(FileSource.of(log()), FoldListener.silent());
        }
        write(log(), lines(2));
        followToEnd();
        rotate("app.log.1");
        write(log(), lines(2));
        followToEnd();
    }

    @Test
    void the_same_holds_for_files_with_a_header() throws Exception {
        pipeline = PipelineBuilder.named("lines")
                .csv()
                .rollup(rollup -> rollup.count("lines").sum("sum", "n", 18, 0))
                .build();
        write(log(), "n,x\n1,a\n");
        try (Follower follower = new Follower(false)) {
            next = 1;
            follower.awaitAll();
            rotate("app.log.1");
            write(log(), "n,x\n2,b\n");
            next = 2;
            follower.awaitAll();
        }
    }

    /// Such a line was taken for two: one of the bytes that were there at first, and one of those that came later.
    @Test
    void a_line_over_the_limit_that_is_still_being_written_is_one_dead_letter() throws Exception {
        byte[] large = "x".repeat(2 * Limits.RECORD_BYTES_MAX).getBytes(StandardCharsets.UTF_8);
        write(log(), lines(1));
        Files.write(log(), large, StandardOpenOption.APPEND);
        try (EmbeddedEngine engine = EmbeddedEngine.open(folder.resolve("data"), pipeline, Settings.defaults())) {
            FileSource growing = new FileSource("log", () -> Files.newInputStream(log()), true);
            engine.fold(growing, FoldListener.silent());
            assertThat(engine.counts()).isEqualTo(new Counts(1, 0, 0, 0, 0));
            write(log(), "x\n" + lines(1));
            engine.fold(growing, FoldListener.silent());
            assertThat(engine.counts()).isEqualTo(new Counts(2, 0, 0, 0, 1));
            assertThat(engine.deadLetters().list(0, 9)).singleElement().satisfies(letter -> {
                assertThat(letter.reason()).isEqualTo(Reason.TOO_LARGE);
                assertThat(letter.bytes()).isEqualTo(large.length + 1);
            });
        }
    }

    @Test
    void an_interrupt_ends_it_and_nothing_is_lost() throws Exception {
        write(log(), lines(3));
        try (EmbeddedEngine engine = EmbeddedEngine.open(folder.resolve("data"), pipeline, Settings.defaults())) {
            Thread thread =
                    Thread.ofPlatform().start(() -> engine.follow(new FollowedFile(log()), FoldListener.silent()));
            await("the lines are folded", () -> engine.counts().records() == next);
            thread.interrupt();
            thread.join();
        }
        try (Follower again = new Follower(false)) {
            write(log(), lines(1));
            again.awaitAll();
        }
    }

    private static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + Duration.ofMinutes(1).toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as(what).isLessThan(deadline);
            LockSupport.parkNanos(1_000_000);
        }
    }
}
