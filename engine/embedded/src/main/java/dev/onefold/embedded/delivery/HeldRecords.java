package dev.onefold.embedded.delivery;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.disk.FileNames;
import dev.onefold.embedded.disk.OutOfSpaceException;
import dev.onefold.embedded.disk.Scale;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The records of batches whose delivery takes long, copied from the tape to a file each, `held-NUMBER`: so
/// the tape behind them can be deleted when later batches are delivered. Any thread.
final class HeldRecords {
    private static final Pattern NAME = Pattern.compile("held-([0-9]+)");
    private static final int BUFFER_BYTES = 1 << 16;

    /// Space on the disk that copies leave free.
    private static final long FREE_BYTES_MIN = Scale.of(64 << 20);

    private final Path directory;
    private final ConcurrentSkipListMap<Long, Long> bytes = new ConcurrentSkipListMap<>();

    HeldRecords(Path directory) {
        this.directory = directory;
        for (Path file : FileNames.list(directory, FileNames::isHeld)) {
            Matcher matcher = NAME.matcher(String.valueOf(file.getFileName()));
            if (matcher.matches()) {
                bytes.put(Long.parseLong(matcher.group(1)), Disk.bytes(file));
            }
        }
    }

    private Path file(long number) {
        return directory.resolve("held-" + BatchNumber.of(number));
    }

    /// Whether the records of a whole batch are in a file, which is durable.
    boolean has(long number) {
        return bytes.containsKey(number);
    }

    /// Bytes of all files.
    long bytes() {
        return bytes.values().stream().mapToLong(Long::longValue).sum();
    }

    /// The records of a batch that is held.
    InputStream open(long number) {
        Path file = file(number);
        try {
            return new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES);
        } catch (IOException e) {
            throw Disk.failed("opening", file, e);
        }
    }

    /// Copies the records of a batch, if the disk has enough space for that; durable when this returns. Nobody waits
    /// for a copy, so a copy leaves some space for all others, and waits for none.
    ///
    /// @param size of the records, in bytes
    /// @param isWanted whether the copying is to continue
    /// @return whether the records are in a file
    boolean hold(long number, long size, Supplier<InputStream> records, BooleanSupplier isWanted) {
        if (Disk.usableBytes(directory) < size + FREE_BYTES_MIN) {
            return false;
        }
        Path file = file(number);
        try {
            Disk.produce(file, out -> {
                try (InputStream in = records.get()) {
                    copy(in, out, isWanted);
                }
            });
        } catch (OutOfSpaceException | Unwanted e) {
            return false;
        }
        bytes.put(number, Disk.bytes(file));
        return true;
    }

    private static void copy(InputStream in, OutputStream out, BooleanSupplier isWanted) throws IOException {
        byte[] buffer = new byte[BUFFER_BYTES];
        for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
            if (!isWanted.getAsBoolean()) {
                throw new Unwanted();
            }
            out.write(buffer, 0, read);
        }
    }

    /// Ends a copy that is not wanted any more.
    private static final class Unwanted extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /// Deletes the copies of all other batches.
    void keepOnly(Set<Long> numbers) {
        for (Long number : bytes.keySet()) {
            if (!numbers.contains(number)) {
                Disk.delete(file(number));
                bytes.remove(number);
            }
        }
    }
}
