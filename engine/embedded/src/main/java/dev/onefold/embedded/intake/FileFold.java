package dev.onefold.embedded.intake;

import dev.onefold.api.body.JsonRecords;
import dev.onefold.core.EngineException;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input.Records;
import dev.onefold.core.state.Horizon;
import dev.onefold.embedded.file.Decompression;
import dev.onefold.embedded.fold.Chunk;
import dev.onefold.embedded.framing.Framing;
import dev.onefold.embedded.framing.LineReader;
import dev.onefold.embedded.framing.Position;
import dev.onefold.embedded.framing.Source;
import dev.onefold.embedded.guard.Delays;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.FoldReport;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Folds one source that can be read again. It is identified by its content: the part that was folded is
/// hashed and compared before anything more is taken from it. A file under a new name that holds exactly the
/// content that was folded under another name is the same file; one that holds more is another, and is folded
/// whole.
public final class FileFold {
    private static final int CHUNKS_PER_ROUND = 16;
    /// A slow function must not keep a stop and a checkpoint waiting for many chunks.
    private static final long ROUND_NANOS = 300_000_000;

    private static final long TELL_NANOS = 100_000_000;
    private static final LineReader.Lines END = new LineReader.Lines(new byte[0], 0, -1, new byte[0], 0, null);

    private final Rounds rounds;
    private final FileSource file;
    private final FoldListener listener;
    private final List<Chunk> pool = new ArrayList<>();
    private final RecordEnds ends;
    private final Framing framing;
    private final long noticedMicros;
    private int chunksMax = 1;

    public FileFold(Rounds rounds, FileSource file, FoldListener listener) {
        ends = RecordEnds.of(rounds.pipeline());
        framing = Framing.ofLines(rounds.pipeline());
        this.rounds = rounds;
        noticedMicros = rounds.delays().nowMicros();
        this.file = file;
        this.listener = listener;
    }

