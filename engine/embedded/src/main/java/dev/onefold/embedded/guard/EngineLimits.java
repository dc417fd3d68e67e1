package dev.onefold.embedded.guard;

import dev.onefold.embedded.source.SpaceListener;
import dev.onefold.embedded.source.Stage;
import java.time.Duration;
import java.time.InstantSource;
import java.util.function.Consumer;

/// The settings that decide how the engine runs.
///
/// @param shards number of parts of the state
/// @param threads number of threads that decode and fold; 0 does everything on the caller's thread
/// @param checkpointInterval at most this much intake from files is folded again after a crash
/// @param stateBytesMax memory for rows and their index, in bytes
/// @param undeliveredBytesMax bytes of sealed batches that are not delivered, above which intake waits
/// @param clock source of the current time
/// @param pause waits a little before a full disk is tried again
/// @param listener is called when intake waits, and when it continues
/// @param passed is called for each stage that is passed
public record EngineLimits(
        int shards,
        int threads,
        Duration checkpointInterval,
        long stateBytesMax,
        long undeliveredBytesMax,
        InstantSource clock,
        Runnable pause,
        SpaceListener listener,
        Consumer<Stage> passed) {}
