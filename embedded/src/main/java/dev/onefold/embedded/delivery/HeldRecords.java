package dev.onefold.embedded.delivery;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.disk.FileNames;
import dev.onefold.embedded.guard.Space;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The records of batches whose delivery takes long, copied from the tape to a file each, `held-NUMBER`: so the tape
/// behind them can go when later batches are delivered. Any thread.
final class HeldRecords {
    private static final Pattern NAME = Pattern.compile("held-([0-9]+)");
    private static final int BUFFER_BYTES = 1 << 16;

    private final Path directory;
    private final Space space;
    private final ConcurrentSkipListMap<Long, Long> bytes = new ConcurrentSkipListMap<>();

    HeldRecords(Path directory, Space space) {
        this.directory = directory;
        this.space = space;
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

    /// Copies the records of a batch; durable when this returns.
    void hold(long number, Supplier<InputStream> records) {
        Path file = file(number);
        space.await(() -> {
            Disk.produce(file, out -> {
                try (InputStream in = records.get()) {
                    in.transferTo(out);
                }
            });
            return file;
        });
        bytes.put(number, Disk.bytes(file));
    }

    /// Deletes what is held of all other batches.
    void keepOnly(Set<Long> numbers) {
        for (Long number : bytes.keySet()) {
            if (!numbers.contains(number)) {
                Disk.delete(file(number));
                bytes.remove(number);
            }
        }
    }
}
