package dev.onefold.fakes.disk;

import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;

/// What goes wrong on a disk: an immutable plan, given to [SimulatedDisk#inject]. Operations are counted from 1, and
/// from the moment the plan is given. Every zero means never.
///
/// @param failures operations that fail with an [IOException]
/// @param shortWriteEvery every so many writes takes fewer bytes than it was given, but at least one
/// @param shortReadEvery every so many reads gives fewer bytes than there are, but at least one
/// @param spaceBytesMax the size of the disk; it is given out in blocks of 4,096 bytes, and a gap in a file takes none
/// @param crashAtChange the number of the change ([Operation#isChange]) at which the process ends; a write
///     at which it ends is done in part
/// @param hook is asked first, before each operation
public record Faults(
        Map<Operation, Failure> failures,
        int shortWriteEvery,
        int shortReadEvery,
        long spaceBytesMax,
        long crashAtChange,
        Hook hook) {
    public static final String NO_SPACE = "No space left on device";
    public static final String INPUT_OUTPUT_ERROR = "Input/output error";

    private static final long SPACE_BYTES_DEFAULT = 1L << 40;
    private static final Faults NONE = new Faults(Map.of(), 0, 0, SPACE_BYTES_DEFAULT, 0, (_, _) -> {});

    /// Called before an operation, in the thread that asked for it, with the disk locked: it may look at the disk and
    /// copy it, but must not wait for another thread. It fails the operation by an exception, and ends the
    /// process by a [SimulatedCrash].
    @FunctionalInterface
    public interface Hook {
        void beforeOperation(Operation operation, Path path) throws IOException;
    }

    /// The `nth` operation of a kind fails with `message`; if `repeating`, every `nth` does.
    public record Failure(long nth, boolean repeating, String message) {
        public Failure {
            if (nth < 1) {
                throw new IllegalArgumentException("Operations are counted from 1, but the failing one is " + nth);
            }
        }

        boolean strikes(long count) {
            return repeating ? count % nth == 0 : count == nth;
        }
    }

    public Faults {
        failures = Map.copyOf(failures);
        if (shortWriteEvery < 0 || shortReadEvery < 0 || spaceBytesMax < 0 || crashAtChange < 0) {
            throw new IllegalArgumentException("Negative: short write every %d, short read every %d, space %d, crash %d"
                    .formatted(shortWriteEvery, shortReadEvery, spaceBytesMax, crashAtChange));
        }
    }

    /// A healthy disk of 1 TiB.
    public static Faults none() {
        return NONE;
    }

    /// Also fails every `nth` operation of a kind.
    public Faults failingEvery(Operation operation, long nth, String message) {
        return withFailure(operation, new Failure(nth, true, message));
    }

    /// Also fails the `nth` operation of a kind, and only that one.
    public Faults failingOnce(Operation operation, long nth, String message) {
        return withFailure(operation, new Failure(nth, false, message));
    }

    public Faults withShortWriteEvery(int writes) {
        return new Faults(failures, writes, shortReadEvery, spaceBytesMax, crashAtChange, hook);
    }

    public Faults withShortReadEvery(int reads) {
        return new Faults(failures, shortWriteEvery, reads, spaceBytesMax, crashAtChange, hook);
    }

    public Faults withSpaceBytesMax(long bytes) {
        return new Faults(failures, shortWriteEvery, shortReadEvery, bytes, crashAtChange, hook);
    }

    public Faults withCrashAtChange(long nth) {
        return new Faults(failures, shortWriteEvery, shortReadEvery, spaceBytesMax, nth, hook);
    }

    public Faults withHook(Hook newHook) {
        return new Faults(failures, shortWriteEvery, shortReadEvery, spaceBytesMax, crashAtChange, newHook);
    }

    private Faults withFailure(Operation operation, Failure failure) {
        Map<Operation, Failure> more = new EnumMap<>(Operation.class);
        more.putAll(failures);
        more.put(operation, failure);
        return new Faults(more, shortWriteEvery, shortReadEvery, spaceBytesMax, crashAtChange, hook);
    }
}
