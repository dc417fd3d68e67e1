package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.source.FollowedFile;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.io.TempDir;

/// A log that a test writes, rotates and follows. Its pipeline has no ids, so that a line that is folded twice or never
/// shows in the count.
class FollowedLog {
    private static final Pipeline JSON = PipelineBuilder.named("lines")
            .rollup(rollup -> rollup.count("lines").sum("sum", "n", 18, 0))
            .build();

    @TempDir
    Path folder;

    Pipeline pipeline = JSON;
    int next;

    Path log() {
        return folder.resolve("app.log");
    }

    /// A follower that follows until the test has seen enough.
    final class Follower implements AutoCloseable {
        final EmbeddedEngine engine = EmbeddedEngine.open(folder.resolve("data"), pipeline, Settings.defaults());
        private final AtomicBoolean stop = new AtomicBoolean();
        final AtomicInteger asked = new AtomicInteger(); // How often, whether it is to stop.
        final CompletableFuture<Void> following;

        Follower(boolean forgetRotated) {
            following = CompletableFuture.runAsync(
                    () -> engine.follow(new FollowedFile(log(), forgetRotated, false), () -> {
                        asked.incrementAndGet();
                        return stop.get();
                    }));
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

    void followToEnd() {
        try (Follower follower = new Follower(false)) {
            follower.awaitAll();
        }
    }

    String lines(int count) {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < count; i++) {
            lines.append("{\"n\":").append(++next).append("}\n");
        }
        return lines.toString();
    }

    void write(Path file, String text) throws Exception {
        Files.writeString(file, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /// Leaves a rotated file that is compressed.
    void compress(String text) throws Exception {
        try (OutputStream gzip = new GZIPOutputStream(Files.newOutputStream(folder.resolve("app.log.1.gz")))) {
            gzip.write(text.getBytes(StandardCharsets.UTF_8));
        }
    }

    void rotate(String name) throws Exception {
        Files.move(log(), folder.resolve(name));
    }

    void age(String name, int seconds) throws Exception {
        Files.setLastModifiedTime(
                folder.resolve(name), FileTime.from(Instant.now().minusSeconds(seconds)));
    }

    static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + Duration.ofMinutes(1).toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as(what).isLessThan(deadline);
            LockSupport.parkNanos(1_000_000);
        }
    }
}
