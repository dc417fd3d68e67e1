package dev.onefold.simulator.embedded;

import dev.onefold.core.Engine;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.query.Query;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Row;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.fakes.disk.SimulatedDisk;
import dev.onefold.simulator.embedded.MovingTable.Change;
import dev.onefold.simulator.embedded.MovingTable.Content;
import dev.onefold.tables.Rate;
import dev.onefold.tables.RowForm;
import dev.onefold.tables.RowSource;
import dev.onefold.tables.compare.Difference;
import dev.onefold.tables.compare.Difference.Kind;
import dev.onefold.tables.compare.Report;
import dev.onefold.tables.compare.SourceComparison;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// A life of a table and of an engine that counts it: seeded while the table changes, an outage that loses
/// about a third of the changes, comparisons and repairs while both move, changes that were lost and come after
/// all. Every difference that is reported must be a loss, every loss at a key that rests must be found, and at
/// the end, when nothing moves, a repair makes the totals those of the table.
///
/// One thread and one seed; so equal seeds are equal lives.
public final class ResyncSimulation {
    private final SplittableRandom random;
    private final ChangeForm reads;
    private final MovingTable table;
    private final EmbeddedEngine engine;
    private final List<String> seeded = new ArrayList<>(); // Read, and not yet in the engine.
    private long number = 1;
    private boolean isStill;
    private long secondReadingFrom;
    private long lastReadingTo;

    private ResyncSimulation(long seed) {
        random = new SplittableRandom(seed);
        reads = ChangeForm.any(random);
        table = new MovingTable(random, reads.hasTransactions());
        engine = EmbeddedEngine.open(
                SimulatedDisk.empty().getPath("/data"),
                reads.pipeline(),
                Settings.defaults().withShards(2).withThreads(0));
    }

    /// Runs a seed.
    ///
    /// @throws AssertionError if a promise was broken
    public static void run(long seed) {
        ResyncSimulation simulation = new ResyncSimulation(seed);
        try (Engine _ = simulation.engine) {
            simulation.run();
        } catch (IOException | InterruptedException | RuntimeException | AssertionError failure) {
            throw new AssertionError(
                    "A re-sync failed with seed " + seed + " (" + simulation.reads + "): " + failure, failure);
        }
    }

    private void run() throws IOException, InterruptedException {
        moves(20);
        seed();
        moves(40);
        table.lose(true);
        moves(40);
        table.lose(false);
        moves(40);
        for (int i = 0; i < 3; i++) {
            compare(random.nextInt(3) > 0);
            moves(20);
        }
        isStill = true;
        table.commitOpen();
        pass();
        Set<String> drifted = drifted();
        Report found = compare(false);
        require(reported(found).equals(drifted), "found " + reported(found) + ", drifted are " + drifted);
        requireRight(compare(true));
        List<Change> late = new ArrayList<>(table.lost());
        late.removeIf(_ -> random.nextBoolean());
        late.forEach(this::deliver);
        requireRight(compare(true));
    }

    private void requireRight(Report repairedNow) throws IOException, InterruptedException {
        require(repairedNow.isEqual(), "not all is repaired: " + all(repairedNow));
        require(totals().equals(rightTotals()), "the totals are " + totals() + ", right are " + rightTotals());
        Report again = compare(false);
        require(all(again).isEmpty() && again.readings() == 1, "still different: " + all(again));
    }

    private static void require(boolean good, String message) {
        if (!good) {
            throw new AssertionError(message);
        }
    }

    // What moves.

    private void moves(int most) {
        for (int i = random.nextInt(most); i > 0; i--) {
            move();
        }
    }

    private void move() {
        if (isStill) {
            return;
        }
        switch (random.nextInt(8)) {
            case 0, 1, 2, 3 -> table.change();
            case 4 -> flushSeed(1);
            default -> {
                List<Change> waiting = table.undelivered();
                if (!waiting.isEmpty()) {
                    deliver(waiting.get(random.nextInt(waiting.size())));
                }
            }
        }
    }

    private void deliver(Change change) {
        change.isDelivered = true;
        engine.append("stream", List.of(reads.record(change)));
        if (random.nextInt(6) == 0) {
            engine.append("again", List.of(reads.record(change)));
        }
    }

    private void seed() {
        RowForm form = reads.rows(number);
        table.rows()
                .forEach((key, content) -> seeded.add(new String(
                        form.record(ChangeForm.row(key, content).getBytes(StandardCharsets.UTF_8), 0),
                        StandardCharsets.UTF_8)));
    }

    private void flushSeed(int most) {
        for (int i = 0; i < most && !seeded.isEmpty(); i++) {
            byte[] line = (seeded.removeFirst() + "\n").getBytes(StandardCharsets.UTF_8);
            long next = engine.acknowledged("seed") + 1;
            if (reads.rows(number).kind() == RecordKind.ROW) {
                engine.appendRows("seed", next, line, line.length);
            } else {
                engine.append("seed", next, line, line.length);
            }
        }
    }

    /// All that the table has is in the engine, if it is to come at all.
    private void pass() {
        flushSeed(Integer.MAX_VALUE);
        table.undelivered().forEach(this::deliver);
    }

    // Comparing.

