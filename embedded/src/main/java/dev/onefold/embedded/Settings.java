package dev.onefold.embedded;

import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.random.RandomGenerator;

/// How the embedded engine runs. No setting changes an answer.
///
/// @param shards parts of the state, each owned by one thread, 1 to 256; may change from run to run
/// @param threads that decode and fold, 0 to 256; 0 does everything on the caller's thread, in one order that
/// repeats
/// @param checkpointInterval at most this much intake from files is folded again after a crash
/// @param stateBytesMax memory for rows and their index, off the Java heap; intake is refused before it is
/// exceeded
/// @param keepJournal whether a new data directory keeps for ever what came through its journal, so that
/// totals can be recomputed from it; the directory remembers
/// @param clock says when; decides nothing about totals
/// @param random gives a new data directory its identity; decides nothing about totals
/// @param pause waits a little before a full disk is tried again
public record Settings(
        int shards,
        int threads,
        Duration checkpointInterval,
        long stateBytesMax,
        boolean keepJournal,
        InstantSource clock,
        RandomGenerator random,
        Runnable pause) {
    private static final Duration SPACE_PAUSE = Duration.ofMillis(500);

    public Settings {
        if (shards < 1 || shards > 256) {
            throw new IllegalArgumentException("Shards are " + shards + "; they are 1 to 256");
        }
        if (threads < 0 || threads > 256) {
            throw new IllegalArgumentException("Threads are " + threads + "; they are 0 to 256");
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
                false,
                InstantSource.system(),
                new SecureRandom(),
                Settings::pauseForSpace);
    }

    private static void pauseForSpace() {
        try {
            Thread.sleep(SPACE_PAUSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new EngineException(
                    EngineException.Kind.STOPPED, "Interrupted while waiting for space on the disk", e);
        }
    }

    public Settings withShards(int count) {
        return new Settings(count, threads, checkpointInterval, stateBytesMax, keepJournal, clock, random, pause);
    }

    public Settings withThreads(int count) {
        return new Settings(shards, count, checkpointInterval, stateBytesMax, keepJournal, clock, random, pause);
    }

    public Settings withCheckpointInterval(Duration interval) {
        return new Settings(shards, threads, interval, stateBytesMax, keepJournal, clock, random, pause);
    }

    public Settings withStateBytesMax(long bytes) {
        return new Settings(shards, threads, checkpointInterval, bytes, keepJournal, clock, random, pause);
    }

    public Settings withKeepJournal(boolean keep) {
        return new Settings(shards, threads, checkpointInterval, stateBytesMax, keep, clock, random, pause);
    }

    public Settings withClock(InstantSource source) {
        return new Settings(shards, threads, checkpointInterval, stateBytesMax, keepJournal, source, random, pause);
    }

    public Settings withPause(Runnable wait) {
        return new Settings(shards, threads, checkpointInterval, stateBytesMax, keepJournal, clock, random, wait);
    }
}
