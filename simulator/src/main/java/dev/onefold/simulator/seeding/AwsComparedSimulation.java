package dev.onefold.simulator.seeding;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.comparison.ComparedSource;
import dev.onefold.aws.comparison.Comparing;
import dev.onefold.aws.comparison.Comparing.Outcome;
import dev.onefold.aws.comparison.Tally;
import dev.onefold.aws.store.Store;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Row;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedClient;
import dev.onefold.fakes.aws.SimulatedDynamoDb;
import dev.onefold.fakes.aws.VirtualTime;
import dev.onefold.simulator.deployment.Deployment;
import dev.onefold.simulator.deployment.Intake;
import dev.onefold.simulator.deployment.People;
import dev.onefold.simulator.deployment.Person;
import dev.onefold.simulator.deployment.Reducers;
import dev.onefold.simulator.embedded.ChangeForm;
import dev.onefold.simulator.embedded.MovingTable;
import dev.onefold.simulator.embedded.MovingTable.Change;
import dev.onefold.simulator.embedded.MovingTable.Content;
import dev.onefold.tables.Rate;
import dev.onefold.tables.compare.Finding.Kind;
import dev.onefold.tables.compare.SourceComparison.Passing;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// The life of a deployment that compares itself with a table, and perhaps repairs, by the function's own code. An
/// outage loses changes. A clock wakes the function, also while an invocation of before runs; an invocation has little
/// time, or is killed in the middle; views change; services fail.
///
/// A comparison that has come to its end has found each row that had drifted when it began and has not changed since.
/// When nothing moves, it finds exactly what has drifted; and if it repairs, the totals are those of the table.
///
/// One thread at a time and no clock but the seed's; so equal seeds are equal runs.
public final class AwsComparedSimulation {
    private static final Instant BEGINNING = Instant.parse("2030-01-01T00:00:00Z");
    private static final Duration LIFE_MAX = Duration.ofHours(12);
    private static final Duration AFTERWARDS = Duration.ofMinutes(30);
    private static final Duration EVERY = Duration.ofMinutes(10);

    /// More than two clocks of processes are apart.
    private static final Duration SKEW = Duration.ofSeconds(8);

    private static final int SHORT_SECONDS_MIN = 30;
    private static final int SHORT_SECONDS_MAX = 300;
    private static final Duration WHOLE = Duration.ofMinutes(14);

    private final SplittableRandom random;
    private final ChangeForm reads;
    private final MovingTable table;
    private final Deployment deployment;
    private final Intake intake;
    private final Reducers reducers;
    private final double killChance;
    private final Comparing.Settings settings;
    private final List<Invocation> invocations = new ArrayList<>();
    private final List<Reading> readings = new ArrayList<>();
    private final List<String> story = new ArrayList<>();
    private @Nullable Instant still;
    private @Nullable Tally last;
    private long toldWhenStill;
    private boolean isStill;

    /// When a reading of the table began, and what was committed by then.
    private record Reading(Instant at, long position) {}

    private AwsComparedSimulation(long seed) {
        random = new SplittableRandom(seed);
        reads = ChangeForm.any(random);
        table = new MovingTable(random.split(), reads.hasTransactions());
        VirtualTime time = new VirtualTime(BEGINNING);
        deployment = new Deployment(time, new SimulatedDynamoDb(time, random.nextLong()), random.split());
        deployment.engine(reads.pipeline(), 1 + random.nextInt(3), 1 + random.nextInt(3));
        boolean faulty = random.nextInt(4) > 0;
        double faultChance = faulty ? random.nextDouble() * 0.3 : 0;
        killChance = faulty ? random.nextDouble() * 0.5 : 0;
        Faults faults = faulty ? faults() : Faults.none();
        deployment.dynamo.inject(faults);
        reducers = new Reducers(deployment, random.split(), faultChance, faults);
        intake = new Intake(deployment, reads.pipeline(), random.split(), faultChance, faults);
        settings = new Comparing.Settings("T", random.nextInt(3) > 0, EVERY, 1_000, Duration.ofSeconds(1));
    }

    /// Runs a seed.
    ///
    /// @throws AssertionError if a promise was broken; it says which, and what happened before
    public static void run(long seed) {
        AwsComparedSimulation simulation = new AwsComparedSimulation(seed);
        try {
            simulation.run();
        } catch (RuntimeException | Error failure) {
            throw new AssertionError(
                    "A comparison on AWS failed with seed " + seed + " (" + simulation.reads + ", "
                            + simulation.settings + ")\n" + String.join("\n", simulation.story) + "\n" + failure,
                    failure);
        }
    }

    private Faults faults() {
        Faults faults = Faults.none().with(random.nextBoolean() ? Faults.Timing.USUAL : Faults.Timing.NONE);
        for (Fault fault : Fault.values()) {
            if (random.nextBoolean()) {
                faults = faults.with(fault, random.nextDouble() * (fault == Fault.DIES_WITH_CLIENT ? 1 : 0.05));
            }
        }
        return faults;
    }

