package dev.onefold.mapping;

import dev.onefold.mapping.source.Futures;
import dev.onefold.mapping.source.StreamSource;
import dev.onefold.mapping.source.StreamSource.Position;
import dev.onefold.mapping.source.StreamSource.Shard;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The event source mapping of a stream: reads its shards, each after its parents are done, and invokes a function with
/// what it finds until that succeeds or the settings say that it is enough.
///
/// What was done is known by a checkpoint for each shard, and only in memory: another mapping begins where its settings
/// say. No call waits. What is not said to be of any thread is touched by the actions of one [Scheduler] alone.
public final class StreamMapping implements AutoCloseable {
    private static final Duration DISCOVERY = Duration.ofSeconds(10);
    private static final long PAUSE_MS_MIN = 100;
    private static final long PAUSE_MS_MAX = 5_000;

    final StreamSource source;
    final Target target;
    final MappingSettings settings;
    final MappingFaults faults;
    final SplittableRandom random;

    private final Scheduler scheduler;
    private Map<String, ShardReader> readers = new TreeMap<>();
    private final Map<String, String> checkpoints = new ConcurrentHashMap<>();
    private boolean discovered;
    private int listingFailures;
    private volatile boolean closed;
    private volatile String lastProcessingResult = "No records processed";

    private StreamMapping(
            Scheduler scheduler, StreamSource source, Target target, MappingSettings settings, MappingFaults faults) {
        this.scheduler = scheduler;
        this.source = source;
        this.target = target;
        this.settings = settings;
        this.faults = faults;
        random = new SplittableRandom(faults.seed());
    }

    /// A mapping that reads from now on.
    public static StreamMapping open(
            Scheduler scheduler, StreamSource source, Target target, MappingSettings settings, MappingFaults faults) {
        StreamMapping mapping = new StreamMapping(scheduler, source, target, settings, faults);
        scheduler.after(Duration.ZERO, mapping::discoverAgain);
        return mapping;
    }

    /// The sequence number up to which everything of a shard is done; empty if that is nothing. Any thread.
    public Optional<String> checkpoint(String shardId) {
        return Optional.ofNullable(checkpoints.get(shardId));
    }

    /// What became of the last request or invocation: `OK`, or `PROBLEM: ` and what. Any thread.
    public String lastProcessingResult() {
        return lastProcessingResult;
    }

    /// Reads and invokes no more. An invocation that is under way ends as it likes. Any thread.
    @Override
    public void close() {
        closed = true;
    }

    /// Does an action after a delay, unless the mapping is closed by then.
    void after(Duration delay, Runnable action) {
        scheduler.after(delay, () -> {
            if (!closed) {
                action.run();
            }
        });
    }

    /// Calls, and goes on with the result or the failure as an action of its own.
    <T> void then(Supplier<CompletableFuture<T>> call, BiConsumer<@Nullable T, @Nullable Throwable> next) {
        // What the call throws at once is its failure, too.
        var _ = CompletableFuture.completedFuture(null)
                .thenCompose(_ -> call.get())
                .whenComplete((result, failure) -> after(
                        Duration.ZERO, () -> next.accept(result, failure == null ? null : Futures.cause(failure))));
    }

    Instant now() {
        return scheduler.instant();
    }

    /// A random part of a duration.
    Duration upTo(Duration max) {
        return Duration.ofMillis(random.nextLong(max.toMillis() + 1));
    }

    boolean strikes(double chance) {
        return chance > 0 && random.nextDouble() < chance;
    }

    void fine() {
        lastProcessingResult = "OK";
    }

    void problem(String what) {
        lastProcessingResult = "PROBLEM: " + what;
    }

    void reached(ShardReader reader, @Nullable String sequence) {
        if (isForgotten(reader)) {
            return; // Another stream's shard has its name now.
        }
        if (sequence == null) {
            checkpoints.remove(reader.id());
        } else {
            checkpoints.put(reader.id(), sequence);
        }
    }

    /// Whether the stream has it no more.
    boolean isForgotten(ShardReader reader) {
        return readers.get(reader.id()) != reader;
    }

    /// How long to wait before another attempt: doubles each time.
    static Duration pause(int failures) {
        return Duration.ofMillis(Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN << Math.min(failures, 10)));
    }

    private void discoverAgain() {
        if (!closed) {
            discover(() -> after(DISCOVERY, this::discoverAgain));
        }
    }

    private void discover(Runnable next) {
        then(source::shards, (shards, failure) -> {
            if (failure != null) {
                problem("The shards of " + source.arn() + " cannot be listed: " + failure);
                after(pause(listingFailures++), () -> discover(next));
                return;
            }
            listingFailures = 0;
            take(Objects.requireNonNull(shards));
            next.run();
        });
    }

    private void take(List<Shard> shards) {
        Map<String, ShardReader> listed = new TreeMap<>();
        for (Shard shard : shards) {
            ShardReader known = readers.remove(shard.id());
            if (known == null || !known.isOf(shard)) {
                ShardReader found = new ShardReader(this, shard, start());
                if (!discovered && isSkipped(shard)) {
                    found.skip();
                }
                listed.put(shard.id(), found);
                checkpoints.remove(shard.id());
            } else {
                listed.put(shard.id(), known);
            }
            if (known != null && !known.isOf(shard)) {
                known.endReading();
            }
        }
        // A shard that is listed no more has expired, and with it whatever was not read.
        readers.values().forEach(ShardReader::endReading);
        checkpoints.keySet().removeAll(readers.keySet());
        readers = listed;
        discovered = true;
        beginReady();
    }

    /// A shard that came later is read from its beginning, or a record between two listings would be lost.
    private Position start() {
        return discovered
                ? new Position.TrimHorizon()
                : switch (settings.start().position()) {
                    case TRIM_HORIZON -> new Position.TrimHorizon();
                    case LATEST -> new Position.Latest();
                    case AT_TIMESTAMP ->
                        new Position.AtTimestamp(
                                Objects.requireNonNull(settings.start().timestamp()));
                };
    }

    private boolean isSkipped(Shard shard) {
        return settings.start().position() == MappingSettings.StartingPosition.LATEST && shard.isClosed();
    }

    private void beginReady() {
        for (ShardReader reader : readers.values()) {
            if (reader.parents().stream().allMatch(this::isFinished)) {
                reader.begin();
            }
        }
    }

    /// What is not listed any more has nothing to be waited for.
    private boolean isFinished(String shardId) {
        ShardReader reader = readers.get(shardId);
        return reader == null || reader.isFinished();
    }

    /// A shard is done to its end: its children may begin.
    void finished(ShardReader reader) {
        for (ShardReader child : readers.values()) {
            if (child.parents().contains(reader.id())
                    && child.parents().stream().allMatch(this::isFinished)) {
                child.begin();
                if (strikes(faults.again())) {
                    reader.replayLast();
                }
            }
        }
        discover(() -> {});
    }
}
