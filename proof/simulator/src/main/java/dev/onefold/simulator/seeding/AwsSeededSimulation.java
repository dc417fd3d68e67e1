package dev.onefold.simulator.seeding;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.resync.RowIntake;
import dev.onefold.aws.state.SeedNumbers;
import dev.onefold.aws.store.Store;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedClient;
import dev.onefold.fakes.aws.SimulatedDynamoDb;
import dev.onefold.fakes.aws.VirtualTime;
import dev.onefold.oracle.Oracle;
import dev.onefold.simulator.deployment.Deployment;
import dev.onefold.simulator.deployment.Intake;
import dev.onefold.simulator.deployment.People;
import dev.onefold.simulator.deployment.Person;
import dev.onefold.simulator.deployment.Reducers;
import dev.onefold.simulator.embedded.PipelineYaml;
import dev.onefold.simulator.judge.Judge;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/// The life of one deployment whose table is seeded while it changes. Changes come by a stream, late, twice and
/// at once, to functions that die; people seed from their machines, several at a time, which die in the middle,
/// and somebody goes on. At the end the rows are those of the table, and the totals those of the oracle.
///
/// One thread at a time and no clock but the seed's; so equal seeds are equal runs.
public final class AwsSeededSimulation {
    private static final Instant BEGINNING = Instant.parse("2030-01-01T00:00:00Z");
    private static final int SEEDERS_MAX = 3;
    private static final int ROUNDS_MAX = 60;
    private static final Duration LIFE_MAX = Duration.ofHours(6);

    /// Longer than anything that was sent can be on its way.
    private static final Duration AFTERWARDS = Duration.ofMinutes(30);

    private final SplittableRandom random;
    private final UserTable table;
    private final Pipeline pipeline;
    private final Deployment deployment;
    private final Intake intake;
    private final Reducers reducers;
    private final List<Work> seedings = new ArrayList<>();
    private final List<byte[]> written = new ArrayList<>();
    private final List<String> story = new ArrayList<>();

    private AwsSeededSimulation(long seed) {
        random = new SplittableRandom(seed);
        table = new UserTable(random.split());
        pipeline = PipelineYaml.read(table.pipeline());
        VirtualTime time = new VirtualTime(BEGINNING);
        deployment = new Deployment(time, new SimulatedDynamoDb(time, random.nextLong()), random.split());
        deployment.engine(pipeline, 1 + random.nextInt(3), 1 + random.nextInt(3)); // Makes the tables' definition.
        boolean faulty = random.nextInt(4) > 0;
        double faultChance = faulty ? random.nextDouble() * 0.3 : 0;
        Faults faults = faulty ? faults() : Faults.none();
        deployment.dynamo.inject(faults);
        reducers = new Reducers(deployment, random.split(), faultChance, faults);
        intake = new Intake(deployment, pipeline, random.split(), faultChance, faults);
    }

