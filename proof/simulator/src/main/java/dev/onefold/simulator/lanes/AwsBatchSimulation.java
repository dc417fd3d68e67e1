package dev.onefold.simulator.lanes;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.onefold.aws.AwsBatchEngine;
import dev.onefold.aws.batch.AwsBatches;
import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.batch.Collect;
import dev.onefold.aws.batch.Cutter;
import dev.onefold.aws.batch.Decisions;
import dev.onefold.aws.batch.Deliver;
import dev.onefold.aws.batch.IdRemoval;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.store.Store;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.event.Reason;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.seal.DeliveryRules;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedClient;
import dev.onefold.fakes.aws.SimulatedDynamoDb;
import dev.onefold.fakes.aws.VirtualTime;
import dev.onefold.simulator.deployment.Deployment;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkException;

/// One life of a pipeline's batches on AWS. Messages come in bursts, with duplicates, conflicts and bad bodies;
/// collectors, cutters and deliverers run at any time and several at once, are killed in the middle, and meet a
/// service that throttles, loses answers and lets requests arrive late. At the end [Judgement] compares what
/// the receiver got with what was sent.
public final class AwsBatchSimulation {
    private static final Duration FUNCTION_MAX = Duration.ofSeconds(60);
    private static final Duration MARGIN = Ledger.REQUEST_MAX.plusSeconds(30);
    private static final Duration COLLECTING_MAX = Duration.ofSeconds(50); // With an end of the invocation behind it.
    private static final Duration COMMAND_MAX = Duration.ofMinutes(10);
    private static final int KILLED_WITHIN = 20; // Of the time that it has, the first of so many parts.
    private static final long VISIBILITY_MS = 90_000;
    private static final int QUIET_MINUTES_MAX = 600;
    private static final int RESTORED_ONE_IN = 3;
    private static final int POISON_ONE_IN = 60;
    private static final int POISON_RESTORED_ONE_IN = 6;
    private static final List<String> FORGET = List.of("never", "never", "after-delivery", "15d");

    private final SplittableRandom random;
    private final VirtualTime time = new VirtualTime(Instant.parse("2030-01-01T00:00:00Z"));
    private final SimulatedDynamoDb dynamo;
    private final Deployment deployment;
    private final Sent sent;
    private final Pipeline pipeline;
    private final Batching batching;
    private final int lanes;
    private final MessageQueue queue;
    private final Ledger ledger;
    private final Optional<BatchRestores> restores;
    private final boolean redrives;
    private boolean redrivesRest;
    private final double ledgerFaults;
    private final boolean forgets;
    private final boolean isHaunted;
    private double faultChance;
    private @Nullable Throwable bug;

    private AwsBatchSimulation(long seed) {
        random = new SplittableRandom(seed);
        dynamo = new SimulatedDynamoDb(time, random.nextLong());
        deployment = new Deployment(time, dynamo, random.split());
        boolean isDirect = seed % 3 == 2;
        boolean isOnce = random.nextInt(3) == 0;
        String forget = isDirect ? "never" : FORGET.get(random.nextInt(FORGET.size()));
        forgets = !forget.equals("never");
        boolean isDeadly = !isDirect && !forgets && random.nextInt(4) == 0;
        boolean bisects = !isDirect && !isOnce && !isDeadly && !forgets && random.nextBoolean();
        pipeline = isDirect ? direct(isOnce) : pipeline(isOnce, bisects, isDeadly, forget);
        batching = (Batching) pipeline.fold();
        redrives = random.nextInt(3) == 0;
        lanes = 1 + random.nextInt(random.nextBoolean() ? 3 : 12);
        SplittableRandom bodies = random.split();
        isHaunted = forgets || random.nextInt(4) == 0;
        queue = new MessageQueue(random.split());
        ledger = new Ledger(time, random.split(), !isOnce, !isOnce && random.nextInt(4) == 0, isDirect);
        faultChance = random.nextInt(4) == 0 ? 0 : 0.002 + random.nextDouble() * 0.08;
        ledger.deadly(isDeadly ? 1 + random.nextInt(4) : 0);
        ledger.concurrencyMax(isDirect ? Integer.MAX_VALUE : batching.concurrency()); // There, of each invocation.
        ledgerFaults = random.nextInt(3) == 0 ? 0 : random.nextDouble() * 0.3;
        boolean isRestored = !isDeadly && random.nextInt(RESTORED_ONE_IN) == 0;
        // Some parts are to be new at the moment of a backup.
        sent = new Sent(bodies, bisects ? isRestored ? POISON_RESTORED_ONE_IN : POISON_ONE_IN : 0, forgets);
        restores = isRestored
                ? Optional.of(new BatchRestores(
                        deployment,
                        random.split(),
                        new BatchRestores.Work(this::wake, this::command, batching.forget(), queue, sent, ledger)))
                : Optional.empty();
    }

