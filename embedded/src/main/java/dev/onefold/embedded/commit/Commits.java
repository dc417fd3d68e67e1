package dev.onefold.embedded.commit;

import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetter.Place;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.EngineException;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Reason;
import dev.onefold.core.process.Verdict;
import dev.onefold.embedded.disk.Entry;
import dev.onefold.embedded.disk.Journal;
import dev.onefold.embedded.disk.OutOfSpaceException;
import dev.onefold.embedded.fold.Chunk;
import dev.onefold.embedded.fold.Folding;
import dev.onefold.embedded.fold.Lines;
import dev.onefold.embedded.fold.Settled;
import dev.onefold.embedded.fold.State;
import dev.onefold.embedded.letters.Letters;
import dev.onefold.embedded.source.LineReader;
import dev.onefold.embedded.source.Source;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/// What comes through the journal: checked, appended, forced, and only then folded and acknowledged. Many callers'
/// entries are forced together (group commit: DeWitt et al., "Implementation Techniques for Main Memory Database
/// Systems", 1984). Called with the engine's lock held.
public final class Commits {
    private static final int CHUNKS_MAX = 16;

    private final State state;
    private final Folding folding;
    private final Letters letters;
    private final Journal journal;
    private long uncommittedBytes; // Of the entries that are forced together.
    private long uncommittedLines;
    private final List<Chunk> kept =
            new ArrayList<>(); // For the next round: most entries are much smaller than a chunk.

    /// Something to be committed, and what came of it.
    public static final class Request {
        /// Instead of a number: the lines are numbered where they are committed, behind those that are there by then.
        public static final long NEXT = 0;

        private final @Nullable String source;
        private final long firstRecord;
        private final byte[] bytes;
        private final int length;
        private final @Nullable Entry ready;
        private List<Long> purged = List.of();
        private boolean done;
        private long lines = -1;
        private @Nullable EngineException refused;
        private long acknowledged;
        private Counts counts = new Counts(0, 0, 0, 0, 0);
        private long letterFirst;
        private long letterNext;
        private Redriven redriven = Redriven.GONE;
        private int removed;

        private Request(@Nullable String source, long firstRecord, byte[] bytes, int length, @Nullable Entry ready) {
            this.source = source;
            this.firstRecord = firstRecord;
            this.bytes = bytes;
            this.length = length;
            this.ready = ready;
        }

        /// Whether it is committed or refused.
        public boolean isDone() {
            return done;
        }

        /// Why nothing of it is done; `null` if it is not refused.
        public @Nullable EngineException refused() {
            return refused;
        }

        /// Lines of its source that are acknowledged.
        public long acknowledged() {
            return acknowledged;
        }

        /// What became of its records.
        public Counts counts() {
            return counts;
        }

        /// What became of its redriven record.
        public Redriven redriven() {
            return redriven;
        }

        /// How many letters it has removed.
        public int removed() {
            return removed;
        }

        /// Ids of the letters that it made or caused, ascending.
        public List<Long> letters() {
            return LongStream.range(letterFirst, letterNext).boxed().toList();
        }

        /// Its lines; counted once.
        public long lines() {
            if (lines < 0) {
                lines = length < 0 ? 1 : Lines.count(bytes, length);
            }
            return lines;
        }

        public static Request lines(String source, long firstRecord, byte[] bytes, int length) {
            return new Request(source, firstRecord, bytes, length, null);
        }

        public static Request of(Entry entry) {
            return new Request(null, 0, new byte[0], 0, entry);
        }

        public static Request purge(List<Long> ids) {
            Request request = new Request(null, 0, new byte[0], 0, null);
            request.purged = ids;
            return request;
        }

        public static Request oversized(String source, long firstRecord, long bytes, byte[] sha256) {
            return new Request(source, firstRecord, sha256, -1, new Entry.Oversized(source, 0, 0, bytes, 0, sha256));
        }
    }

    public Commits(State state, Folding folding, Letters letters, Journal journal) {
        this.state = state;
        this.folding = folding;
        this.letters = letters;
        this.journal = journal;
    }

