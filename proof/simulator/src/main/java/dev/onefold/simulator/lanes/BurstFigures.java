package dev.onefold.simulator.lanes;

import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.batch.Collect;
import dev.onefold.aws.batch.Cutter;
import dev.onefold.aws.batch.Deliver;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.store.Parts;
import dev.onefold.aws.store.Store;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.seal.DeliveryRules;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedDynamoDb;
import dev.onefold.fakes.aws.Tally;
import dev.onefold.fakes.aws.VirtualTime;
import dev.onefold.simulator.deployment.Deployment;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.AbstractList;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.QueryResponse;

/// What a burst costs on AWS, and how long it takes, at the latencies of the simulated service and with a table
/// that takes so many units a second; and a plain design beside it. The plain one writes each message once,
/// conditional on its id, and reads a batch from a secondary index under one key. It is not throttled: what its
/// index's key takes is calculated from the units.
public final class BurstFigures {
    private static final int INVOCATION = 1_000;
    private static final int LANES = 64;
    private static final int SIZE = 50_000;
    private static final int BODY_BYTES = 300;
    private static final double DOUBLED = 0.05;
    private static final int PUTS_AT_A_TIME = 25;
    private static final int PLAIN_MAX = 240_000; // Each of its messages is two requests.
    private static final int MILLION = 1_000_000;
    private static final int ID_FROM = 8; // In the line of a message.
    private static final int STARTED_A_SECOND = 5;
    private static final Duration HIDDEN = Duration.ofMinutes(6); // The queue's visibility timeout.
    private static final Duration TRIED = Duration.ofSeconds(50); // Of the 60 s that an invocation has.
    private static final Duration SEAL_EVERY = Duration.ofSeconds(10);
    private static final int LOOKS_MAX = 100;

    /// A warmed table, and a new one, also with fewer collectors.
    private static final List<Setup> SETUPS = List.of(new Setup(20_000, 32), new Setup(4_000, 8), new Setup(4_000, 32));

    /// US dollars for a million units.
    private static final double DOLLARS_WRITE = 0.625;

    private static final double DOLLARS_READ = 0.125;

    /// US dollars for a second of a function with 1,769 MB.
    private static final double DOLLARS_SECOND = 0.0000133334 * 1.769 * 1_000 / 1_024;

    private static final String INDEX_KEY = "open";

    private final VirtualTime time = new VirtualTime(Instant.parse("2030-01-01T00:00:00Z"));
    private final SimulatedDynamoDb dynamo = new SimulatedDynamoDb(time, 1);
    private final Deployment deployment = new Deployment(time, dynamo, new SplittableRandom(1));
    private final int messages;
    private final Setup setup;
    private Duration invoked = Duration.ZERO;
    private int again;

    /// A deployment that takes a burst.
    ///
    /// @param unitsPerSecond write units that the table of rows takes
    record Setup(int unitsPerSecond, int collectors) {}

    /// The figures of a burst; units, seconds and prices for a million messages.
    ///
    /// @param sealed time from the first message until the last batch is sealed
    /// @param collectorSeconds time of all invocations
    /// @param again messages that came again because the table was busy
    record Figures(
            Duration collected,
            Duration sealed,
            double writeUnits,
            double readUnits,
            double collectorSeconds,
            int again,
            long refused) {
        double dollarsOfUnits() {
            return (writeUnits * DOLLARS_WRITE + readUnits * DOLLARS_READ) / MILLION;
        }

        double dollarsOfCollectors() {
            return collectorSeconds * DOLLARS_SECOND;
        }
    }

    private BurstFigures(int messages, Setup setup) {
        this.messages = messages;
        this.setup = setup;
        dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
    }

    /// Prints both designs; of a burst above 240,000 messages the lanes alone.
    ///
    /// @param messages of the burst, of which one in 21 is a repeat
    public static void print(int messages, PrintStream out) {
        for (Setup setup : SETUPS) {
            BurstFigures burst = new BurstFigures(messages, setup);
            burst.tell(
                    out,
                    "Lanes, " + setup.unitsPerSecond + " write units a second, " + setup.collectors + " collectors",
                    burst.lanes());
        }
        if (messages <= PLAIN_MAX) {
            new BurstFigures(messages, SETUPS.getFirst()).plain(out);
        }
    }

    /// A burst into lanes. It fails unless each distinct message is in one batch.
    static Figures lanes(int messages, Setup setup) {
        return new BurstFigures(messages, setup).lanes();
    }

    private int distinct() {
        return (int) (messages / (1 + DOUBLED));
    }