    /// Lives one life, and fails if anything is wrong at its end.
    public static void run(long seed) {
        new AwsBatchSimulation(seed).live();
    }

    private Pipeline pipeline(boolean isOnce, boolean bisects, boolean isDeadly, String forget) {
        int size = 1 + random.nextInt(random.nextBoolean() ? 5 : 60);
        String bytes = random.nextInt(4) == 0 ? ",\"bytes\":" + (1_000 + random.nextInt(2_000)) : "";
        String text = "{\"pipeline\":\"orders\",\"input\":{\"format\":\"json\",\"id\":\"id\"},\"batch\":{\"size\":"
                + size
                + bytes + ",\"wait\":\"" + (1 + random.nextInt(15)) + "m\"," + receiver(isOnce, bisects)
                + (random.nextBoolean()
                        ? ",\"order\":\"strict\""
                        : ",\"order\":\"any\",\"concurrency\":" + (1 + random.nextInt(5)))
                + ",\"retry\":{\"delays\":[\"1m\",\"10m\"],\"for\":\"" + (isDeadly ? "20m" : "30d") + "\"}"
                + ",\"forget\":\"" + forget + "\""
                + (forget.equals("never") ? "" : ",\"compare\":\"none\"") + "}}";
        return read(text);
    }

    private Pipeline direct(boolean isOnce) {
        return read(
                "{\"pipeline\":\"orders\",\"input\":{\"format\":\"json\",\"id\":\"id\"},\"batch\":{\"size\":1,\"direct\":true,"
                        + "\"deliver\":{\"http\":\"http://host/x\"},\"receiver\":\"" + (isOnce ? "once" : "idempotent")
                        + "\",\"concurrency\":" + (1 + random.nextInt(5))
                        + ",\"retry\":{\"delays\":[\"1m\",\"10m\"],\"for\":\"30d\"}}}");
    }

    private static Pipeline read(String text) {
        return switch (PipelineText.read(text)) {
            case Reading.Read(var read) -> read;
            case Reading.Refused(var problems) -> throw new IllegalArgumentException(text + ": " + problems);
        };
    }

    /// Some receivers get contents that are written to objects before, and some of these are compressed.
    private String receiver(boolean isOnce, boolean bisects) {
        int kind = random.nextInt(6);
        if (kind == 0 && !isOnce && !bisects) {
            return "\"deliver\":{\"s3\":\"s3://warehouse/{number}.gz\"}";
        }
        return "\"deliver\":" + (kind < 2 ? "{\"lambda\":\"load\"}" : "{\"http\":\"http://host/x\"}")
                + ",\"receiver\":\"" + (isOnce ? "once" : "idempotent") + "\""
                + (bisects ? ",\"bisect\":true" : "");
    }

