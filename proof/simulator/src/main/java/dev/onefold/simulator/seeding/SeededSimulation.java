package dev.onefold.simulator.seeding;

import dev.onefold.core.EngineException;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.query.Answer;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.SpaceListener;
import dev.onefold.fakes.disk.Faults;
import dev.onefold.fakes.disk.SimulatedCrash;
import dev.onefold.fakes.disk.SimulatedDisk;
import dev.onefold.oracle.Oracle;
import dev.onefold.simulator.embedded.PipelineYaml;
import dev.onefold.simulator.judge.Judge;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/// Some lives of one data directory whose table is seeded while it changes: one seed says what the table's log
/// looks like, how the table changes, which changes arrive when, and which are never noted; who seeds when, how
/// late what was read is written, at which operations the process ends, and which seeding goes on after it. Each
/// answer is that of the oracle for the lines that are in; at the end the rows are those of the table.
///
/// One thread, and no clock but the seed's; so equal seeds are equal runs.
public final class SeededSimulation {
    private static final int LIVES_MAX = 4;
    private static final int STEPS_MAX = 250;
    private static final int SEEDERS_MAX = 3;
    private static final String LIVE = "live";
    private static final long STATE_BYTES_MAX = 1L << 30;

    private final SplittableRandom random;
    private final UserTable table;
    private final String yaml;
    private final List<String> story = new ArrayList<>();
    private final Map<String, List<byte[]>> sent = new LinkedHashMap<>();
    private final Map<String, Long> acknowledged = new LinkedHashMap<>();
    private final List<Seeder> seeders = new ArrayList<>();
    private SimulatedDisk disk = SimulatedDisk.empty();
    private long lastNumber;
    private int shards = 2;

    private SeededSimulation(long seed) {
        random = new SplittableRandom(seed);
        table = new UserTable(random.split());
        yaml = table.pipeline();
        sent.put(LIVE, new ArrayList<>());
    }

    /// Runs a seed.
    ///
    /// @throws AssertionError if a promise was broken; it says which, what happened before, and how to run it again
    public static void run(long seed) {
        SeededSimulation simulation = new SeededSimulation(seed);
        try {
            simulation.run();
        } catch (RuntimeException | Error failure) {
            throw new AssertionError(
                    "Seeding failed with seed " + seed + "; run it again with -Dseed=" + seed
                            + ", or as 'simulator --tables --seed " + seed + "'.\n"
                            + String.join("\n", simulation.story) + "\n" + failure.getMessage() + "\n"
                            + simulation.yaml,
                    failure);
        }
    }

    private void run() {
        for (int lives = random.nextInt(LIVES_MAX); lives > 0; lives--) {
            live();
        }
        disk.inject(Faults.none());
        try (EmbeddedEngine engine = open()) {
            meet(engine);
            finish(engine);
        }
        disk = random.nextBoolean() ? disk.kill() : disk.crash(random);
        try (EmbeddedEngine engine = open()) {
            meet(engine);
            requireTable(engine);
        }
    }

    private void live() {
        disk.inject(
                random.nextInt(3) == 0
                        ? Faults.none()
                        : Faults.none().withCrashAtChange(random.nextInt(1, 2 << random.nextInt(2, 9))));
        @Nullable EmbeddedEngine engine = null;
        try {
            engine = open();
            meet(engine);
            for (int steps = random.nextInt(STEPS_MAX); steps > 0; steps--) {
                step(engine);
            }
        } catch (SimulatedCrash crash) {
            story.add("crashed");
        }
        SimulatedDisk before = disk;
        disk = random.nextBoolean() ? disk.crash(random) : disk.kill();
        if (engine != null) {
            try {
                engine.close(); // Only its memory is released: nothing it does reaches the disk any more.
            } catch (SimulatedCrash | EngineException ended) {
                if (before.isOpen()) {
                    throw new IllegalStateException("A disk goes on after the end", ended);
                }
            }
        }
        seeders.replaceAll(seeder -> random.nextBoolean() ? resumed(seeder) : seeder);
    }

    private EmbeddedEngine open() {
        shards = random.nextBoolean() ? shards : random.nextInt(1, 6);
        Settings settings = new Settings(
                shards,
                0,
                random.nextBoolean() ? Duration.ZERO : Duration.ofDays(1),
                STATE_BYTES_MAX,
                Settings.UNDELIVERED_BYTES_MAX,
                false,
                new Settings.Machine(
                        () -> Instant.ofEpochSecond(random.nextLong(0, 4_000_000_000L)),
                        random,
                        () -> disk.inject(Faults.none()),
                        SpaceListener.silent()));
        return EmbeddedEngine.open(disk.getPath("/data/towns"), PipelineYaml.read(yaml), settings);
    }

    /// What was acknowledged is in, and nothing else than was sent.
    private void meet(EmbeddedEngine engine) {
        acknowledged.forEach((source, promised) -> {
            if (engine.acknowledged(source) < promised) {
                throw new IllegalStateException("Of " + source + " " + promised + " lines were acknowledged, but "
                        + engine.acknowledged(source) + " are in");
            }
        });
        check(engine);
    }