    /// Commits requests, at least the first one: all entries are forced once, then folded. Requests that are done leave
    /// the queue; some stay in it if they have to wait for the next call.
    ///
    /// @throws OutOfSpaceException if some are still in the queue for want of space
    public void commit(Deque<Request> requests) throws OutOfSpaceException {
        uncommittedBytes = 0;
        uncommittedLines = 0;
        List<Request> appended = new ArrayList<>();
        List<Entry> entries = new ArrayList<>();
        OutOfSpaceException full = null;
        for (Request request = requests.peek(); request != null && full == null; request = requests.peek()) {
            if (!entries.isEmpty() && waits(request)) {
                break;
            }
            try {
                Entry entry = check(request);
                if (entry == null) {
                    forgetSource(request);
                    request.done = true;
                } else {
                    journal.append(entry.encode());
                    move(entry);
                    appended.add(request);
                    entries.add(entry);
                }
                requests.remove(request);
            } catch (EngineException e) {
                requireRefusal(e);
                forgetSource(request);
                request.refused = e;
                request.done = true;
                requests.remove(request);
            } catch (OutOfSpaceException e) {
                full = e;
            }
        }
        if (!entries.isEmpty()) {
            journal.force();
            foldAll(entries, appended);
        }
        if (full != null) {
            throw full;
        }
    }

    private void forgetSource(Request request) {
        if (request.source != null) {
            state.sources.forgetIfEmpty(request.source);
        }
    }

    /// Whether a request is not for this batch: what becomes of a letter depends on what is folded before, and the
    /// letters of a batch wait on the heap for a checkpoint.
    private boolean waits(Request request) {
        return request.source == null
                || Lines.heapBytes(uncommittedLines, uncommittedBytes)
                                + Lines.heapBytes(request.lines(), request.length)
                        > Lines.heapBytesMax();
    }

    private void foldAll(List<Entry> entries, List<Request> appended) {
        try {
            for (int i = 0; i < entries.size(); i++) {
                fold(entries.get(i), appended.get(i));
                appended.get(i).done = true;
            }
        } catch (EngineException e) {
            if (e.kind() == EngineException.Kind.STORAGE_FAILED || e.kind() == EngineException.Kind.CORRUPT) {
                throw e; // It stops the engine and says why; the next start folds the rest of the journal.
            }
            // It is in the journal and not in the totals: only a start can bring them together.
            throw new IllegalStateException("What is in the journal could not be folded: " + e.getMessage(), e);
        }
    }

    private static void requireRefusal(EngineException e) {
        if (e.kind() != EngineException.Kind.SOURCE_CHANGED && e.kind() != EngineException.Kind.STATE_FULL) {
            throw e; // The engine is broken, not the request.
        }
    }

    /// The entry to be written; `null` if all of it is in already.
    private @Nullable Entry check(Request request) {
        if (request.source == null) {
            return switch (request.ready) {
                case Entry.Redrive redrive -> checked(redrive);
                case null -> purge(request.purged);
                case Entry ready -> ready;
            };
        }
        Source source = state.sources.open(request.source, Source.Kind.LINES);
        long next = source.recordsAppended() + 1;
        long first = request.firstRecord == Request.NEXT ? next : request.firstRecord;
        if (first > next) {
            throw new EngineException(
                    EngineException.Kind.SOURCE_CHANGED,
                    "Lines are missing from source " + source.name() + ": " + (next - 1)
                            + " are acknowledged, these begin at " + first + ". Send from line " + next
                            + " on.");
        }
        if (request.ready instanceof Entry.Oversized oversized) {
            request.acknowledged = source.recordsAppended();
            return first < next
                    ? null
                    : new Entry.Oversized(
                            source.name(),
                            next - 1,
                            source.bytesAppended(),
                            oversized.bytes(),
                            letters.idNext(),
                            oversized.sha256());
        }
        int from = 0;
        for (long skip = next - first; skip > 0 && from < request.length; skip--) {
            from = Lines.lineEnd(request.bytes, from, request.length);
        }
        request.acknowledged = source.recordsAppended();
        if (from == request.length) {
            return null;
        }
        requireMemory(request.bytes, from, request.length);
        byte[] rest = Arrays.copyOfRange(request.bytes, from, request.length);
        folding.requireHeader(source, rest);
        return new Entry.Lines(
                source.name(),
                next - 1,
                source.bytesAppended(),
                folding.arrivalMs(),
                letters.idNext(),
                rest,
                rest.length);
    }

    /// The entry of a purge; `null` if all these letters are gone.
    private @Nullable Entry purge(List<Long> ids) {
        List<Entry.Purged> there = new ArrayList<>();
        for (long id : new LinkedHashSet<>(ids)) {
            DeadLetter letter = letters.letter(id);
            if (letter != null) {
                there.add(new Entry.Purged(id, letter.place(), settles(letter), letters.identity(id)));
            }
        }
        return there.isEmpty() ? null : new Entry.Purge(there);
    }