    private void live() {
        BatchDefinition.openOrCreate(deployment.process(dynamo.client("deploy")), pipeline, lanes);
        double usual = faultChance;
        boolean isLong = forgets || restores.isPresent();
        for (int phases = isLong ? 1 + random.nextInt(3) : 1; phases > 0; phases--) {
            faultChance = usual;
            if (sent.phase > 0 && random.nextBoolean()) {
                restores.ifPresent(this::restoreWhileBatchesAreFreed);
            }
            phase();
            sent.phase++;
        }
        if (bug != null) {
            throw new AssertionError("A function failed: " + bug, bug);
        }
        Judgement judgement = new Judgement(deployment, batching, sent, ledger);
        restores.ifPresentOrElse(BatchRestores::judge, judgement::judge);
        passTime(IdRemoval.KEPT.plusDays(1));
        judgement.freed(restores.filter(BatchRestores::isLost).isPresent());
    }

    private void restoreWhileBatchesAreFreed(BatchRestores restores) {
        time.runFor(IdRemoval.KEPT.plusDays(1));
        restores.restore();
    }

    /// Messages come, and then all is settled. In the end so much time passes that ids are forgotten that may
    /// be, or less.
    private void phase() {
        redrivesRest = false;
        inject(faultChance);
        ledger.faults(ledgerFaults);
        int bursts = 1 + random.nextInt(3);
        for (int burst = 0; burst < bursts; burst++) {
            long nowMs = time.instant().toEpochMilli();
            sent.burst(nowMs).forEach(body -> queue.send(number -> sent.told(body, number, nowMs), nowMs));
            for (int step = 2 + random.nextInt(20); step > 0; step--) {
                wake();
                time.runFor(Duration.ofMillis(random.nextLong(random.nextInt(5) == 0 ? 240_000 : 6_000)));
            }
            if (restores.isPresent() && random.nextBoolean()) {
                restores.get().restore();
            }
        }
        faultChance = random.nextBoolean() ? faultChance : 0;
        inject(faultChance);
        settleDown();
        redrivesRest = true;
        inject(0);
        faultChance = 0;
        ledger.faults(0);
        settleDown();
        passTime(Duration.ofHours(1 + random.nextInt(random.nextBoolean() ? 24 : 24 * 30)));
    }

    /// Nothing comes for a while, and each pass goes on, perhaps several times at once.
    private void passTime(Duration time) {
        for (int step = 0; step < 4; step++) {
            this.time.runFor(time.dividedBy(4));
            forget();
            if (random.nextBoolean()) {
                forget();
            }
            this.time.runFor(Duration.ofMinutes(2));
            expire();
        }
    }

    private void forget() {
        invoke((store, _) -> new IdRemoval(store, batching, lanes).run(Duration.ofHours(1)));
    }

    /// The table removes items whose time has come, sooner or later.
    private void expire() {
        SimulatedClient client = dynamo.client("expiry");
        long nowSeconds = time.instant().getEpochSecond();
        deployment.of(client.scan(scan -> scan.tableName(deployment.tables.rows()))).items().stream()
                .filter(item -> item.containsKey("ttl")
                        && Long.parseLong(item.get("ttl").n()) < nowSeconds)
                .filter(_ -> random.nextBoolean())
                .forEach(item -> deployment.of(client.deleteItem(
                        request -> request.tableName(deployment.tables.rows()).key(Map.of("k", item.get("k"))))));
    }

    private void inject(double chance) {
        Faults faults = Faults.none().with(Faults.Timing.USUAL);
        for (Fault fault : Fault.values()) {
            faults = faults.with(fault, chance);
        }
        dynamo.inject(faults);
    }

    /// Lets the minutes pass until nothing is left to do.
    private void settleDown() {
        for (int minute = 0, quiet = 0; quiet < 40 && minute < QUIET_MINUTES_MAX; minute++) {
            int before = ledger.happened();
            boolean isBusy = !queue.isEmpty();
            for (int i = 0; i < 3 && !queue.isEmpty(); i++) {
                collect();
            }
            cut();
            deliver();
            person();
            if (redrives) {
                redrive();
            }
            time.runFor(Duration.ofMinutes(1));
            quiet = isBusy || ledger.happened() > before ? 0 : quiet + 1;
        }
        if (!queue.isEmpty() && faultChance == 0) {
            throw new AssertionError("Messages are left in the queue");
        }
    }

