package dev.onefold.simulator.deployment;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.function.ReduceFunction;
import dev.onefold.aws.function.StateFunction;
import dev.onefold.aws.item.DeltaItem;
import dev.onefold.aws.item.Header;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.store.Store;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedDynamoDb;
import dev.onefold.fakes.aws.Tally;
import dev.onefold.fakes.aws.VirtualTime;
import dev.onefold.fakes.aws.item.Values;
import dev.onefold.fakes.aws.table.Change;
import dev.onefold.fakes.stream.KinesisClient;
import dev.onefold.fakes.stream.SimulatedKinesis;
import dev.onefold.fakes.stream.TableStream;
import dev.onefold.mapping.MappingFaults;
import dev.onefold.mapping.MappingSettings;
import dev.onefold.mapping.StreamMapping;
import dev.onefold.mapping.Target;
import dev.onefold.mapping.source.KinesisSource;
import dev.onefold.mapping.source.TableSource;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
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
    private static final Faults LATENCY = AwsFigures.latency(Duration.ofMillis(100));

    /// How long a record is kept, at least: much longer than it takes to be read.
    private static final Duration KEPT = Duration.ofMinutes(1);

    /// Lambda's clocks are not further apart.
    private static final long CLOCK_SKEW_MS_MAX = 20;

    private static final double STATE_FAILS = 0.03;
    private static final double REDUCE_FAILS = 0.02;

    private final Load load;
    private final Iterator<byte[]> messages;
    private final VirtualTime time = new VirtualTime(Instant.parse("2030-01-01T00:00:00Z"));
    private final SimulatedDynamoDb dynamo = new SimulatedDynamoDb(time, 1);
    private final Deployment deployment =
            new Deployment(time, dynamo, new SplittableRandom(1), Store.DELTAS_PER_COMMIT_MAX, CLOCK_SKEW_MS_MAX);
    private final SimulatedKinesis kinesis = new SimulatedKinesis(time, 1);
    private final KinesisClient producer = kinesis.client();
    private final Decoder decoder = new Decoder(AwsFigures.pipeline());
    private final Map<String, List<String>> placesOfDeltas = new HashMap<>();
    /// When a record came that is in no total yet, by its sequence number; also of those that never will be.
    private final Map<String, Instant> puts = new HashMap<>();

    /// How many records took so many milliseconds.
    private final SortedMap<Long, Long> delays = new TreeMap<>();

    private final HotKey hottest = new HotKey(time);
    private int put;
    private long deltasSeen;
    private long commits;

    /// What is put, and how it is read.
    ///
    /// @param rate messages a second
    /// @param parallelization of the stream's mapping
    /// @param fails whether invocations are killed as in the reference design: of State and Map, which are one
    ///     function here, 1 and 2 of a hundred, of Reduce 2
    record Load(int rate, int seconds, int shards, int parallelization, int lanes, boolean fails) {
        int total() {
            return rate * seconds;
        }
    }

    private DelayFigures(Load load, Iterator<byte[]> messages) {
        this.load = load;
        this.messages = messages;
    }

    /// Prints a line for each load.
    ///
    /// @return the totals after the last one
    static List<String> print(Path messages, List<Load> loads, PrintStream out) throws IOException {
        out.printf(
                Locale.ROOT,
                "%nFrom put to visible in the totals, in seconds; requests take up to 10 ms each way, transactions up to 10 ms more;%n"
                        + "shards are read once a second, more often when behind, and the deltas' stream four times a second.%n"
                        + "Reads may be 100 ms old, clocks 20 ms apart. With failures, 3 of 100 invocations of State and 2 of Reduce are killed.%n"
                        + "Hottest is the partition key that takes the most write units in one second.%n%n");
        out.printf(
                Locale.ROOT,
                "%10s %6s %7s %6s %8s %6s %6s %6s %6s %9s %9s %9s %6s %6s %8s%n",
                "messages/s",
                "shards",
                "factor",
                "lanes",
                "failures",
                "p50",
                "p99",
                "mean",
                "max",
                "State tx",
                "Reduce tx",
                "requests",
                "write",
                "read",
                "hottest");
        List<String> totals = List.of();
        for (Load load : loads) {
            try (Stream<String> lines = Files.lines(messages)) {
                totals = new DelayFigures(
                                load,
                                lines.map(line -> line.getBytes(StandardCharsets.UTF_8))
                                        .iterator())
                        .run(out);
            }
        }
        return totals;
    }

    private StreamMapping state() {
        Pipeline pipeline = AwsFigures.pipeline();
        return StreamMapping.open(
                new VirtualScheduler(time),
                new KinesisSource(kinesis.client(), SimulatedKinesis.arn(STREAM)),
                new Target(
                        sandboxes(
                                load.fails() ? STATE_FAILS : 0,
                                client -> new StateFunction(deployment.store(client), pipeline, Deployment.SILENT)
                                        ::handle),
                        "state",
                        null),
                MappingSettings.input().withParallelizationFactor(load.parallelization()),
                MappingFaults.NONE);
    }

    private StreamMapping reduce(TableStream deltas) {
        return StreamMapping.open(
                new VirtualScheduler(time),
                new TableSource(deltas, deltas.arn(), Set.of(OperationType.INSERT)),
                new Target(
                        sandboxes(
                                load.fails() ? REDUCE_FAILS : 0,
                                client -> new ReduceFunction(deployment.store(client), Deployment.SILENT)::handle),
                        "reduce",
                        null),
                MappingSettings.wakes(),
                MappingFaults.NONE);
    }

    private List<String> run(PrintStream out) {
        AwsEngine engine = deployment.engine(AwsFigures.pipeline(), load.lanes(), AwsFigures.GATES);
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
        StreamMapping input = state();
        StreamMapping wakes = reduce(deltas);
        int total = load.total();
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
        dynamo.inject(Faults.none());
        engine.reduce();
        List<String> totals = new ArrayList<>();
        for (Answer.Line line : engine.query(new Query("main", List.of(), Integer.MAX_VALUE, null))
                .lines()) {
            totals.add(String.join("/", line.group()) + " " + line.values());
        }
        return totals;
    }

    /// What a run took of the tables' service.
    private record Cost(long requests, long writes, long reads) {}

    private Sandboxes sandboxes(double fails, Sandboxes.Code code) {
        return new Sandboxes(deployment, new SplittableRandom(2), fails, code);
    }

    private void putSome(int total) {
        int count = Math.min(Math.max(1, (int) (load.rate() * PUT_EVERY.toMillis() / 1_000)), total - put);
        if (count == 0) {
            return;
        }
        List<PutRecordsRequestEntry> entries = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] message = messages.next();
            entries.add(PutRecordsRequestEntry.builder()
                    .partitionKey(Objects.requireNonNull(Producers.partitionKey(decoder, message)))
                    .data(SdkBytes.fromByteArrayUnsafe(message))
                    .build());
        }
        put += count;
        Instant now = time.instant();
        var _ = producer.putRecords(request -> request.streamName(STREAM).records(entries))
                .thenAccept(answer -> answer.records().forEach(record -> puts.put(record.sequenceNumber(), now)));
        kinesis.drop(STREAM, now.minus(KEPT));
        time.schedule(PUT_EVERY, () -> putSome(total));
    }

    /// A row names the delta that was written with it, and a delta that is gone is in the totals.
    private void listen() {
        dynamo.onWrite(deployment.tables.rows(), change -> {
            hottest.add(change);
            if (change.after() != null && RowItem.isRow(change.after())) {
                RowItem row = RowItem.of(change.after());
                placesOfDeltas
                        .computeIfAbsent(row.delta().toString(), _ -> new ArrayList<>())
                        .add(row.place());
            }
        });
        dynamo.onWrite(deployment.tables.deltas(), change -> {
            hottest.add(change);
            if (change.before() != null && change.after() == null) {
                deltasSeen++;
                Objects.requireNonNull(placesOfDeltas.remove(
                                DeltaItem.of(change.before()).id().toString()))
                        .forEach(place -> delays.merge(delay(place), 1L, Long::sum));
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
        return placesOfDeltas.isEmpty()
                && kinesis.ends(STREAM).entrySet().stream()
                        .allMatch(end -> input.checkpoint(end.getKey())
                                .filter(end.getValue()::equals)
                                .isPresent());
    }

    private long requests(Tally tally) {
        return tally.requests().values().stream().mapToLong(Long::longValue).sum();
    }

    private void print(PrintStream out, int total, Cost cost) {
        long count = delays.values().stream().mapToLong(Long::longValue).sum();
        double sum = delays.entrySet().stream()
                .mapToDouble(each -> each.getKey() * (double) each.getValue())
                .sum();
        double million = 1e6 / total;
        out.printf(
                Locale.ROOT,
                "%,10d %6d %7d %6d %8s %6.2f %6.2f %6.2f %6.2f %,9.0f %,9.0f %9.3f %6.2f %6.2f %,8d%n",
                load.rate(),
                load.shards(),
                load.parallelization(),
                load.lanes(),
                load.fails() ? "yes" : "none",
                percentile(count / 2),
                percentile(count * 99 / 100),
                sum / count / 1e3,
                delays.lastKey() / 1e3,
                deltasSeen * million,
                commits * million,
                cost.requests() / (double) total,
                cost.writes() / (double) total,
                cost.reads() / (double) total,
                hottest.unitsMax());
    }

    /// Seconds, of the record before which so many took less.
    private double percentile(long rank) {
        long before = 0;
        for (Map.Entry<Long, Long> each : delays.entrySet()) {
            before += each.getValue();
            if (before > rank) {
                return each.getKey() / 1e3;
            }
        }
        return delays.lastKey() / 1e3;
    }

    /// Milliseconds, from the put to now.
    private long delay(String place) {
        String sequence = place.split(":", -1)[1];
        return Duration.between(Objects.requireNonNull(puts.remove(sequence)), time.instant())
                .toMillis();
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
