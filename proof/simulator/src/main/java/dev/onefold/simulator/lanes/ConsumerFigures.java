package dev.onefold.simulator.lanes;

import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.batch.Collect;
import dev.onefold.aws.batch.Cutter;
import dev.onefold.aws.batch.Deliver;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.store.Store;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.seal.DeliveryRules;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedDynamoDb;
import dev.onefold.fakes.aws.VirtualTime;
import dev.onefold.simulator.deployment.Deployment;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/// The price of a consumer on AWS, each record to a receiver by itself: handed over directly, or as a batch of
/// one. Units and times are those of the simulated service; one message in 21 comes again, one attempt in 100
/// finds the receiver busy.
public final class ConsumerFigures {
    private static final int BODY_BYTES = 300;
    private static final int LANES = 64;
    private static final int CONCURRENCY = 10;
    private static final int ANSWER_MS = 20;
    private static final int BUSY_ONE_IN = 100;
    private static final int MILLION = 1_000_000;
    private static final int ROUNDS = 20;
    private static final Duration WITHIN = Duration.ofSeconds(50);
    private static final Duration ROUND = Duration.ofMinutes(1);
    private static final Deliver.Limits LIMITS = new Deliver.Limits(Duration.ofSeconds(55), Duration.ofSeconds(10));

    /// US dollars for a million: write and read units, requests to a queue, invocations.
    private static final double DOLLARS_WRITE = 0.625;

    private static final double DOLLARS_READ = 0.125;
    private static final double DOLLARS_QUEUE = 0.40;
    private static final double DOLLARS_INVOCATION = 0.20;

    /// US dollars for a second of a function with 1,769 MB.
    private static final double DOLLARS_SECOND = 0.0000133334 * 1.769 * 1_000 / 1_024;

    private final VirtualTime time = new VirtualTime(Instant.parse("2030-01-01T00:00:00Z"));
    private final SimulatedDynamoDb dynamo = new SimulatedDynamoDb(time, 1);
    private final Deployment deployment = new Deployment(time, dynamo, new SplittableRandom(1));
    private final SplittableRandom random = new SplittableRandom(2);
    private final Pipeline pipeline;
    private Duration invoked = Duration.ZERO;
    private int invocations;
    private int done;

    /// For a million messages.
    record Figures(double writeUnits, double readUnits, double seconds, double invocations) {
        double dollars() {
            return (writeUnits * DOLLARS_WRITE
                                    + readUnits * DOLLARS_READ
                                    + invocations * (DOLLARS_INVOCATION + 2 * DOLLARS_QUEUE))
                            / MILLION
                    + seconds * DOLLARS_SECOND;
        }
    }

    private ConsumerFigures(boolean isDirect) {
        String text = "{\"pipeline\":\"consumer\",\"input\":{\"format\":\"json\",\"id\":\"id\"},\"batch\":{\"size\":1,"
                + (isDirect ? "\"direct\":true," : "") + "\"concurrency\":" + CONCURRENCY
                + ",\"deliver\":{\"http\":\"http://host/x\"},\"receiver\":\"idempotent\"}}";
        pipeline = ((Reading.Read) PipelineText.read(text)).pipeline();
        dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
    }

    /// Prints the price of both ways.
    public static void print(int messages, PrintStream out) {
        for (int invocation : List.of(10, 100, 1_000)) {
            tell(out, "Direct, " + invocation + " an invocation", of(true, messages, invocation));
        }
        tell(out, "Batches of one, 100 an invocation", of(false, messages, 100));
    }

    private static void tell(PrintStream out, String what, Figures figures) {
        out.printf(
                Locale.ROOT,
                "%s: for a million messages %.2f million write units, %.2f million read units, %.0f s of functions in"
                        + " %.0f invocations: $%.2f%n",
                what,
                figures.writeUnits / MILLION,
                figures.readUnits / MILLION,
                figures.seconds,
                figures.invocations,
                figures.dollars());
    }

    /// The figures of so many messages. It fails unless each distinct one is handed over once.
    ///
    /// @param invocation messages of an invocation of Collect
    static Figures of(boolean isDirect, int messages, int invocation) {
        return new ConsumerFigures(isDirect).of(messages, invocation);
    }

    private Figures of(int messages, int invocation) {
        Store person = deployment.process(dynamo.client("person"));
        in(() -> BatchDefinition.openOrCreate(person, pipeline, LANES));
        Store collector = deployment.process(dynamo.client("collector"));
        Collect collect = ((Batching) pipeline.fold()).direct()
                ? Collect.direct(collector, pipeline, LANES, receiver(collector), LIMITS)
                : new Collect(collector, pipeline, LANES);
        List<Integer> ids = ids(messages);
        for (int from = 0; from < messages; from += invocation) {
            List<Arrival> some = new ArrayList<>();
            for (int i = from; i < Math.min(messages, from + invocation); i++) {
                some.add(arrival(i, ids.get(i)));
            }
            invoke(() -> collect.collect(some, WITHIN));
            invocations++;
        }
        int distinct = (int) ids.stream().distinct().count();
        for (int round = 0; done < distinct && round < ROUNDS; round++) {
            deliver();
        }
        if (done != distinct) {
            throw new IllegalStateException(distinct + " distinct messages were sent, and " + done + " were taken");
        }
        double million = (double) MILLION / messages;
        return new Figures(
                dynamo.tally().writeUnits() * million,
                dynamo.tally().readUnits() * million,
                invoked.toMillis() * million / 1_000,
                invocations * million);
    }

    private void deliver() {
        Store store = deployment.process(dynamo.client("deliver"));
        invoke(() -> new Cutter(store, (Batching) pipeline.fold(), LANES).run());
        time.runFor(ROUND);
        invoke(() -> new Deliver(store, pipeline, receiver(store), LIMITS).run(() -> Duration.ofMinutes(10)));
    }

    private static List<Integer> ids(int messages) {
        int distinct = messages * 20 / 21;
        Random random = new Random(1);
        List<Integer> ids = new ArrayList<>();
        for (int i = 0; i < messages; i++) {
            ids.add(i < distinct ? i : random.nextInt(distinct));
        }
        Collections.shuffle(ids, random);
        return ids;
    }

    private static Arrival arrival(int message, int id) {
        String begin = "{\"id\":\"m" + id + "\",\"text\":\"";
        String body = begin + "x".repeat(BODY_BYTES - begin.length() - 2) + "\"}";
        return new Arrival("queue", "message-" + message, 0, body.getBytes(StandardCharsets.UTF_8));
    }

    private Deliver.Receiver receiver(Store store) {
        return new Deliver.Receiver(new DeliveryRules((Batching) pipeline.fold(), null), _ -> {
            store.threads().pause(Duration.ofMillis(ANSWER_MS));
            if (random.nextInt(BUSY_ONE_IN) == 0) {
                return new Outcome.NotNow("busy", null);
            }
            done++;
            return new Outcome.Done();
        });
    }

    private <T> T in(Supplier<T> task) {
        return time.runUntil(CompletableFuture.supplyAsync(task, time::start));
    }

    private <T> void invoke(Supplier<T> task) {
        Instant from = time.instant();
        in(task);
        invoked = invoked.plus(Duration.between(from, time.instant()));
    }
}
