package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.luben.zstd.Zstd;
import dev.onefold.core.EngineException;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.FollowedFile;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// The treatment of files that are rotated while nobody reads, or while those before them are folded.
class RotatedFilesTest extends FollowedLog {
    /// So often a follower has asked whether to stop when it has looked at all files at least once.
    private static final int LOOKS = 15;

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

    /// A file that cannot be read may be the followed one: to forget it would lose its rest, or count it
    /// twice later.
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

    @Test
    void a_rotated_file_that_ends_inside_of_quotes_is_gone_on_with_when_it_is_mended_or_moved_away() throws Exception {
        pipeline = PipelineBuilder.named("lines")
                .csv("n", "text")
                .rollup(rollup -> rollup.count("lines").sum("sum", "n", 18, 0))
                .build();
        write(log(), "1,a\n2,\"open\n");
        next = 1;
        followToEnd();
        rotate("app.log.1");
        write(log(), "3,c\n");
        refusesOpenQuote("app.log.1");
        Files.writeString(folder.resolve("app.log.1"), "1,a\n2,\"open\"\n");
        next = 3;
        followToEnd();
        write(log(), "4,\"open\n");
        rotate("app.log.2");
        write(log(), "4,d\n");
        refusesOpenQuote("app.log.2");
        Path away = Files.createDirectory(folder.resolve("away"));
        Files.move(folder.resolve("app.log.2"), away.resolve("app.log.2"));
        next = 4;
        try (Follower follower = new Follower(true)) {
            follower.awaitAll();
        }
        followToEnd();
    }