    private void wake() {
        for (int i = random.nextInt(4); i > 0; i--) {
            if (isHaunted && random.nextInt(4) == 0) {
                queue.haunt(time.instant().toEpochMilli());
            }
            switch (random.nextInt(6)) {
                case 0, 1 -> collect();
                case 2 -> cut();
                case 3 -> deliver();
                case 4 -> forget();
                default -> {
                    person();
                    if (redrives) {
                        redrive();
                    }
                }
            }
        }
    }

    private void collect() {
        List<Arrival> input = new ArrayList<>(
                queue.receive(1 + random.nextInt(40), time.instant().toEpochMilli(), VISIBILITY_MS, faultChance));
        if (input.isEmpty()) {
            return;
        }
        SimulatedClient client = dynamo.client("sandbox");
        invoke(client, (store, answer) -> {
            List<Collect.Fate> fates =
                    collector(store, client).collect(input, COLLECTING_MAX).fates();
            answer.accept(() -> {
                for (int i = 0; i < input.size(); i++) {
                    // The service deletes a message that is not reported as failed; that may fail, too.
                    if (fates.get(i) != Collect.Fate.AGAIN && random.nextDouble() >= faultChance) {
                        queue.delete(input.get(i), time.instant().toEpochMilli());
                        sent.taken(time.instant().toEpochMilli());
                    }
                }
            });
        });
    }

    private Collect collector(Store store, SimulatedClient client) {
        if (!batching.direct()) {
            return new Collect(store, pipeline, lanes);
        }
        Ledger.Sender sender = new Ledger.Sender(store.threads()::pause, client::kill);
        Duration margin = FUNCTION_MAX.minus(COLLECTING_MAX).plus(MARGIN);
        return Collect.direct(store, pipeline, lanes, receiver(sender), new Deliver.Limits(margin, Ledger.REQUEST_MAX));
    }

    private Deliver.Receiver receiver(Ledger.Sender sender) {
        return new Deliver.Receiver(new DeliveryRules(batching, null), handover -> ledger.deliver(handover, sender));
    }

    private void cut() {
        invoke((store, _) -> {
            int _ = new Cutter(store, batching, lanes).run();
        });
    }

    private void deliver() {
        Instant end = time.instant().plus(FUNCTION_MAX);
        SimulatedClient client = dynamo.client("sandbox");
        invoke(client, (store, _) -> {
            Ledger.Sender sender = new Ledger.Sender(store.threads()::pause, client::kill);
            int _ = deliverer(store, sender).run(() -> Duration.between(time.instant(), end));
        });
    }

    private Deliver deliverer(Store store, Ledger.Sender sender) {
        return new Deliver(store, pipeline, receiver(sender), new Deliver.Limits(MARGIN, Ledger.REQUEST_MAX));
    }

    /// A person who asks the receiver before deciding.
    private void person() {
        invoke((store, _) -> {
            Decisions decisions = new Decisions(store);
            for (Decisions.Held held : decisions.held()) {
                int generation = held.delivery().tries().generation();
                String id = new AwsBatches(store, new BatchDefinition(pipeline, lanes))
                        .find(held.number())
                        .orElseThrow()
                        .id();
                if (ledger.isDeadly(held.number()) && !ledger.deadly.isEmpty() && random.nextInt(3) == 0) {
                    decisions.settle(held.number(), generation, Delivery.How.DISCARDED);
                } else if (ledger.has(id) || restores.isPresent() && hasRecords(store, held.number())) {
                    decisions.settle(held.number(), generation, Delivery.How.SAID);
                } else if (batching.bisect()
                        && held.delivery() instanceof Delivery.Aside
                        && !held.delivery().tries().isPerhapsIn()) {
                    decisions.settle(held.number(), generation, Delivery.How.DISCARDED);
                } else {
                    release(decisions, held.number(), generation);
                }
            }
        });
    }

