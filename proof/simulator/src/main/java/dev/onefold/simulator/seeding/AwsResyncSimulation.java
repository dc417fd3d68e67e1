package dev.onefold.simulator.seeding;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.resync.ResyncTurn;
import dev.onefold.aws.resync.RowIntake;
import dev.onefold.aws.store.Store;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.query.Query;
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
import dev.onefold.tables.compare.Difference;
import dev.onefold.tables.compare.Difference.Kind;
import dev.onefold.tables.compare.Report;
import dev.onefold.tables.compare.SourceComparison;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The life of a deployment that counts a table, of whose changes an outage loses about a third. People compare
/// and repair from their machines, which die in the middle, while the table changes and functions fail. Every
/// difference that is reported must be a loss; at the end, when nothing moves, what is found is exactly what
/// has drifted, and a repair makes the totals those of the table.
///
/// One thread at a time and no clock but the seed's; so equal seeds are equal runs.
public final class AwsResyncSimulation {
    private static final Instant BEGINNING = Instant.parse("2030-01-01T00:00:00Z");
    private static final Duration LIFE_MAX = Duration.ofHours(12);
    private static final Duration AFTERWARDS = Duration.ofMinutes(30);

    private final SplittableRandom random;
    private final ChangeForm reads;
    private final MovingTable table;
    private final Deployment deployment;
    private final Intake intake;
    private final Reducers reducers;
    private final List<Comparer> comparers = new ArrayList<>();
    private final List<String> story = new ArrayList<>();
    private boolean isStill;

    private AwsResyncSimulation(long seed) {
        random = new SplittableRandom(seed);
        reads = ChangeForm.any(random);
        table = new MovingTable(random.split(), reads.hasTransactions());
        VirtualTime time = new VirtualTime(BEGINNING);
        deployment = new Deployment(time, new SimulatedDynamoDb(time, random.nextLong()), random.split());
        deployment.engine(reads.pipeline(), 1 + random.nextInt(3), 1 + random.nextInt(3));
        boolean faulty = random.nextInt(4) > 0;
        double faultChance = faulty ? random.nextDouble() * 0.3 : 0;
        Faults faults = faulty ? faults() : Faults.none();
        deployment.dynamo.inject(faults);
        reducers = new Reducers(deployment, random.split(), faultChance, faults);
        intake = new Intake(deployment, reads.pipeline(), random.split(), faultChance, faults);
    }