    private void refusesOpenQuote(String rotated) {
        try (Follower follower = new Follower(false)) {
            await("it is refused", follower.following::isDone);
            assertThat(follower.following)
                    .isCompletedExceptionally()
                    .failsWithin(Duration.ZERO)
                    .withThrowableThat()
                    .withCauseInstanceOf(EngineException.class)
                    .withMessageContaining(rotated + ": ")
                    .withMessageContaining("that has no end");
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

    /// A line that comes to a finished file is folded at the next rotation, though the file's name is gone by
    /// then. Before, it was counted again with all of the file.
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
        followAndOnce("app.log.2", this::moveOn);
    }

    private void moveOn() throws Exception {
        rotate("app.log.0");
        Files.move(folder.resolve("app.log.2"), folder.resolve("app.log.3"));
        Files.move(folder.resolve("app.log.1"), folder.resolve("app.log.2"));
        Files.move(folder.resolve("app.log.0"), folder.resolve("app.log.1"));
        write(log(), lines(1));
    }

    private interface Rotation {
        void run() throws Exception;
    }

    /// Follows, rotates as soon as a rotated file is finished, and continues until all lines are folded.
    private void followAndOnce(String finished, Rotation rotation) throws Exception {
        AtomicBoolean rotated = new AtomicBoolean();
        try (EmbeddedEngine engine = EmbeddedEngine.open(folder.resolve("data"), pipeline, Settings.defaults())) {
            Thread thread = Thread.ofPlatform()
                    .start(() -> engine.follow(new FollowedFile(log()), new FoldListener() {
                        @Override
                        public boolean stop() {
                            return false;
                        }

                        @Override
                        public void finished(Path file) {
                            if (file.endsWith(finished) && !rotated.getAndSet(true)) {
                                try {
                                    rotation.run();
                                } catch (Exception e) {
                                    throw new IllegalStateException(e);
                                }
                            }
                        }
                    }));
            await("all is folded", () -> engine.counts().records() >= next);
            thread.interrupt();
            thread.join();
        }
        assertThat(rotated).isTrue();
        write(log(), lines(1));
        followToEnd();
    }

    /// The live file is held open by then. It was folded once more, beside the compressed one.
    @Test
    void a_file_that_is_rotated_and_compressed_while_those_before_it_are_folded_counts_once() throws Exception {
        write(log(), lines(1));
        followToEnd();
        rotate("app.log.4");
        write(folder.resolve("app.log.3"), lines(2));
        age("app.log.4", 30);
        age("app.log.3", 20);
        write(log(), lines(4));
        followAndOnce("app.log.3", () -> {
            compress(Files.readString(log()));
            write(log(), lines(2)); // Late lines, which only the file that is held open has.
            Files.delete(log());
            write(log(), lines(1));
        });
    }

    /// Such a file was taken for one that was rotated away, and counted again when its turn came.
    @Test
    void a_link_that_turns_to_another_file_while_those_before_it_are_folded_loses_and_doubles_nothing()
            throws Exception {
        for (String day : new String[] {"1", "2", "3", "4"}) {
            write(folder.resolve("app.log-" + day), lines(2));
            turn(day);
            if (day.equals("1")) {
                followToEnd();
            }
        }
        age("app.log-1", 30);
        age("app.log-2", 20);
        age("app.log-3", 10);
        followAndOnce("app.log-2", () -> {
            write(folder.resolve("app.log-5"), lines(2));
            turn("5");
        });
    }

    private void turn(String day) throws Exception {
        Files.deleteIfExists(log());
        Files.createSymbolicLink(log(), Path.of("app.log-" + day));
    }

    @Test
    void half_a_compressed_file_is_waited_for() throws Exception {
        write(log(), lines(3));
        followToEnd();
        rotate("app.log.1");
        compress(lines(2));
        Path whole = folder.resolve("app.log.1.gz");
        byte[] bytes = Files.readAllBytes(whole);
        Files.delete(whole);
        followWhileWritten(folder.resolve("app.log.0.gz"), bytes.length / 2, bytes);
    }

    /// A file without a byte was taken for a whole one, and never looked at again.
    @Test
    void a_file_for_zstandard_that_has_no_byte_yet_is_waited_for() throws Exception {
        write(log(), lines(3));
        followToEnd();
        rotate("app.log.1");
        followWhileWritten(
                folder.resolve("app.log.0.zst"), 0, Zstd.compress(lines(2).getBytes(StandardCharsets.UTF_8)));
    }

    private void followWhileWritten(Path compressed, int length, byte[] bytes) throws Exception {
        Files.write(compressed, Arrays.copyOf(bytes, length));
        write(log(), lines(1));
        try (Follower follower = new Follower(false)) {
            await("it has looked, and waits", () -> follower.following.isDone() || follower.asked.get() > LOOKS);
            Files.write(compressed, bytes);
            follower.awaitAll();
        }
    }

    /// Nothing of the file that was read last was folded, so that no content tells it. It was refused.
    @Test
    void an_empty_file_that_was_written_rotated_and_compressed_while_nobody_read_is_caught_up_with() throws Exception {
        write(log(), "");
        for (int i = 0; i < 2; i++) {
            try (Follower follower = new Follower(false)) {
                int begun = 2 * i + 1;
                await(
                        "it is begun",
                        () -> follower.following.isDone()
                                || follower.engine.progress().size() >= begun);
                assertThat(follower.following).isNotDone();
            }
            Path before = Files.move(log(), folder.resolve("app.log." + (3 - i)));
            write(before, lines(2));
            compress(Files.readString(before));
            Files.move(folder.resolve("app.log.1.gz"), folder.resolve("app.log." + (3 - i) + ".gz"));
            Files.delete(before);
            write(log(), "");
        }
        write(log(), lines(1));
        followToEnd();
        followToEnd();
    }

    /// A file that is made has the inode of one that is gone. Those that were rotated between were never read.
    @Test
    void a_file_with_the_inode_of_an_empty_one_that_is_gone_is_another_one() throws Exception {
        write(log(), lines(2));
        rotate("app.log.1");
        write(log(), lines(1));
        String gone = log() + "#1@" + Files.getAttribute(log(), "unix:ino") + ".1000";
        try (EmbeddedEngine engine = EmbeddedEngine.open(folder.resolve("data"), pipeline, Settings.defaults())) {
            engine.fold(new FileSource(gone, InputStream::nullInputStream, true), FoldListener.silent());
        }
        followToEnd();
        followToEnd();
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
}
