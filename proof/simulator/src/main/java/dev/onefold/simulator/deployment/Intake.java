package dev.onefold.simulator.deployment;

import dev.onefold.aws.function.StateFunction;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.stream.CatchUp;
import dev.onefold.aws.stream.Position;
import dev.onefold.aws.stream.Replay;
import dev.onefold.aws.stream.Streams;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.queue.SimulatedQueues;
import dev.onefold.fakes.stream.KinesisClient;
import dev.onefold.fakes.stream.SimulatedKinesis;
import dev.onefold.mapping.Destination;
import dev.onefold.mapping.MappingFaults;
import dev.onefold.mapping.MappingSettings;
import dev.onefold.mapping.QueueMapping;
import dev.onefold.mapping.StreamMapping;
import dev.onefold.mapping.Target;
import dev.onefold.mapping.source.KinesisSource;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsAsyncClient;
import software.amazon.awssdk.services.kinesis.model.Shard;

/// The stream, who puts records into it, and the mapping that brings them to State; shards are split and merged
/// meanwhile, the stream is deleted and recreated, and so is the mapping, which then begins with what was long done.
/// What the mapping gives up is named in the retry queue, and State reads it again; anybody may replay.
public final class Intake implements AutoCloseable {
    private static final int SHARDS_MAX = 3;
    private static final int BATCH_MAX = 30;
    private static final String RETRIES = "retries";
    private static final int VISIBILITY_SECONDS_MAX = 90;
    private static final int ATTEMPTS_MAX = 3;
    private static final Duration AGE_MIN = Duration.ofMinutes(1);
    private static final Duration REPLAYED_MAX = Duration.ofMinutes(3);
    private static final Duration RESHARDING_MAX = Duration.ofSeconds(20);

    private final Deployment deployment;
    private final SplittableRandom random;
    private final double faultChance;
    private final SimulatedKinesis kinesis;
    private final String stream;
    private final KinesisClient operator;
    private final Producers producers;
    private final Sandboxes sandboxes;
    private final SimulatedQueues queues;
    private QueueMapping retries;
    private final MappingSettings settings;
    private StreamMapping mapping;
    private int streams = 1;
    private CompletableFuture<Void> put = CompletableFuture.completedFuture(null);
    private boolean closed;

    public Intake(
            Deployment deployment, Pipeline pipeline, SplittableRandom random, double faultChance, Faults faults) {
        this.deployment = deployment;
        this.random = random;
        this.faultChance = faultChance;
        stream = deployment.nextStream();
        kinesis = new SimulatedKinesis(deployment.time, random.nextLong());
        kinesis.create(stream, 1 + random.nextInt(SHARDS_MAX));
        kinesis.inject(faults);
        operator = kinesis.client();
        producers = new Producers(deployment.time, kinesis.client(), pipeline, random.split());
        sandboxes = new Sandboxes(
                deployment,
                random.split(),
                faultChance,
                client -> new StateFunction(
                        deployment.process(client),
                        deployment.released(pipeline),
                        Deployment.SILENT,
                        () -> streams(kinesis.client()))::handle);
        queues = new SimulatedQueues(deployment.time, random.nextLong());
        queues.create(RETRIES, Duration.ofSeconds(1 + random.nextInt(VISIBILITY_SECONDS_MAX)), Integer.MAX_VALUE);
        queues.inject(faults);
        retries = mapRetries();
        settings = MappingSettings.input()
                .withBatch(
                        1 + random.nextInt(BATCH_MAX),
                        Duration.ofMillis(random.nextBoolean() ? 0 : random.nextInt(3_000)))
                .withParallelizationFactor(1 + random.nextInt(10))
                .withFailure(random.nextBoolean(), random.nextBoolean() || deployment.isOfFunction())
                // The template never gives up; who does finds the records in the queue.
                .withEnd(
                        random.nextInt(4) == 0 ? random.nextInt(ATTEMPTS_MAX) : -1,
                        random.nextInt(4) == 0 ? AGE_MIN : MappingSettings.FOREVER);
        mapping = map();
        reshardLater();
    }

