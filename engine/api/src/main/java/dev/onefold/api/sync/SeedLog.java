package dev.onefold.api.sync;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.json.Json;
import dev.onefold.core.json.JsonText;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The seedings of a pipeline, in a folder: each has a number of its own, above every one whose rows are
/// older, and a file with its progress. Processes and threads may use one folder at the same time.
public final class SeedLog {
    private static final String JSON = ".json";
    private static final String LOCK = ".lock";
    private static final String RUNNING = "running";
    private static final String DONE = "done";
    private static final int TRIES = 10;
    private static final Duration PAUSE = Duration.ofMillis(20);

    private final Path folder;

    /// The folder is made when the first seeding begins.
    public SeedLog(Path folder) {
        this.folder = folder;
    }

    /// A seeding as its file has it.
    ///
    /// @param identity of its source
    /// @param marks the progress of each part
    public record Entry(long number, String identity, boolean done, Map<String, String> marks) {}

    /// The source of the numbers of seedings, and the state of earlier ones.
    public interface Numbers {
        /// Draws a number that no seeding has, greater than those of all whose rows are older. Each
        /// time another one.
        ///
        /// @param last the greatest number that this log knows
        long draw(long last);

        /// Whether the rows of the seeding with a number are still there. If not, they are read again.
        boolean holds(long number);

        /// Numbers by a clock, greater than the last one also if the clock went back; or, for rows that
        /// were kept, from the time on of which they are.
        ///
        /// @param nowMs epoch milliseconds
        static Numbers of(long nowMs, Optional<Instant> asOf) {
            OptionalLong kept = earlier(nowMs, asOf);
            AtomicLong next = new AtomicLong(kept.orElse(nowMs));
            return new Numbers() {
                @Override
                public long draw(long last) {
                    return kept.isPresent() ? next.getAndIncrement() : Math.max(nowMs, last + 1);
                }

                @Override
                public boolean holds(long number) {
                    return true;
                }
            };
        }

        /// The time of which rows are that were kept, in epoch milliseconds; empty if they are read now.
        static OptionalLong earlier(long nowMs, Optional<Instant> asOf) {
            return asOf.stream()
                    .mapToLong(Instant::toEpochMilli)
                    .filter(at -> at < nowMs)
                    .findFirst();
        }
    }

    /// The latest seeding of a source.
    public Optional<Entry> latest(String identity) throws IOException {
        Entry latest = null;
        for (long number : numbers(JSON)) {
            Entry entry = read(number);
            if (entry != null && entry.identity().equals(identity) && (latest == null || number > latest.number())) {
                latest = entry;
            }
        }
        return Optional.ofNullable(latest);
    }

    /// Begins a seeding. If the latest one of the same source was interrupted, the new one continues at its
    /// marks; it has a number of its own, so that a row that both read is not a conflict.
    ///
    /// @param identity of the source, and of the receiver of its rows
    /// @param restart whether it reads from the beginning in any case
    public Seed begin(String identity, Numbers numbers, boolean restart) throws IOException {
        Files.createDirectories(folder);
        Optional<Entry> latest = restart ? Optional.empty() : latest(identity);
        if (latest.isPresent()
                && !latest.get().done()
                && numbers.holds(latest.get().number())) {
            LockFile held = lockOfInterrupted(latest.get().number());
            if (held != null) { // Otherwise it is running.
                try (held) {
                    Entry left = read(latest.get().number());
                    return draw(identity, numbers, left == null ? latest.get() : left);
                }
            }
        }
        return draw(identity, numbers, null);
    }

    private Seed draw(String identity, Numbers numbers, @Nullable Entry left) throws IOException {
        while (true) {
            long last = Math.max(max(JSON), max(LOCK));
            long number = numbers.draw(last);
            try {
                Files.createFile(folder.resolve(number + LOCK));
            } catch (FileAlreadyExistsException e) {
                continue; // Somebody else has drawn it.
            }
            LockFile held = lock(number);
            if (held == null) {
                continue; // Somebody took it for one that was interrupted.
            }
            Entry entry = new Entry(number, identity, false, left == null ? Map.of() : left.marks());
            Seed seed = new Seed(held, entry, left == null ? 0 : left.number());
            seed.save(entry.marks());
            return seed;
        }
    }

