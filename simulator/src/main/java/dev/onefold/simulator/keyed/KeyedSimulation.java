package dev.onefold.simulator.keyed;

import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.EngineException;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.process.KeyState;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.core.query.TableQuery;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.SpaceListener;
import dev.onefold.fakes.disk.Faults;
import dev.onefold.fakes.disk.Operation;
import dev.onefold.fakes.disk.SimulatedCrash;
import dev.onefold.fakes.disk.SimulatedDisk;
import dev.onefold.oracle.KeyedOracle;
import dev.onefold.oracle.KeyedOracle.Event;
import dev.onefold.oracle.KeyedOracle.Order;
import dev.onefold.oracle.KeyedOracle.Verdict;
import dev.onefold.oracle.generate.RandomFunction;
import java.io.ByteArrayInputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Some lives of a data directory whose pipeline has a function per key: one seed says the function, its
/// order, the events, how they are cut, where the process ends, whether the power goes with it, and when
/// the function's version is raised. After each life, contexts, tables, roll-ups, dead letters and counts
/// are those of the oracle.
///
/// It has one thread and no clock but the seed's; so equal seeds are equal runs.
public final class KeyedSimulation {
    private static final int LIVES_MAX = 6;
    private static final String SOURCE = "in";

    private final SplittableRandom random;
    private final DrawnCase dealt;
    private final boolean isFile;
    private final KeyedOracle oracle;
    private final List<String> story = new ArrayList<>();
    private SimulatedDisk disk = SimulatedDisk.empty();
    private RandomFunction serving;
    private RandomFunction wanted;
    private boolean refolds;
    private int shards = 2;
    private int judged; // Events that the oracle has seen.
    private long acknowledged;
    private boolean isRedriven;

    private KeyedSimulation(long seed) {
        random = new SplittableRandom(seed);
        dealt = DrawnCase.of(random);
        isFile = random.nextInt(3) == 0;
        oracle = dealt.oracle();
        serving = dealt.function();
        wanted = serving;
    }

    /// Runs a seed.
    ///
    /// @throws AssertionError if a promise was broken; it says which, what happened before, and how to run
    ///     it again
    public static void run(long seed) {
        KeyedSimulation simulation = new KeyedSimulation(seed);
        try {
            simulation.run();
        } catch (RuntimeException | Error failure) {
            throw new AssertionError(
                    "A function per key failed with seed " + seed + "; run it again with -Dseed=" + seed + ".\n"
                            + simulation.dealt.order() + ", keep " + simulation.dealt.keep() + ", "
                            + simulation.dealt.function() + "\n" + String.join("\n", simulation.story) + "\n"
                            + failure.getMessage(),
                    failure);
        }
    }

    private void run() {
        for (int lives = random.nextInt(LIVES_MAX); lives > 0; lives--) {
            if (random.nextInt(4) == 0 && wanted.equals(serving)) {
                rest();
                wanted = serving.next();
                refolds = random.nextBoolean();
            }
            live();
        }
        disk.inject(Faults.none());
        try (EmbeddedEngine engine = open()) {
            meet(engine);
            send(engine, dealt.events().size());
            check(engine);
            redrive(engine);
        }
        disk = random.nextBoolean() ? disk.kill() : disk.crash(random);
        story.add("once more");
        try (EmbeddedEngine engine = open()) {
            meet(engine);
            require(engine.verify().isEqual(), "verify finds " + engine.verify());
        }
    }

    /// Leaves nothing in the journal: the old code is not there when the new one starts.
    private void rest() {
        disk.inject(Faults.none());
        try (EmbeddedEngine engine = open()) {
            meet(engine);
            engine.checkpointNow();
        }
    }

    private void live() {
        disk.inject(faults());
        @Nullable EmbeddedEngine engine = null;
        try {
            engine = open();
            meet(engine);
            for (int steps = random.nextInt(12); steps > 0; steps--) {
                step(engine);
            }
            if (random.nextBoolean()) {
                engine.close();
                story.add("closed");
            }
        } catch (SimulatedCrash crash) {
            story.add("crashed");
        }
        boolean power = random.nextBoolean();
        disk = power ? disk.crash(random) : disk.kill();
        story.add(power ? "power cut" : "killed");
        if (engine != null) {
            try {
                engine.close(); // Its memory is released; nothing it does reaches the disk any more.
            } catch (SimulatedCrash | EngineException ended) {
                story.add("ended");
            }
        }
    }