    /// Messages of the retry queue name no table here.
    private static Streams streams(KinesisClient kinesis) {
        return new Streams(kinesis, new DynamoDbStreamsAsyncClient() {
            @Override
            public String serviceName() {
                return SERVICE_NAME;
            }

            @Override
            public void close() {}
        });
    }

    private StreamMapping map() {
        double chance = faultChance;
        return StreamMapping.open(
                new VirtualScheduler(deployment.time),
                new KinesisSource(kinesis.client(), SimulatedKinesis.arn(stream)),
                new Target(
                        sandboxes,
                        "arn:aws:lambda:eu-central-1:000000000000:function:state",
                        new Destination(queues.client(), SimulatedQueues.url(RETRIES))),
                settings,
                new MappingFaults(random.nextLong(), chance, chance, chance, chance, chance / 10));
    }

    private QueueMapping mapRetries() {
        return QueueMapping.open(
                new VirtualScheduler(deployment.time),
                new QueueMapping.Queue(queues.client(), SimulatedQueues.url(RETRIES), SimulatedQueues.arn(RETRIES)),
                sandboxes,
                MappingSettings.retries(),
                MappingFaults.of(random.nextLong(), faultChance));
    }

    /// Begins to put these.
    public void put(List<byte[]> records) {
        put = producers.put(stream, records);
    }

    /// Whether all that was to be put is in the stream, and was in invocations that succeeded.
    ///
    /// @throws AssertionError if a function failed and no service was at fault
    public boolean isDone() {
        Throwable bug = sandboxes.bug();
        if (bug != null) {
            throw new AssertionError("State failed: " + bug, bug);
        }
        if (put.isDone()) {
            put.join();
        }
        return put.isDone()
                && queues.bodies(RETRIES).isEmpty()
                && kinesis.ends(stream).entrySet().stream()
                        .allMatch(end -> mapping.checkpoint(end.getKey()).equals(Optional.of(end.getValue())));
    }

    /// What is in the way of being done.
    public String state() {
        return "put " + put.isDone() + ", ends " + kinesis.ends(stream) + ", " + mapping.lastProcessingResult()
                + ", retries " + queues.bodies(RETRIES) + ", " + retries.lastProcessingResult();
    }

    /// Deletes the stream, all of which must be done, and makes another one of its name; perhaps the mapping, too.
    void replaceStream() {
        kinesis.delete(stream);
        streams++;
        deployment.time.runFor(Duration.ofSeconds(1 + random.nextInt(30)));
        kinesis.create(stream, 1 + random.nextInt(SHARDS_MAX));
        if (random.nextBoolean()) {
            replaceMapping();
        }
    }

    /// From now on functions of what was deployed last take the records, but for those that have begun.
    public void retire() {
        sandboxes.retire();
    }

    /// Another mapping begins at the oldest record.
    void replaceMapping() {
        mapping.close();
        mapping = map();
    }

    /// State takes nothing of the stream any more, as if it failed all the time.
    public void suspendStream() {
        mapping.close();
    }

    /// State takes nothing of the retry queue any more.
    public void suspendRetries() {
        retries.close();
    }

    /// State takes everything again, the stream from its oldest record.
    public void resume() {
        suspendStream();
        suspendRetries();
        mapping = map();
        retries = mapRetries();
    }

    /// Whether records may have been forgotten with their stream.
    boolean mayHaveForgotten() {
        return streams > 1;
    }

    /// Reads a part of the stream again, beside the functions.
    String replay(Store store, SplittableRandom chance) {
        KinesisClient client = kinesis.client();
        int before = streams;
        List<Shard> shards = store.threads()
                .await(client.listShards(request -> request.streamName(stream)))
                .shards();
        String shard = shards.get(chance.nextInt(shards.size())).shardId();
        String end = kinesis.ends(stream).get(shard);
        Instant now = deployment.time.instant();
        Position from = new Position.Time(now.minus(Duration.ofNanos(chance.nextLong(REPLAYED_MAX.toNanos()))));
        Replay.Range range = end != null && chance.nextBoolean()
                ? new Replay.Range(from, new Position.Sequence(end), Optional.of(shard))
                : new Replay.Range(from, new Position.Time(now), Optional.empty());
        Replay.Done done = Replay.run(store, client, stream, range, _ -> {});
        if (streams == before && !done.forgotten().isEmpty()) {
            throw new AssertionError("Of " + range + " the stream is said to have forgotten " + done.forgotten());
        }
        return done.counts().toString();
    }

