package dev.onefold.simulator.deployment;

import dev.onefold.aws.function.StateFunction;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.local.mapping.MappingSettings;
import dev.onefold.local.mapping.Nastiness;
import dev.onefold.local.mapping.StreamMapping;
import dev.onefold.local.mapping.Target;
import dev.onefold.local.mapping.source.KinesisSource;
import dev.onefold.simulator.aws.Faults;
import dev.onefold.simulator.oracle.Oracle;
import dev.onefold.simulator.stream.KinesisClient;
import dev.onefold.simulator.stream.SimulatedKinesis;
import java.math.BigInteger;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.kinesis.model.Shard;

/// The stream, who puts records into it, and the mapping that brings them to State; shards are split and merged
/// meanwhile, the stream is deleted and made anew, and so is the mapping, which then begins with what was long done.
final class Intake implements AutoCloseable {
    private static final String STREAM = "s";
    private static final int SHARDS_MAX = 3;
    private static final int BATCH_MAX = 30;
    private static final Duration RESHARDING_MAX = Duration.ofSeconds(20);

    private final Deployment deployment;
    private final SplittableRandom random;
    private final double nastiness;
    private final SimulatedKinesis kinesis;
    private final KinesisClient operator;
    private final Producers producers;
    private final Sandboxes sandboxes;
    private final MappingSettings settings;
    private StreamMapping mapping;
    private CompletableFuture<Void> put = CompletableFuture.completedFuture(null);
    private boolean closed;

    Intake(Deployment deployment, Pipeline pipeline, SplittableRandom random, double nastiness, Faults faults) {
        this.deployment = deployment;
        this.random = random;
        this.nastiness = nastiness;
        kinesis = new SimulatedKinesis(deployment.time, random.nextLong());
        kinesis.create(STREAM, 1 + random.nextInt(SHARDS_MAX));
        kinesis.inject(faults);
        operator = kinesis.client();
        producers = new Producers(deployment.time, kinesis.client(), pipeline, random.split());
        sandboxes = new Sandboxes(
                deployment,
                random.split(),
                nastiness,
                client -> new StateFunction(deployment.store(client), pipeline, Deployment.SILENT)::handle);
        settings = MappingSettings.input()
                .withBatch(
                        1 + random.nextInt(BATCH_MAX),
                        Duration.ofMillis(random.nextBoolean() ? 0 : random.nextInt(3_000)))
                .withParallelizationFactor(1 + random.nextInt(10))
                .withFailure(random.nextBoolean(), random.nextBoolean());
        mapping = map();
        reshardLater();
    }

    private StreamMapping map() {
        double chance = nastiness;
        return StreamMapping.open(
                deployment.time,
                new KinesisSource(kinesis.client(), SimulatedKinesis.arn(STREAM)),
                new Target(sandboxes, "arn:aws:lambda:eu-central-1:000000000000:function:state", null),
                settings,
                new Nastiness(random.nextLong(), chance, chance, chance, chance, chance / 10));
    }

    /// Begins to put these.
    void put(List<byte[]> records) {
        put = producers.put(STREAM, records);
    }

    /// Whether all that was to be put is in the stream, and was in invocations that succeeded.
    ///
    /// @throws AssertionError if a function failed and no service was at fault
    boolean isDone() {
        Throwable bug = sandboxes.bug();
        if (bug != null) {
            throw new AssertionError("State failed: " + bug, bug);
        }
        if (put.isDone()) {
            put.join();
        }
        return put.isDone()
                && kinesis.ends(STREAM).entrySet().stream()
                        .allMatch(end -> mapping.checkpoint(end.getKey()).equals(Optional.of(end.getValue())));
    }

    /// What is in the way of being done.
    String state() {
        return "put " + put.isDone() + ", ends " + kinesis.ends(STREAM) + ", " + mapping.lastProcessingResult();
    }

    /// Deletes the stream, all of which must be done, and makes another one of its name; perhaps the mapping, too.
    void replaceStream() {
        kinesis.delete(STREAM);
        deployment.time.runFor(Duration.ofSeconds(1 + random.nextInt(30)));
        kinesis.create(STREAM, 1 + random.nextInt(SHARDS_MAX));
        if (random.nextBoolean()) {
            replaceMapping();
        }
    }

    /// Another mapping begins at the oldest record.
    void replaceMapping() {
        mapping.close();
        mapping = map();
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
        var _ = operator.listShards(request -> request.streamName(STREAM))
                .thenCompose(answer -> reshard(answer.shards().stream()
                        .filter(shard -> shard.sequenceNumberRange().endingSequenceNumber() == null)
                        .toList()));
    }

    private CompletableFuture<?> reshard(List<Shard> open) {
        if (open.size() > SHARDS_MAX || open.size() > 1 && random.nextBoolean()) {
            int at = random.nextInt(open.size() - 1);
            List<Shard> sorted =
                    open.stream().sorted(Comparator.comparing(Intake::from)).toList();
            return operator.mergeShards(request -> request.streamName(STREAM)
                    .shardToMerge(sorted.get(at).shardId())
                    .adjacentShardToMerge(sorted.get(at + 1).shardId()));
        }
        Shard shard = open.get(random.nextInt(open.size()));
        BigInteger width = new BigInteger(shard.hashKeyRange().endingHashKey()).subtract(from(shard));
        return operator.splitShard(request -> request.streamName(STREAM)
                .shardToSplit(shard.shardId())
                .newStartingHashKey(
                        from(shard).add(width.divide(BigInteger.TWO)).toString()));
    }

    private static BigInteger from(Shard shard) {
        return new BigInteger(shard.hashKeyRange().startingHashKey());
    }

    /// Tells the oracle of all that was ever in the stream, where it stood.
    void tell(Oracle oracle) {
        for (SimulatedKinesis.Stored stored : kinesis.everything()) {
            List<byte[]> parts = producers.parts(stored.record().data());
            for (int i = 0; i < parts.size(); i++) {
                oracle.accept(place(stored), i + 1L, parts.get(i));
            }
        }
    }

    /// All that was ever in the stream, by the place that a dead letter of it names: source and line.
    Map<String, byte[]> records() {
        Map<String, byte[]> records = new TreeMap<>();
        for (SimulatedKinesis.Stored stored : kinesis.everything()) {
            List<byte[]> parts = producers.parts(stored.record().data());
            for (int i = 0; i < parts.size(); i++) {
                records.put(place(stored) + ":" + (i + 1), parts.get(i));
            }
        }
        return records;
    }

    private static String place(SimulatedKinesis.Stored stored) {
        return stored.stream() + "/" + stored.shardId() + ":" + stored.record().sequenceNumber();
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
    }

    @Nullable
    Throwable bug() {
        return sandboxes.bug();
    }
}