    private Faults faults() {
        Faults faults = Faults.none();
        switch (random.nextInt(4)) {
            case 0 -> story.add("a healthy disk");
            case 1 -> {
                Operation last = random.nextInt(3) > 0 ? Operation.FORCE : Operation.RENAME;
                int[] left = {random.nextInt(1, 40)};
                story.add("crash before " + last + " " + left[0]);
                faults = faults.withHook((operation, _) -> {
                    if (operation == last && --left[0] == 0) {
                        throw new SimulatedCrash("before " + operation);
                    }
                });
            }
            default -> {
                int nth = random.nextInt(1, 2 << random.nextInt(2, 9));
                faults = faults.withCrashAtChange(nth);
                story.add("crash at change " + nth);
            }
        }
        return faults;
    }

    private EmbeddedEngine open() {
        shards = random.nextBoolean() ? shards : random.nextInt(1, 5);
        boolean always = random.nextBoolean();
        story.add("life with " + shards + " shards, " + (always ? "checkpoints always" : "few checkpoints")
                + ", version " + wanted.code() + (refolds ? ", refold" : ", continue"));
        return EmbeddedEngine.open(
                disk.getPath("/data/case"), dealt.loaded(wanted, refolds), settings(shards, always, disk, random));
    }

    /// Settings of a life on one thread, without a clock.
    static Settings settings(int shards, boolean checkpointsAlways, SimulatedDisk disk, RandomGenerator random) {
        return new Settings(
                shards,
                0,
                checkpointsAlways ? Duration.ZERO : Duration.ofDays(1),
                1L << 30,
                false,
                new Settings.Machine(
                        () -> Instant.ofEpochSecond(1_700_000_000),
                        random,
                        () -> disk.inject(Faults.none()),
                        SpaceListener.silent()));
    }

    /// Meets a process that has just started: all that was acknowledged is in, and everything is right.
    private void meet(EmbeddedEngine engine) {
        long in = progress(engine);
        require(in >= acknowledged, acknowledged + " lines were acknowledged, and " + in + " are in");
        int code = code(engine);
        if (code == serving.code()) {
            judge(in);
            check(engine);
        }
        if (wanted.code() > serving.code()) {
            judge(in);
            engine.fillView(_ -> null, false);
            require(code(engine) == wanted.code(), "the wanted version does not serve");
            oracle.upgrade(wanted, refolds && dealt.order() == Order.IN_ORDER);
            serving = wanted;
            story.add("version " + serving.code() + " serves");
            check(engine);
        }
    }

    private static int code(EmbeddedEngine engine) {
        return engine.pipeline().fold() instanceof Processing processing ? processing.version() : 0;
    }

    private long progress(EmbeddedEngine engine) {
        return engine.progress().stream()
                .filter(source -> source.source().equals(SOURCE))
                .mapToLong(Answer.Progress::records)
                .findFirst()
                .orElse(0);
    }

    /// Lets the oracle see what is in.
    private void judge(long in) {
        while (judged < in) {
            oracle.accept(dealt.events().get(judged++), false);
        }
    }

    private void step(EmbeddedEngine engine) {
        switch (random.nextInt(6)) {
            case 0 -> check(engine);
            case 1 -> {
                engine.checkpointNow();
                story.add("checkpoint");
            }
            default -> send(engine, Math.min(dealt.events().size(), judged + random.nextInt(20)));
        }
    }

