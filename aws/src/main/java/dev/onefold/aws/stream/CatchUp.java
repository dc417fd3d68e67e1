package dev.onefold.aws.stream;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.letter.Places;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.stream.ShardReader.Extent;
import dev.onefold.aws.stream.Shards.Shard;
import dev.onefold.core.Causes;
import dev.onefold.core.Counts;
import dev.onefold.core.Fates;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsAsyncClient;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;

/// Brings everything into the rows that a stream has at this moment, so that intake has passed it, whatever
/// State is doing. What follows the place of State in a shard is folded here, too, which changes nothing of
/// what is in.
///
/// Of some shards no [Places] are noted: an event of a table's stream does not even name its shard. Of those
/// the latest part is folded. State takes the records of a shard in their order. So if those in front of that
/// part are in, all before them are, unless a replay has brought them. If they are not, State is behind, and
/// the part begins earlier; at last at the oldest record. Records that the mapping has given up are in the
/// retry queue, and not in the rows: its caller asks that queue.
public final class CatchUp {
    /// The length of the latest part of a shard, which is folded again if no place of State in the shard is
    /// known. State counts as behind if it lacks records from before this part.
    public static final Duration LATEST = Duration.ofMinutes(5);

    /// Of what is before it so many records must be in: a page.
    private static final int PROBED = 1_000;

    private static final int SHARDS_AT_A_TIME = 32;

    /// More than clocks are apart.
    private static final Duration SKEW = Duration.ofSeconds(5);

    private final Store store;
    private final Shards stream;
    private final boolean hasTimes;
    private final BooleanSupplier isStopped;
    private final Places places;
    private final Optional<String> order;
    private Counts counts = Fates.NONE.counts();
    private int behind;

    /// The result of catching up.
    ///
    /// @param counts of the records that were folded; State had not taken the new ones yet
    /// @param shards number of shards of the stream
    /// @param behind number of shards in which State was behind by more than [#LATEST], as far as can be told
    public record Done(Counts counts, int shards, int behind) {}

    private CatchUp(Store store, Shards stream, boolean hasTimes, BooleanSupplier isStopped) {
        this.isStopped = isStopped;
        this.store = store;
        this.stream = stream;
        this.hasTimes = hasTimes;
        places = new Places(store);
        order = places.order();
    }

    /// Catches up with a Kinesis stream.
    ///
    /// @param stream its name or its ARN
    /// @param isStopped whether to go on no more
    /// @throws CancellationException if it was stopped
    public static Done run(Store store, KinesisAsyncClient client, String stream, BooleanSupplier isStopped) {
        return new CatchUp(store, new KinesisShards(client, stream), true, isStopped).run();
    }

    /// Catches up with the change stream of a table. Its shards are read from their beginning: they cannot be
    /// read from a time on.
    ///
    /// @param arn of the stream
    /// @param isStopped whether to go on no more
    /// @throws CancellationException if it was stopped
    public static Done run(Store store, DynamoDbStreamsAsyncClient client, String arn, BooleanSupplier isStopped) {
        return new CatchUp(store, new ChangeShards(client, arn), false, isStopped).run();
    }

    private Done run() {
        Duration retention = stream.retention(store);
        Set<String> read = new HashSet<>();
        List<Shard> shards = stream.list(store);
        while (!shards.isEmpty()) {
            catchUp(shards, retention);
            shards.forEach(shard -> read.add(shard.id()));
            // A list may lack the successors of a shard that has just ended.
            shards = stream.list(store).stream()
                    .filter(shard -> !read.contains(shard.id()))
                    .toList();
        }
        // The others are counted when State takes them, or were.
        new LetterTable(store).count(new Fates(new Counts(counts.accepted(), 0, 0, 0, 0), Causes.NONE));
        return new Done(counts, read.size(), behind);
    }

    private void catchUp(List<Shard> shards, Duration retention) {
        List<List<Shard>> waves = List.copyOf(Replay.waves(shards));
        Set<String> taken = hasTimes ? Set.of() : taken(waves);
        for (List<Shard> wave : waves) {
            List<Shard> left =
                    wave.stream().filter(shard -> !taken.contains(shard.id())).toList();
            each(left, shard -> catchUp(shard, retention));
        }
    }

    private void each(List<Shard> shards, Consumer<Shard> work) {
        Queue<Shard> waiting = new ConcurrentLinkedQueue<>(shards);
        store.threads().each(Math.min(shards.size(), SHARDS_AT_A_TIME), _ -> {
            for (Shard shard = waiting.poll(); shard != null; shard = waiting.poll()) {
                work.accept(shard);
            }
        });
    }

    /// Shards that State has taken to their end: it has begun with one that follows. So of a stream that cannot
    /// be read from a time on, only the newest shards are read.
    private Set<String> taken(List<List<Shard>> waves) {
        Set<String> taken = ConcurrentHashMap.newKeySet();
        for (List<Shard> wave : waves.subList(1, waves.size()).reversed()) {
            each(wave, shard -> {
                if (taken.contains(shard.id()) || hasBegun(shard)) {
                    taken.addAll(shard.parents());
                }
            });
        }
        return taken;
    }

