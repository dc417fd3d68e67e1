package dev.onefold.simulator.deployment;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.reduce.Reduce;
import dev.onefold.aws.resync.RowIntake;
import dev.onefold.aws.state.SeedNumbers;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.template.Layout;
import dev.onefold.core.Counts;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.event.Version;
import dev.onefold.core.form.RowLine;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedDynamoDb;
import dev.onefold.fakes.aws.Tally;
import dev.onefold.fakes.aws.VirtualTime;
import dev.onefold.load.TradeRiskLoad;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;

/// What messages cost on AWS: requests and units of the tables, counted on the simulated service, and how many messages
/// one State function takes a second when each request takes as long as it does there.
public final class AwsFigures {
    static final int LANES = Layout.DEFAULT.lanes();
    static final int GATES = Layout.DEFAULT.gates();
    private static final int MESSAGES = 20_000;
    private static final int SEED_ROWS = 9_000;
    private static final int SECONDS = 10;
    private static final int RATE = 50_000;
    private static final Duration LAG_MAX = Duration.ofMillis(20);

    /// Requests take up to 10 ms each way, transactions up to 10 ms more.
    ///
    /// @param lagMax how old an eventually consistent read is
    static Faults latency(Duration lagMax) {
        return Faults.none()
                .with(new Faults.Timing(
                        Duration.ofMillis(10),
                        Duration.ofMillis(10),
                        lagMax,
                        Duration.ofSeconds(10),
                        Duration.ofMinutes(1),
                        1,
                        Duration.ZERO));
    }

    private AwsFigures() {}

    /// Counts for the first messages of a file of the benchmark's workload.
    public static void print(Path input, PrintStream out) throws IOException {
        List<byte[]> messages = new ArrayList<>();
        try (BufferedReader lines = Files.newBufferedReader(input)) {
            for (String line = lines.readLine(); line != null && messages.size() < MESSAGES; line = lines.readLine()) {
                messages.add(line.getBytes(StandardCharsets.UTF_8));
            }
        }
        out.printf(
                Locale.ROOT,
                "Up to %,d messages, %d lanes. Units and requests are per message, transactions (tx) per million; messages/s of%n"
                        + "one function, when requests take up to 10 ms each way and transactions up to 10 ms more.%n%n",
                messages.size(),
                LANES);
        out.printf(
                Locale.ROOT,
                "%8s %12s %11s %10s %10s %10s %12s%n",
                "batch",
                "write units",
                "read units",
                "requests",
                "State tx",
                "Reduce tx",
                "messages/s");
        for (int batch : new int[] {1, 10, 100, 1_000}) {
            print(messages.subList(0, Math.min(messages.size(), 100 * batch)), batch, out);
        }
    }

    /// How late the totals are, at two rates, without failures and with.
    public static void printDelays(Path input, PrintStream out) throws IOException {
        List<DelayFigures.Load> loads = List.of(
                new DelayFigures.Load(1_000, SECONDS, 4, 1, LANES, false),
                new DelayFigures.Load(1_000, SECONDS, 4, 1, LANES, true),
                new DelayFigures.Load(50_000, SECONDS, 64, 1, LANES, false),
                new DelayFigures.Load(50_000, SECONDS, 64, 1, LANES, true),
                new DelayFigures.Load(50_000, SECONDS, 64, 10, LANES, false),
                new DelayFigures.Load(50_000, SECONDS, 64, 1, 4 * LANES, false));
        DelayFigures.print(input, loads, out);
    }

    /// The same for one load of 50,000 messages a second with failures, and whether its totals are those of the
    /// messages' maker.
    ///
    /// @param totals what `generate trade-risk --totals` wrote with the messages
    /// @return whether they are
    public static boolean printLong(Path input, Path totals, PrintStream out) throws IOException {
        JsonNode right = new ObjectMapper().readTree(Files.readAllBytes(totals));
        int seconds = right.path("messages").asInt() / RATE;
        List<String> expected = new ArrayList<>();
        right.path("groups").forEach(group -> {
            List<String> path = new ArrayList<>();
            group.path("group").forEach(name -> path.add(name.asText()));
            expected.add(String.join("/", path) + " [" + group.path("value").asText() + ", "
                    + group.path("trades").asText() + "]");
        });
        List<String> folded =
                DelayFigures.print(input, List.of(new DelayFigures.Load(RATE, seconds, 64, 1, LANES, true)), out);
        boolean same = new TreeSet<>(expected).equals(new TreeSet<>(folded));
        out.printf(
                Locale.ROOT,
                "%,d messages in %d groups: the totals are %s those of their maker.%n",
                RATE * seconds,
                expected.size(),
                same ? "equal to" : "NOT");
        return same;
    }

