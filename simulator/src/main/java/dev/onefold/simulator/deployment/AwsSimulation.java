package dev.onefold.simulator.deployment;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.Store;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Row;
import dev.onefold.aws.read.TotalsReads;
import dev.onefold.aws.reduce.Reduce;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.Filling;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.Verification;
import dev.onefold.core.aggregate.Aggregate;
import dev.onefold.core.event.Reason;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Totals;
import dev.onefold.simulator.aws.Fault;
import dev.onefold.simulator.aws.Faults;
import dev.onefold.simulator.aws.SimulatedDynamoDb;
import dev.onefold.simulator.aws.VirtualTime;
import dev.onefold.simulator.embedded.PipelineYaml;
import dev.onefold.simulator.generate.RandomCase;
import dev.onefold.simulator.judge.Judge;
import dev.onefold.simulator.oracle.Oracle;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;

/// The life of one deployment: one seed says the pipeline, its records, who puts them into the stream how often, how
/// shards are split and merged, how the event source mapping cuts batches and which of these come twice, late or at
/// once, which functions die when, what the services do to each request, and what people ask meanwhile. At the end the
/// totals are those of the oracle, every rejected record is kept once, and `verify` finds nothing.
///
/// One thread and no clock but the seed's; so equal seeds are equal runs.
public final class AwsSimulation {
    private static final int LANES_MAX = 4;
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
        VirtualTime time = new VirtualTime(Instant.parse("2030-01-01T00:00:00Z"));
        SimulatedDynamoDb dynamo = new SimulatedDynamoDb(time, random.nextLong());
        deployment = new Deployment(time, dynamo, random.split());
        lanes = 1 + random.nextInt(LANES_MAX);
        readers = new Readers(deployment, random.split());
    }

    /// A pipeline that can be on AWS; a horizon means nothing there, where claims never expire.
    private static RandomCase suitable(SplittableRandom random) {
        while (true) {
            RandomCase drawn = RandomCase.of(random);
            Pipeline pipeline = PipelineYaml.read(drawn.pipeline());
            if (!drawn.dependsOnOrder() && isPossible(pipeline)) {
                return drawn;
            }
        }
    }

    private static boolean isPossible(Pipeline pipeline) {
        try {
            AwsEngine.requirePossible(pipeline, LANES_MAX);
            return true;
        } catch (IllegalArgumentException refused) {
            return false;
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
        AwsEngine engine = deployment.engine(pipeline, lanes, 1 + random.nextInt(4));
        if (random.nextBoolean()) {
            addView();
        }
        boolean faulty = random.nextInt(4) > 0;
        double nastiness = faulty ? random.nextDouble() * 0.3 : 0;
        Faults faults = faulty ? faults() : Faults.none();
        story.add("lanes " + lanes + ", nastiness " + nastiness + ", " + faults);
        deployment.dynamo.inject(faults);
        Reducers reducers = new Reducers(deployment, random.split(), nastiness, faults);
        Releases releases = new Releases(deployment, random.split(), nastiness, dealt.pipeline(), story);
        Intake intake = new Intake(deployment, pipeline, random.split(), nastiness, faults);
        story.add(intake.toString());
        List<byte[]> lines = dealt.lines();
        int first = random.nextInt(4) == 0 ? random.nextInt(lines.size() + 1) : lines.size();
        live(engine, intake, lines.subList(0, first));
        if (first < lines.size()) {
            intake.replaceStream();
            story.add("stream replaced");
            live(engine, intake, lines.subList(first, lines.size()));
        }
        intake.close();
        reducers.loseStream();
        readers.stop();
        releases.stop();
        deployment.dynamo.inject(Faults.none());
        deployment.time.runFor(AFTERWARDS); // Zombies wake up, and change nothing.
        reducers.close();
        engine.reduce();
        if (intake.bug() != null || reducers.bug() != null) {
            throw new AssertionError("A function failed: " + intake.bug() + ", " + reducers.bug());
        }
        judge(engine, intake, Oracle.of(releases.settle()));
    }

    /// Until all of these are in the stream, and in invocations that succeeded.
    private void live(AwsEngine engine, Intake intake, List<byte[]> records) {
        intake.put(records);
        boolean replaces = random.nextInt(8) == 0;
        Instant end = deployment.time.instant().plus(LIFE_MAX);
        while (!intake.isDone()) {
            if (deployment.time.instant().isAfter(end)) {
                throw new IllegalStateException("After " + LIFE_MAX + " not all records are in: " + intake.state());
            }
            deployment.time.runFor(Duration.ofMillis(1 + random.nextInt(3_000)));
            if (random.nextInt(3) == 0) {
                ask(engine);
            }
            if (replaces && random.nextInt(4) == 0) {
                replaces = false;
                intake.replaceMapping();
            }
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

    /// What a person does while records arrive; who is unlucky with the services asks again.
    private void ask(AwsEngine engine) {
        try {
            switch (random.nextInt(8)) {
                case 2 -> addView();
                case 0 -> {
                    Verification verification = engine.verify();
                    story.add("verify: " + verification.differences());
                    if (!verification.isEqual()) {
                        throw new AssertionError("verify found " + verification.differences());
                    }
                }
                case 1 -> {
                    Verification verification = engine.rebuild();
                    story.add("rebuild: " + verification.differences());
                    if (!verification.isEqual()) {
                        throw new AssertionError("rebuild found " + verification.differences());
                    }
                }
                default -> {
                    int rollup = random.nextInt(pipeline.rollups().size());
                    lookAt(rollup);
                    story.add("query " + pipeline.rollups().get(rollup).name());
                }
            }
        } catch (software.amazon.awssdk.core.exception.SdkException e) {
            story.add("unlucky: " + e);
        } catch (IllegalStateException e) {
            if (!String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT).contains("try again")) {
                throw e;
            }
            story.add("in the way: " + e.getMessage()); // Of a release, or an audit.
        }
    }

    /// A second view of the same definition, from some time on; with the first one it is equal in every cut.
    private void addView() {
        Store store = deployment.store(deployment.dynamo.client("filler"));
        Definitions definitions = new Definitions(store);
        Definition before = deployment.of(definitions.load());
        if (before.views().size() > 1) {
            return;
        }
        Definition both = before.withView(before.servedView().pipeline());
        if (deployment.of(definitions.replace(both)).equals(both)) {
            deployment.of(Filling.fill(store, both, both.last(), "reader", () -> true));
            for (int lane = 0; lane < lanes; lane++) {
                deployment.of(Reduce.lane(store, lane)); // From then on all that the filling wrote is in.
            }
            readers.begin(both);
            story.add("view " + both.last() + " added");
        }
    }

    /// In one cut nothing is retracted that was not added, and no key is there twice.
    private void lookAt(int rollup) {
        Store store = deployment.store(deployment.dynamo.client("reader"));
        Definition definition = deployment.of(new Definitions(store).load());
        Totals totals = deployment
                .of(new TotalsReads(store, definition)
                        .read(List.of(TotalsReads.Part.of(definition.servedView(), rollup, Tuple.of(List.of())))))
                .totals()
                .getFirst();
        long rows = 0;
        for (Aggregate leaf : totals.leaves().values()) {
            if (leaf.rows() < 0) {
                throw new AssertionError("A group has " + leaf.rows() + " rows");
            }
            rows += leaf.rows();
        }
        long keys = deployment
                .of(store.retried(() -> store.client()
                        .scan(request ->
                                request.tableName(store.tables().rows()).consistentRead(true))))
                .items()
                .stream()
                .filter(Row::isRow)
                .count();
        if (rows > keys) {
            throw new AssertionError("There are " + rows + " rows of " + keys + " keys");
        }
    }

    private void judge(AwsEngine engine, Intake intake, Oracle oracle) {
        List<Intake.Came> came = intake.everything();
        came.forEach(each -> oracle.accept(each.place(), each.part(), each.data()));
        String wrong = Judge.wrongTotals(engine, oracle);
        TreeSet<String> right = new TreeSet<>();
        oracle.malformed().forEach(refusal -> right.add(refusal.source() + ":" + refusal.line()));
        List<String> kept = engine.deadLetters().list(0, Integer.MAX_VALUE).stream()
                .filter(letter -> letter.reason() != Reason.CONFLICT)
                .map(DeadLetter::place)
                .map(place -> place.source() + ":" + place.line())
                .sorted()
                .toList();
        if (!kept.equals(List.copyOf(right))) {
            wrong += "dead letters are " + kept + "\n but must be " + right + "\n";
        }
        wrong += wrongRecords(engine, came);
        Verification verification = engine.verify();
        if (!verification.isEqual()) {
            wrong += "verify found " + verification.differences() + "\n";
        }
        if (!wrong.isEmpty()) {
            throw new AssertionError(wrong);
        }
    }

    /// Letters whose record is not what came. A loser of a conflict may be kept as what was read of it; that it is
    /// whole its hash says.
    private static String wrongRecords(AwsEngine engine, List<Intake.Came> came) {
        Map<String, byte[]> right = new TreeMap<>();
        came.forEach(each -> right.put(each.place() + ":" + each.part(), each.data()));
        StringBuilder wrong = new StringBuilder();
        for (DeadLetter letter : engine.deadLetters().list(0, Integer.MAX_VALUE)) {
            byte[] kept = engine.deadLetters().record(letter.id());
            if (letter.reason() != Reason.CONFLICT
                    && !Arrays.equals(
                            kept,
                            right.get(letter.place().source() + ":"
                                    + letter.place().line()))) {
                wrong.append("the record of dead letter ").append(letter).append(" is another one\n");
            }
        }
        return wrong.toString();
    }
}