    /// The numbers of the messages in the order in which they come: of one that comes again, those of the
    /// first.
    private Deque<List<Arrival>> invocations() {
        Random random = new Random(1);
        List<Integer> ids = new ArrayList<>();
        for (int i = 0; i < messages; i++) {
            ids.add(i < distinct() ? i : random.nextInt(distinct()));
        }
        Collections.shuffle(ids, random);
        Deque<List<Arrival>> invocations = new ArrayDeque<>();
        for (int from = 0; from < messages; from += INVOCATION) {
            int first = from;
            invocations.add(
                    new AbstractList<>() { // A million messages at once are too many for the heap.
                        @Override
                        public Arrival get(int i) {
                            return arrival(first + i, ids.get(first + i));
                        }

                        @Override
                        public int size() {
                            return Math.min(INVOCATION, messages - first);
                        }
                    });
        }
        return invocations;
    }

    private Arrival arrival(int message, int id) {
        String begin = "{\"id\":\"m" + id + "\",\"text\":\"";
        String body = begin + "x".repeat(BODY_BYTES - begin.length() - 2) + "\"}";
        return new Arrival(
                "queue",
                "message-" + message,
                0,
                body.getBytes(StandardCharsets.UTF_8),
                time.instant().toEpochMilli());
    }

    private interface Invocation {
        /// Messages that come again.
        List<Arrival> take(Store store, List<Arrival> arrivals);
    }

    /// Has so many collectors take all messages side by side. As of the mapping, five begin, and five more each
    /// second.
    private Duration collect(Invocation invocation) {
        Deque<List<Arrival>> left = invocations();
        int[] open = {left.size()};
        Instant start = time.instant();
        List<CompletableFuture<Void>> collectors = new ArrayList<>();
        for (int i = 0; i < setup.collectors; i++) {
            Store store = deployment.process(dynamo.client("collector" + i));
            Duration begins = Duration.ofSeconds(i / STARTED_A_SECOND);
            collectors.add(deployment.start(() -> {
                store.threads().pause(begins);
                while (open[0] > 0) {
                    List<Arrival> some = left.poll();
                    if (some == null) {
                        store.threads().pause(Duration.ofSeconds(1));
                        continue;
                    }
                    Instant from = time.instant();
                    List<Arrival> failed = invocation.take(store, some);
                    invoked = invoked.plus(Duration.between(from, time.instant()));
                    open[0] -= failed.isEmpty() ? 1 : 0;
                    if (!failed.isEmpty()) {
                        again += failed.size();
                        time.after(HIDDEN, () -> left.add(failed));
                    }
                }
            }));
        }
        time.runUntil(CompletableFuture.allOf(collectors.toArray(CompletableFuture[]::new)));
        return Duration.between(start, time.instant());
    }

    private <T> T of(Supplier<T> task) {
        return time.runUntil(CompletableFuture.supplyAsync(task, time::start));
    }

    private Figures lanes() {
        String text = "{\"pipeline\":\"burst\",\"input\":{\"format\":\"json\",\"id\":\"id\"},\"batch\":{\"size\":"
                + SIZE + ",\"deliver\":{\"http\":\"http://host/x\"},\"receiver\":\"idempotent\"}}";
        Pipeline pipeline = ((Reading.Read) PipelineText.read(text)).pipeline();
        dynamo.limit(deployment.tables.rows(), setup.unitsPerSecond);
        Store person = deployment.process(dynamo.client("person"));
        of(() -> BatchDefinition.openOrCreate(person, pipeline, LANES));
        IdentityHashMap<Store, Collect> functions = new IdentityHashMap<>();
        Store store = deployment.process(dynamo.client("cutter"));
        Cutter cutter = new Cutter(store, (Batching) pipeline.fold(), LANES);
        boolean[] isCollected = {false};
        CompletableFuture<Integer> sealed = new CompletableFuture<>();
        var _ = deployment.start(() -> {
            int batches = 0;
            while (!isCollected[0]) {
                batches += cutter.run();
                store.threads().pause(SEAL_EVERY);
            }
            sealed.complete(batches + cutter.sealNow());
        });
        Instant start = time.instant();
        Duration collected = collect((process, arrivals) -> {
            List<Collect.Fate> fates = functions
                    .computeIfAbsent(process, _ -> new Collect(process, pipeline, LANES))
                    .collect(arrivals, TRIED)
                    .fates();
            return IntStream.range(0, arrivals.size())
                    .filter(i -> fates.get(i) == Collect.Fate.AGAIN)
                    .mapToObj(arrivals::get)
                    .toList();
        });
        isCollected[0] = true;
        int batches = time.runUntil(sealed);
        Duration all = Duration.between(start, time.instant());
        deliver(pipeline, batches);
        return figures(collected, all);
    }

