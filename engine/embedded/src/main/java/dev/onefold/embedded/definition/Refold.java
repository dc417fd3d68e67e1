package dev.onefold.embedded.definition;

import dev.onefold.api.body.JsonRecords;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.EngineException;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.event.Reason;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.disk.Entry;
import dev.onefold.embedded.disk.Journal;
import dev.onefold.embedded.disk.Scale;
import dev.onefold.embedded.fold.Chunk;
import dev.onefold.embedded.fold.Lines;
import dev.onefold.embedded.fold.Settled;
import dev.onefold.embedded.framing.Framing;
import dev.onefold.embedded.framing.LineReader;
import dev.onefold.embedded.framing.Position;
import dev.onefold.embedded.framing.Source;
import dev.onefold.embedded.intake.LogChunks;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.LogBatch;
import dev.onefold.embedded.source.LogSource;
import dev.onefold.embedded.source.LogSource.Range;
import dev.onefold.embedded.view.View;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// All sources, folded again into a fresh view beside an old one that serves.
///
/// It may go on beside the intake ([#catchUp]): files stand still, because a fold of a file takes its turn, and a log
/// is read up to where the old view is, again and again. At the end ([#end]) nothing moves any more: what has come
/// meanwhile follows, then the journal, and both views are of one cut.
final class Refold implements AutoCloseable {
    /// So near the old view, the rest is read while intake waits.
    private static final long NEAR = Scale.of(100_000);

    /// Ids that dead letters of the old view may get meanwhile: an id that was told never means another record.
    private static final long LETTERS_MEANWHILE = Scale.of(1_000_000);

    private final View.Opening opening;
    private final View old;
    private final View fresh;
    private final Sources sources;
    private final Settled settled;
    private final long letterFirst;
    private final long entries; // Number of the journal's next one.
    private final LogChunks chunks;
    private final boolean isReadAgain; // By the definition that has read it.
    private long letterNoted;
    private final Map<String, LogSource.Again> logs = new HashMap<>();
    private boolean isRead; // The files.
    private boolean isDone;

    /// @param refusal for what cannot be read again
    record Sources(List<FileSource> files, List<LogSource> logs, Function<String, EngineException> refusal) {}

    private Refold(View.Opening opening, View old, Pipeline definition, Sources sources) {
        this.opening = opening;
        this.old = old;
        this.sources = sources;
        entries = opening.journal().position().number();
        settled = entries > 1 ? settled() : new Settled();
        isReadAgain = old.state.keep.isPresent() && definition.equals(old.pipeline);
        letterFirst = old.letters.idNext() + (sources.logs.isEmpty() ? 0 : LETTERS_MEANWHILE);
        fresh = View.open(opening, old.number + 1, definition, null);
        chunks = new LogChunks(fresh.state.shards.length, round -> {
            fresh.folding.rounds(round);
            goOn();
        });
    }

    /// Begins while nothing is committed or folded.
    static Refold begin(View.Opening opening, View old, Pipeline definition, Sources sources) {
        Refold refold = new Refold(opening, old, definition, sources);
        try {
            refold.fresh.checkpoints.keepJournal(true);
            refold.fresh.folding.settle(refold.settled);
            refold.fresh.letters.numberFrom(refold.letterFirst);
            refold.known();
            return refold;
        } catch (RuntimeException | Error e) {
            refold.close();
            throw e;
        }
    }

    /// Folds all that the old view has by now, and once more what has come meanwhile, as long as that brings it
    /// nearer.
    void catchUp() {
        for (long last = Long.MAX_VALUE, read = foldSources(); read > NEAR && read < last / 2; ) {
            last = read;
            read = foldSources();
        }
    }

    /// Whether nothing has come through the journal since it began, and no more dead letters than it has left ids
    /// for. Otherwise only a fold that begins again, with nothing beside it, is right.
    boolean isStill() {
        return opening.journal().position().number() == entries && old.letters.idNext() <= letterFirst;
    }

    /// The view of the same cut as the old one; nothing is committed or folded meanwhile.
    View end() {
        foldSources();
        for (Source.Known known : old.state.sources.store()) {
            if (known.position() instanceof Position.Partition(var _, long next, String mark, var _)) {
                Source source = fresh.state.sources.open(known.name(), Source.Kind.PARTITION);
                if (source.at() != next) {
                    throw sources.refusal.apply("source " + known.name() + " ends at offset " + source.at()
                            + ", not at " + next + " as it did");
                }
                source.mark(mark);
            }
        }
        if (entries > 1) { // Redriven records are there, too, wherever they came from.
            foldJournal();
        }
        fresh.folding.settle(new Settled());
        fresh.checkpoints.keepJournal(false);
        isDone = true;
        return fresh;
    }