    /// Reads the stream again from a time on, beside the functions.
    String replay(Store store, Instant from) {
        Replay.Range range = new Replay.Range(
                new Position.Time(from), new Position.Time(deployment.time.instant()), Optional.empty());
        return Replay.run(store, kinesis.client(), stream, range, _ -> {})
                .counts()
                .toString();
    }

    /// Brings all into the rows that the stream has at this moment.
    public CatchUp.Done catchUp(Store store, BooleanSupplier isStopped) {
        return CatchUp.run(store, kinesis.client(), stream, isStopped);
    }

    /// Whether all that was to be put is in the stream.
    public boolean isPut() {
        return put.isDone();
    }

    /// Whether the mapping has given up records that State has not read again.
    public boolean hasRetries() {
        return !queues.bodies(RETRIES).isEmpty();
    }

    private void reshardLater() {
        deployment.time.schedule(Duration.ofNanos(random.nextLong(RESHARDING_MAX.toNanos()) + 1), () -> {
            if (!closed) {
                reshard();
                reshardLater();
            }
        });
    }

    /// Splits or merges; who is unlucky with the service lets it be.
    private void reshard() {
        var _ = operator.listShards(request -> request.streamName(stream))
                .thenCompose(answer -> reshard(answer.shards().stream()
                        .filter(shard -> shard.sequenceNumberRange().endingSequenceNumber() == null)
                        .toList()));
    }

    private CompletableFuture<?> reshard(List<Shard> open) {
        if (open.size() > SHARDS_MAX || open.size() > 1 && random.nextBoolean()) {
            int at = random.nextInt(open.size() - 1);
            List<Shard> sorted = open.stream()
                    .sorted(java.util.Comparator.comparing(shard -> from(shard)))
                    .toList();
            return operator.mergeShards(request -> request.streamName(stream)
                    .shardToMerge(sorted.get(at).shardId())
                    .adjacentShardToMerge(sorted.get(at + 1).shardId()));
        }
        Shard shard = open.get(random.nextInt(open.size()));
        BigInteger width = new BigInteger(shard.hashKeyRange().endingHashKey()).subtract(from(shard));
        return operator.splitShard(request -> request.streamName(stream)
                .shardToSplit(shard.shardId())
                .newStartingHashKey(
                        from(shard).add(width.divide(BigInteger.TWO)).toString()));
    }

    private static BigInteger from(Shard shard) {
        return new BigInteger(shard.hashKeyRange().startingHashKey());
    }

    /// A record that was ever in the stream, or a part of one.
    ///
    /// @param part from 1
    /// @param arrivedMs when the stream took it
    public record Came(String place, long part, byte[] data, long arrivedMs) {}

    /// All that was ever in the stream, where it stood.
    public List<Came> everything() {
        List<Came> all = new ArrayList<>();
        for (SimulatedKinesis.Stored stored : kinesis.everything()) {
            List<byte[]> parts = producers.parts(stored.record().data());
            for (int i = 0; i < parts.size(); i++) {
                String place = stored.stream() + "/" + stored.shardId() + ":"
                        + stored.record().sequenceNumber();
                all.add(new Came(
                        place,
                        i + 1L,
                        parts.get(i),
                        stored.record().approximateArrivalTimestamp().toEpochMilli()));
            }
        }
        return all;
    }

    /// How it reads, for whom it fails.
    @Override
    public String toString() {
        return settings + ", " + sandboxes.invocations() + " invocations of State";
    }

    @Override
    public void close() {
        closed = true;
        mapping.close();
        retries.close();
    }

    public @Nullable Throwable bug() {
        return sandboxes.bug();
    }
}
