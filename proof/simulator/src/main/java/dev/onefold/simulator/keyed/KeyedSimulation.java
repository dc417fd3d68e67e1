package dev.onefold.simulator.keyed;

import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.EngineException;
import dev.onefold.core.Verification;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.process.KeyState;
import dev.onefold.core.query.Query;
import dev.onefold.core.query.TableQuery;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.FileSource;
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
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Some lives of a data directory whose pipeline has a function per key: one seed says the function, its
/// order, the events, their sources, how they are cut, where the process ends, whether the power goes with
/// it, and when the function's version is raised. After each life, contexts, tables, roll-ups, dead letters
/// and counts are those of the oracle.
///
/// It is one idea: a life and what is asked after it. It has one thread and no clock but the seed's; so equal seeds are
/// equal runs.
public final class KeyedSimulation {
    private static final int LIVES_MAX = 6;
    private static final int FEEDS_MAX = 4;

    private final SplittableRandom random;
    private final DrawnCase dealt;
    private final List<Feed> feeds = new ArrayList<>();
    private final History history;
    private final List<String> story = new ArrayList<>();
    private SimulatedDisk disk = SimulatedDisk.empty();
    private RandomFunction serving;
    private RandomFunction wanted;
    private boolean refolds;
    private int shards = 2;
    private int servingCode = 1;
    private int wantedCode = 1;
    private boolean isPurged; // Whether letters were purged, which changes nothing else.
    private boolean isInDoubt; // Whether the process ended in a redrive.
    private @Nullable KeyedOracle rebuilt; // Since the sources were folded again.
    private long purging; // The letter in whose purge the process ended; 0: none.

    private KeyedSimulation(long seed) {
        random = new SplittableRandom(seed);
        dealt = DrawnCase.of(random);
        history = new History(dealt);
        deal();
        serving = dealt.function();
        wanted = serving;
    }

    /// Gives each event to a source, and some to two of them.
    private void deal() {
        // What comes through the journal alone can be folded again in its order.
        Feed.Kind[] kinds = random.nextInt(3) == 0 ? new Feed.Kind[] {Feed.Kind.LINES} : Feed.Kind.values();
        for (int number = random.nextInt(1, FEEDS_MAX + 1); number > 0; number--) {
            feeds.add(new Feed(kinds[random.nextInt(kinds.length)], number));
        }
        for (Event event : dealt.events()) {
            any().events.add(event);
            if (random.nextInt(5) == 0) {
                any().events.add(event);
            }
        }
    }