    private Report compare(boolean repairs) throws IOException, InterruptedException {
        Set<String> before = drifted();
        long from = table.now();
        long own = ++number;
        int[] nth = new int[1];
        SourceComparison comparison = new SourceComparison(
                moving(),
                new SourceComparison.Side(new Rows(nth), reads.rows(number), Rate.of(0), this::await),
                repairs
                        ? Optional.of(new SourceComparison.Repairing(reads.generation(), own, true, (lines, length) -> {
                            moves(3);
                            return engine.appendRows(
                                    "resync " + own, 1 + engine.acknowledged("resync " + own), lines, length);
                        }))
                        : Optional.empty(),
                new Quiet());
        secondReadingFrom = Long.MAX_VALUE;
        Report report = comparison.run();
        for (Difference finding : all(report)) {
            requireLoss(finding);
        }
        Set<String> resting = new HashSet<>(before);
        table.log().stream().filter(change -> change.committed > from).forEach(change -> resting.remove(change.key));
        require(reported(report).containsAll(resting), "lost at " + resting + ", and found at " + reported(report));
        return report;
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
        require(lost >= 0, "a false alarm: nothing of " + key + " is lost, and it is " + finding);
        boolean covered = table.log().stream()
                .anyMatch(change -> change.key.equals(key)
                        && !change.isLost
                        && change.position > lost
                        && change.committed < secondReadingFrom);
        require(!covered, "a false alarm: a later change of " + key + " than the lost one came, and it is " + finding);
    }

    private void await() {
        moves(6);
        pass();
        moves(2);
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

    /// The engine, while things move between its answers.
    private Engine moving() {
        return (Engine) Proxy.newProxyInstance(
                Engine.class.getClassLoader(), new Class<?>[] {Engine.class}, (_, method, arguments) -> {
                    moves(2);
                    try {
                        return method.invoke(engine, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
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

    /// The table as a source: of one snapshot where it has transactions, else page by page.
    private final class Rows implements RowSource {
        private final int[] nth;

        Rows(int[] nth) {
            this.nth = nth;
        }

        @Override
        public String identity() {
            return "moving";
        }

        @Override
        public List<String> parts() {
            return List.of("0");
        }

        @Override
        public Extent extent() {
            return new Extent(0, 0, 0);
        }

        @Override
        public void awaitWriters(BooleanSupplier isStopped) {
            moves(2);
            table.commitOpen();
            moves(2);
        }

        @Override
        public void read(Map<String, String> from, Taker taker) throws InterruptedException {
            if (++nth[0] >= 2) {
                secondReadingFrom = table.now();
            }
            boolean isSnapshot = reads.hasTransactions();
            if (isSnapshot) {
                lastReadingTo = table.now();
            }
            TreeMap<String, Content> snapshot = new TreeMap<>(table.rows());
            String key = "";
            while (true) {
                StringBuilder page = new StringBuilder();
                int count = 0;
                TreeMap<String, Content> now = isSnapshot ? snapshot : new TreeMap<>(table.rows());
                for (Map.Entry<String, Content> row : now.tailMap(key, false).entrySet()) {
                    page.append(ChangeForm.row(row.getKey(), row.getValue())).append('\n');
                    key = row.getKey();
                    if (++count == 5) {
                        break;
                    }
                }
                byte[] lines = page.toString().getBytes(StandardCharsets.UTF_8);
                if (!taker.take(new RowSource.Rows("0", lines, lines.length, count, count < 5 ? END : key, count))
                        || count < 5) {
                    lastReadingTo = isSnapshot ? lastReadingTo : table.now();
                    return;
                }
                moves(3);
            }
        }

        @Override
        public void close() {}
    }

    // What is right.

    /// Keys of which the engine will have something else than the table when all that is not lost has come.
    private Set<String> drifted() {
        Set<String> keys = new HashSet<>();
        table.log().forEach(change -> keys.add(change.key));
        keys.removeIf(key -> seeded.stream().anyMatch(line -> line.contains("\"" + key + "\"")));
        keys.removeIf(key ->
                table.log().stream().anyMatch(change -> change.key.equals(key) && change.committed == Long.MAX_VALUE));
        keys.removeIf(key -> isRight(key, table.rows().get(key)));
        return keys;
    }

    private boolean isRight(String key, @Nullable Content right) {
        Row row = engine.get(List.of(key)).orElse(null);
        Change coming = null;
        for (Change change : table.undelivered()) {
            boolean isNewer = row == null || place(row).compareTo(BigInteger.valueOf(change.position)) < 0;
            if (change.key.equals(key) && isNewer && (coming == null || change.position > coming.position)) {
                coming = change;
            }
        }
        if (coming != null) {
            Content content = coming.after;
            return content == null || right == null
                    ? content == null && right == null
                    : content.isSame(right) && (reads.isByPlace() || content.version() == right.version());
        }
        if (row == null || row.payload().groups().isEmpty() || right == null) {
            return (row == null || row.payload().groups().isEmpty()) && right == null;
        }
        return row.payload().groups().getFirst().parts().equals(List.of(right.city()))
                && row.payload().amounts().contains(new Amount.Number(BigDecimal.valueOf(right.stars())))
                && (reads.isByPlace() || place(row).equals(BigInteger.valueOf(right.version())));
    }

    private BigInteger place(Row row) {
        return reads.isByPlace()
                ? reads.position(row.version().position())
                : row.version().number();
    }

    private Map<String, String> totals() {
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