    private void run() {
        rounds(10);
        table.lose(true);
        rounds(6);
        table.lose(false);
        rounds(10);
        for (int i = random.nextInt(4); i > 0; i--) {
            wakeAtEachTick(random.nextInt(12));
            table.lose(random.nextInt(3) == 0);
            rounds(4);
            table.lose(false);
        }
        isStill = true;
        intake.keepShards();
        table.commitOpen();
        Instant end = deployment.time.instant().plus(LIFE_MAX);
        drain(end);
        Set<String> drifted = drifted(judge());
        still = deployment.time.instant();
        last = null;
        while (last == null) {
            wakeAtEachTick(1);
            require(deployment.time.instant().isBefore(end), "a comparison does not come to its end");
        }
        requireRight(last, drifted);
        close();
    }

    private void requireRight(Tally tally, Set<String> drifted) {
        long found = found(tally);
        if (settings.repairs() && !table.rows().isEmpty()) { // Of an empty table nobody removes rows.
            require(tally.left() == 0, "not all is repaired: " + tally);
            require(
                    killChance > 0 || toldWhenStill >= drifted.size(), // One that is killed at its end tells nobody.
                    "told of " + toldWhenStill + ", drifted were " + drifted);
            require(drifted(judge()).isEmpty(), "still different: " + drifted(judge()));
        } else {
            require(found == drifted.size(), "found " + tally + ", drifted are " + drifted);
        }
    }

    private static long found(Tally tally) {
        require(
                tally.lines().stream().noneMatch(line -> line.startsWith("refused") || line.startsWith("version")),
                "a finding that cannot be: " + tally);
        long found = 0;
        for (Kind kind : Kind.values()) {
            for (dev.onefold.tables.compare.Finding.Outcome outcome :
                    dev.onefold.tables.compare.Finding.Outcome.values()) {
                found += tally.count(kind, outcome);
            }
        }
        return found;
    }

    private void close() {
        invocations.forEach(Invocation::die);
        intake.close();
        reducers.loseStream();
        deployment.dynamo.inject(Faults.none());
        deployment.time.runFor(AFTERWARDS); // Zombies wake up, and change nothing.
        reducers.close();
        if (intake.bug() != null || reducers.bug() != null) {
            throw new AssertionError("A function failed: " + intake.bug() + ", " + reducers.bug());
        }
        AwsEngine engine = judge();
        engine.reduce();
        require(engine.verify().isEqual(), "the totals are not those of the rows");
        if (settings.repairs() && !table.rows().isEmpty()) {
            require(drifted(judge()).isEmpty(), "in the end different: " + drifted(judge()));
        }
    }

    private AwsEngine judge() {
        return AwsEngine.deployed(deployment.store(deployment.dynamo.client("judge")));
    }

    private static void require(boolean good, String message) {
        if (!good) {
            throw new AssertionError(message);
        }
    }

    // What moves.

    private void rounds(int most) {
        for (int i = random.nextInt(most); i > 0; i--) {
            for (int j = random.nextInt(5); j > 0 && !isStill; j--) {
                table.change();
            }
            pass();
        }
    }

    /// The clock of the function; from time to time somebody makes another view.
    private void wakeAtEachTick(int ticks) {
        for (int i = 0; i < ticks; i++) {
            invocations.add(new Invocation());
            if (random.nextInt(8) == 0) {
                Person.begin(deployment.time, me -> rebuild(me));
            }
            for (int j = 1 + random.nextInt(3); j > 0; j--) {
                rounds(3);
                deployment.time.runFor(Duration.ofSeconds(random.nextInt(120)));
                requireNoBug();
            }
        }
    }

    private void rebuild(Person me) {
        try {
            AwsEngine.deployed(deployment.store(deployment.dynamo.client("operator"), me))
                    .rebuild();
        } catch (RuntimeException failed) {
            if (!People.isUnlucky(failed)) {
                throw failed;
            }
        }
    }

    private void requireNoBug() {
        for (Invocation invocation : invocations) {
            Throwable failure = invocation.person.failure();
            if (failure != null && !isUnlucky(failure)) {
                throw new AssertionError("The function met " + failure, failure);
            }
        }
        invocations.removeIf(invocation -> invocation.person.isGone());
    }

    private static boolean isUnlucky(Throwable failure) {
        return People.isUnlucky(failure)
                || failure instanceof IllegalStateException
                        && String.valueOf(failure.getMessage()).contains("nothing was heard of this one");
    }

    private void pass() {
        if (intake.isPut()) {
            List<byte[]> records = new ArrayList<>();
            for (Change change : table.undelivered()) {
                if (isStill || random.nextInt(3) > 0) {
                    change.isDelivered = true;
                    records.add(reads.record(change).getBytes(StandardCharsets.UTF_8));
                }
            }
            intake.put(records);
        }
        deployment.time.runFor(Duration.ofMillis(1 + random.nextInt(isStill ? 20_000 : 3_000)));
    }