    public FileSource.Outcome run() {
        Horizon.requireNone(rounds.pipeline(), "a line of the file " + file.name());
        Identity.ByMessage.requireNone(rounds.pipeline(), "a line of the file " + file.name());
        if (file.growing() && ends.ofFiles() != Records.LINES) {
            throw new EngineException(
                    EngineException.Kind.SOURCE_UNREADABLE,
                    "Input " + file.name() + " cannot be followed: with 'records: "
                            + ends.ofFiles().word()
                            + "' a file is read when it is whole. Fold it then, or follow a file of one object a line.");
        }
        try (InputStream in = open()) {
            Source.Known known = rounds.source(file.name());
            if (known != null) {
                rounds.openSource(known.name(), Source.Kind.FILE);
                MessageDigest digest = Sha256.digest();
                long read = hash(in, digest, known.bytes());
                boolean same = read == known.bytes()
                        && hasHash(known, LineReader.copy(digest).digest());
                return same ? fold(in, digest, file.name()) : changed(known, read);
            }
        } catch (IOException e) {
            throw unreadable(e);
        }
        Likeness likeness = file.separate() ? new Likeness(null, null) : likeness();
        if (likeness.whole() != null && !file.growing()) {
            return new FoldReport.AlreadyFolded(likeness.whole());
        }
        if (likeness.beginning() != null && rounds.pipeline().recordsKnownFor().isPresent()) {
            return doubtful(likeness.beginning());
        }
        try (InputStream in = open()) {
            return fold(in, Sha256.digest(), file.name());
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    private InputStream open() throws IOException {
        return JsonRecords.of(ends, file.opener().open());
    }

    private EngineException unreadable(IOException e) {
        return new EngineException(
                EngineException.Kind.SOURCE_UNREADABLE,
                "Input " + file.name() + " cannot be read: " + Decompression.reason(file.name(), e)
                        + ". What was folded of it is safe; run it again when it can be read.",
                e);
    }

    private FileSource.Outcome changed(Source.Known known, long read) {
        return new FileSource.Refused(
                null,
                "Input " + file.name() + " is not what was folded as " + known.name() + ": "
                        + (read < known.bytes()
                                ? "it has " + read + " bytes, but " + known.bytes() + " were folded"
                                : "its first " + known.bytes() + " bytes have changed")
                        + ". Records that were folded cannot be taken back by cutting a file: send corrections, or fold into"
                        + " another data directory (--data). A new file needs a name of its own.");
    }

    private static boolean hasHash(Source.Known source, byte[] hash) {
        return source.position() instanceof Position.File(var _, byte[] sha256, var _) && Arrays.equals(hash, sha256);
    }

    private static long hash(InputStream in, MessageDigest digest, long bytes) throws IOException {
        byte[] buffer = new byte[LineReader.CHUNK_BYTES];
        long left = bytes;
        while (left > 0) {
            int read = in.read(buffer, 0, (int) Math.min(buffer.length, left));
            if (read < 0) {
                break;
            }
            digest.update(buffer, 0, read);
            left -= read;
        }
        return bytes - left;
    }

    /// The folded sources that a file under a new name resembles.
    ///
    /// @param whole source whose folded content is the whole of this file
    /// @param beginning source whose folded content, at least a record, is the beginning of this file
    private record Likeness(
            @Nullable String whole, @Nullable String beginning) {}

    private Likeness likeness() {
        TreeMap<Long, List<Source.Known>> byLength = new TreeMap<>();
        for (Source.Known source : rounds.files()) {
            if (source.bytes() > 0) {
                byLength.computeIfAbsent(source.bytes(), _ -> new ArrayList<>()).add(source);
            }
        }
        if (byLength.isEmpty()) {
            return new Likeness(null, null);
        }
        String whole = null;
        String beginning = null;
        try (InputStream in = new BufferedInputStream(open())) {
            MessageDigest digest = Sha256.digest();
            long at = 0;
            for (var length : byLength.entrySet()) {
                at += hash(in, digest, length.getKey() - at);
                if (at < length.getKey()) {
                    break;
                }
                byte[] hash = LineReader.copy(digest).digest();
                in.mark(1);
                boolean ends = in.read() < 0;
                in.reset();
                for (Source.Known source : length.getValue()) {
                    boolean same = hasHash(source, hash);
                    whole = same && ends ? source.name() : whole;
                    boolean hasRecords = source.records() > (source.header().length > 0 ? 1 : 0);
                    beginning = same && hasRecords ? source.name() : beginning;
                }
            }
        } catch (IOException e) {
            throw unreadable(e);
        }
        return new Likeness(whole, beginning);
    }

    /// If each line counts by its place, a file that begins as another one did may be that one, moved and
    /// grown, or one of its own: to continue the other one would lose lines, to fold this one whole would
    /// count them twice. With versions or ids that are never forgotten, folding it whole is right in both
    /// cases. Ids that are forgotten do not help, even after a long time, because a file can be renamed at
    /// any time.
    private FileSource.Outcome doubtful(String known) {
        return new FileSource.Refused(
                known,
                "Input " + file.name() + " begins with all that was folded as " + known
                        + (file.growing() ? "" : " and goes on")
                        + ". Whether it is the same file under another name cannot be told, and this pipeline "
                        + (rounds.pipeline().input().identity() instanceof Identity.ByPlace
                                ? "has neither versions nor ids that would tell its lines"
                                : "forgets the ids that would tell its lines ('forget')")
                        + ". If it is the same, fold it under the name " + known
                        + "; if it is a file of its own, say that it is separate (--separate).");
    }

    private FoldReport fold(InputStream in, MessageDigest digest, String name) throws IOException {
        Source source = rounds.openSource(name, Source.Kind.FILE);
        RecordEnds known = RecordEnds.ofSource(rounds.pipeline()).behind(source.header(), source.header().length);
        LineReader reader = LineReader.hashing(known, in, digest, file.growing());
        long recordsBefore = source.dataRecords();
        requireFinishedLine(in, source, reader);
        if (rounds.settings().threads() == 0) {
            foldInline(reader, source);
        } else {
            foldAhead(reader, source);
        }
        rounds.checkpointNow(this::givesUp);
        tell(source);
        RecordEnds.Fault fault = reader.fault();
        if (fault != null && !stops()) {
            throw new EngineException(
                    EngineException.Kind.SOURCE_UNREADABLE,
                    "Input " + file.name() + " is read up to byte " + source.at() + ": "
                            + fault.message(source.records())
                            + ". What was folded of it is safe. Mend it from there on, and run it again.");
        }
        return new FoldReport.Folded(source.dataRecords() - recordsBefore, source.at());
    }

    /// Refuses a file that has grown inside a last line that was unfinished when it was folded as a record.
    private void requireFinishedLine(InputStream in, Source source, LineReader reader) throws IOException {
        if (!source.isUnfinished()) {
            return;
        }
        int next = in.read();
        if (next >= 0 && next != '\n') {
            throw new EngineException(
                    EngineException.Kind.SOURCE_CHANGED,
                    "Input " + file.name() + " has grown at its unfinished last line, at byte " + source.at()
                            + ", which was folded as a record. End the line there, or fold into another data directory (--data);"
                            + " use --follow for a file that is being written.");
        }
        if (next == '\n') {
            reader.pass((byte) '\n');
            rounds.finishLine(source, reader.digest());
        }
    }

    private void foldInline(LineReader reader, Source source) throws IOException {
        LineReader.Lines lines = reader.next();
        while (lines != null && !stops()) {
            List<LineReader.Lines> round = new ArrayList<>();
            while (lines != null && round.size() < chunksMax) {
                round.add(lines);
                lines = reader.next();
            }
            fold(round, reader, source);
            tell(source);
        }
    }

    private boolean stops() {
        return listener.stop() || Thread.currentThread().isInterrupted();
    }

    private boolean givesUp() {
        return listener.givesUp() || Thread.currentThread().isInterrupted();
    }

    /// Reads on another thread, some chunks ahead.
    private void foldAhead(LineReader reader, Source source) throws IOException {
        BlockingQueue<LineReader.Lines> queue = new ArrayBlockingQueue<>(2 * CHUNKS_PER_ROUND);
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        Thread thread = Thread.ofPlatform().daemon().name("onefold-reader").start(() -> read(reader, queue, failure));
        try {
            long toldNanos = System.nanoTime();
            while (!stops()) {
                List<LineReader.Lines> round = new ArrayList<>();
                round.add(queue.take());
                queue.drainTo(round, chunksMax - 1);
                boolean ended = round.getLast().consumed() == 0;
                if (ended) {
                    round.removeLast();
                }
                if (!round.isEmpty()) {
                    fold(round, reader, source);
                }
                if (ended) {
                    break;
                }
                if (System.nanoTime() - toldNanos > TELL_NANOS) {
                    toldNanos = System.nanoTime();
                    tell(source);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            thread.interrupt();
        }
        switch (failure.get()) {
            case null -> {}
            case IOException e -> {
                rounds.checkpointNow(this::givesUp);
                throw e;
            }
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case Throwable e -> throw new IOException(e);
        }
    }

    /// Always ends with [#END], because the folding thread waits for it.
    private static void read(
            LineReader reader, BlockingQueue<LineReader.Lines> queue, AtomicReference<@Nullable Throwable> failure) {
        try {
            LineReader.Lines lines = reader.next();
            while (lines != null) {
                queue.put(lines);
                lines = reader.next();
            }
        } catch (InterruptedException stopped) {
            return;
        } catch (IOException | RuntimeException | Error e) {
            failure.set(e);
        }
        try {
            queue.put(END);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private void fold(List<LineReader.Lines> round, LineReader reader, Source source) {
        LineReader.Lines first = round.getFirst();
        String refusal = source.at() > 0 || file.growing()
                ? null
                : JsonRecords.refusal(rounds.pipeline(), first.bytes(), first.length());
        if (refusal != null) {
            throw new EngineException(
                    EngineException.Kind.SOURCE_UNREADABLE,
                    "Input " + file.name() + " " + refusal + ". Nothing of it was folded.");
        }
        long before = source.dataRecords();
        long begun = System.nanoTime();
        rounds.fold(chunks(round, source), this::givesUp);
        long nanos = System.nanoTime() - begun;
        chunksMax = Math.clamp(nanos < ROUND_NANOS ? chunksMax * 2 : chunksMax / 2, 1, CHUNKS_PER_ROUND);
        if (file.growing()) {
            rounds.delays().note(Delays.From.FILES, noticedMicros, source.dataRecords() - before);
        }
        round.forEach(reader::giveBack);
    }

    private List<Chunk> chunks(List<LineReader.Lines> round, Source source) {
        List<Chunk> chunks = new ArrayList<>();
        long offset = source.at();
        for (LineReader.Lines lines : round) {
            if (pool.size() == chunks.size()) {
                pool.add(new Chunk(rounds.settings().shards()));
            }
            Chunk chunk = pool.get(chunks.size());
            offset = chunk.setLines(framing, lines, source, offset);
            chunks.add(chunk);
        }
        return chunks;
    }

    private void tell(Source source) {
        long durable = rounds.durableBytes(source.name());
        listener.folded(durable, source.at(), rounds.counts());
    }
}