    /// Runs a seed.
    ///
    /// @throws AssertionError if a promise was broken; it says which, what happened before, and how to run it again
    public static void run(long seed) {
        AwsSeededSimulation simulation = new AwsSeededSimulation(seed);
        try {
            simulation.run();
        } catch (RuntimeException | Error failure) {
            throw new AssertionError(
                    "Seeding on AWS failed with seed " + seed + "; run it again with -Dseed=" + seed
                            + ", or as 'simulator --aws --tables --seed " + seed + "'.\n"
                            + String.join("\n", simulation.story) + "\n" + failure.getMessage() + "\n"
                            + simulation.table.pipeline(),
                    failure);
        }
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

    /// The process of somebody who seeds.
    private final class Work {
        private final SimulatedClient client = deployment.dynamo.client("seeder");
        private final @Nullable Seeder before;
        private final Person person;
        private @Nullable Seeder seeder;

        /// @param before the seeding that it continues
        Work(@Nullable Seeder before) {
            this.before = before;
            person = Person.begin(deployment.time, this::live);
        }

        private void live(Person me) {
            Store store = deployment.store(client, me);
            long number = SeedNumbers.draw(store, random.nextLong(1, 1_000));
            while (table.isOff()) {
                me.pause(Duration.ofSeconds(1));
            }
            Seeder mine = before == null ? Seeder.begin(table, number) : before.resume(number);
            seeder = mine;
            story.add("begun: " + mine);
            RowIntake rows = RowIntake.ofSeed(store, pipeline, number);
            while (!mine.isDone()) {
                mine.read(1 + random.nextInt(4));
                me.pause(Duration.ofNanos(random.nextLong(Duration.ofSeconds(5).toNanos()) + 1));
                Seeder.Lines lines = random.nextInt(3) == 0 ? null : mine.lines();
                if (lines != null) {
                    note(lines.bytes());
                    rows.append(table.seedKind(), lines.bytes(), lines.bytes().length);
                    mine.written(lines, random.nextInt(3) == 0);
                }
            }
            story.add("done: " + mine);
        }

        private void note(byte[] lines) {
            int from = 0;
            for (int i = 0; i < lines.length; i++) {
                if (lines[i] == '\n') {
                    written.add(Arrays.copyOfRange(lines, from, i));
                    from = i + 1;
                }
            }
        }

        /// The same seeding in another process.
        private Work again() {
            client.kill();
            person.close();
            return new Work(seeder == null ? before : seeder);
        }
    }

    private void run() {
        for (int rounds = random.nextInt(ROUNDS_MAX); rounds > 0; rounds--) {
            changeSome();
            if (seedings.size() < SEEDERS_MAX && random.nextInt(6) == 0) {
                seedings.add(new Work(null));
            }
            seedings.replaceAll(work -> random.nextInt(12) == 0 ? work.again() : work);
            pass();
        }
        if (table.isOff()) {
            table.switchOn();
        }
        // Begun when the log is on, or continued: then it reads all again if the log is another one.
        seedings.add(
                seedings.isEmpty() || random.nextBoolean()
                        ? new Work(null)
                        : seedings.removeFirst().again());
        Instant end = deployment.time.instant().plus(LIFE_MAX);
        while (!seedings.isEmpty()) {
            table.change();
            pass();
            requireBefore(end);
        }
        table.commitAll();
        List<byte[]> last = table.lastArrivals();
        while (!intake.isDone()) {
            pass();
            requireBefore(end);
        }
        intake.put(last);
        while (!intake.isDone()) {
            pass();
            requireBefore(end);
        }
        end();
        judge();
    }

    private void requireBefore(Instant end) {
        if (deployment.time.instant().isAfter(end)) {
            throw new IllegalStateException("After " + LIFE_MAX + " not all is in: " + intake.state());
        }
    }

    private void changeSome() {
        for (int i = random.nextInt(4); i > 0; i--) {
            table.change();
        }
        if (random.nextBoolean()) {
            table.commitSome();
        }
        if (table.isOff()) {
            table.switchOn();
            story.add("log on: " + table.identity());
        } else if (table.mayBeOff() && random.nextInt(12) == 0) {
            table.switchOff();
            story.add("log off");
        }
    }

    /// Time passes. Who is unlucky with the services goes on in another process.
    private void pass() {
        if (intake.isDone()) {
            intake.put(table.arrivals(1 + random.nextInt(6)));
        }
        deployment.time.runFor(Duration.ofMillis(1 + random.nextInt(3_000)));
        List<Work> again = new ArrayList<>();
        seedings.removeIf(work -> {
            Throwable failure = work.person.failure();
            if (failure != null && !People.isUnlucky(failure)) {
                throw new AssertionError("A seeding met " + failure.getMessage(), failure);
            }
            if (failure != null) {
                again.add(work);
            }
            return work.person.isGone();
        });
        again.forEach(work -> seedings.add(work.again()));
    }

    private void end() {
        intake.close();
        reducers.loseStream();
        deployment.dynamo.inject(Faults.none());
        deployment.time.runFor(AFTERWARDS); // Zombies wake up, and change nothing.
        reducers.close();
        if (intake.bug() != null || reducers.bug() != null) {
            throw new AssertionError("A function failed: " + intake.bug() + ", " + reducers.bug());
        }
    }

    private void judge() {
        AwsEngine engine = AwsEngine.deployed(deployment.store(deployment.dynamo.client("judge")));
        engine.reduce();
        StringBuilder wrong = new StringBuilder(TableJudge.wrongRows(engine, table));
        if (table.keys().stream().noneMatch(table::isGhost)) { // Else it is not known which seeding's row was in.
            Oracle oracle = Oracle.of(table.pipeline());
            intake.everything().forEach(came -> oracle.accept(came.place(), came.part(), came.data()));
            for (int i = 0; i < written.size(); i++) {
                oracle.accept("seeds", i + 1L, written.get(i));
            }
            wrong.append(Judge.wrongTotals(engine, oracle));
        }
        var verification = engine.verify();
        long letters = engine.deadLetters().size();
        if (!wrong.isEmpty() || !verification.isEqual() || letters > 0) {
            throw new IllegalStateException(
                    wrong + "verify: " + verification.differences() + ", " + letters + " dead letters");
        }
    }
}
