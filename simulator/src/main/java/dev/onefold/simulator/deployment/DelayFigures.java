package dev.onefold.simulator.deployment;

import dev.onefold.aws.Store;
import dev.onefold.aws.function.ReduceFunction;
import dev.onefold.aws.function.StateFunction;
import dev.onefold.aws.item.DeltaItem;
import dev.onefold.aws.item.Header;
import dev.onefold.aws.item.Row;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.local.mapping.MappingSettings;
import dev.onefold.local.mapping.Nastiness;
import dev.onefold.local.mapping.StreamMapping;
import dev.onefold.local.mapping.Target;
import dev.onefold.local.mapping.source.KinesisSource;
import dev.onefold.local.mapping.source.TableSource;
import dev.onefold.simulator.aws.Faults;
import dev.onefold.simulator.aws.SimulatedDynamoDb;
import dev.onefold.simulator.aws.Tally;
import dev.onefold.simulator.aws.VirtualTime;
import dev.onefold.simulator.aws.item.Values;
import dev.onefold.simulator.aws.table.Change;
import dev.onefold.simulator.stream.KinesisClient;
import dev.onefold.simulator.stream.SimulatedKinesis;
import dev.onefold.simulator.stream.TableStream;
import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.OperationType;
import software.amazon.awssdk.services.kinesis.model.PutRecordsRequestEntry;

/// How long it takes from the put of a record until it is in the totals: both functions behind their event source
/// mappings, on simulated services on which each request takes its time. It says what waiting costs, not computing.
final class DelayFigures {
    private static final String STREAM = "trades";
    private static final Duration PUT_EVERY = Duration.ofMillis(10);
    private static final Duration TAIL_MAX = Duration.ofMinutes(2);
    private static final int TABLE_SHARDS = 4;
    private static final Faults LATENCY = Faults.none().with(AwsFigures.TEN_MILLISECONDS);

    private final Load load;
    private final List<byte[]> messages;
    private final VirtualTime time = new VirtualTime(Instant.parse("2030-01-01T00:00:00Z"));
    private final SimulatedDynamoDb dynamo = new SimulatedDynamoDb(time, 1);
    private final Deployment deployment =
            new Deployment(time, dynamo, new SplittableRandom(1), Store.DELTAS_PER_COMMIT_MAX);
    private final SimulatedKinesis kinesis = new SimulatedKinesis(time, 1);
    private final KinesisClient producer = kinesis.client();
    private final Decoder decoder = new Decoder(AwsFigures.pipeline());
    private final Map<String, List<String>> placesOfDeltas = new HashMap<>();
    private final Map<String, Instant> seen = new HashMap<>();
    private final HotKey hottest = new HotKey(time);
    private int put;
    private long commits;

    /// What is put, and how it is read.
    ///
    /// @param rate messages a second
    /// @param parallelization of the stream's mapping
    record Load(int rate, int seconds, int shards, int parallelization, int lanes) {}

    private DelayFigures(Load load, List<byte[]> messages) {
        this.load = load;
        this.messages = messages;
    }

    /// Prints a line for each load.
    static void print(List<byte[]> messages, List<Load> loads, PrintStream out) {
        out.printf(
                Locale.ROOT,
                "%nFrom put to visible in the totals, in seconds; requests take up to 10 ms each way, transactions up to 10 ms more;%n"
                        + "shards are read once a second, more often when behind, and the deltas' stream four times a second.%n"
                        + "Hottest is the partition key that takes the most write units in one second.%n%n");
        out.printf(
                Locale.ROOT,
                "%10s %6s %7s %6s %6s %6s %6s %9s %9s %9s %6s %6s %8s%n",
                "messages/s",
                "shards",
                "factor",
                "lanes",
                "p50",
                "p99",
                "max",
                "State tx",
                "Reduce tx",
                "requests",
                "write",
                "read",
                "hottest");
        for (Load load : loads) {
            new DelayFigures(load, messages).run(out);
        }
    }

    private void run(PrintStream out) {
        deployment.engine(AwsFigures.pipeline(), load.lanes(), AwsFigures.GATES);
        listen();
        commits = 0;
        Tally tally = dynamo.tally();
        kinesis.create(STREAM, load.shards());
        TableStream deltas = new TableStream(time, dynamo, deployment.tables.deltas(), TABLE_SHARDS, 1);
        dynamo.inject(LATENCY);
        kinesis.inject(LATENCY);
        deltas.inject(LATENCY);
        long readsBefore = tally.readUnits();
        long writesBefore = tally.writeUnits();
        long requestsBefore = requests(tally);
        Pipeline pipeline = AwsFigures.pipeline();
        StreamMapping input = StreamMapping.open(
                time,
                new KinesisSource(kinesis.client(), SimulatedKinesis.arn(STREAM)),
                new Target(
                        sandboxes(client ->
                                new StateFunction(deployment.store(client), pipeline, Deployment.SILENT)::handle),
                        "state",
                        null),
                MappingSettings.input().withParallelizationFactor(load.parallelization()),
                Nastiness.NONE);
        StreamMapping wakes = StreamMapping.open(
                time,
                new TableSource(deltas, deltas.arn(), Set.of(OperationType.INSERT)),
                new Target(
                        sandboxes(client -> new ReduceFunction(deployment.store(client), Deployment.SILENT)::handle),
                        "reduce",
                        null),
                MappingSettings.wakes(),
                Nastiness.NONE);
        int total = Math.min(messages.size(), load.rate() * load.seconds());
        putSome(total);
        Instant end = time.instant().plusSeconds(load.seconds()).plus(TAIL_MAX);
        while (put < total || !isDone(input)) {
            if (time.instant().isAfter(end)) {
                throw new IllegalStateException("After " + TAIL_MAX + " not all messages are in the totals: " + load);
            }
            time.runFor(Duration.ofMillis(100));
        }
        input.close();
        wakes.close();
        print(
                out,
                total,
                new Cost(
                        requests(tally) - requestsBefore,
                        tally.writeUnits() - writesBefore,
                        tally.readUnits() - readsBefore));
    }