    /// Runs a seed.
    ///
    /// @throws AssertionError if a promise was broken; it says which, and what happened before
    public static void run(long seed) {
        AwsResyncSimulation simulation = new AwsResyncSimulation(seed);
        try {
            simulation.run();
        } catch (RuntimeException | Error failure) {
            throw new AssertionError(
                    "A re-sync on AWS failed with seed " + seed + " (" + simulation.reads + ")\n"
                            + String.join("\n", simulation.story) + "\n" + failure,
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
        for (int i = 1 + random.nextInt(2); i > 0; i--) {
            comparers.add(new Comparer(random.nextInt(3) > 0));
        }
        rounds(15);
        suspend();
        rounds(15);
        intake.resume();
        rounds(15);
        comparers.forEach(Comparer::die);
        comparers.clear();
        isStill = true;
        table.commitOpen();
        Instant end = deployment.time.instant().plus(LIFE_MAX);
        drain(end);
        Set<String> drifted = drifted();
        Report found = compare(false, end);
        require(reported(found).equals(drifted), "found " + reported(found) + ", drifted are " + drifted);
        requireRight(compare(true, end), end);
        List<Change> late = new ArrayList<>(table.lost());
        late.removeIf(_ -> random.nextBoolean());
        late.forEach(change -> change.isLost = false); // They come after all.
        drain(end);
        requireRight(compare(true, end), end);
        close();
    }

    private void close() {
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
        require(totals(engine).equals(rightTotals()), "the totals are " + totals(engine) + ", right " + rightTotals());
    }

    private AwsEngine judge() {
        return AwsEngine.deployed(deployment.store(deployment.dynamo.client("judge")));
    }

    private static void require(boolean good, String message) {
        if (!good) {
            throw new AssertionError(message);
        }
    }

    private void requireRight(Report repaired, Instant end) {
        require(repaired.isEqual(), "not all is repaired: " + all(repaired));
        Report again = compare(false, end);
        require(all(again).isEmpty(), "still different: " + all(again));
    }

    /// While nothing moves, by somebody who tries until it is done.
    private Report compare(boolean repairs, Instant end) {
        Comparer comparer = new Comparer(repairs);
        while (comparer.report == null) {
            comparer = comparer.isUnlucky() ? new Comparer(repairs) : comparer;
            pass();
            require(deployment.time.instant().isBefore(end), "a comparison does not end");
        }
        return comparer.report;
    }

    // What moves.

    private void rounds(int most) {
        for (int i = random.nextInt(most); i > 0; i--) {
            for (int j = random.nextInt(5); j > 0; j--) {
                table.change();
            }
            if (!comparers.isEmpty() && random.nextInt(15) == 0) {
                comparers.removeFirst().die();
                comparers.add(new Comparer(true));
            }
            pass();
        }
    }

    /// State takes some records no more, perhaps for long: what it has not taken is no difference.
    private void suspend() {
        switch (random.nextInt(4)) {
            case 0 -> {}
            case 1 -> intake.suspendStream();
            case 2 -> intake.suspendRetries();
            default -> {
                intake.suspendStream();
                intake.suspendRetries();
            }
        }
        rounds(5);
        if (random.nextBoolean()) {
            deployment.time.runFor(Duration.ofSeconds(random.nextInt(1_200)));
            comparers.add(new Comparer(random.nextBoolean()));
            deployment.time.runFor(Duration.ofSeconds(random.nextInt(180)));
        }
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
        comparers.removeIf(comparer -> comparer.isUnlucky() || comparer.person.isGone());
    }

    private void drain(Instant end) {
        do {
            pass();
            require(deployment.time.instant().isBefore(end), "not all comes in: " + intake.state());
        } while (!table.undelivered().isEmpty() || !intake.isDone());
    }

    /// Somebody who compares once.
    private final class Comparer {
        private final SimulatedClient client = deployment.dynamo.client("comparer");
        private final SplittableRandom chance = random.split();
        private final boolean repairs;
        private final Person person;
        private @Nullable Report report;
        private long secondReadingFrom = Long.MAX_VALUE;
        private long lastReadingTo;
        private int readings;

        Comparer(boolean repairs) {
            this.repairs = repairs;
            person = Person.begin(deployment.time, this::live);
        }

        void die() {
            client.kill();
            person.close();
        }

        /// @throws AssertionError if nobody but this program is to blame for its end
        boolean isUnlucky() {
            Throwable failure = person.failure();
            if (failure != null && !People.isUnlucky(failure)) {
                throw new AssertionError("A comparison met " + failure, failure);
            }
            return failure != null;
        }

        private void live(Person me) {
            Store store = deployment.store(client, me);
            Optional<ResyncTurn> turn = Optional.empty();
            while (repairs && turn.isEmpty()) {
                turn = ResyncTurn.take(store);
                me.pause(Duration.ofSeconds(1 + chance.nextInt(90)));
            }
            long number = turn.map(ResyncTurn::number).orElse(1L);
            Optional<SourceComparison.Repairing> repairing = turn.map(mine ->
                    new SourceComparison.Repairing(reads.generation(), number, true, (lines, length) -> {
                        me.pause(Duration.ofSeconds(chance.nextInt(20)));
                        return RowIntake.ofRepair(store, mine, RecordEnds.LINES).append(RecordKind.ROW, lines, length);
                    }));
            try {
                Report done = new SourceComparison(
                                AwsEngine.deployed(store),
                                new SourceComparison.Side(
                                        new MovingRows(table, reads, me, this::at, chance),
                                        reads.rows(number),
                                        Rate.of(0),
                                        () -> passed(me, store)),
                                repairing,
                                new Quiet())
                        .run();
                all(done).forEach(this::requireLoss);
                story.add((repairs ? "re-sync " + number : "comparison") + " ends: " + all(done));
                turn.ifPresent(ResyncTurn::release);
                report = done;
            } catch (IOException | InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        private void passed(Person me, Store store) {
            List<Change> coming = table.undelivered();
            do {
                me.pause(Duration.ofSeconds(1));
            } while (!intake.isPut() || coming.stream().anyMatch(change -> !change.isDelivered));
            intake.catchUp(store, () -> false);
            while (intake.hasRetries()) {
                me.pause(Duration.ofSeconds(1));
            }
        }

        private void at(boolean ends) {
            if (!ends && ++readings >= 2) {
                secondReadingFrom = Math.min(secondReadingFrom, table.now());
            }
            lastReadingTo = table.now();
        }

        /// A difference must be a change that was lost: nothing behind it was there to come when the source was
        /// read.
        private void requireLoss(Difference finding) {
            String key = finding.key().getFirst();
            require(
                    finding.kind() != Kind.VERSION_BROKEN && finding.kind() != Kind.REFUSED,
                    "a finding of kind " + finding.kind() + " at " + key);
            long lost = table.log().stream()
                    .filter(change -> change.key.equals(key) && change.isLost && change.committed <= lastReadingTo)
                    .mapToLong(change -> change.position)
                    .max()
                    .orElse(-1);
            boolean covered = table.log().stream()
                    .anyMatch(change -> change.key.equals(key)
                            && !change.isLost
                            && change.position > lost
                            && change.committed < secondReadingFrom);
            require(
                    lost >= 0 && !covered || isStill, // Then what is found is held against what has drifted.
                    "a false alarm: " + finding);
        }
    }

    /// Tells nobody.
    private static final class Quiet implements SourceComparison.Listener {
        @Override
        public void begins(long nth) {}

        @Override
        public void at(long done, long rows) {}

        @Override
        public boolean stop() {
            return false;
        }
    }

    private static List<Difference> all(Report report) {
        List<Difference> all = new ArrayList<>();
        for (Kind kind : Kind.values()) {
            all.addAll(report.first(kind));
        }
        return all;
    }

    private static Set<String> reported(Report report) {
        Set<String> keys = new HashSet<>();
        all(report).forEach(finding -> keys.add(finding.key().getFirst()));
        return keys;
    }

    // What is right.

    /// Keys of which the rows say something else than the table. Nothing is under way.
    private Set<String> drifted() {
        AwsEngine engine = judge();
        Set<String> keys = new HashSet<>();
        table.log().forEach(change -> keys.add(change.key));
        keys.removeIf(key -> isRight(
                engine.get(List.of(key))
                        .filter(row -> !row.payload().groups().isEmpty())
                        .orElse(null),
                table.rows().get(key)));
        return keys;
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

    private static Map<String, String> totals(AwsEngine engine) {
        Map<String, String> totals = new TreeMap<>();
        engine.query(Query.all("main")).lines().forEach(line -> {
            if (line.group().size() == 1) {
                totals.put(line.group().getFirst(), line.values().toString());
            }
        });
        return totals;
    }

    private Map<String, String> rightTotals() {
        Map<String, long[]> sums = new TreeMap<>();
        table.rows().values().forEach(content -> {
            long[] sum = sums.computeIfAbsent(content.city(), _ -> new long[2]);
            sum[0]++;
            sum[1] += content.stars();
        });
        Map<String, String> totals = new TreeMap<>();
        sums.forEach((city, sum) -> totals.put(city, "[" + sum[0] + ", " + sum[1] + "]"));
        return totals;
    }
}