    /// Sends events from one that is in already to another.
    private void send(EmbeddedEngine engine, int to) {
        story.add("send up to " + to);
        if (isFile) {
            byte[] content = lines(0, to);
            engine.fold(new FileSource(SOURCE, () -> new ByteArrayInputStream(content), false), FoldListener.silent());
            acknowledged = to;
        } else {
            int from = random.nextInt(judged + 1);
            byte[] content = lines(from, to);
            acknowledged = engine.append(SOURCE, from + 1L, content, content.length);
        }
        judge(progress(engine));
        require(judged == Math.max(judged, to), "of " + to + " lines " + judged + " are in");
    }

    private byte[] lines(int from, int to) {
        return dealt.events().subList(from, Math.max(from, to)).stream()
                .map(event -> DrawnCase.record(event) + "\n")
                .collect(Collectors.joining())
                .getBytes(StandardCharsets.UTF_8);
    }

    private void check(EmbeddedEngine engine) {
        Counts expected = new Counts(
                oracle.count(Verdict.ACCEPTED),
                oracle.count(Verdict.DUPLICATE),
                oracle.count(Verdict.STALE),
                oracle.count(Verdict.CONFLICTING),
                oracle.count(Verdict.REJECTED));
        require(engine.counts().equals(expected), "counts are " + engine.counts() + ", not " + expected);
        checkKeys(engine);
        long failed = engine.deadLetters().list(0, 1_000).stream()
                .filter(letter -> letter.reason() == Reason.FAILED)
                .count();
        require(
                isRedriven
                        || failed == oracle.failed().size(), // A redriven one that is final is too late from then on.
                failed + " letters of failed events, not " + oracle.failed().size());
    }

    private void checkKeys(EmbeddedEngine engine) {
        oracle.contexts().forEach((key, context) -> {
            Optional<KeyState> state = engine.state(List.of(key));
            String is =
                    state.map(found -> String.valueOf(found.context().plain())).orElse("none");
            String expected = "{trail=" + context.get("trail") + ", count=" + context.get("count") + "}";
            require(is.equals(expected), "the context of " + key + " is " + is + ", not " + expected);
        });
        Map<String, BigDecimal> totals = new TreeMap<>();
        for (String table : List.of("buckets", "last")) {
            List<String> expected = oracle.rows(table).stream()
                    .map(row -> new TreeMap<>(row).toString())
                    .sorted()
                    .toList();
            List<String> rows = engine.tables(
                    new TableQuery(List.of(table), Optional.empty(), 10_000),
                    answer -> answer.tables().getFirst().rows().stream()
                            .map(row -> new TreeMap<>((Map<?, ?>) Objects.requireNonNull(row.plain())).toString())
                            .sorted()
                            .toList());
            require(rows.equals(expected), "table " + table + " is " + rows + ", not " + expected);
        }
        oracle.rows("buckets")
                .forEach(row -> totals.merge(
                        String.valueOf(KeyedOracle.value(row, "bucket")),
                        new BigDecimal((long) KeyedOracle.value(row, "trail")),
                        BigDecimal::add));
        Map<String, BigDecimal> served = engine.query(Query.all("by-bucket")).lines().stream()
                .filter(line -> line.group().size() == 1)
                .collect(Collectors.toMap(
                        line -> line.group().getFirst(),
                        line -> Objects.requireNonNull(line.values().get(1)),
                        BigDecimal::add,
                        TreeMap::new));
        require(served.equals(totals), "the roll-up is " + served + ", not " + totals);
    }

    /// Sends each failed event again. A function that is the same fails again or folds it, as the oracle
    /// says.
    private void redrive(EmbeddedEngine engine) {
        isRedriven = true;
        for (DeadLetter letter : engine.deadLetters().list(0, 1_000)) {
            if (letter.reason() == Reason.FAILED && letter.content() == DeadLetter.Content.RECORD) {
                Event event = dealt.events().get((int) letter.place().line() - 1);
                Verdict verdict = oracle.accept(event, true);
                Redriven redriven = engine.deadLetters().redrive(letter.id(), null);
                require(
                        redriven.name().equals(verdict.name()),
                        "the redrive of letter " + letter + " is " + redriven + ", not " + verdict);
                checkKeys(engine);
            }
        }
    }

    private static void require(boolean holds, String message) {
        if (!holds) {
            throw new IllegalStateException(message);
        }
    }
}