    /// All of it at once, while nothing is committed or folded.
    View whole() {
        try (Refold all = this) {
            return all.end();
        }
    }

    /// Closes the logs. A view that is not at its end is discarded.
    @Override
    public void close() {
        logs.values().forEach(LogSource.Again::close);
        logs.clear();
        if (!isDone) {
            isDone = true;
            ViewFill.discard(opening, fresh);
        }
    }

    private void goOn() {
        fresh.checkpoints.takeIfDue();
        opening.space().requireOpen();
    }

    /// The sources of the old view, each with its number there.
    private List<Source.Known> known() {
        return opening.guard().reading(() -> {
            for (Source source : old.state.sources.all()) {
                fresh.state.sources.findOrAdd(source.name(), source.kind());
            }
            if (isReadAgain) {
                noteLetters();
            }
            return old.state.sources.store();
        });
    }

    /// Notes the letters of records that may have been too new when they were read. After an edit a letter may have
    /// another reason.
    private void noteLetters() {
        settled.readAgain();
        List<DeadLetter> page = old.letters.list(letterNoted, DeadLetters.PAGE);
        while (!page.isEmpty()) {
            page.stream()
                    .filter(letter -> letter.reason() == Reason.TOO_NEW || old.letters.edited(letter.id()) != null)
                    .forEach(settled::readAgain);
            letterNoted = page.getLast().id();
            page = old.letters.list(letterNoted, DeadLetters.PAGE);
        }
    }

    /// Folds up to where the old view is now; returns how many offsets of logs that were.
    private long foldSources() {
        List<Source.Known> known = known();
        for (FileSource file : isRead ? List.<FileSource>of() : sources.files) {
            Source.Known of = known.stream()
                    .filter(source -> source.name().equals(file.name()))
                    .findFirst()
                    .orElseThrow();
            try (InputStream in = Limited.open(RecordEnds.of(fresh.pipeline), file, of.bytes())) {
                fold(in, of);
            } catch (IOException e) {
                throw sources.refusal.apply("source " + file.name() + " cannot be read again: " + e.getMessage());
            }
        }
        isRead = true;
        long offsets = 0;
        for (LogSource log : sources.logs) {
            for (SortedMap<Integer, Range> open = open(log, known); !open.isEmpty(); open = open(log, known)) {
                offsets += open.values().stream()
                        .mapToLong(range -> range.to() - range.from())
                        .sum();
                fold(log, open);
            }
        }
        return offsets;
    }

    /// By partition of a log, the next range that is to be read: up to a gap, which is passed over then, as it was.
    private SortedMap<Integer, Range> open(LogSource log, List<Source.Known> known) {
        SortedMap<Integer, Range> open = new TreeMap<>();
        for (Source.Known each : known) {
            if (!(each.position() instanceof Position.Partition partition)
                    || !LogBatch.logOf(each.name()).equals(log.name())) {
                continue;
            }
            Source source = fresh.state.sources.open(each.name(), Source.Kind.PARTITION);
            if (source.first() < 0 && partition.first() >= 0) {
                source.beginAt(partition.first());
            }
            long to = partition.next();
            for (Position.Gap gap : partition.gaps()) {
                if (gap.from() == source.at()) {
                    source.skip(gap);
                }
                to = gap.from() > source.at() ? Math.min(to, gap.from()) : to;
            }
            if (source.at() < to) {
                open.put(LogBatch.partitionOf(each.name()), new Range(source.at(), to, partition.mark()));
            }
        }
        return open;
    }

    private void fold(LogSource log, SortedMap<Integer, Range> open) {
        try {
            LogSource.Again again = begun(log, open);
            for (LogBatch batch = next(again); batch != null; batch = next(again)) {
                Source source = fresh.state.sources.open(batch.source(), Source.Kind.PARTITION);
                Range range = open.get(batch.partition());
                if (range == null || batch.from() != source.at() || batch.next() > range.to()) {
                    throw new IOException("it gave offsets " + batch.from() + " to " + batch.next() + " of "
                            + batch.source() + ", which were not asked for");
                }
                chunks.fold(batch, source, source.at());
            }
        } catch (IOException e) {
            opening.space().requireOpen();
            throw sources.refusal.apply("log " + log.name() + " cannot be read again: " + e.getMessage());
        }
    }

    private LogSource.Again begun(LogSource log, SortedMap<Integer, Range> open) throws IOException {
        try {
            LogSource.Again again = logs.get(log.name());
            if (again == null) {
                again = log.opener().open(fresh.pipeline, opening.space()::isClosing);
                logs.put(log.name(), again);
            }
            again.begin(open);
            return again;
        } catch (RuntimeException e) { // The caller's code has failed, not the engine.
            throw new IOException(e);
        }
    }