    private void drain(Instant end) {
        do {
            pass();
            require(deployment.time.instant().isBefore(end), "not all comes in: " + intake.state());
        } while (!table.undelivered().isEmpty() || !intake.isDone());
    }

    /// One invocation of the function, in a process of its own.
    private final class Invocation implements ComparedSource {
        private final SimulatedClient client = deployment.dynamo.client("compare");
        private final SplittableRandom chance = random.split();
        private final Person person;
        private @Nullable Store store;

        Invocation() {
            Duration time = isStill && chance.nextBoolean()
                    ? WHOLE
                    : Duration.ofSeconds(SHORT_SECONDS_MIN + chance.nextInt(SHORT_SECONDS_MAX - SHORT_SECONDS_MIN));
            Instant end = deployment.time.instant().plus(time);
            person = Person.begin(deployment.time, me -> live(me, end));
            boolean isKilled = chance.nextDouble() < (isStill ? killChance / 4 : killChance);
            Duration life =
                    isKilled ? Duration.ofMillis(chance.nextLong(time.toMillis())) : time.plus(Duration.ofMinutes(1));
            deployment.time.after(life, this::die);
        }

        void die() {
            if (!person.isGone()) {
                client.kill();
                person.close();
            }
        }

        private void live(Person me, Instant end) {
            store = deployment.store(client, me);
            Outcome outcome = new Comparing(store, settings, this, _ -> {})
                    .step(() -> Duration.between(deployment.time.instant(), end).toMillis());
            switch (outcome) {
                case Outcome.Idle _ -> {}
                case Outcome.Waiting _ -> {}
                case Outcome.Working(var slices) -> story.add("working, left " + slices);
                case Outcome.Failed failed -> story.add("failed: " + failed.why());
                case Outcome.Compared(var begun, var tally) -> {
                    story.add("compared since " + begun + ": " + tally);
                    toldWhenStill += isStill ? found(tally) + tally.unended() : 0;
                    requireAllFound(begun, tally, drifted(AwsEngine.deployed(store)));
                    if (still != null && !begun.minus(SKEW).isBefore(still)) {
                        last = tally;
                    }
                }
            }
        }

        @Override
        public Found find(Pipeline pipeline) {
            return new Found(
                    id(),
                    new MovingRows(
                            table,
                            reads,
                            person,
                            ends -> {
                                if (!ends) {
                                    readings.add(new Reading(deployment.time.instant(), table.now()));
                                }
                            },
                            chance),
                    reads.stream());
        }

        @Override
        public String id() {
            return "moving";
        }

        @Override
        public Rate ofRows() {
            return Rate.of(0);
        }

        @Override
        public Passing passing(long number, BooleanSupplier isStopped) {
            return () -> {
                List<Change> coming = table.undelivered();
                do {
                    pause(isStopped);
                } while (!intake.isPut() || coming.stream().anyMatch(change -> !change.isDelivered));
                intake.catchUp(Objects.requireNonNull(store), isStopped);
                while (intake.hasRetries()) {
                    pause(isStopped);
                }
            };
        }

        private void pause(BooleanSupplier isStopped) throws InterruptedException {
            if (isStopped.getAsBoolean()) {
                throw new InterruptedException("It was stopped");
            }
            person.pause(Duration.ofSeconds(1));
        }
    }

    // What is right.

    /// Whatever differs now and has not changed since the comparison began, it has found.
    private void requireAllFound(Instant begun, Tally tally, Set<String> drifted) {
        long from = readings.stream()
                .filter(reading -> !reading.at().isBefore(begun.minus(SKEW)))
                .mapToLong(Reading::position)
                .findFirst()
                .orElseThrow();
        drifted.removeIf(
                key -> table.log().stream().anyMatch(change -> change.key.equals(key) && change.committed > from));
        require(
                drifted.size() <= found(tally) + tally.moved(),
                "found " + tally + ", and these differ since before: " + drifted);
        require(drifted.isEmpty() || tally.left() + tally.moved() > 0, "nothing is left, and these differ: " + drifted);
    }

    /// Keys of which the rows say something else than the table.
    private Set<String> drifted(AwsEngine engine) {
        Set<String> keys = new HashSet<>();
        table.log().forEach(change -> keys.add(change.key));
        Set<String> drifted = new HashSet<>();
        for (String key : keys) {
            Row row = engine.get(List.of(key))
                    .filter(each -> !each.payload().groups().isEmpty())
                    .orElse(null);
            if (!isRight(row, table.rows().get(key))) {
                drifted.add(key);
            }
        }
        return drifted;
    }

    private boolean isRight(@Nullable Row row, @Nullable Content right) {
        if (row == null || right == null) {
            return row == null && right == null;
        }
        return row.payload().groups().getFirst().parts().equals(List.of(right.city()))
                && row.payload().amounts().contains(new Amount.Number(BigDecimal.valueOf(right.stars())))
                && (reads.isByPlace()
                        || Objects.requireNonNull(row.version().number()).longValueExact() == right.version());
    }
}
