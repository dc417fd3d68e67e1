package dev.onefold.api;

import dev.onefold.core.Capabilities;
import dev.onefold.core.Causes;
import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.Engine;
import dev.onefold.core.EngineException;
import dev.onefold.core.Truth;
import dev.onefold.core.Verification;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.core.state.Row;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.AbstractList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.function.Function;

/// An engine whose answers have as many lines as are asked for, and whose verification takes its time.
class SlowEngine implements Engine {
    final CountDownLatch late = new CountDownLatch(1);
    final Semaphore entered = new Semaphore(0); // A permit for each verification.
    final CountDownLatch left = new CountDownLatch(1);
    final List<String> asked = new CopyOnWriteArrayList<>(); // Names of sources, and lines.
    volatile int lines = 3;
    volatile boolean stopped;

    @Override
    public Pipeline pipeline() {
        if (stopped) {
            throw new EngineException(EngineException.Kind.STOPPED, "The engine has stopped");
        }
        return PipelineBuilder.named("trades").rollup(r -> r.count("trades")).build();
    }

    @Override
    public Capabilities capabilities() {
        return new Capabilities(Map.of());
    }

    @Override
    public Answer query(Query query) {
        throw new UnsupportedOperationException();
    }

    @Override
    public <T> T query(Query query, Function<Answer, T> reader) {
        Answer.Line line = new Answer.Line(List.of("a \"\n\u2028b"), List.of(new BigDecimal("1.50")));
        Answer.Cut cut = new Answer.Cut(List.of(), Instant.EPOCH);
        try (Lines many = new Lines(line, lines)) {
            return reader.apply(new Answer("main", List.of("desk"), List.of("value"), many, cut));
        } finally {
            left.countDown();
        }
    }

    @Override
    public Optional<Row> get(List<String> key) {
        return Optional.empty();
    }

    @Override
    public Verification verify(Truth truth) {
        entered.release();
        try {
            late.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return new Verification("7 rows", 1, List.of());
    }

    @Override
    public Verification rebuild(Truth truth) {
        throw new EngineException(EngineException.Kind.CORRUPT, "File is corrupt");
    }

    @Override
    public DeadLetters deadLetters() {
        throw new UnsupportedOperationException("no letters");
    }

    @Override
    public Appended append(String source, long firstRecord, byte[] lines, int length) {
        asked.add(new String(lines, 0, length, StandardCharsets.UTF_8));
        return Appended.none(7);
    }

    @Override
    public long acknowledged(String source) {
        asked.add(source);
        return 7;
    }

    @Override
    public Causes causes() {
        return Causes.NONE;
    }

    @Override
    public Counts counts() {
        return new Counts(1, 2, 3, 4, 5);
    }

    @Override
    public void close() {}

    private static final class Lines extends AbstractList<Answer.Line> implements AutoCloseable {
        private final Answer.Line line;
        private final int count;

        Lines(Answer.Line line, int count) {
            this.line = line;
            this.count = count;
        }

        @Override
        public Answer.Line get(int index) {
            return line;
        }

        @Override
        public int size() {
            return count;
        }

        @Override
        public void close() {}
    }
}