    private Feed any() {
        return feeds.get(random.nextInt(feeds.size()));
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
                            + simulation.dealt.function() + ", " + simulation.feeds + "\n"
                            + String.join("\n", simulation.story) + "\n"
                            + failure.getMessage(),
                    failure);
        }
    }

    private void run() {
        for (int lives = random.nextInt(LIVES_MAX); lives > 0; lives--) {
            if (random.nextInt(4) == 0 && wantedCode == servingCode) {
                raise();
            }
            live();
        }
        disk.inject(Faults.none());
        try (EmbeddedEngine engine = open()) {
            meet(engine);
            feeds.forEach(feed -> send(engine, feed, feed.events.size()));
            check(engine);
            if (random.nextBoolean()) {
                redriveAll(engine);
            }
            foldSourcesAgain(engine);
        }
        disk = random.nextBoolean() ? disk.kill() : disk.crash(random);
        story.add("once more");
        try (EmbeddedEngine engine = open()) {
            if (rebuilt == null) {
                meet(engine);
            } else {
                checkKeys(engine, rebuilt);
                checkCounts(engine, rebuilt);
            }
            require(engine.verify().isEqual(), "verify finds " + engine.verify());
        }
    }

    /// Raises the version of the function. One that computes something else comes when nothing is left in the journal:
    /// the old code is in no jar, so it is not there when the new one starts.
    private void raise() {
        boolean computesAnother = random.nextBoolean();
        if (computesAnother) {
            disk.inject(Faults.none());
            try (EmbeddedEngine engine = open()) {
                meet(engine);
                engine.checkpointNow();
            }
        }
        wanted = !computesAnother ? serving : random.nextInt(3) == 0 ? serving.mended() : serving.next();
        wantedCode = servingCode + 1;
        refolds = random.nextBoolean();
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
                + ", version " + wantedCode + (refolds ? ", refold" : ", continue"));
        return EmbeddedEngine.open(
                disk.getPath("/data/case"),
                dealt.loaded(wanted, wantedCode, refolds),
                settings(shards, always, disk, random).withKeepJournal(true));
    }

    /// Settings of a life on one thread, without a clock.
    static Settings settings(int shards, boolean checkpointsAlways, SimulatedDisk disk, RandomGenerator random) {
        return new Settings(
                shards,
                0,
                checkpointsAlways ? Duration.ZERO : Duration.ofDays(1),
                1L << 30,
                Settings.UNDELIVERED_BYTES_MAX,
                false,
                new Settings.Machine(
                        () -> Instant.ofEpochSecond(1_700_000_000),
                        random,
                        () -> disk.inject(Faults.none()),
                        SpaceListener.silent()));
    }

    /// Meets a process that has just started: all that was acknowledged is in, and everything is right.
    private void meet(EmbeddedEngine engine) {
        for (Feed feed : feeds) {
            int in = feed.in(engine);
            require(
                    in >= feed.durable(),
                    "of " + feed + " " + in + " are in, and " + feed.durable() + " were promised");
        }
        history.recover(feed -> feed.in(engine));
        if (purging > 0
                && engine.deadLetters().list(purging - 1, 1).stream().anyMatch(letter -> letter.id() == purging)) {
            history.undo(History.Step.Purged.class, feed -> feed.in(engine));
        }
        purging = 0;
        if (code(engine) == servingCode) {
            checkAfterDoubt(engine);
        }
        if (wantedCode > servingCode) {
            engine.fillView(_ -> null, false);
            require(code(engine) == wantedCode, "the wanted version does not serve");
            history.raise(wanted, refolds && dealt.order() == Order.IN_ORDER);
            serving = wanted;
            servingCode = wantedCode;
            story.add("version " + servingCode + " serves");
            check(engine);
        }
    }

    /// Nobody knows whether a redrive is in if the process ended in it.
    private void checkAfterDoubt(EmbeddedEngine engine) {
        try {
            check(engine);
        } catch (IllegalStateException e) {
            if (!isInDoubt) {
                throw e;
            }
            story.add("the redrive was lost");
            history.undo(History.Step.Redriven.class, feed -> feed.in(engine));
            check(engine);
        }
        isInDoubt = false;
    }

    private static int code(EmbeddedEngine engine) {
        return engine.pipeline().fold() instanceof Processing processing ? processing.version() : 0;
    }

    private void step(EmbeddedEngine engine) {
        switch (random.nextInt(13)) {
            case 0, 1 -> check(engine);
            case 2, 3 -> {
                engine.checkpointNow();
                story.add("checkpoint");
            }
            case 4 ->
                failed(engine).stream().skip(random.nextInt(3)).findFirst().ifPresent(letter -> {
                    Optional<Event> edit =
                            letter.content() == DeadLetter.Content.RECORD ? edit(letter) : Optional.empty();
                    story.add("redrive " + letter.place()
                            + edit.map(event -> " as " + event).orElse(""));
                    redrive(engine, letter, edit);
                });
            case 5 -> {
                List<DeadLetter> letters = engine.deadLetters().list(random.nextInt(10), 1);
                if (!letters.isEmpty()) {
                    purge(engine, letters.getFirst());
                }
            }
            default -> {
                Feed feed = any();
                send(engine, feed, Math.min(feed.events.size(), feed.in(engine) + random.nextInt(20)));
            }
        }
    }

    private void purge(EmbeddedEngine engine, DeadLetter letter) {
        story.add("purge " + letter);
        isPurged = true;
        purging = letter.id();
        Feed feed = feed(letter);
        history.purge(feed, feed.index(letter.place()), letter.reason());
        engine.deadLetters().purge(List.of(letter.id()));
        purging = 0;
    }

    /// Another content of the event of a letter, or none.
    private Optional<Event> edit(DeadLetter letter) {
        Feed feed = feed(letter);
        Event event = feed.events.get(feed.index(letter.place()));
        return random.nextInt(3) > 0
                ? Optional.empty()
                : Optional.of(DrawnCase.event(event.key(), (int) event.version(), random.nextInt(3)))
                        .filter(edit -> !edit.equals(event));
    }

    private Feed feed(DeadLetter letter) {
        return feeds.stream()
                .filter(each -> each.name().equals(letter.place().source()))
                .findFirst()
                .orElseThrow();
    }

    /// Sends events from one that is in already to another.
    private void send(EmbeddedEngine engine, Feed feed, int to) {
        int in = feed.in(engine);
        if (to == 0) {
            return;
        }
        story.add("send " + feed.name() + " from " + in + " to " + to);
        history.send(feed, in, to);
        feed.send(engine, random.nextInt(in + 1), to);
        require(feed.in(engine) == to, "of " + to + " events of " + feed + " " + feed.in(engine) + " are in");
    }

    private void check(EmbeddedEngine engine) {
        KeyedOracle oracle = history.oracle();
        checkCounts(engine, oracle);
        checkKeys(engine, oracle);
        List<String> records = engine.deadLetters().list(0, 1_000).stream()
                .filter(letter -> letter.content() == DeadLetter.Content.RECORD)
                .map(letter -> new String(engine.deadLetters().record(letter.id()), StandardCharsets.UTF_8))
                .toList();
        require(records.size() == Set.copyOf(records).size(), "a record has two letters: " + records);
        int failed = failed(engine).size();
        require(
                isPurged
                        || history.isRedriven() // A redriven one that is final is too late from then on.
                        || failed == oracle.failed().size(),
                failed + " letters of failed events, not " + oracle.failed().size());
    }

    private static void checkCounts(EmbeddedEngine engine, KeyedOracle oracle) {
        Counts expected = new Counts(
                oracle.count(Verdict.ACCEPTED),
                oracle.count(Verdict.DUPLICATE),
                oracle.count(Verdict.STALE),
                oracle.count(Verdict.CONFLICTING),
                oracle.count(Verdict.REJECTED));
        require(engine.counts().equals(expected), "counts are " + engine.counts() + ", not " + expected);
    }

    private @Nullable FileSource reopened(String name) {
        return feeds.stream()
                .filter(feed -> feed.name().equals(name))
                .map(Feed::file)
                .findFirst()
                .orElse(null);
    }

    /// Whether all is in the journal, in its order.
    private boolean keepsAll() {
        return feeds.stream().allMatch(feed -> feed.kind == Feed.Kind.LINES);
    }

    /// All is folded again from its sources, whatever people have done with its letters.
    private void foldSourcesAgain(EmbeddedEngine engine) {
        boolean isFile = feeds.size() == 1 && feeds.getFirst().kind == Feed.Kind.FILE;
        if (!keepsAll() && !isFile) {
            return;
        }
        if (random.nextInt(4) == 0) {
            engine.deadLetters().list(0, 1_000).forEach(letter -> purge(engine, letter));
        }
        story.add("fold the sources again");
        FreshFold fresh = new FreshFold(dealt, serving, history.steps());
        KeyedOracle oracle = fresh.oracle();
        engine.rebuild(this::reopened);
        rebuilt = oracle;
        checkKeys(engine, oracle);
        checkCounts(engine, oracle);
        if (!fresh.hasPurged()) {
            List<String> expected = fresh.letters(settings(shards, false, disk, random), servingCode, refolds);
            List<String> letters = FreshFold.letters(engine);
            require(letters.equals(expected), "letters are " + letters + ", not " + expected);
            require(
                    failed(engine).size() == oracle.failed().size(),
                    "not as many events have failed as " + oracle.failed());
        }
        Verification verification = engine.verify(this::reopened);
        require(verification.isEqual(), "verify from the sources finds " + verification);
    }

    private static List<DeadLetter> failed(EmbeddedEngine engine) {
        return engine.deadLetters().list(0, 1_000).stream()
                .filter(letter -> letter.reason().isOfStep())
                .toList();
    }

    private void checkKeys(EmbeddedEngine engine, KeyedOracle oracle) {
        oracle.contexts().forEach((key, context) -> {
            Optional<KeyState> state = engine.state(List.of(key));
            String is =
                    state.map(found -> String.valueOf(found.context().plain())).orElse("none");
            String expected = "{trail=" + context.get("trail") + ", count=" + context.get("count") + "}";
            require(is.equals(expected), "the context of " + key + " is " + is + ", not " + expected);
        });
        boolean sharesRows = dealt.function().places() > 0;
        for (String table : sharesRows ? List.of("buckets", "last", "places") : List.of("buckets", "last")) {
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
        checkTotals(engine, oracle, "by-bucket", "buckets", "bucket");
        if (sharesRows) {
            checkTotals(engine, oracle, "by-holder", "places", "k");
            oracle.rows("places").forEach(row -> checkPlace(engine, String.valueOf(KeyedOracle.value(row, "place"))));
        }
    }

    /// A row of a shared table is found by its key alone.
    private static void checkPlace(EmbeddedEngine engine, String place) {
        int rows = engine.tables(
                new TableQuery(List.of("places"), Optional.of(List.of(place)), 10),
                answer -> answer.tables().getFirst().rows().size());
        require(rows == 1, "of place " + place + " there are " + rows + " rows");
    }

    private static void checkTotals(
            EmbeddedEngine engine, KeyedOracle oracle, String rollup, String table, String level) {
        Map<String, BigDecimal> totals = new TreeMap<>();
        oracle.rows(table)
                .forEach(row -> totals.merge(
                        String.valueOf(KeyedOracle.value(row, level)),
                        new BigDecimal((long) KeyedOracle.value(row, "trail")),
                        BigDecimal::add));
        Map<String, BigDecimal> served = engine.query(Query.all(rollup)).lines().stream()
                .filter(line -> line.group().size() == 1)
                .collect(Collectors.toMap(
                        line -> line.group().getFirst(),
                        line -> Objects.requireNonNull(line.values().get(1)),
                        BigDecimal::add,
                        TreeMap::new));
        require(served.equals(totals), "roll-up " + rollup + " is " + served + ", not " + totals);
    }

    private void redriveAll(EmbeddedEngine engine) {
        for (DeadLetter letter : failed(engine)) {
            redrive(engine, letter, Optional.empty());
            checkKeys(engine, history.oracle());
        }
    }

    /// Sends a failed event again. A function that is the same fails again or folds it, as the oracle says.
    private void redrive(EmbeddedEngine engine, DeadLetter letter, Optional<Event> edit) {
        if (letter.content() != DeadLetter.Content.RECORD) {
            return;
        }
        Feed feed = feed(letter);
        isInDoubt = true;
        Verdict verdict = history.redrive(feed, feed.index(letter.place()), edit);
        byte[] edited = edit.map(DrawnCase::record)
                .map(record -> record.getBytes(StandardCharsets.UTF_8))
                .orElse(null);
        Redriven redriven = engine.deadLetters().redrive(letter.id(), edited);
        isInDoubt = false;
        require(
                redriven.name().equals(verdict.name()),
                "the redrive of letter " + letter + " is " + redriven + ", not " + verdict);
    }

    private static void require(boolean holds, String message) {
        if (!holds) {
            throw new IllegalStateException(message);
        }
    }
}
