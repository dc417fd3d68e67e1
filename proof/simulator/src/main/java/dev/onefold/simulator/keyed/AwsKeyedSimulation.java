package dev.onefold.simulator.keyed;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.OutputTable;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.upkeep.Upkeep;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.event.Reason;
import dev.onefold.core.keyed.OlderCodeException;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.core.shape.Value;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedDynamoDb;
import dev.onefold.fakes.aws.VirtualTime;
import dev.onefold.simulator.deployment.Deployment;
import dev.onefold.simulator.deployment.Intake;
import dev.onefold.simulator.deployment.Reducers;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// The life of a deployment whose pipeline has a function per key: one seed says the order, the events, through
/// which of up to three streams each of them comes, how shards are split, how the event source mapping cuts
/// batches and which of these come twice or late, which functions die when, what the services do to each request,
/// when the function's version is raised, and who redrives dead letters meanwhile. Functions of the old and of
/// the new version run side by side. In the end contexts, rows, totals and letters are those of the events.
///
/// One thread and no clock but the seed's; so equal seeds are equal runs.
public final class AwsKeyedSimulation {
    private static final Duration LIFE_MAX = Duration.ofHours(6);
    private static final Duration AFTERWARDS = Duration.ofMinutes(30);
    private static final Duration RELEASE_MAX = Duration.ofSeconds(20);
    private static final int VERSIONS_MAX = 3;
    private static final int STREAMS_MAX = 3;
    private static final int STEPS_MAX = 50;
    private static final int ROUNDS_MAX = 100;

    private final SplittableRandom random;
    private final LifeCase dealt;
    private final Deployment deployment;
    private final TrailJudge judge;
    private final List<String> story = new ArrayList<>();
    private final SplittableRandom stalls;
    private final double stallChance;
    private int code = 1;
    private boolean isLive = true;
    private @Nullable Throwable failure;

    private AwsKeyedSimulation(long seed) {
        random = new SplittableRandom(seed);
        dealt = LifeCase.of(random);
        judge = new TrailJudge(dealt);
        VirtualTime time = new VirtualTime(Instant.parse("2030-01-01T00:00:00Z"));
        deployment = new Deployment(time, new SimulatedDynamoDb(time, random.nextLong()), random.split());
        stalls = random.split();
        stallChance = stalls.nextInt(3) == 0 ? stalls.nextDouble() * 0.4 : 0;
    }

    /// The function as it is deployed: while events come, any call of it may take too long.
    private LoadedFunction deployed() {
        return dealt.loaded(code, () -> isLive && stalls.nextDouble() < stallChance);
    }

    /// Runs a seed.
    ///
    /// @throws AssertionError if a promise was broken; it says which, and how to run it again
    public static void run(long seed) {
        AwsKeyedSimulation simulation = new AwsKeyedSimulation(seed);
        try {
            simulation.run();
        } catch (RuntimeException | Error failure) {
            throw new AssertionError(
                    "A function per key on AWS failed with seed " + seed + "; run it again with -Dseed=" + seed + ".\n"
                            + simulation.dealt.order() + ", keep " + simulation.dealt.keep() + ", "
                            + (simulation.dealt.refolds() ? "refold" : "continue") + "\n"
                            + String.join("\n", simulation.story) + "\n" + failure.getMessage(),
                    failure);
        }
    }

