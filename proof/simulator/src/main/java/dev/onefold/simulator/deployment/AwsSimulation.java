package dev.onefold.simulator.deployment;

import dev.onefold.aws.AwsEngine;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedDynamoDb;
import dev.onefold.fakes.aws.VirtualTime;
import dev.onefold.oracle.Oracle;
import dev.onefold.oracle.Possible;
import dev.onefold.oracle.generate.RandomCase;
import dev.onefold.simulator.embedded.PipelineYaml;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/// The life of one deployment: one seed says the pipeline, its records, who puts them into the stream how often,
/// how shards are split and merged, how the event source mapping cuts batches and which of these come twice, late
/// or at once, which functions die when, what the services do to each request, and what people ask and do
/// meanwhile. Tables are restored from backups. An answer that says that it covers all records is right; at the end
/// the totals are those of the oracle, every rejected record is kept once, unless somebody took care of it, and
/// `verify` finds nothing.
///
/// One thread and no clock but the seed's; so equal seeds are equal runs.
public final class AwsSimulation {
    private static final int LANES_MAX = 4;
    private static final Instant BEGINNING = Instant.parse("2030-01-01T00:00:00Z");
    private static final Instant FIRST_TIME = BEGINNING.minus(RandomCase.TIMES.dividedBy(2));
    private static final int RESTORING_ONE_IN = 8;
    private static final Duration LIFE_MAX = Duration.ofHours(6);

    /// Longer than anything that was sent can be on its way.
    private static final Duration AFTERWARDS = Duration.ofMinutes(30);

    private final SplittableRandom random;
    private final RandomCase dealt;
    private final Pipeline pipeline;
    private final Deployment deployment;
    private final List<String> story = new ArrayList<>();
    private final int lanes;
    private final Readers readers;

    private AwsSimulation(long seed) {
        random = new SplittableRandom(seed);
        dealt = suitable(random);
        pipeline = PipelineYaml.read(dealt.pipeline());
        VirtualTime time = new VirtualTime(BEGINNING);
        SimulatedDynamoDb dynamo = new SimulatedDynamoDb(time, random.nextLong());
        deployment = new Deployment(time, dynamo, random.split());
        lanes = 1 + random.nextInt(LANES_MAX);
        readers = new Readers(deployment, random.split());
    }

    /// A pipeline that can be on AWS.
    private static RandomCase suitable(SplittableRandom random) {
        while (true) {
            RandomCase drawn = RandomCase.of(random, FIRST_TIME);
            Pipeline pipeline = PipelineYaml.read(drawn.pipeline());
            if (Releases.isPossible(pipeline)) {
                return drawn;
            }
        }
    }

    /// Runs a seed.
    ///
    /// @return what happened, in short
    /// @throws AssertionError if a promise was broken; it says which, and how to run it again
    public static String run(long seed) {
        AwsSimulation simulation = new AwsSimulation(seed);
        try {
            simulation.run();
            return simulation.story + ", until " + simulation.deployment.time.instant() + ", "
                    + simulation.deployment.dynamo.tally();
        } catch (RuntimeException | Error failure) {
            throw new AssertionError(
                    "The engine on AWS failed with seed " + seed + "; run it again with -Dseed=" + seed
                            + ", or as 'simulator --aws --seed " + seed + "'.\n" + String.join("\n", simulation.story)
                            + "\n" + failure.getMessage() + "\n" + simulation.dealt,
                    failure);
        }
    }

    private void run() {
        deployment.engine(pipeline, lanes, 1 + random.nextInt(4)); // Makes the tables' definition.
        boolean faulty = random.nextInt(4) > 0;
        double faultChance = faulty ? random.nextDouble() * 0.3 : 0;
        Faults faults = faulty ? faults() : Faults.none();
        story.add("lanes " + lanes + ", faultChance " + faultChance + ", " + faults);
        deployment.dynamo.inject(faults);
        Reducers reducers = new Reducers(deployment, random.split(), faultChance, faults);
        Releases releases = new Releases(deployment, random.split(), faultChance, dealt.pipeline(), story);
        Intake intake = new Intake(deployment, pipeline, random.split(), faultChance, faults);
        story.add(intake.toString());
        LetterOperator clerk = new LetterOperator(dealt.lines(), pipeline, releases, random.split(), story);
        boolean restores = !releases.narrow() && random.nextInt(RESTORING_ONE_IN) == 0;
        Restores restored = new Restores(
                deployment, random.split(), new Restores.Taken(intake, clerk, readers, !releases.areSeveral()), story);
        Questions questions = new Questions(pipeline, possible(), random.split(), releases.narrow() || restores);
        People people = new People(
                deployment,
                random.split(),
                faultChance,
                new People.Work(questions, clerk, intake, readers, restored),
                story);
        FinalCheck truth = new FinalCheck(deployment, intake, clerk, story);
        List<byte[]> lines = Padding.some(dealt.lines(), random);
        int first = random.nextInt(4) == 0 ? random.nextInt(lines.size() + 1) : lines.size();
        if (restores) {
            restored.begin(deployment.time.instant().minus(Duration.ofMinutes(1)));
        }
        live(intake, people, restored, lines.subList(0, first));
        if (!releases.narrow()) {
            truth.requireCovering(dealt.pipeline());
        }
        if (first < lines.size()) {
            intake.replaceStream();
            story.add("stream replaced");
            live(intake, people, restored, lines.subList(first, lines.size()));
        }
        intake.close();
        reducers.loseStream();
        readers.stop();
        releases.stop();
        people.stop();
        deployment.dynamo.inject(Faults.none());
        deployment.time.runFor(AFTERWARDS); // Zombies wake up, and change nothing.
        people.leave();
        reducers.close();
        if (intake.bug() != null || reducers.bug() != null) {
            throw new AssertionError("A function failed: " + intake.bug() + ", " + reducers.bug());
        }
        judge(releases, truth);
    }

    private void judge(Releases releases, FinalCheck truth) {
        AwsEngine engine = AwsEngine.deployed(deployment.store(deployment.dynamo.client("judge")));
        engine.reduce();
        releases.settle();
        if (releases.narrow()) {
            truth.requireNoOtherRows(engine, releases.deployed());
            releases.widen();
            releases.settle();
        }
        truth.require(engine, releases.deployed());
    }

    /// What may be seen while the records come; people put no others into the places of dead letters.
    private Possible possible() {
        Oracle oracle = Oracle.of(dealt.pipeline().replaceFirst("  horizon: .*", "  horizon: 99d"));
        for (int i = 0; i < dealt.lines().size(); i++) {
            oracle.accept("any", i + 1L, dealt.lines().get(i), BEGINNING.toEpochMilli());
        }
        return oracle.possible();
    }

    /// Until all of these are in the stream, and in invocations that succeeded.
    private void live(Intake intake, People people, Restores restored, List<byte[]> records) {
        intake.put(records);
        boolean replaces = random.nextInt(8) == 0;
        Instant end = deployment.time.instant().plus(LIFE_MAX);
        while (!intake.isDone() || restored.isUnderWay()) {
            people.throwFailure();
            restored.throwFailure();
            if (deployment.time.instant().isAfter(end)) {
                throw new IllegalStateException("After " + LIFE_MAX + " not all records are in: " + intake.state());
            }
            deployment.time.runFor(Duration.ofMillis(1 + random.nextInt(3_000)));
            if (replaces && random.nextInt(4) == 0) {
                replaces = false;
                intake.replaceMapping();
            }
        }
        restored.throwFailure();
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
}