    private void check(EmbeddedEngine engine) {
        Oracle oracle = Oracle.of(yaml);
        for (Answer.Progress progress : engine.progress()) {
            List<byte[]> lines = sent.getOrDefault(progress.source(), List.of());
            for (int i = 0; i < progress.records(); i++) {
                oracle.accept(progress.source(), i + 1L, lines.get(i));
            }
        }
        String wrong = Judge.wrongTotals(engine, oracle);
        var verification = engine.verify();
        long letters = engine.deadLetters().size();
        if (!wrong.isEmpty() || !verification.isEqual() || letters > 0) {
            throw new IllegalStateException(
                    wrong + "verify: " + verification.differences() + ", " + letters + " dead letters");
        }
    }

    private void step(EmbeddedEngine engine) {
        switch (random.nextInt(16)) {
            case 0 -> check(engine);
            case 1 -> engine.checkpointNow();
            case 2, 3, 4 -> table.change();
            case 5 -> table.commitSome();
            case 6 -> send(engine, LIVE, table.arrivals(1 + random.nextInt(5)));
            case 7 -> switchLog();
            default -> seedSome(engine);
        }
    }

    private void switchLog() {
        if (table.isOff()) {
            table.switchOn();
            story.add("log on: " + table.identity());
        } else if (table.mayBeOff() && random.nextInt(4) == 0) {
            table.switchOff();
            story.add("log off");
        }
    }

    /// Somebody seeds: begins, reads, writes, is killed, goes on.
    private void seedSome(EmbeddedEngine engine) {
        if (seeders.isEmpty() || seeders.size() < SEEDERS_MAX && random.nextInt(8) == 0) {
            if (!table.isOff()) {
                begin();
            }
            return;
        }
        int at = random.nextInt(seeders.size());
        Seeder seeder = seeders.get(at);
        switch (random.nextInt(16)) {
            case 0 -> seeders.set(at, resumed(seeder));
            case 1, 2, 3, 4, 5, 6 -> seeder.read(1 + random.nextInt(8));
            default -> write(engine, seeder);
        }
        if (seeder.isDone()) {
            seeders.remove(seeder);
            story.add("done: " + seeder);
        }
    }

    private Seeder begin() {
        Seeder seeder = Seeder.begin(table, draw());
        seeders.add(seeder);
        story.add("begun: " + seeder);
        return seeder;
    }

    /// A clock that goes back draws no number twice.
    private long draw() {
        lastNumber = Math.max(random.nextLong(1, 1_000), lastNumber + 1);
        return lastNumber;
    }

    private Seeder resumed(Seeder seeder) {
        if (table.isOff()) {
            return seeder; // It would be refused, and goes on as it is.
        }
        Seeder next = seeder.resume(draw());
        story.add(seeder + " goes on as " + next);
        return next;
    }

    private void write(EmbeddedEngine engine, Seeder seeder) {
        Seeder.Lines lines = seeder.lines();
        if (lines == null) {
            return;
        }
        List<byte[]> records = new ArrayList<>();
        int from = 0;
        for (int i = 0; i < lines.bytes().length; i++) {
            if (lines.bytes()[i] == '\n') {
                records.add(java.util.Arrays.copyOfRange(lines.bytes(), from, i));
                from = i + 1;
            }
        }
        send(engine, "seed/" + seeder.number(), records);
        seeder.written(lines, random.nextInt(3) == 0);
    }

    /// Appends to a source, behind what is acknowledged, and sends some of that again.
    private void send(EmbeddedEngine engine, String source, List<byte[]> more) {
        List<byte[]> lines = sent.computeIfAbsent(source, _ -> new ArrayList<>());
        int known = (int) (long) acknowledged.getOrDefault(source, 0L);
        if (!source.equals(LIVE)) {
            known = (int) engine.acknowledged(source);
            lines.subList(known, lines.size()).clear(); // Its process has ended, and reads again.
        }
        lines.addAll(more);
        int from = Math.max(0, known - random.nextInt(3));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (byte[] line : lines.subList(from, lines.size())) {
            bytes.writeBytes(line);
            bytes.write('\n');
        }
        boolean isRows = !source.equals(LIVE) && table.seedKind() == RecordKind.ROW;
        long now = (isRows
                        ? engine.appendRows(source, from + 1L, bytes.toByteArray(), bytes.size())
                        : engine.append(source, from + 1L, bytes.toByteArray(), bytes.size()))
                .acknowledged();
        if (now != lines.size()) {
            throw new IllegalStateException(
                    "Sent " + lines.size() + " lines of " + source + ", acknowledged is " + now);
        }
        acknowledged.put(source, now);
    }

    /// A seeding that begins now, after the log is on, makes all good but what no log says.
    private void finish(EmbeddedEngine engine) {
        if (table.isOff()) {
            table.switchOn();
        }
        Seeder last = seeders.isEmpty() || random.nextBoolean() ? begin() : resumed(seeders.getFirst());
        while (!last.isDone()) {
            table.change();
            if (random.nextBoolean()) {
                last.read(1 + random.nextInt(3));
            } else {
                write(engine, last);
            }
            send(engine, LIVE, table.arrivals(random.nextInt(4)));
        }
        table.commitAll();
        send(engine, LIVE, table.lastArrivals());
        for (Seeder late : seeders) { // Hours later somebody wakes up.
            late.read(Integer.MAX_VALUE);
            write(engine, late);
        }
        check(engine);
        requireTable(engine);
    }

    private void requireTable(EmbeddedEngine engine) {
        String wrong = TableJudge.wrongRows(engine, table);
        if (!wrong.isEmpty()) {
            throw new IllegalStateException(wrong);
        }
    }
}