    private void run() {
        LoadedFunction first = deployed();
        deployment.makeTables(first);
        deployment.release(first, stallChance == 0);
        AwsEngine.open(person(), first.pipeline(), 1 + random.nextInt(4), 1 + random.nextInt(4));
        boolean faulty = random.nextInt(4) > 0;
        double faultChance = faulty ? random.nextDouble() * 0.3 : 0;
        Faults faults = faulty ? faults() : Faults.none();
        story.add("faultChance " + faultChance + ", stallChance " + stallChance + ", " + faults);
        deployment.dynamo.inject(faults);
        Reducers reducers = new Reducers(deployment, random.split(), faultChance, faults);
        List<Intake> intakes = new ArrayList<>();
        do {
            intakes.add(new Intake(deployment, first.pipeline(), random.split(), faultChance, faults));
        } while (intakes.size() < STREAMS_MAX && random.nextBoolean());
        for (int raised = 2; raised <= VERSIONS_MAX && random.nextBoolean(); raised++) {
            later(RELEASE_MAX.multipliedBy(raised), () -> release(intakes));
        }
        later(RELEASE_MAX, this::tick);
        for (int times = random.nextInt(4) + (stallChance > 0 ? 8 : 0); times > 0; times--) {
            later(RELEASE_MAX.multipliedBy(3), () -> begin(this::redrive));
        }
        live(intakes, LifeCase.records(dealt.events()));
        isLive = false;
        intakes.forEach(Intake::close);
        reducers.loseStream();
        deployment.dynamo.inject(Faults.none());
        deployment.time.runFor(AFTERWARDS); // Zombies wake up, and change nothing.
        reducers.close();
        intakes.forEach(intake -> require(intake.bug()));
        require(reducers.bug());
        require(failure);
        end();
    }

    private static void require(@Nullable Throwable bug) {
        if (bug != null) {
            throw new AssertionError("Something failed, and no service was at fault: " + bug, bug);
        }
    }

    private void end() {
        if (random.nextBoolean()) {
            again();
        }
        settle();
        AwsEngine engine = AwsEngine.deployed(person());
        judge.requireNothingLost(engine);
        for (int round = 0; (stallChance > 0 || dealt.places() > 0) && redrive() > 0; round++) {
            TrailJudge.require(round < ROUNDS_MAX, "letters come back each time");
        }
        engine.reduce();
        judge.require(engine, code, rows());
        redrive();
        engine.reduce();
        story.add("redriven in the end");
        judge.require(engine, code, rows());
        judge.requireOthersOwn(engine, code);
    }

    /// What is in changes nothing.
    private void again() {
        List<Arrival> all = new ArrayList<>();
        for (byte[] record : LifeCase.records(dealt.events())) {
            all.add(new Arrival("again/shard", Integer.toString(all.size() + 1), 0, record));
        }
        StateAndMap.process(person(), all);
    }

    /// Each record comes through one of the streams, and some through several.
    private void live(List<Intake> intakes, List<byte[]> records) {
        List<Set<Integer>> through = new ArrayList<>();
        records.forEach(
                _ -> through.add(Set.copyOf(List.of(random.nextInt(intakes.size()), random.nextInt(intakes.size())))));
        for (int i = 0; i < intakes.size(); i++) {
            int own = i;
            intakes.get(i)
                    .put(IntStream.range(0, records.size())
                            .filter(record -> through.get(record).contains(own))
                            .mapToObj(records::get)
                            .toList());
        }
        Instant end = deployment.time.instant().plus(LIFE_MAX);
        while (!intakes.stream().allMatch(Intake::isDone)) {
            if (deployment.time.instant().isAfter(end)) {
                throw new IllegalStateException("After " + LIFE_MAX + " not all records are in: "
                        + intakes.stream().map(Intake::state).toList());
            }
            deployment.time.runFor(Duration.ofMillis(1 + random.nextInt(3_000)));
        }
    }

    /// Code comes first or the pipeline does; sandboxes of before go on for a while.
    private void release(List<Intake> intakes) {
        if (!isLive) {
            return;
        }
        code++;
        story.add("released version " + code + " at " + deployment.time.instant());
        deployment.release(deployed(), stallChance == 0);
        intakes.forEach(intake -> later(RELEASE_MAX, intake::retire));
    }

    private void tick() {
        if (isLive) {
            later(RELEASE_MAX, this::tick);
            begin(() -> Upkeep.serve(person(), dealt.loaded(code).pipeline(), 2, 4));
            begin(() -> Upkeep.step(
                    person(),
                    dealt.loaded(code).pipeline(),
                    random.nextInt(8) == 0 ? 2 : 0,
                    () -> random.nextInt(8) > 0,
                    _ -> {}));
        }
    }