    /// Whether a receiver has all records of a batch, under whatever numbers.
    private boolean hasRecords(Store store, BatchNumber number) {
        List<String> lines = new ArrayList<>();
        new AwsBatches(store, new BatchDefinition(pipeline, lanes))
                .export(number, bytes -> lines.add(new String(bytes, UTF_8)));
        return ledger.effects.stream()
                .flatMap(effect -> effect.lines().stream())
                .collect(Collectors.toSet())
                .containsAll(String.join("", lines).lines().toList());
    }

    /// A person redrives letters of bad bodies, each under an edit that is always the same.
    private void redrive() {
        invoke((store, _) -> {
            BatchDefinition.openOrCreate(store, pipeline, lanes);
            try (AwsBatchEngine engine = AwsBatchEngine.deployed(store)) {
                DeadLetters letters = engine.deadLetters();
                for (DeadLetter letter : letters.list(0, 100)) {
                    boolean isEdited = letter.reason() == Reason.MALFORMED
                            && (redrivesRest ? sent.edits.containsKey(letter.id()) : letter.id() % 4 == 0);
                    if (isEdited) {
                        String edit = sent.edit(
                                letter.id(),
                                batching.forget() instanceof Batching.Forget.AfterDelivery,
                                time.instant().toEpochMilli());
                        letters.redrive(letter.id(), edit.getBytes(UTF_8), DeadLetters.Keys.ANY);
                    }
                }
            }
        });
    }

    /// A person is impatient, and the engine refuses while the attempt may be under way.
    private static void release(Decisions decisions, BatchNumber number, int generation) {
        try {
            decisions.release(number, generation);
        } catch (IllegalStateException refused) {
            if (!String.valueOf(refused.getMessage()).contains("may still be under way")) {
                throw refused;
            }
        }
    }

    /// Runs a function in a sandbox of its own, which may be killed at any time, and is after a minute.
    private void invoke(BiConsumer<Store, Consumer<Runnable>> function) {
        invoke(dynamo.client("sandbox"), function);
    }

    /// Somebody runs a command, which has all the time that it needs, unless it is killed.
    private void command(Consumer<Store> command) {
        invoke(dynamo.client("person"), COMMAND_MAX, (store, _) -> command.accept(store));
    }

    private void invoke(SimulatedClient client, BiConsumer<Store, Consumer<Runnable>> function) {
        invoke(client, FUNCTION_MAX, function);
    }

    private void invoke(SimulatedClient client, Duration max, BiConsumer<Store, Consumer<Runnable>> function) {
        Store store = deployment.process(client);
        Duration left = random.nextDouble() < faultChance
                ? Duration.ofNanos(random.nextLong(max.dividedBy(KILLED_WITHIN).toNanos()) + 1)
                : max;
        time.after(left, client::kill);
        CompletableFuture<Void> done = deployment.start(() -> function.accept(store, answer -> {
            if (client.isAlive()) {
                answer.run();
            }
        }));
        var _ = done.whenComplete((_, failure) -> {
            if (failure != null && client.isAlive() && !mayFail(failure)) {
                bug = failure;
            }
        });
    }

    private boolean mayFail(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        String message = String.valueOf(cause.getMessage());
        return cause instanceof SdkException
                || message.contains("could not be written in")
                || message.contains("have refused")
                || message.contains("run it again")
                || restores.isPresent() && message.contains("purge the letter") // It was removed since the backup.
                || batching.direct() && message.contains("could not be collected") // Its id is being handed over.
                || message.contains("'onefold aws restored'");
    }
}