    /// Delivers all batches to a receiver that compares them with what was sent.
    private void deliver(Pipeline pipeline, int batches) {
        BitSet ids = new BitSet();
        int[] records = {0};
        Store store = deployment.process(dynamo.client("deliver"));
        Deliver deliver = new Deliver(
                store,
                pipeline,
                new Deliver.Receiver(new DeliveryRules((Batching) pipeline.fold(), null), handover -> {
                    try (InputStream in = handover.content().get()) {
                        new String(in.readAllBytes(), StandardCharsets.UTF_8)
                                .lines()
                                .forEach(line -> {
                                    ids.set(Integer.parseInt(line, ID_FROM, line.indexOf('"', ID_FROM), 10));
                                    records[0]++;
                                });
                    } catch (IOException failed) {
                        throw new UncheckedIOException(failed);
                    }
                    return new Outcome.Done();
                }),
                new Deliver.Limits(Duration.ofMinutes(1), Duration.ofMinutes(1)));
        int attempts = of(() -> attempts(store, deliver, batches));
        if (attempts != batches || records[0] != distinct() || ids.cardinality() != distinct()) {
            throw new IllegalStateException(distinct() + " distinct messages were sent, and " + attempts + " of "
                    + batches + " batches with " + records[0] + " records of " + ids.cardinality() + " ids came");
        }
    }

    /// A batch that was just sealed is not in each read yet: Deliver looks again, as its timer lets it.
    private static int attempts(Store store, Deliver deliver, int batches) {
        int made = 0;
        for (int look = 0; made < batches && look < LOOKS_MAX; look++) {
            made += deliver.run(() -> Duration.ofMinutes(10));
            store.threads().pause(SEAL_EVERY);
        }
        return made;
    }

    private void plain(PrintStream out) {
        Duration collected = collect((store, arrivals) -> {
            for (List<Arrival> some : Parts.of(arrivals, PUTS_AT_A_TIME)) {
                var _ = store.threads().all(some, arrival -> put(store, arrival));
            }
            return List.of();
        });
        Instant start = time.instant();
        CompletableFuture<Integer> read = new CompletableFuture<>();
        Store store = deployment.process(dynamo.client("cutter"));
        var _ = deployment.start(() -> read.complete(gather(store)));
        int found = time.runUntil(read);
        Duration all = collected.plus(Duration.between(start, time.instant()));
        tell(out, "One put for each message: " + found + " in the index", figures(collected, all));
    }

    /// The service writes the entry of the index itself, and takes its units for it.
    private boolean put(Store store, Arrival arrival) {
        String body = new String(arrival.data(), StandardCharsets.UTF_8);
        byte[] id = body.substring(0, body.indexOf(',')).getBytes(StandardCharsets.UTF_8);
        AttributeValue bytes = AttributeValue.fromB(SdkBytes.fromByteArray(id));
        AttributeValue content = AttributeValue.fromS(body);
        boolean isNew = store.retriedIf(() -> store.client()
                .putItem(request -> request.tableName(store.tables().rows())
                        .item(Map.of("k", bytes, "d", content))
                        .conditionExpression("attribute_not_exists(k)")));
        if (isNew) {
            store.retried(() -> store.client()
                    .putItem(request -> request.tableName(store.tables().letters())
                            .item(Map.of("p", AttributeValue.fromS(INDEX_KEY), "i", bytes, "d", content))));
        }
        return isNew;
    }

    private static int gather(Store store) {
        int found = 0;
        Map<String, AttributeValue> from = Map.of();
        do {
            Map<String, AttributeValue> at = from;
            QueryResponse page = store.retried(() -> store.client()
                    .query(request -> request.tableName(store.tables().letters())
                            .keyConditionExpression("p = :p")
                            .expressionAttributeValues(Map.of(":p", AttributeValue.fromS(INDEX_KEY)))
                            .exclusiveStartKey(at.isEmpty() ? null : at)));
            found += page.count();
            from = page.lastEvaluatedKey();
        } while (!from.isEmpty());
        return found;
    }

    private Figures figures(Duration collected, Duration sealed) {
        Tally tally = dynamo.tally();
        double million = (double) MILLION / messages;
        return new Figures(
                collected,
                sealed,
                tally.writeUnits() * million,
                tally.readUnits() * million,
                invoked.toMillis() * million / 1_000,
                again,
                tally.failures().getOrDefault(Tally.Operation.TRANSACT_WRITE_ITEMS, 0L));
    }

    private void tell(PrintStream out, String what, Figures figures) {
        out.printf(
                Locale.ROOT,
                "%s: %d messages collected in %.1f s, sealed after %.1f s; %d messages came again%n  %s%n"
                        + "  for a million messages: %.2f million write units, %.2f million read units, $%.2f;"
                        + " %.0f s of collectors, $%.2f%n",
                what,
                messages,
                figures.collected.toMillis() / 1_000.0,
                figures.sealed.toMillis() / 1_000.0,
                figures.again,
                dynamo.tally(),
                figures.writeUnits / MILLION,
                figures.readUnits / MILLION,
                figures.dollarsOfUnits(),
                figures.collectorSeconds,
                figures.dollarsOfCollectors());
    }
}