    private Entry.Settles settles(DeadLetter letter) {
        return switch (letter.reason()) {
            case FAILED -> Entry.Settles.FAILED;
            case CONFLICT -> state.hasFunction ? Entry.Settles.LOST : Entry.Settles.LOST_ROW;
            default -> Entry.Settles.REJECTED;
        };
    }

    /// The entry of a redrive; `null` if the letter is gone. Whether it decodes is known before it is folded: nothing
    /// of this batch is in front of it.
    private @Nullable Entry checked(Entry.Redrive asked) {
        DeadLetter letter = letters.letter(asked.id());
        if (letter == null || !isAt(letter, asked.place())) {
            return null;
        }
        requireMemory(asked.record(), 0, asked.record().length);
        Entry.Redrive redrive = new Entry.Redrive(
                asked.id(),
                asked.place(),
                letter.at().toEpochMilli(),
                letters.idNext(),
                Entry.Settles.NOTHING,
                asked.record());
        Entry.Settles settles = folding.accepts(chunk(redrive, asked.id())) ? settles(letter) : Entry.Settles.NOTHING;
        return new Entry.Redrive(
                redrive.id(), redrive.place(), redrive.arrivedMs(), redrive.letterNext(), settles, redrive.record());
    }

    /// Whether a letter is the one that its caller has seen: a view that was filled anew has others.
    private static boolean isAt(DeadLetter letter, Place place) {
        return letter.place().source().equals(place.source()) && letter.place().offset() == place.offset();
    }

    /// Refuses before it is journaled what could not be folded: a journal that cannot be replayed would be worse.
    ///
    /// @param records bytes of these, in `[from, to)`
    private void requireMemory(byte[] records, int from, int to) {
        long lines = 1;
        for (int at = Lines.lineEnd(records, from, to); at < to; at = Lines.lineEnd(records, at, to)) {
            lines++;
        }
        lines += uncommittedLines;
        long bytes = uncommittedBytes + to - from;
        state.requireHeap(lines, bytes);
        long needed = state.shards[0].bytesFor(2 * bytes, state.hasFunction ? lines : bytes / 8) * state.shards.length
                + state.valueBytesFor(lines, 2 * bytes)
                + letters.bytesFor(lines, lines);
        if (!state.memory.fits(needed)) {
            throw new EngineException(
                    EngineException.Kind.STATE_FULL,
                    "Memory for the state is used up: " + state.memory.used() + " bytes are in use for " + state.rows()
                            + " rows" + state.valuesText() + ", "
                            + state.memory.bytesMax()
                            + " are allowed. Nothing that was acknowledged is lost. Allow more"
                            + " (--state-memory), and go on.");
        }
        uncommittedBytes = bytes;
        uncommittedLines = lines;
    }

    /// Notes how far the source is in the journal.
    private void move(Entry entry) {
        switch (entry) {
            case Entry.Lines lines ->
                source(lines.source())
                        .append(
                                lines.recordsBefore() + Lines.count(lines.bytes(), lines.length()),
                                lines.offset() + lines.length(),
                                true);
            case Entry.Oversized line ->
                source(line.source()).append(line.recordsBefore() + 1, line.offset() + line.bytes() + 1, false);
            case Entry.Redrive _, Entry.Purge _ -> {}
        }
    }

    private Source source(String name) {
        return state.sources.findOrAdd(name, Source.Kind.LINES);
    }

    /// Folds an entry that was found in the journal at a start.
    public void replay(Entry entry) {
        move(entry);
        fold(entry, Request.of(entry));
    }

    private void fold(Entry entry, Request request) {
        switch (entry) {
            case Entry.Lines lines -> {
                Source source = source(lines.source());
                Counts before = state.allCounts();
                letters.numberFrom(lines.letterNext());
                request.letterFirst = letters.idNext();
                foldLines(lines, source);
                request.acknowledged = source.records();
                request.counts = state.allCounts().minus(before);
                request.letterNext = letters.idNext();
            }
            case Entry.Oversized oversized -> {
                Source source = source(oversized.source());
                letters.numberFrom(oversized.letterNext());
                Chunk chunk = chunk(0);
                chunk.setOversized(source, oversized.offset(), oversized.bytes(), oversized.sha256());
                folding.rounds(List.of(chunk));
                request.acknowledged = source.records();
            }
            case Entry.Redrive redrive -> request.redriven = redrive(redrive);
            case Entry.Purge purge -> {
                for (Entry.Purged letter : purge.letters()) {
                    request.removed += letters.remove(letter.id()) ? 1 : 0;
                }
            }
        }
    }