    /// Whether the oldest records of a shard are in.
    private boolean hasBegun(Shard shard) {
        try {
            Position.Time end = new Position.Time(store.clock().instant().plus(SKEW));
            ShardReader.read(store, stream.pages(shard.id()), new Position.Time(Instant.MIN), end, arrivals -> {
                requireGoing();
                throw new Begun(StateAndMap.areIn(store, arrivals).orElse(false));
            });
            return false;
        } catch (Begun begun) {
            return begun.areIn;
        }
    }

    /// The first records of a shard were seen.
    private static final class Begun extends RuntimeException {
        private static final long serialVersionUID = 1L;
        private final boolean areIn;

        Begun(boolean areIn) {
            super("", null, false, false);
            this.areIn = areIn;
        }
    }

    private void catchUp(Shard shard, Duration retention) {
        Instant now = store.clock().instant();
        Position.Time end = new Position.Time(now.plus(SKEW));
        Optional<String> place = order.flatMap(id -> places.find(id, stream.stream(), shard.id()));
        if (place.isPresent() && catchUp(shard, place.get(), end)) {
            return;
        }
        Instant oldest = hasTimes ? Instant.EPOCH : Instant.MIN; // Whatever time its records state.
        boolean wasBehind = false;
        for (Duration latest = LATEST;
                latest.compareTo(retention) < 0;
                latest = latest.multipliedBy(hasTimes ? 2 : 12)) {
            Part part = new Part(now.minus(latest).toEpochMilli(), !hasTimes);
            try {
                Instant from = hasTimes ? now.minus(latest.multipliedBy(2)) : oldest;
                ShardReader.read(store, stream.pages(shard.id()), new Position.Time(from), end, part::take);
                part.end();
                return;
            } catch (Unproven unproven) {
                if (unproven.isBehind && !wasBehind) {
                    wasBehind = true;
                    countBehind();
                }
            }
        }
        ShardReader.read(store, stream.pages(shard.id()), new Position.Time(oldest), end, this::fold);
    }

    /// Folds what follows the place of State. Whether the stream has that record still.
    private boolean catchUp(Shard shard, String place, Position.Time end) {
        long behindMs = end.at().minus(LATEST).toEpochMilli();
        boolean[] isBehind = new boolean[1];
        Position from = new Position.Sequence(place);
        Extent read = ShardReader.read(store, stream.pages(shard.id()), from, end, arrivals -> {
            boolean isOld = arrivals.getLast().atMs() < behindMs;
            isBehind[0] |= fold(arrivals).accepted() > 0 && isOld;
        });
        if (isBehind[0]) {
            countBehind();
        }
        return place.equals(read.first());
    }

    private synchronized void countBehind() {
        behind++;
    }

    /// It is not proven that what is before a part is in.
    private static final class Unproven extends RuntimeException {
        private static final long serialVersionUID = 1L;
        private final boolean isBehind;

        Unproven(boolean isBehind) {
            super("", null, false, false);
            this.isBehind = isBehind;
        }
    }

    /// The part of a shard from a time on, with what is read before it.
    private final class Part {
        private final long fromMs;
        private final boolean isFromOldest;
        private @Nullable List<Arrival> before;
        private boolean isProven;

        /// @param isFromOldest whether nothing is before what is read
        Part(long fromMs, boolean isFromOldest) {
            this.fromMs = fromMs;
            this.isFromOldest = isFromOldest;
        }

        void take(List<Arrival> arrivals) {
            requireGoing();
            if (!isProven) {
                if (arrivals.stream().allMatch(each -> each.atMs() != Arrival.NOT_KNOWN && each.atMs() < fromMs)) {
                    before = arrivals;
                    return;
                }
                end();
            }
            fold(arrivals);
        }

        /// Proves that the records before the part are in, or throws `Unproven`.
        void end() {
            if (isProven) {
                return;
            }
            if (before != null) {
                List<Arrival> latest = before.subList(Math.max(0, before.size() - PROBED), before.size());
                boolean areIn = StateAndMap.areIn(store, latest).orElseThrow(() -> new Unproven(false));
                if (!areIn) {
                    throw new Unproven(true);
                }
            } else if (!isFromOldest) {
                throw new Unproven(false);
            }
            isProven = true;
        }
    }

    private void requireGoing() {
        if (isStopped.getAsBoolean()) {
            throw new CancellationException("It was stopped");
        }
    }

    private Counts fold(List<Arrival> arrivals) {
        requireGoing();
        Batches.Taken taken = Batches.take(some -> Batches.intoRows(store, some), arrivals);
        synchronized (this) {
            counts = counts.plus(taken.fates().counts());
        }
        switch (taken.failure()) {
            case null -> {
                return taken.fates().counts();
            }
            case Error error -> throw error;
            case RuntimeException failure -> throw failure;
            case Throwable failure -> throw new IllegalStateException(failure);
        }
    }
}
