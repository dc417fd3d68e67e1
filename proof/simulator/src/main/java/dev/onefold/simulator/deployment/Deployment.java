package dev.onefold.simulator.deployment;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.function.Metrics;
import dev.onefold.aws.item.OutputTable;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.Threads;
import dev.onefold.aws.store.UserFunction;
import dev.onefold.core.keyed.StepFunction.Caller;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.fakes.aws.DeploymentTables;
import dev.onefold.fakes.aws.SimulatedClient;
import dev.onefold.fakes.aws.SimulatedDynamoDb;
import dev.onefold.fakes.aws.VirtualTime;
import dev.onefold.fakes.aws.bucket.SimulatedBucket;
import java.io.OutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/// The tables of one pipeline on the simulated service.
public final class Deployment {
    private static final long CLOCK_SKEW_MS_MAX = 3_000;
    private static final int BATCH_MAX = 100;

    /// For functions whose log nobody reads.
    static final Metrics SILENT = new Metrics(new PrintStream(OutputStream.nullOutputStream()), "simulated");

    public final VirtualTime time;
    public final SimulatedDynamoDb dynamo;
    public final SimulatedBucket bucket;
    public final Store.Tables tables = Store.Tables.of("it");
    private final SplittableRandom random;
    private final int deltasPerCommitMax;
    private final long clockSkewMsMax;
    private int streams;
    private boolean requiresPure = true;
    private Optional<LoadedFunction> released = Optional.empty();

    /// One whose commits take few deltas, or as many as they can, as chance says.
    public Deployment(VirtualTime time, SimulatedDynamoDb dynamo, SplittableRandom random) {
        this(
                time,
                dynamo,
                random,
                random.nextBoolean() ? Store.DELTAS_PER_COMMIT_MAX : 1 + random.nextInt(4),
                CLOCK_SKEW_MS_MAX);
    }

    Deployment(
            VirtualTime time,
            SimulatedDynamoDb dynamo,
            SplittableRandom random,
            int deltasPerCommitMax,
            long clockSkewMsMax) {
        this.time = time;
        this.dynamo = dynamo;
        this.random = random;
        bucket = new SimulatedBucket(time, dynamo::faults, random.split());
        this.deltasPerCommitMax = deltasPerCommitMax;
        this.clockSkewMsMax = clockSkewMsMax;
        DeploymentTables.requests(tables.rows(), tables.deltas(), tables.totals(), tables.letters())
                .forEach(request -> of(dynamo.client("deploy").createTable(request)));
    }

    /// One in which nothing goes wrong.
    public static Deployment calm() {
        VirtualTime time = new VirtualTime(Instant.parse("2030-01-01T00:00:00Z"));
        return new Deployment(time, new SimulatedDynamoDb(time, 1), new SplittableRandom(1));
    }

    /// Brings records into the rows, in batches as a stream delivers them, and then into the totals.
    public void feed(AwsEngine engine, List<byte[]> records) {
        Store store = process(dynamo.client("function"));
        for (int from = 0; from < records.size(); from += BATCH_MAX) {
            List<Arrival> batch = new ArrayList<>();
            for (int i = from; i < Math.min(records.size(), from + BATCH_MAX); i++) {
                batch.add(new Arrival("stream/shard", Integer.toString(i + 1), 0, records.get(i)));
            }
            StateAndMap.process(store, batch);
        }
        engine.reduce();
    }

    /// The tables as a process of the functions sees them.
    public Store function() {
        return store(dynamo.client("function"));
    }

    /// The tables as one process sees them, whose clock is not quite right.
    public Store store(SimulatedClient client) {
        return store(client, new SimulatedThreads(time, client));
    }

    /// The same for a process of somebody's.
    public Store store(SimulatedClient client, Threads threads) {
        Duration skew = Duration.ofMillis(random.nextLong(-clockSkewMsMax, clockSkewMsMax));
        return new Store(
                        client,
                        tables,
                        threads,
                        random.split(),
                        () -> time.instant().plus(skew))
                .withDeltasPerCommitMax(deltasPerCommitMax)
                .with(new Store.Bucket(() -> bucket.client(client), Optional.of("letters")));
    }

    /// The same for a process whose clock, random numbers and commits are a test's.
    Store store(SimulatedClient client, long seed, InstantSource clock, int deltasPerCommitMax) {
        return new Store(client, tables, new SimulatedThreads(time, client), new SplittableRandom(seed), clock)
                .withDeltasPerCommitMax(deltasPerCommitMax);
    }

    /// The name of a stream that is another one's.
    String nextStream() {
        return "s" + (++streams == 1 ? "" : streams);
    }

    /// Deploys a user's function: processes that begin from now on have it.
    public void release(LoadedFunction function) {
        release(function, true);
    }

    /// The same.
    ///
    /// @param isPure whether another result at the second call is a bug; a call that takes too long returns another
    public void release(LoadedFunction function, boolean isPure) {
        released = Optional.of(function);
        requiresPure = isPure;
    }

    /// The pipeline that a process of the functions is given which begins now.
    ///
    /// @param first of a deployment without a user's function
    Pipeline released(Pipeline first) {
        return released.map(LoadedFunction::pipeline).orElse(first);
    }

    /// Whether a user's function was deployed.
    boolean isOfFunction() {
        return released.isPresent();
    }

    /// The tables as a process sees them that begins now, with the user's function if there is one.
    public Store process(SimulatedClient client) {
        Store store = store(client);
        return released.map(function -> store.with(new UserFunction(() -> function, () -> Caller.DIRECT, impurity -> {
                    if (requiresPure) {
                        throw new AssertionError(impurity.toString());
                    }
                })))
                .orElse(store);
    }

    /// Makes the tables of a user's function.
    public void makeTables(LoadedFunction function) {
        for (OutputTable table : OutputTable.of(function.pipeline(), function.processing())) {
            List<String> key = table.key().stream().map(OutputTable.Key::name).toList();
            Set<String> numbers = table.key().stream()
                    .filter(OutputTable.Key::isNumber)
                    .map(OutputTable.Key::name)
                    .collect(Collectors.toSet());
            of(dynamo.client("deploy").createTable(DeploymentTables.output(tables.output(table.name()), key, numbers)));
        }
    }

    /// The verbs, as a person uses them; waiting lets time pass, and whatever goes on goes on.
    public AwsEngine engine(Pipeline pipeline, int lanes, int gates) {
        return AwsEngine.open(process(dynamo.client("person")), pipeline, lanes, gates);
    }

    /// Begins something on a thread of its own, which goes on as time passes.
    <T> CompletableFuture<T> start(Supplier<T> task) {
        return CompletableFuture.supplyAsync(task, time::start);
    }

    /// The same where nothing comes of it.
    public CompletableFuture<Void> start(Runnable task) {
        return CompletableFuture.runAsync(task, time::start);
    }

    /// Waits; time passes, and whatever goes on goes on.
    public <T> T of(CompletableFuture<T> future) {
        return time.runUntil(future);
    }
}
