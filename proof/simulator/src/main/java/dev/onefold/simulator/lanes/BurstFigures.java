package dev.onefold.simulator.lanes;

import dev.onefold.aws.batch.Collect;
import dev.onefold.aws.batch.Cutter;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.store.Parts;
import dev.onefold.aws.store.Store;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedDynamoDb;
import dev.onefold.fakes.aws.Tally;
import dev.onefold.fakes.aws.VirtualTime;
import dev.onefold.simulator.deployment.Deployment;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.QueryResponse;

/// What a burst costs on AWS, and how long it takes, at the latencies of the simulated service: by lanes, and by
/// a plain design beside it. The plain one writes each message once, conditional on its id, and reads a batch
/// from a secondary index under one key. Neither is throttled here: what the table's capacity adds is calculated
/// from the units.
public final class BurstFigures {
    private static final int COLLECTORS = 32;
    private static final int INVOCATION = 1_000;
    private static final int LANES = 64;
    private static final int SIZE = 50_000;
    private static final int BODY_BYTES = 300;
    private static final double DOUBLED = 0.05;
    private static final int PUTS_AT_A_TIME = 25;

    /// US dollars for a million units.
    private static final double DOLLARS_WRITE = 0.625;

    private static final double DOLLARS_READ = 0.125;

    private static final String INDEX_KEY = "open";

    private final VirtualTime time = new VirtualTime(Instant.parse("2030-01-01T00:00:00Z"));
    private final SimulatedDynamoDb dynamo = new SimulatedDynamoDb(time, 1);
    private final Deployment deployment = new Deployment(time, dynamo, new SplittableRandom(1));
    private final int messages;

    private BurstFigures(int messages) {
        this.messages = messages;
        dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
    }

    /// Prints both designs.
    ///
    /// @param messages of the burst, of which one in 21 is a repeat
    public static void print(int messages, PrintStream out) {
        new BurstFigures(messages).lanes(out);
        new BurstFigures(messages).plain(out);
    }

    private Deque<List<Arrival>> invocations() {
        List<Arrival> arrivals = new ArrayList<>();
        Random random = new Random(1);
        int distinct = (int) (messages / (1 + DOUBLED));
        for (int i = 0; i < messages; i++) {
            String id = "{\"id\":\"m" + (i < distinct ? i : random.nextInt(distinct)) + "\",\"text\":\"";
            String body = id + "x".repeat(BODY_BYTES - id.length() - 2) + "\"}";
            arrivals.add(new Arrival(
                    "queue",
                    "message-" + i,
                    0,
                    body.getBytes(StandardCharsets.UTF_8),
                    time.instant().toEpochMilli()));
        }
        Collections.shuffle(arrivals, random);
        return new ArrayDeque<>(Parts.of(arrivals, INVOCATION));
    }

    private interface Invocation {
        void take(Store store, List<Arrival> arrivals);
    }

    /// Has so many collectors take all messages side by side.
    private Duration collect(Invocation invocation) {
        Deque<List<Arrival>> left = invocations();
        Instant start = time.instant();
        List<CompletableFuture<Void>> collectors = new ArrayList<>();
        for (int i = 0; i < COLLECTORS; i++) {
            Store store = deployment.process(dynamo.client("collector" + i));
            collectors.add(deployment.start(() -> {
                for (List<Arrival> some = left.poll(); some != null; some = left.poll()) {
                    invocation.take(store, some);
                }
            }));
        }
        time.runUntil(CompletableFuture.allOf(collectors.toArray(CompletableFuture[]::new)));
        return Duration.between(start, time.instant());
    }

    private void lanes(PrintStream out) {
        String text = "{\"pipeline\":\"burst\",\"input\":{\"format\":\"json\",\"id\":\"id\"},\"batch\":{\"size\":"
                + SIZE + ",\"deliver\":{\"http\":\"http://host/x\"},\"receiver\":\"idempotent\"}}";
        Pipeline pipeline = ((Reading.Read) PipelineText.read(text)).pipeline();
        Duration collected = collect((store, arrivals) -> {
            if (new Collect(store, pipeline, LANES).collect(arrivals).fates().contains(Collect.Fate.AGAIN)) {
                throw new IllegalStateException("Messages were not recorded");
            }
        });
        Instant start = time.instant();
        CompletableFuture<Integer> sealed = new CompletableFuture<>();
        Store store = deployment.process(dynamo.client("cutter"));
        var _ = deployment.start(() -> sealed.complete(new Cutter(store, (Batching) pipeline.fold(), LANES).sealNow()));
        int batches = time.runUntil(sealed);
        tell(out, "Lanes: " + batches + " batches", collected, Duration.between(start, time.instant()));
    }

    private void plain(PrintStream out) {
        Duration collected = collect((store, arrivals) -> {
            for (List<Arrival> some : Parts.of(arrivals, PUTS_AT_A_TIME)) {
                var _ = store.threads().all(some, arrival -> put(store, arrival));
            }
        });
        Instant start = time.instant();
        CompletableFuture<Integer> read = new CompletableFuture<>();
        Store store = deployment.process(dynamo.client("cutter"));
        var _ = deployment.start(() -> read.complete(gather(store)));
        int found = time.runUntil(read);
        tell(
                out,
                "One put for each message: " + found + " in the index",
                collected,
                Duration.between(start, time.instant()));
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

    private void tell(PrintStream out, String what, Duration collected, Duration read) {
        Tally tally = dynamo.tally();
        double million = 1_000_000.0 / messages;
        out.printf(
                Locale.ROOT,
                "%s of %d messages; collected in %.1f s, sealed in %.1f s more%n  %s%n"
                        + "  for a million messages: %.0f requests, %.2f million write units, %.2f million read units,"
                        + " $%.2f%n",
                what,
                messages,
                collected.toMillis() / 1_000.0,
                read.toMillis() / 1_000.0,
                tally,
                tally.requests().values().stream().mapToLong(count -> count).sum() * million,
                tally.writeUnits() * million / 1_000_000,
                tally.readUnits() * million / 1_000_000,
                (tally.writeUnits() * DOLLARS_WRITE + tally.readUnits() * DOLLARS_READ) * million / 1_000_000);
    }
}
