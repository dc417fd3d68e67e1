package dev.onefold.simulator.embedded;

import dev.onefold.core.EngineException;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.SpaceListener;
import dev.onefold.fakes.disk.Faults;
import dev.onefold.fakes.disk.Operation;
import dev.onefold.fakes.disk.SimulatedCrash;
import dev.onefold.fakes.disk.SimulatedDisk;
import dev.onefold.oracle.generate.RandomCase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/// Some lives of one data directory on a simulated disk: one seed says the pipeline, its records, how they are cut
/// into files and batches, the settings of each life, what the client does, where the disk fails and at which of
/// its operations the process ends, and whether the power goes with it. After each life what was acknowledged must
/// be in; at the end, when all was sent again as a client would, the totals are those of the oracle. Between lives
/// the pipeline file may change.
///
/// One thread, and no clock but the seed's; so equal seeds are equal runs.
public final class EmbeddedSimulation {
    private static final List<Operation> FAILING = List.of(
            Operation.OPEN,
            Operation.READ,
            Operation.WRITE,
            Operation.FORCE,
            Operation.RENAME,
            Operation.DELETE,
            Operation.LIST);
    private static final int LIVES_MAX = 5;
    private static final long STATE_BYTES_MAX = 1L << 30;

    private final SplittableRandom random;
    private final boolean keepsJournal;
    private final Client client;
    private final List<String> story = new ArrayList<>();
    private SimulatedDisk disk = SimulatedDisk.empty();
    private boolean faulty;
    private boolean served;
    private int shards = 2;

    private EmbeddedSimulation(long seed) {
        random = new SplittableRandom(seed);
        RandomCase dealt = RandomCase.of(random);
        keepsJournal = random.nextInt(3) == 0;
        client = new Client(dealt, Input.deal(dealt, random), random, story);
    }

    /// Runs a seed.
    ///
    /// @throws AssertionError if a promise was broken; it says which, what happened before, and how to run it again
    public static void run(long seed) {
        EmbeddedSimulation simulation = new EmbeddedSimulation(seed);
        try {
            simulation.run();
        } catch (RuntimeException | Error failure) {
            throw new AssertionError(
                    "The embedded engine failed with seed " + seed + "; run it again with -Dseed=" + seed
                            + ", or as 'simulator --seed " + seed + "'.\n" + String.join("\n", simulation.story) + "\n"
                            + failure.getMessage() + "\n" + simulation.client,
                    failure);
        }
    }

    private void run() {
        for (int lives = random.nextInt(LIVES_MAX); lives > 0; lives--) {
            live();
        }
        disk.inject(Faults.none());
        faulty = false;
        takeOver();
        Settings last = settings();
        try (EmbeddedEngine engine = open(client.definition(), last)) {
            client.meet(engine);
            client.finish(engine);
        }
        disk = random.nextBoolean() ? disk.kill() : disk.crash(random);
        story.add("once more");
        try (EmbeddedEngine engine = open(client.definition(), settings())) {
            client.meet(engine);
            client.finish(engine);
            if (keepsJournal) {
                client.verifyFromSources(engine);
            }
        }
    }

    /// Finds out which definition serves after the last life, and lets it change once more, perhaps.
    private void takeOver() {
        if (served && (client.isFilling() || random.nextInt(4) == 0)) {
            String wanted = client.wanted();
            try (EmbeddedEngine engine = open(wanted, settings())) {
                client.meet(engine);
                client.follow(engine, wanted);
            }
        }
    }

    private void live() {
        Faults faults = faults();
        disk.inject(faults);
        @Nullable EmbeddedEngine engine = null;
        boolean met = false;
        try {
            String wanted = served ? client.wanted() : client.definition();
            engine = open(wanted, settings());
            client.meet(engine);
            met = true;
            served = true;
            boolean follows = client.follow(engine, wanted);
            for (int steps = follows ? random.nextInt(30) : 0; steps > 0; steps--) {
                client.step(engine);
            }
            if (random.nextBoolean()) {
                engine.close();
                story.add("closed");
            }
        } catch (SimulatedCrash crash) {
            story.add("crashed " + (met ? "at work" : "at the start"));
        } catch (EngineException failure) {
            requireExcuse(failure);
        }
        end(engine);
    }

