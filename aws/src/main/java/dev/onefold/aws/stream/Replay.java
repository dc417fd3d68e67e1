package dev.onefold.aws.stream;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.stream.ShardReader.Extent;
import dev.onefold.aws.stream.Shards.Shard;
import dev.onefold.core.Counts;
import dev.onefold.core.Fates;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsAsyncClient;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;

/// Reads a range of a stream again and folds it again, which changes nothing of what is in: it is safe at any
/// time, beside the functions, and as often as anyone likes. Parents are read before the shards that they were
/// split or merged into, and several shards at a time.
public final class Replay {
    private static final int SHARDS_AT_A_TIME = 8;

    private final Store store;
    private final Shards stream;
    private final Range range;
    private final Consumer<Counts> progress;
    private Fates fates = Fates.NONE;
    private int quiet;

    /// The range that is read again; both ends belong to it.
    ///
    /// @param shard empty for all shards
    public record Range(Position from, Position to, Optional<String> shard) {}

    /// The result of a replay.
    ///
    /// @param shards number of shards that were read
    /// @param forgotten places where the stream has forgotten a part of the range; may be empty
    /// @param quiet number of shards whose newest record is not known to be read: they gave none any more, and
    ///     a
    ///     table's stream says no more than that
    public record Done(Fates fates, int shards, List<String> forgotten, int quiet) {
        public Done {
            forgotten = List.copyOf(forgotten);
        }

        /// The counts of the records that were read.
        public Counts counts() {
            return fates.counts();
        }
    }

    private Replay(Store store, Shards stream, Range range, Consumer<Counts> progress) {
        this.store = store;
        this.stream = stream;
        this.range = range;
        this.progress = progress;
    }

    /// Reads and folds a range of a Kinesis stream. Fails if a record cannot be written; all that was read with
    /// it is in then, and the same range may be replayed again.
    ///
    /// @param stream its name or its ARN
    /// @param progress is told what became of the records by now, on any thread, by one at a time
    /// @throws IllegalArgumentException if there is no such shard or the range does not say which
    public static Done run(
            Store store, KinesisAsyncClient client, String stream, Range range, Consumer<Counts> progress) {
        return new Replay(store, new KinesisShards(client, stream), range, progress).run();
    }

    /// The same, of the change stream of a table.
    ///
    /// @param arn of the stream
    public static Done run(
            Store store, DynamoDbStreamsAsyncClient client, String arn, Range range, Consumer<Counts> progress) {
        return new Replay(store, new ChangeShards(client, arn), range, progress).run();
    }

    private Done run() {
        List<Shard> chosen = chosen(stream.list(store));
        List<String> forgotten = new ArrayList<>();
        for (List<Shard> wave : waves(chosen)) {
            Queue<Shard> waiting = new ConcurrentLinkedQueue<>(wave);
            store.threads().each(Math.min(wave.size(), SHARDS_AT_A_TIME), _ -> read(waiting, forgotten));
        }
        noteTrimmed(forgotten);
        new LetterTable(store).count(fates);
        return new Done(fates, chosen.size(), forgotten, quiet);
    }

    private List<Shard> chosen(List<Shard> all) {
        List<Shard> chosen = all.stream()
                .filter(shard -> range.shard().map(shard.id()::equals).orElse(true))
                .toList();
        if (chosen.isEmpty()) {
            throw new IllegalArgumentException("Stream " + stream.stream() + " has no shard "
                    + range.shard().orElse("at all") + "; it has "
                    + String.join(", ", all.stream().map(Shard::id).toList()));
        }
        boolean ofOneShard = range.from() instanceof Position.Sequence || range.to() instanceof Position.Sequence;
        if (ofOneShard && chosen.size() > 1) {
            throw new IllegalArgumentException("A sequence number belongs to a shard, and stream " + stream.stream()
                    + " has "
                    + chosen.size() + ": say which one, "
                    + String.join(", ", chosen.stream().map(Shard::id).toList()));
        }
        return chosen;
    }

    /// Shards whose parents are not among these, then those whose parents are among them, and so on.
    static Collection<List<Shard>> waves(List<Shard> shards) {
        Map<String, Shard> byId = new LinkedHashMap<>();
        shards.forEach(shard -> byId.put(shard.id(), shard));
        Map<String, Integer> depths = new LinkedHashMap<>();
        shards.forEach(shard -> depth(shard, byId, depths));
        List<List<Shard>> waves = new ArrayList<>();
        for (Shard shard : shards) {
            int depth = Objects.requireNonNull(depths.get(shard.id()));
            while (waves.size() <= depth) {
                waves.add(new ArrayList<>());
            }
            waves.get(depth).add(shard);
        }
        return waves;
    }

    private static int depth(@Nullable Shard shard, Map<String, Shard> byId, Map<String, Integer> depths) {
        if (shard == null) {
            return -1; // A parent that the stream has forgotten.
        }
        Integer known = depths.get(shard.id());
        if (known != null) {
            return known;
        }
        int depth = 0;
        for (String parent : shard.parents()) {
            depth = Math.max(depth, 1 + depth(byId.get(parent), byId, depths));
        }
        depths.put(shard.id(), depth);
        return depth;
    }

    /// One shard after the other, until none is left.
    private void read(Queue<Shard> waiting, List<String> forgotten) {
        for (Shard shard = waiting.poll(); shard != null; shard = waiting.poll()) {
            Extent extent = ShardReader.read(
                    store, stream.pages(shard.id()), stream.begin(range.from()), range.to(), this::take);
            note(shard.id(), extent, forgotten);
        }
    }

    private void take(List<Arrival> arrivals) {
        Batches.Taken taken = Batches.take(some -> Batches.intoRows(store, some), arrivals);
        synchronized (this) {
            fates = fates.plus(taken.fates());
            progress.accept(fates.counts());
        }
        if (taken.failure() != null) {
            switch (taken.failure()) {
                case Error error -> throw error;
                case RuntimeException failure -> throw failure;
                default -> throw new IllegalStateException(taken.failure());
            }
        }
    }

    private void note(String shard, Extent extent, List<String> forgotten) {
        if (extent.isQuiet()) {
            synchronized (this) {
                quiet++;
            }
        }
        boolean isMissing = range.from() instanceof Position.Sequence(var number)
                && (extent.first() == null || !new BigInteger(number).equals(new BigInteger(extent.first())));
        if (isMissing || extent.isCut()) {
            synchronized (this) {
                forgotten.add("Shard " + shard + " does not have all of it any more: "
                        + (extent.first() == null ? "nothing is left" : "what is left begins at " + extent.first()));
            }
        }
    }

    private void noteTrimmed(List<String> forgotten) {
        if (range.from() instanceof Position.Time(var from)) {
            Duration retention = stream.retention(store);
            Instant oldest = store.clock().instant().minus(retention);
            if (from.isBefore(oldest)) {
                forgotten.add("The stream keeps " + retention.toHours() + " hours: what came before " + oldest
                        + " is forgotten");
            }
        }
    }
}
