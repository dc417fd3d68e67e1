package dev.onefold.server;

import dev.onefold.core.bytes.Sha256;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/// The answers to requests with an idempotency key, for a day: a request that is repeated because its answer
/// was lost gets the same answer, and nothing is folded. The memory ends, so it only serves records that have
/// an identity of their own: if a request is repeated after that, each of its records is a duplicate. Any
/// thread may call.
///
/// The file has one line for each answer: its time in epoch seconds, the SHA-256 of its key, the SHA-256 of its
/// request, and the answer in base64. A line is written after the records are forced and before the answer is
/// sent. It is not forced itself: after a power cut a repeated request may find its records to be duplicates.
final class Remembered {
    static final Duration AGE_MAX = Duration.ofHours(24);
    static final int COUNT_MAX = 100_000;
    static final int ANSWER_BYTES_MAX = 64 << 10;
    private static final long BYTES_MAX = 64 << 20;
    private static final int FIELDS = 4;
    private static final String HASH = "[0-9a-f]{64}";

    /// Forgotten lines stay in the file until there are this many more of them than of remembered ones.
    private static final int SUPERFLUOUS_MIN = 1_000;

    /// A disk that was full is not asked again at once.
    private static final Duration REST = Duration.ofMinutes(1);

    private final Path file;
    private final InstantSource clock;
    private final Map<String, Answered> answers = new LinkedHashMap<>(); // The oldest first.
    private final Set<String> underWay = new HashSet<>();
    private long bytes;
    private long linesInFile;
    private boolean isFileStale;
    private Instant restUntil = Instant.EPOCH;

    private record Answered(Instant at, String request, byte[] answer) {
        String line(String key) {
            return at.getEpochSecond() + " " + key + " " + request + " "
                    + Base64.getEncoder().encodeToString(answer) + "\n";
        }
    }

    /// The state of a key.
    sealed interface Known {
        /// Nothing: the request is answered now, and [#end] must follow.
        record Nothing() implements Known {}

        /// The same request had this answer.
        record Same(byte[] answer) implements Known {}

        /// Another request was answered under this key.
        record Other() implements Known {}

        /// A request with this key is being answered.
        record UnderWay() implements Known {}
    }

    private Remembered(Path file, InstantSource clock) {
        this.file = file;
        this.clock = clock;
    }

    /// Reads what the file has. A last line that is cut off is left out.
    ///
    /// @throws IOException if the file cannot be read
    static Remembered open(Path file, InstantSource clock) throws IOException {
        Remembered remembered = new Remembered(file, clock);
        Path folder = Objects.requireNonNull(file.toAbsolutePath().getParent());
        Files.createDirectories(folder);
        allowOwner(folder, "rwx------");
        if (Files.exists(file)) {
            String text = Files.readString(file, StandardCharsets.ISO_8859_1);
            int end = text.lastIndexOf('\n'); // The rest was being written when the process was killed.
            for (String line : text.substring(0, Math.max(end, 0)).split("\n", -1)) {
                remembered.read(line);
            }
        }
        remembered.forgetOld();
        remembered.isFileStale = true; // The first answer rewrites the file without the skipped lines.
        return remembered;
    }

    /// After a power cut the file may have other bytes than lines, because it is not forced. They are left
    /// out.
    private void read(String line) {
        String[] fields = line.split(" ", -1);
        if (fields.length != FIELDS || !fields[0].matches("[0-9]{1,12}") || !fields[1].matches(HASH)) {
            return;
        }
        byte[] answer;
        try {
            answer = Base64.getDecoder().decode(fields[3]);
        } catch (IllegalArgumentException noAnswer) {
            return;
        }
        put(fields[1], new Answered(Instant.ofEpochSecond(Long.parseLong(fields[0])), fields[2], answer));
    }

    private void put(String key, Answered answered) {
        Answered before = answers.remove(key);
        bytes += answered.answer.length - (before == null ? 0 : before.answer.length);
        answers.put(key, answered);
    }

    private void forgetOld() {
        Instant oldest = clock.instant().minus(AGE_MAX);
        for (Iterator<Answered> all = answers.values().iterator(); all.hasNext(); ) {
            Answered first = all.next();
            if (answers.size() <= COUNT_MAX && bytes <= BYTES_MAX && first.at.isAfter(oldest)) {
                return;
            }
            bytes -= first.answer.length;
            all.remove();
        }
    }

    /// Returns the state of a key, and begins the request if the key is not known.
    ///
    /// @param request the bytes that must be equal in a repeated request
    synchronized Known begin(String key, byte[] request) {
        forgetOld();
        String hash = hash(key);
        Answered answered = answers.get(hash);
        if (answered != null) {
            return answered.request.equals(Sha256.hex(request))
                    ? new Known.Same(answered.answer.clone())
                    : new Known.Other();
        }
        return underWay.add(hash) ? new Known.Nothing() : new Known.UnderWay();
    }

    /// The request failed: it may be repeated.
    synchronized void end(String key) {
        underWay.remove(hash(key));
    }

    /// The request was answered. An answer that is very large is not remembered.
    synchronized void end(String key, byte[] request, byte[] answer) {
        end(key);
        if (answer.length > ANSWER_BYTES_MAX) {
            return;
        }
        Answered answered = new Answered(clock.instant(), Sha256.hex(request), answer.clone());
        put(hash(key), answered);
        if (clock.instant().isBefore(restUntil)) {
            return;
        }
        try {
            write(answered.line(hash(key)));
        } catch (IOException e) {
            // The records are safe, and this process remembers the answer. A later answer writes the whole file.
            isFileStale = true;
            restUntil = clock.instant().plus(REST);
        }
    }

    private void write(String line) throws IOException {
        if (isFileStale || linesInFile > 2L * answers.size() + SUPERFLUOUS_MIN) {
            Path next = file.resolveSibling(file.getFileName() + ".next");
            try (Writer lines = Files.newBufferedWriter(next, StandardCharsets.ISO_8859_1)) {
                allowOwner(next, "rw-------");
                for (Map.Entry<String, Answered> each : answers.entrySet()) {
                    lines.write(each.getValue().line(each.getKey()));
                }
            } catch (IOException e) {
                Files.deleteIfExists(next); // A part of it would hold space that others wait for.
                throw e;
            }
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            linesInFile = answers.size();
            isFileStale = false;
            return;
        }
        Files.writeString(
                file, line, StandardCharsets.ISO_8859_1, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        linesInFile++;
    }

    /// Answers are about records, so nobody else may read them, as with all files of a data directory.
    private static void allowOwner(Path path, String permissions) throws IOException {
        PosixFileAttributeView view = Files.getFileAttributeView(path, PosixFileAttributeView.class);
        if (view != null) {
            view.setPermissions(PosixFilePermissions.fromString(permissions));
        }
    }

    private static String hash(String key) {
        return Sha256.hex(key.getBytes(StandardCharsets.UTF_8));
    }
}