    /// Ends the process, perhaps with the power.
    private void end(@Nullable EmbeddedEngine engine) {
        boolean power = random.nextBoolean();
        SimulatedDisk before = disk;
        disk = power ? disk.crash(random) : disk.kill();
        story.add(power ? "power cut" : "killed");
        if (engine != null) {
            try {
                engine.close(); // Only its memory is let go: nothing it does reaches the disk any more.
            } catch (SimulatedCrash | EngineException ended) {
                if (before.isOpen()) {
                    throw new IllegalStateException("A disk goes on after the end", ended);
                }
            }
        }
    }

    private void requireExcuse(EngineException failure) {
        story.add("stopped: " + failure.getMessage());
        boolean storage =
                failure.kind() == EngineException.Kind.STORAGE_FAILED || failure.kind() == EngineException.Kind.STOPPED;
        if (!faulty || !storage) {
            throw failure;
        }
    }

    private EmbeddedEngine open(String definition, Settings settings) {
        Path directory = disk.getPath("/data/case");
        return EmbeddedEngine.open(directory, client.pipeline(definition), settings);
    }

    private Settings settings() {
        boolean always = random.nextBoolean();
        shards = random.nextBoolean() ? shards : random.nextInt(1, 6);
        story.add("life with " + shards + " shards, " + (always ? "checkpoints always" : "few checkpoints"));
        return new Settings(
                shards,
                0,
                always ? Duration.ZERO : Duration.ofDays(1),
                STATE_BYTES_MAX,
                Settings.UNDELIVERED_BYTES_MAX,
                keepsJournal,
                new Settings.Machine(
                        client::now, // It goes back as often as on.
                        random,
                        () -> disk.inject(Faults.none()),
                        SpaceListener.silent()));
    }

    private Faults faults() {
        Faults faults = Faults.none();
        faulty = false;
        switch (random.nextInt(8)) {
            case 0 -> story.add("a healthy disk");
            case 1 -> {
                faulty = true;
                Operation failing = FAILING.get(random.nextInt(FAILING.size()));
                if (!served && failing == Operation.FORCE) {
                    failing =
                            Operation.WRITE; // Whose name was forced in vain is for the administrator: the directory's.
                }
                int nth = number();
                faults = faults.failingOnce(failing, nth, Faults.INPUT_OUTPUT_ERROR);
                story.add(failing + " " + nth + " fails");
            }
            case 2 -> {
                faulty = true; // The lock file, say, is not waited for.
                long space = random.nextLong(1 << 10, 1 << 19);
                faults = faults.withSpaceBytesMax(space);
                story.add("a disk of " + space + " bytes");
            }
            case 3, 4 -> {
                Operation last = random.nextInt(3) > 0 ? Operation.FORCE : Operation.RENAME;
                int nth = random.nextInt(1, 40);
                faults = faults.withHook(crashBefore(last, nth));
                story.add("crash before " + last + " " + nth);
            }
            default -> {
                int nth = number();
                faults = faults.withCrashAtChange(nth);
                story.add("crash at change " + nth);
            }
        }
        if (random.nextInt(4) == 0) {
            faults = faults.withShortWriteEvery(random.nextInt(1, 5)).withShortReadEvery(random.nextInt(1, 5));
        }
        return faults;
    }

    /// What is written and not yet forced is where a kill and a power cut differ most.
    private static Faults.Hook crashBefore(Operation last, int nth) {
        int[] left = {nth};
        return (operation, _) -> {
            if (operation == last && --left[0] == 0) {
                throw new SimulatedCrash("before " + operation + " " + nth);
            }
        };
    }

    private int number() {
        return random.nextInt(1, 2 << random.nextInt(2, 9));
    }
}