    private long max(String end) throws IOException {
        return numbers(end).stream().mapToLong(Long::longValue).max().orElse(0);
    }

    private List<Long> numbers(String end) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> String.valueOf(file.getFileName()))
                    .filter(name -> name.matches("[0-9]{1,18}\\" + end))
                    .map(name -> Long.valueOf(name.substring(0, name.length() - end.length())))
                    .toList();
        }
    }

    /// The lock of a seeding, which its process holds while it runs; `null` if somebody else holds it.
    private @Nullable LockFile lock(long number) throws IOException {
        return LockFile.take(folder.resolve(number + LOCK));
    }

    /// The same, though somebody may hold it for a moment to see whether it is held.
    private @Nullable LockFile lockOfInterrupted(long number) throws IOException {
        LockFile held = lock(number);
        for (int again = 1; held == null && again < TRIES; again++) {
            LockSupport.parkNanos(PAUSE.toNanos());
            held = lock(number);
        }
        return held;
    }

    private @Nullable Entry read(long number) throws IOException {
        Path file = folder.resolve(number + JSON);
        if (!Files.exists(file)) {
            return null;
        }
        if (!(JsonText.read(Files.readString(file), new Problems()) instanceof Node.Mapping json)) {
            throw new IOException("File is corrupt: " + file + ". Delete it: its seeding is begun again then.");
        }
        Map<String, String> marks = new LinkedHashMap<>();
        if (json.find("marks") instanceof Node.Mapping all) {
            all.entries().forEach(mark -> marks.put(mark.name().text(), text(mark.value())));
        }
        return new Entry(
                number, text(json.find("source")), text(json.find("state")).equals(DONE), marks);
    }

    private static String text(@Nullable Node node) {
        return node instanceof Node.Scalar scalar ? scalar.text() : "";
    }

    /// Holds a name until it is closed; empty if another command holds it.
    public Optional<Closeable> alone(String name) throws IOException {
        Files.createDirectories(folder);
        return Optional.ofNullable(LockFile.take(folder.resolve(name + LOCK)));
    }

    /// Whether a seeding with a lower number runs.
    public boolean isRunning(long below) throws IOException {
        for (long number : numbers(LOCK)) {
            if (number < below) {
                LockFile held = lock(number);
                if (held == null) {
                    return true;
                }
                held.close();
            }
        }
        return false;
    }

    /// A seeding that runs in this process.
    public final class Seed implements AutoCloseable {
        private final LockFile held;
        private final Entry entry;
        private final long continued;

        private Seed(LockFile held, Entry entry, long continued) {
            this.held = held;
            this.entry = entry;
            this.continued = continued;
        }

        /// The number of the seeding.
        public long number() {
            return entry.number();
        }

        /// The mark at which each part begins.
        public Map<String, String> marks() {
            return entry.marks();
        }

        /// The number of the interrupted seeding that this one continues; 0 if it begins at the beginning.
        public long continued() {
            return continued;
        }

        /// Notes the progress of each part: all rows in front of these marks are durable in the engine.
        public void save(Map<String, String> marks) throws IOException {
            write(RUNNING, marks);
        }

        /// Notes that all is read.
        public void finish() throws IOException {
            write(DONE, Map.of());
        }

        private void write(String state, Map<String, String> marks) throws IOException {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("source", entry.identity());
            json.put("state", state);
            json.put("marks", marks);
            Path part = folder.resolve(number() + ".part");
            try (FileChannel out = FileChannel.open(
                    part, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
                ByteBuffer bytes = ByteBuffer.wrap((Json.of(json) + "\n").getBytes(StandardCharsets.UTF_8));
                while (bytes.hasRemaining()) {
                    out.write(bytes);
                }
                out.force(true);
            }
            Files.move(
                    part,
                    folder.resolve(number() + JSON),
                    StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
        }

        /// Releases it; if it is not finished, it was interrupted. The file of the lock stays: its number was
        /// drawn.
        @Override
        public void close() throws IOException {
            held.close();
        }
    }
}