    /// What a run took of the tables' service.
    private record Cost(long requests, long writes, long reads) {}

    private Sandboxes sandboxes(Sandboxes.Code code) {
        return new Sandboxes(deployment, new SplittableRandom(2), 0, code);
    }

    private void putSome(int total) {
        int count = Math.min(Math.max(1, (int) (load.rate() * PUT_EVERY.toMillis() / 1_000)), total - put);
        if (count == 0) {
            return;
        }
        List<PutRecordsRequestEntry> entries = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] message = messages.get(put++);
            entries.add(PutRecordsRequestEntry.builder()
                    .partitionKey(Objects.requireNonNull(Producers.partitionKey(decoder, message)))
                    .data(SdkBytes.fromByteArrayUnsafe(message))
                    .build());
        }
        var _ = producer.putRecords(request -> request.streamName(STREAM).records(entries));
        time.schedule(PUT_EVERY, () -> putSome(total));
    }

    /// A row names the delta that was written with it, and a delta that is gone is in the totals.
    private void listen() {
        dynamo.onWrite(deployment.tables.rows(), change -> {
            hottest.add(change);
            if (change.after() != null && Row.isRow(change.after())) {
                Row row = Row.of(change.after());
                placesOfDeltas
                        .computeIfAbsent(row.delta().toString(), _ -> new ArrayList<>())
                        .add(row.place());
            }
        });
        dynamo.onWrite(deployment.tables.deltas(), change -> {
            hottest.add(change);
            if (change.before() != null && change.after() == null) {
                seen.put(DeltaItem.of(change.before()).id().toString(), time.instant());
            }
        });
        dynamo.onWrite(deployment.tables.totals(), change -> {
            hottest.add(change);
            if (AttributeValue.fromS(Header.PARTITION).equals(change.key().get("p"))) {
                commits++;
            }
        });
    }

    private boolean isDone(StreamMapping input) {
        return seen.size() == placesOfDeltas.size()
                && kinesis.ends(STREAM).entrySet().stream()
                        .allMatch(end -> input.checkpoint(end.getKey())
                                .filter(end.getValue()::equals)
                                .isPresent());
    }

    private long requests(Tally tally) {
        return tally.requests().values().stream().mapToLong(Long::longValue).sum();
    }

    private void print(PrintStream out, int total, Cost cost) {
        Map<String, Instant> puts = new HashMap<>();
        for (SimulatedKinesis.Stored stored : kinesis.everything()) {
            puts.put(stored.record().sequenceNumber(), stored.record().approximateArrivalTimestamp());
        }
        double[] delays = placesOfDeltas.entrySet().stream()
                .flatMapToDouble(
                        delta -> delta.getValue().stream().mapToDouble(place -> delay(puts, place, delta.getKey())))
                .sorted()
                .toArray();
        double million = 1e6 / total;
        out.printf(
                Locale.ROOT,
                "%,10d %6d %7d %6d %6.2f %6.2f %6.2f %,9.0f %,9.0f %9.3f %6.2f %6.2f %,8d%n",
                load.rate(),
                load.shards(),
                load.parallelization(),
                load.lanes(),
                delays[delays.length / 2],
                delays[(int) (delays.length * 0.99)],
                delays[delays.length - 1],
                placesOfDeltas.size() * million,
                commits * million,
                cost.requests() / (double) total,
                cost.writes() / (double) total,
                cost.reads() / (double) total,
                hottest.unitsMax());
    }

    private double delay(Map<String, Instant> puts, String place, String delta) {
        String sequence = place.split(":", -1)[1];
        return Duration.between(Objects.requireNonNull(puts.get(sequence)), Objects.requireNonNull(seen.get(delta)))
                        .toNanos()
                / 1e9;
    }

    /// Counts the write units of each partition key in each second.
    private static final class HotKey {
        private static final int UNIT_BYTES = 1_024;

        private final VirtualTime time;
        private final Map<String, Long> units = new HashMap<>();
        private long second;
        private long unitsMax;

        HotKey(VirtualTime time) {
            this.time = time;
        }

        /// A write in a transaction takes two units for each KB of the item, before or after, whichever is larger.
        void add(Change change) {
            if (time.instant().getEpochSecond() != second) {
                second = time.instant().getEpochSecond();
                units.clear();
            }
            int bytes = Math.max(
                    change.before() == null ? 0 : Values.sizeBytes(change.before()),
                    change.after() == null ? 0 : Values.sizeBytes(change.after()));
            String key = change.table()
                    + change.key().get("l")
                    + change.key().get("p")
                    + change.key().get("k");
            unitsMax = Math.max(unitsMax, units.merge(key, 2L * Math.ceilDiv(bytes, UNIT_BYTES), Long::sum));
        }

        long unitsMax() {
            return unitsMax;
        }
    }
}
