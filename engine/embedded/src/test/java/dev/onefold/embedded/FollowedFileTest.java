package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.Counts;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.FollowedFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;

class FollowedFileTest extends FollowedLog {
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
}
