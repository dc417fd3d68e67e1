package dev.onefold.embedded;

import dev.onefold.core.EngineException;
import dev.onefold.embedded.guard.EngineLimits;
import dev.onefold.embedded.source.SpaceListener;
import dev.onefold.embedded.source.Stage;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/// The settings of an embedded engine. No setting changes an answer.
///
/// @param shards parts of the state, each owned by one thread, 1 to 256; may change from run to run
/// @param threads number of threads that decode and fold, 0 to 256; 0 does everything on the caller's thread,
///     in one order that repeats
/// @param checkpointInterval at most this much intake from files is folded again after a crash
/// @param stateBytesMax memory for rows and their index, off the Java heap; intake is refused before it is
///     exceeded
/// @param undeliveredBytesMax bytes of sealed batches that are not delivered, above which intake waits
/// @param keepJournal whether a new data directory keeps its journal for ever, so that totals can be
///     recomputed from it; the directory remembers this setting
/// @param machine the parts of its machine that the engine needs, beside files and threads
public record Settings(
        int shards,
        int threads,
        Duration checkpointInterval,
        long stateBytesMax,
        long undeliveredBytesMax,
        boolean keepJournal,
        Machine machine) {
    /// The default: 100 GB.
    public static final long UNDELIVERED_BYTES_MAX = 100_000_000_000L;

    private static final Duration SPACE_PAUSE = Duration.ofMillis(500);
    private static final Duration CHECKPOINT_INTERVAL_MAX = Duration.ofDays(36_500);

    public Settings {
        if (shards < 1 || shards > 256) {
            throw new IllegalArgumentException("Shards are " + shards + "; they are 1 to 256");
        }
        if (threads < 0 || threads > 256) {
            throw new IllegalArgumentException("Threads are " + threads + "; they are 0 to 256");
        }
        Objects.requireNonNull(checkpointInterval, "The checkpoint interval is null");
        if (checkpointInterval.isNegative() || checkpointInterval.compareTo(CHECKPOINT_INTERVAL_MAX) > 0) {
            throw new IllegalArgumentException("The checkpoint interval is " + checkpointInterval + "; it is 0 to "
                    + CHECKPOINT_INTERVAL_MAX.toDays() + " days");
        }
        if (stateBytesMax < 1) {
            throw new IllegalArgumentException("Memory for the state is " + stateBytesMax + " bytes; it is at least 1");
        }
        if (undeliveredBytesMax < 0) {
            throw new IllegalArgumentException(
                    "Undelivered batches may take " + undeliveredBytesMax + " bytes; it is 0 or more");
        }
        Objects.requireNonNull(machine, "The machine is null");
    }

    /// The parts of its machine that the engine uses beside files and threads. The clock gives records their
    /// times of arrival; nothing else here decides about totals.
    ///
    /// @param clock source of the current time
    /// @param random source of the identity of a new data directory
    /// @param pause waits a little before a full disk is tried again; to give up, it throws an
    ///     [EngineException], and the waiting operation is not done
    /// @param spaceListener is called when the disk is full, and when there is space again
    /// @param passed is called for each stage that the engine has passed, also under its lock; it may end the
    ///     process
    public record Machine(
            InstantSource clock,
            RandomGenerator random,
            Runnable pause,
            SpaceListener spaceListener,
            Consumer<Stage> passed) {
        public Machine {
            Objects.requireNonNull(clock, "The clock is null");
            Objects.requireNonNull(random, "The source of randomness is null");
            Objects.requireNonNull(pause, "The pause is null");
            Objects.requireNonNull(spaceListener, "The listener for space is null");
            Objects.requireNonNull(passed, "The listener for stages is null");
        }

        /// Stages are announced to nobody.
        public Machine(InstantSource clock, RandomGenerator random, Runnable pause, SpaceListener spaceListener) {
            this(clock, random, pause, spaceListener, _ -> {});
        }
    }

    private static final class SpaceLog implements SpaceListener {
        private static final System.Logger LOG = System.getLogger("dev.onefold.embedded");

        @Override
        public void waiting(Instant since, Path file) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "The disk is full since " + since + ": no space for " + file
                            + ". Intake waits, answers go on. Make space, and intake goes on by itself.");
        }

        @Override
        public void ended(Instant since) {
            LOG.log(System.Logger.Level.WARNING, "The wait for space on the disk, since " + since + ", has ended.");
        }

        @Override
        public void waitingForReceiver(Instant since, long bytes, long bytesMax) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "Intake waits for the receiver of batches since " + since + ": " + bytes
                            + " bytes are sealed and not delivered, and " + bytesMax
                            + " are allowed. It goes on by itself when enough is delivered.");
        }

        @Override
        public void endedForReceiver(Instant since) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "The wait of intake for the receiver of batches, since " + since + ", has ended.");
        }
    }

    /// A shard and a thread for each processor, a checkpoint each second, half of the machine's memory.
    public static Settings defaults() {
        int processors = Runtime.getRuntime().availableProcessors();
        return new Settings(
                processors,
                processors,
                Duration.ofSeconds(1),
                MachineMemory.bytes() / 2,
                UNDELIVERED_BYTES_MAX,
                false,
                new Machine(InstantSource.system(), new SecureRandom(), Settings::pauseForSpace, new SpaceLog()));
    }

    EngineLimits running() {
        return new EngineLimits(
                shards,
                threads,
                checkpointInterval,
                stateBytesMax,
                undeliveredBytesMax,
                machine.clock(),
                machine.pause(),
                machine.spaceListener(),
                machine.passed());
    }

    private static void pauseForSpace() {
        try {
            Thread.sleep(SPACE_PAUSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new EngineException(
                    EngineException.Kind.INTERRUPTED, "Interrupted while waiting for space on the disk", e);
        }
    }

    public Settings withShards(int count) {
        return new Settings(
                count, threads, checkpointInterval, stateBytesMax, undeliveredBytesMax, keepJournal, machine);
    }

    public Settings withThreads(int count) {
        return new Settings(
                shards, count, checkpointInterval, stateBytesMax, undeliveredBytesMax, keepJournal, machine);
    }

    public Settings withCheckpointInterval(Duration interval) {
        return new Settings(shards, threads, interval, stateBytesMax, undeliveredBytesMax, keepJournal, machine);
    }

    public Settings withStateBytesMax(long bytes) {
        return new Settings(shards, threads, checkpointInterval, bytes, undeliveredBytesMax, keepJournal, machine);
    }

    public Settings withUndeliveredBytesMax(long bytes) {
        return new Settings(shards, threads, checkpointInterval, stateBytesMax, bytes, keepJournal, machine);
    }

    public Settings withKeepJournal(boolean keep) {
        return new Settings(shards, threads, checkpointInterval, stateBytesMax, undeliveredBytesMax, keep, machine);
    }

    public Settings withClock(InstantSource clock) {
        return with(new Machine(clock, machine.random(), machine.pause(), machine.spaceListener(), machine.passed()));
    }

    public Settings withPause(Runnable pause) {
        return with(new Machine(machine.clock(), machine.random(), pause, machine.spaceListener(), machine.passed()));
    }

    public Settings withSpaceListener(SpaceListener listener) {
        return with(new Machine(machine.clock(), machine.random(), machine.pause(), listener, machine.passed()));
    }

    /// Announces each stage that the engine has passed: of use to make a process die between two of them.
    public Settings withPassed(Consumer<Stage> passed) {
        return with(new Machine(machine.clock(), machine.random(), machine.pause(), machine.spaceListener(), passed));
    }

    private Settings with(Machine other) {
        return new Settings(
                shards, threads, checkpointInterval, stateBytesMax, undeliveredBytesMax, keepJournal, other);
    }
}