    private static @Nullable LogBatch next(LogSource.Again again) throws IOException {
        try {
            return again.next();
        } catch (RuntimeException e) {
            throw new IOException(e);
        }
    }

    /// The redrives and purges that people have decided. They stay in force when all sources are read again.
    private Settled settled() {
        Settled settled = new Settled();
        forEachEntry(entry -> {
            switch (entry) {
                case Entry.Redrive redrive
                when redrive.decides() -> settled.edit(redrive.place(), redrive.record(), redrive.kind());
                case Entry.Purge purge ->
                    purge.letters().forEach(letter -> settled.purge(letter.place(), letter.settles()));
                case Entry.Redrive _, Entry.Lines _, Entry.Oversized _ -> {}
            }
            requireMemory(settled);
        });
        return settled.sorted();
    }

    private void fold(InputStream in, Source.Known known) throws IOException {
        Source source = fresh.state.sources.open(known.name(), Source.Kind.FILE);
        Framing framing = Framing.ofLines(fresh.pipeline);
        LineReader reader = LineReader.hashing(RecordEnds.ofSource(fresh.pipeline), in, Sha256.digest(), false);
        Chunk chunk = new Chunk(fresh.state.shards.length);
        for (LineReader.Lines lines = reader.next(); lines != null; lines = reader.next()) {
            chunk.setLines(framing, lines, source, source.at());
            fresh.folding.takeHeader(chunk);
            fresh.folding.rounds(List.of(chunk));
            reader.giveBack(lines);
            fresh.checkpoints.takeIfDue();
            opening.space().requireOpen();
        }
        RecordEnds.Fault fault = reader.fault();
        if (fault != null) {
            throw sources.refusal.apply(
                    "source " + known.name() + " cannot be read by it: " + fault.message(source.records()));
        }
        if (!(known.position() instanceof Position.File(long bytes, byte[] sha256, var _))
                || source.at() != bytes
                || !Arrays.equals(source.currentHash(), sha256)) {
            throw sources.refusal.apply("source " + known.name() + " is not what it was when it was folded");
        }
    }

    private void foldJournal() {
        forEachEntry(entry -> {
            switch (entry) {
                case Entry.Redrive redrive when redrive.decides() -> {}
                case Entry.Redrive redrive ->
                    fresh.letters.at(redrive.place()).stream()
                            .findFirst()
                            .ifPresent(letter -> fresh.letters.edit(letter, redrive.record()));
                case Entry.Purge purge -> fresh.commits.purgeAgain(purge, settled);
                case Entry.Lines _, Entry.Oversized _ -> fresh.commits.replay(entry);
            }
            fresh.checkpoints.takeIfDue();
        });
    }

    private void requireMemory(Settled settled) {
        if (settled.editBytes() > Lines.heapBytesMax()) {
            throw new EngineException(
                    EngineException.Kind.STATE_FULL,
                    "The edits of dead letters take more than " + Lines.heapBytesMax()
                            + " bytes of the heap, a quarter of it, while the sources of " + opening.root()
                            + " are folded again. Nothing was changed. Allow a larger heap (java -Xmx).");
        }
    }

    private void forEachEntry(Consumer<Entry> visitor) {
        long[] entries = new long[1];
        try (Journal again = Journal.read(opening.root(), opening.identity(), Journal.Position.START, payload -> {
            entries[0]++;
            opening.space().requireOpen();
            visitor.accept(Entry.decode(payload));
        })) {
            if (again.position().number() != opening.journal().position().number()) {
                throw sources.refusal.apply("the journal holds " + entries[0] + " of "
                        + (opening.journal().position().number() - 1) + " entries");
            }
        }
    }

    /// The first bytes of a stream.
    private static final class Limited extends FilterInputStream {
        private long left;

        Limited(InputStream in, long bytes) {
            super(in);
            left = bytes;
        }

        static Limited open(RecordEnds ends, FileSource file, long bytes) throws IOException {
            try {
                return new Limited(JsonRecords.of(ends, file.opener().open()), bytes);
            } catch (RuntimeException e) {
                throw new IOException(e);
            }
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int from, int length) throws IOException {
            if (left == 0) {
                return -1;
            }
            try {
                int read = super.read(bytes, from, (int) Math.min(length, left));
                left -= Math.max(read, 0);
                return read;
            } catch (RuntimeException e) { // The caller's code has failed, not the engine.
                throw new IOException(e);
            }
        }
    }
}