    /// Purges again, in a fold of all sources. A record that was left out is counted as it was. What a function has met
    /// was folded in its place, and has the letters that it had.
    public void purgeAgain(Entry.Purge purge, Settled settled) {
        for (Entry.Purged letter : purge.letters()) {
            letters.removeOf(letter.identity());
            if (settled.fate(letter.place()).isMet()) {
                letters.at(letter.place()).forEach(letters::remove);
            } else {
                boolean hasLost = letter.settles() == Entry.Settles.LOST_ROW;
                state.count(new Counts(0, 0, 0, hasLost ? 1 : 0, hasLost ? 0 : 1));
            }
        }
    }

    /// The n-th chunk of a round. The round before has ended, so it is free.
    private Chunk chunk(int index) {
        if (index == kept.size()) {
            kept.add(new Chunk(state.shards.length));
        }
        return kept.get(index);
    }

    /// Folds lines, some chunks at a time: the whole of a large entry, decoded, would need several times its bytes.
    private void foldLines(Entry.Lines lines, Source source) {
        List<Chunk> chunks = new ArrayList<>();
        for (int from = 0; from < lines.length(); ) {
            int to = Math.min(from + LineReader.CHUNK_BYTES, lines.length());
            to = to == lines.length() ? to : Lines.lineEnd(lines.bytes(), to, lines.length());
            Chunk chunk = chunk(chunks.size());
            byte[] part = new byte[to - from + Decoder.PADDING];
            System.arraycopy(lines.bytes(), from, part, 0, to - from);
            chunk.setLines(part, to - from, source, lines.offset() + from, lines.arrivedMs());
            folding.takeHeader(chunk);
            chunks.add(chunk);
            from = to;
            if (chunks.size() == CHUNKS_MAX || from == lines.length()) {
                folding.rounds(chunks);
                chunks.clear();
            }
        }
    }

    private Redriven redrive(Entry.Redrive redrive) {
        letters.numberFrom(redrive.letterNext());
        return letters.letter(redrive.id()) == null ? Redriven.GONE : refold(redrive, redrive.id());
    }

    /// Folds a redriven record under its own place. Its letter stays if it is rejected again.
    ///
    /// @param letter of the record; 0 if it has none yet
    public Redriven refold(Entry.Redrive redrive, long letter) {
        Chunk chunk = chunk(redrive, letter);
        DeadLetter before = letters.letter(letter);
        Counts countsBefore = state.allCounts();
        folding.rounds(List.of(chunk));
        Verdict verdict = chunk.verdict();
        Redriven redriven = verdict == null ? redriven(countsBefore, state.allCounts()) : redriven(verdict);
        if (before != null) {
            boolean hadLost = before.reason() == Reason.CONFLICT;
            state.count(new Counts(0, 0, 0, hadLost ? -1 : 0, hadLost ? 0 : -1));
            if (!chunk.letterStays()) {
                letters.remove(letter);
            }
        }
        return redriven;
    }

    private Chunk chunk(Entry.Redrive redrive, long letter) {
        Source source = source(redrive.place().source());
        Chunk chunk = chunk(0);
        chunk.setRedriven(source, redrive.place(), redrive.record(), letter, redrive.arrivedMs());
        return chunk;
    }

    private static Redriven redriven(Verdict verdict) {
        return switch (verdict) {
            case ACCEPTED -> Redriven.ACCEPTED;
            case DUPLICATE -> Redriven.DUPLICATE;
            case STALE -> Redriven.STALE;
            case CONFLICTING -> Redriven.CONFLICTING;
            case REJECTED -> Redriven.REJECTED;
        };
    }

    /// A record counts once, as what became of it the last time.
    private static Redriven redriven(Counts before, Counts after) {
        if (after.accepted() > before.accepted()) {
            return Redriven.ACCEPTED;
        }
        if (after.duplicate() > before.duplicate()) {
            return Redriven.DUPLICATE;
        }
        if (after.stale() > before.stale()) {
            return Redriven.STALE;
        }
        return after.conflicting() > before.conflicting() ? Redriven.CONFLICTING : Redriven.REJECTED;
    }
}