    private static void print(List<byte[]> messages, int batch, PrintStream out) {
        VirtualTime time = new VirtualTime(Instant.parse("2030-01-01T00:00:00Z"));
        SimulatedDynamoDb dynamo = new SimulatedDynamoDb(time, 1);
        Deployment deployment = new Deployment(time, dynamo, new SplittableRandom(1));
        AwsEngine engine = deployment.engine(pipeline(), LANES, GATES);
        var client = dynamo.client("function");
        Store store =
                new Store(client, deployment.tables, new SimulatedThreads(time, client), new SplittableRandom(2), time);
        dynamo.inject(latency(LAG_MAX));
        Tally tally = dynamo.tally();
        Map<Tally.Operation, Long> before = new TreeMap<>(tally.requests());
        long readsBefore = tally.readUnits();
        long writesBefore = tally.writeUnits();
        Instant start = time.instant();
        for (int from = 0; from < messages.size(); from += batch) {
            List<Arrival> arrivals = new ArrayList<>();
            for (int i = from; i < Math.min(messages.size(), from + batch); i++) {
                arrivals.add(new Arrival("s/shard", Integer.toString(i + 1), 0, messages.get(i)));
            }
            StateAndMap.process(store, arrivals);
        }
        double seconds = Duration.between(start, time.instant()).toNanos() / 1e9;
        long state = transactions(tally, before);
        for (int lane = 0; lane < LANES; lane++) {
            Reduce.lane(store, lane);
        }
        long requests = 0;
        for (Map.Entry<Tally.Operation, Long> each : tally.requests().entrySet()) {
            requests += each.getValue() - before.getOrDefault(each.getKey(), 0L);
        }
        double count = messages.size();
        out.printf(
                Locale.ROOT,
                "%,8d %12.2f %11.2f %10.3f %,10.0f %,10.0f %,12.0f%n",
                batch,
                (tally.writeUnits() - writesBefore) / count,
                (tally.readUnits() - readsBefore) / count,
                requests / count,
                state * 1e6 / count,
                (transactions(tally, before) - state) * 1e6 / count,
                count / seconds);
        engine.close();
    }

    /// Counts a seeding of so many rows, with few groups and with many.
    public static void printSeed(int rows, PrintStream out) {
        out.printf(
                Locale.ROOT,
                "%,d rows seeded by one process, %d lanes; requests take up to 10 ms each way, transactions up to 10 ms"
                        + " more. Units are per row.%n%n%10s %12s %14s %11s %12s%n",
                rows,
                LANES,
                "groups",
                "write units",
                "of them, State",
                "read units",
                "rows/s");
        for (int groups : new int[] {12, 40_000}) {
            printSeed(rows, groups, out);
        }
    }

    private static void printSeed(int rows, int groups, PrintStream out) {
        VirtualTime time = new VirtualTime(Instant.parse("2030-01-01T00:00:00Z"));
        SimulatedDynamoDb dynamo = new SimulatedDynamoDb(time, 1);
        Deployment deployment = new Deployment(time, dynamo, new SplittableRandom(1));
        Pipeline pipeline = PipelineBuilder.named("favourites")
                .dynamoDbStream()
                .key("id")
                .rollup(r -> r.levels("shop").count("saves"))
                .build();
        AwsEngine engine = deployment.engine(pipeline, LANES, GATES);
        var client = dynamo.client("operator");
        Store store =
                new Store(client, deployment.tables, new SimulatedThreads(time, client), new SplittableRandom(2), time);
        dynamo.inject(latency(LAG_MAX));
        Tally tally = dynamo.tally();
        long readsBefore = tally.readUnits();
        long writesBefore = tally.writeUnits();
        long number = SeedNumbers.draw(store, time.instant().toEpochMilli());
        RowIntake intake = RowIntake.ofSeed(store, pipeline, number);
        Version version = Version.of(1_793_491_200, BigInteger.ZERO, number);
        Counts counts = new Counts(0, 0, 0, 0, 0);
        long state = 0;
        double seconds = 0;
        for (int from = 0; from < rows; from += SEED_ROWS) {
            ByteArrayOutputStream lines = new ByteArrayOutputStream();
            for (int i = from; i < Math.min(rows, from + SEED_ROWS); i++) {
                String row = "{\"id\":\"c%d\",\"shop\":\"r%d\"}".formatted(i, i * 7_919L % groups);
                lines.writeBytes(RowLine.of(version, row.getBytes(StandardCharsets.UTF_8)));
                lines.write('\n');
            }
            long units = tally.writeUnits();
            Instant begun = time.instant();
            counts = counts.plus(intake.append(RecordKind.ROW, lines.toByteArray(), lines.size())
                    .counts());
            state += tally.writeUnits() - units;
            seconds += Duration.between(begun, time.instant()).toNanos() / 1e9;
            for (int lane = 0; lane < LANES; lane++) {
                Reduce.lane(store, lane); // Their requests are counted, and their time is no time of the seeding's.
            }
        }
        if (counts.accepted() != rows) {
            throw new IllegalStateException("Not all rows are new: " + counts);
        }
        out.printf(
                Locale.ROOT,
                "%,10d %12.2f %14.2f %11.2f %,12.0f%n",
                groups,
                (tally.writeUnits() - writesBefore) / (double) rows,
                state / (double) rows,
                (tally.readUnits() - readsBefore) / (double) rows,
                rows / seconds);
        engine.close();
    }

    private static long transactions(Tally tally, Map<Tally.Operation, Long> before) {
        Tally.Operation write = Tally.Operation.TRANSACT_WRITE_ITEMS;
        return tally.requests().getOrDefault(write, 0L) - before.getOrDefault(write, 0L);
    }

    /// The benchmark's.
    static Pipeline pipeline() {
        return ((Reading.Read) PipelineText.read(TradeRiskLoad.PIPELINE)).pipeline();
    }
}