    /// Ends with the last version serving.
    private void settle() {
        Upkeep.serve(person(), dealt.loaded(code).pipeline(), 2, 4).ifPresent(reason -> {
            throw new AssertionError("Refused: " + reason);
        });
        for (int steps = 1; steps <= STEPS_MAX; steps++) {
            Upkeep.Outcome outcome = Upkeep.step(person(), dealt.loaded(code).pipeline(), 0, () -> true, _ -> {});
            if (outcome instanceof Upkeep.Outcome.Refused(var reason)) {
                throw new AssertionError("Refused: " + reason);
            }
            if (outcome instanceof Upkeep.Outcome.Idle) {
                return;
            }
        }
        throw new AssertionError("After " + STEPS_MAX + " steps Upkeep is not done");
    }

    /// A person sends all letters again, of which some are the function's to decide again. How many were in then.
    private int redrive() {
        int in = 0;
        judge.noteRedrive();
        AwsEngine engine = AwsEngine.deployed(person());
        for (DeadLetter letter : engine.deadLetters().list(0, 1_000)) {
            if (dealt.isExact() && letter.reason() == Reason.CONFLICT) {
                continue; // A loser that a person sends again stays where the winner has failed.
            }
            DeadLetters.Redriven redriven = engine.deadLetters().redrive(letter.id(), null);
            if (redriven == DeadLetters.Redriven.NO_RECORD && letter.reason().isOfStep() && !isLive) {
                redriven = engine.deadLetters().redrive(letter.id(), judge.record(engine, letter));
            }
            in += redriven == DeadLetters.Redriven.ACCEPTED ? 1 : 0;
            story.add("redrive " + letter.reason() + " " + letter.id() + ": " + redriven);
        }
        return in;
    }

    private Store person() {
        return deployment.process(deployment.dynamo.client("person"));
    }

    private void later(Duration max, Runnable action) {
        deployment.time.schedule(Duration.ofNanos(random.nextLong(max.toNanos()) + 1), action);
    }

    /// Begins something that may fail where a service does.
    private void begin(Runnable task) {
        var _ = deployment.start(() -> {
            try {
                task.run();
            } catch (RuntimeException | Error failed) {
                String message = String.valueOf(failed.getMessage());
                boolean mayFail = failed instanceof SdkException
                        || failed instanceof OlderCodeException
                        || message.contains("could not be written in")
                        || message.contains("have refused");
                failure = mayFail || failure != null ? failure : failed;
            }
        });
    }

    private Faults faults() {
        Faults faults = Faults.none().with(random.nextBoolean() ? Faults.Timing.USUAL : Faults.Timing.NONE);
        for (Fault fault : Fault.values()) {
            if (random.nextBoolean()) {
                faults = faults.with(fault, random.nextDouble() * (fault == Fault.DIES_WITH_CLIENT ? 1 : 0.08));
            }
        }
        return faults;
    }

    private Map<String, String> rows() {
        return rows(deployment, dealt.loaded(code));
    }

    /// The rows of all tables, as JSON, by table and key.
    static Map<String, String> rows(Deployment deployment, LoadedFunction loaded) {
        Map<String, String> rows = new TreeMap<>();
        for (OutputTable table : OutputTable.of(loaded.pipeline(), loaded.processing())) {
            String name = deployment.tables.output(table.name());
            for (Map<String, AttributeValue> item : deployment
                    .of(deployment
                            .dynamo
                            .client("look")
                            .scan(scan -> scan.tableName(name).consistentRead(true)))
                    .items()) {
                rows.put(
                        table.name() + " " + String.join(" ", table.rowKey(item).parts()),
                        Value.read(OutputTable.content(item)).toJson());
            }
        }
        return rows;
    }
}
