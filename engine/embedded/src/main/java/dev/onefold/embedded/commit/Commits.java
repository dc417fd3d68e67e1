package dev.onefold.embedded.commit;

import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetter.Place;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.EngineException;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Reason;
import dev.onefold.embedded.commit.Request.Asked;
import dev.onefold.embedded.commit.Request.Outcome;
import dev.onefold.embedded.disk.Entry;
import dev.onefold.embedded.disk.Journal;
import dev.onefold.embedded.disk.OutOfSpaceException;
import dev.onefold.embedded.fold.Chunk;
import dev.onefold.embedded.fold.FoldRounds;
import dev.onefold.embedded.fold.Lines;
import dev.onefold.embedded.fold.Settled;
import dev.onefold.embedded.fold.ShardFold;
import dev.onefold.embedded.fold.State;
import dev.onefold.embedded.framing.Framing;
import dev.onefold.embedded.framing.LineReader;
import dev.onefold.embedded.framing.Source;
import dev.onefold.embedded.letters.Letters;
import dev.onefold.embedded.source.Stage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Commits requests: checks them, appends them to the journal, forces it, and only then folds and acknowledges
/// them. The entries of many callers are forced together (group commit: DeWitt et al., "Implementation
/// Techniques for Main Memory Database Systems", 1984). The caller holds the engine's lock.
public final class Commits {
    private static final int CHUNKS_MAX = 16;

    private final ShardFold fold;
    private final State state;
    private final FoldRounds folding;
    private final Letters letters;
    private final Journal journal;
    private final Consumer<Stage> passed;
    private final Framing lineFraming;
    private long uncommittedBytes; // Of the entries that are forced together.
    private long uncommittedLines;
    private final List<Chunk> kept =
            new ArrayList<>(); // For the next round: most entries are much smaller than a chunk.

    public Commits(ShardFold fold, FoldRounds folding, Letters letters, Journal journal, Consumer<Stage> passed) {
        this.fold = fold;
        state = fold.state();
        this.folding = folding;
        this.letters = letters;
        this.journal = journal;
        this.passed = passed;
        lineFraming = Framing.ofLines(state.pipeline);
    }

    /// Commits requests, at least the first one: all entries are forced once, then folded. Requests that are
    /// done leave the queue; some stay in it if they have to wait for the next call.
    ///
    /// @throws OutOfSpaceException if some are still in the queue for want of space
    public void commit(Deque<Request> requests) throws OutOfSpaceException {
        uncommittedBytes = 0;
        uncommittedLines = 0;
        List<Request> appended = new ArrayList<>();
        List<Entry> entries = new ArrayList<>();
        OutOfSpaceException full = null;
        passed.accept(Stage.READ);
        for (Request request = requests.peek(); request != null && full == null; request = requests.peek()) {
            if (!entries.isEmpty() && waits(request)) {
                break;
            }
            try {
                Entry entry = check(request.asked);
                if (entry == null) {
                    request.end(Outcome.acknowledged(acknowledged(request.asked)));
                    forgetSource(request.asked);
                } else {
                    journal.append(entry.encode());
                    move(entry);
                    appended.add(request);
                    entries.add(entry);
                }
                requests.remove(request);
            } catch (EngineException e) {
                requireRefusal(e);
                forgetSource(request.asked);
                request.refuse(e);
                requests.remove(request);
            } catch (OutOfSpaceException e) {
                full = e;
            }
        }
        if (!entries.isEmpty()) {
            journal.force();
            passed.accept(Stage.JOURNAL);
            foldAll(entries, appended);
            passed.accept(Stage.FOLD);
        }
        if (full != null) {
            throw full;
        }
    }

    private static Optional<String> source(Asked asked) {
        return switch (asked) {
            case Asked.Lines lines -> Optional.of(lines.source());
            case Asked.Oversized line -> Optional.of(line.source());
            case Asked.Redrive _, Asked.Purge _ -> Optional.empty();
        };
    }

    private long acknowledged(Asked asked) {
        return source(asked)
                .map(name -> state.sources.open(name, Source.Kind.LINES).recordsAppended())
                .orElse(0L);
    }

    private void forgetSource(Asked asked) {
        source(asked).ifPresent(state.sources::forgetIfEmpty);
    }

    /// Whether a request is not for this batch. The fate of a letter depends on all that is folded before it,
    /// and the letters of a batch wait on the heap for a checkpoint.
    private boolean waits(Request request) {
        return switch (request.asked) {
            case Asked.Lines lines -> isTooMuch(lines.count(), lines.length());
            case Asked.Oversized _ -> isTooMuch(1, 0);
            case Asked.Redrive _, Asked.Purge _ -> true;
        };
    }

    private boolean isTooMuch(long moreLines, long moreBytes) {
        return Lines.heapBytes(uncommittedLines, uncommittedBytes) + Lines.heapBytes(moreLines, moreBytes)
                > Lines.heapBytesMax();
    }

    private void foldAll(List<Entry> entries, List<Request> appended) {
        try {
            for (int i = 0; i < entries.size(); i++) {
                appended.get(i).end(fold(entries.get(i)));
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

    /// The entry to be written; `null` if all of it was committed before.
    private @Nullable Entry check(Asked asked) {
        return switch (asked) {
            case Asked.Lines lines -> lines(lines);
            case Asked.Oversized line -> oversized(line);
            case Asked.Redrive(var redrive) -> checked(redrive);
            case Asked.Purge(var ids) -> purge(ids);
        };
    }

    /// The source of a request, which continues it without a gap.
    private Source continued(String name, long first) {
        Source source = state.sources.open(name, Source.Kind.LINES);
        long next = source.recordsAppended() + 1;
        if (first > next) {
            throw new EngineException(
                    EngineException.Kind.SOURCE_CHANGED,
                    "Lines are missing from source " + source.name() + ": " + (next - 1)
                            + " are acknowledged, these begin at " + first + ". Send from line " + next
                            + " on.");
        }
        return source;
    }

    private @Nullable Entry oversized(Asked.Oversized line) {
        Source source = continued(line.source(), line.record());
        return line.record() != Request.NEXT && line.record() <= source.recordsAppended()
                ? null
                : new Entry.Oversized(
                        source.name(),
                        source.recordsAppended(),
                        source.bytesAppended(),
                        line.bytes(),
                        letters.idNext(),
                        line.sha256());
    }

    private @Nullable Entry lines(Asked.Lines lines) {
        Source source = continued(lines.source(), lines.firstRecord());
        long next = source.recordsAppended() + 1;
        long first = lines.firstRecord() == Request.NEXT ? next : lines.firstRecord();
        boolean messages = !lines.framing().isOfLines();
        Framing framing = framing(messages);
        int from = 0;
        for (long skip = next - first; skip > 0 && from < lines.length(); ) {
            int to = framing.endOfComments(lines.bytes(), from, lines.length(), skip);
            to = to > from ? to : framing.end(lines.bytes(), from, lines.length());
            skip -= framing.count(lines.bytes(), from, to);
            if (skip < 0) {
                throw new EngineException(
                        EngineException.Kind.SOURCE_CHANGED,
                        "Line " + next + " of source " + source.name()
                                + " is inside of a record, and all lines before it"
                                + " are acknowledged: these are not the lines that were sent before.");
            }
            from = to;
        }
        if (from == lines.length()) {
            return null;
        }
        requireMemory(
                framing.count(lines.bytes(), from, lines.length()),
                framing.bytesTaken(lines.bytes(), from, lines.length()));
        byte[] rest = Arrays.copyOfRange(lines.bytes(), from, lines.length());
        if (!messages) {
            folding.requireHeader(source, rest, lines.firstRecord() == Request.NEXT);
        }
        return new Entry.Lines(
                source.name(),
                next - 1,
                source.bytesAppended(),
                folding.arrivalMs(),
                letters.idNext(),
                messages,
                lines.kind(),
                rest);
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
            case FAILED, NOT_THE_OWNER -> Entry.Settles.FAILED;
            case CONFLICT -> fold.settlesConflict();
            default -> Entry.Settles.REJECTED;
        };
    }

    /// The entry of a redrive; `null` if the letter is gone. Whether an edit is accepted is known before it is
    /// folded: nothing of this batch is in front of it. A record that is sent as it arrived decides nothing.
    private @Nullable Entry checked(Entry.Redrive asked) {
        DeadLetter letter = letters.letter(asked.id());
        if (letter == null || !isAt(letter, asked.place())) {
            return null;
        }
        requireMemory(1, asked.record().length);
        Entry.Redrive redrive = new Entry.Redrive(
                asked.id(),
                asked.place(),
                letter.at().toEpochMilli(),
                letters.idNext(),
                Entry.Settles.NOTHING,
                asked.kind(),
                asked.record());
        boolean decides = isEdit(letter, asked.record()) && folding.accepts(chunk(redrive, asked.id()));
        Entry.Settles settles = decides ? settles(letter) : Entry.Settles.NOTHING;
        return new Entry.Redrive(
                redrive.id(),
                redrive.place(),
                redrive.arrivedMs(),
                redrive.letterNext(),
                settles,
                redrive.kind(),
                redrive.record());
    }

    /// Whether a record is not the one that counts now in the place of a letter's record.
    private boolean isEdit(DeadLetter letter, byte[] record) {
        return letter.content() != DeadLetter.Content.RECORD
                || letters.settledEdit(letter.id()) != null
                || !Arrays.equals(letters.record(letter.id()), record);
    }

    /// Whether a letter is the one that its caller has seen: a view that was filled again has others.
    private static boolean isAt(DeadLetter letter, Place place) {
        return letter.place().source().equals(place.source()) && letter.place().offset() == place.offset();
    }

    /// Refuses records that could not be folded, before they are journaled: a journal that cannot be replayed
    /// would be worse.
    ///
    /// @param moreLines number of records, which have `moreBytes`
    private void requireMemory(long moreLines, long moreBytes) {
        long lines = uncommittedLines + moreLines;
        long bytes = uncommittedBytes + moreBytes;
        state.requireHeap(lines, bytes);
        long needed = state.shards[0].bytesForLines(lines, bytes) * state.shards.length
                + state.valueBytesFor(lines, 2 * bytes)
                + letters.bytesFor(lines, lines);
        if (!state.memory.fits(needed)) {
            throw new EngineException(
                    EngineException.Kind.STATE_FULL,
                    "Memory for the state is used up: " + state.memory.used() + " bytes are in use for " + state.rows()
                            + " rows" + state.valuesText() + ", the " + lines + " records that are committed now, of "
                            + bytes + " bytes, may need " + needed + " more, and " + state.memory.bytesMax()
                            + " are allowed. Nothing that was acknowledged is lost. Allow more"
                            + " (--state-memory), and go on.");
        }
        uncommittedBytes = bytes;
        uncommittedLines = lines;
    }

    /// Notes the progress of the source in the journal.
    private void move(Entry entry) {
        switch (entry) {
            case Entry.Lines lines ->
                source(lines.source())
                        .append(
                                lines.recordsBefore()
                                        + framing(lines.messages()).count(lines.bytes(), 0, lines.bytes().length),
                                lines.offset() + lines.bytes().length,
                                true);
            case Entry.Oversized line ->
                source(line.source()).append(line.recordsBefore() + 1, line.offset() + line.bytes() + 1, false);
            case Entry.Redrive _, Entry.Purge _ -> {}
        }
    }

    private Framing framing(boolean messages) {
        return messages ? Framing.MESSAGES : lineFraming;
    }

    private Source source(String name) {
        return state.sources.findOrAdd(name, Source.Kind.LINES);
    }

    /// Folds an entry that was found in the journal at a start.
    public void replay(Entry entry) {
        move(entry);
        fold(entry);
    }

    private Outcome fold(Entry entry) {
        return switch (entry) {
            case Entry.Lines lines -> {
                Source source = source(lines.source());
                Counts before = state.arrivedCounts();
                letters.numberFrom(lines.letterNext());
                long letterFirst = letters.idNext();
                foldLines(lines, source);
                Counts counts = state.arrivedCounts().minus(before);
                yield new Outcome(source.records(), counts, letterFirst, letters.idNext(), Redriven.GONE, 0);
            }
            case Entry.Oversized oversized -> {
                Source source = source(oversized.source());
                letters.numberFrom(oversized.letterNext());
                Chunk chunk = chunk(0);
                chunk.setOversized(source, oversized.offset(), oversized.bytes(), oversized.sha256());
                folding.rounds(List.of(chunk));
                yield Outcome.acknowledged(source.records());
            }
            case Entry.Redrive redrive -> Outcome.redriven(redrive(redrive));
            case Entry.Purge purge -> {
                int removed = 0;
                for (Entry.Purged letter : purge.letters()) {
                    removed += letters.remove(letter.id()) ? 1 : 0;
                }
                yield Outcome.removed(removed);
            }
        };
    }

    /// Purges again, in a fold of all sources. A record that was left out is counted as it was. An event that a
    /// function has met was folded in its place, and has the letters that it had.
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

    /// Folds lines, some chunks at a time: the whole of a large entry, decoded, would need several times its
    /// bytes.
    private void foldLines(Entry.Lines lines, Source source) {
        List<Chunk> chunks = new ArrayList<>();
        Framing framing = framing(lines.messages());
        int end = lines.bytes().length;
        for (int from = 0; from < end; ) {
            int to = framing.end(lines.bytes(), from, end);
            while (to < end && to - from < LineReader.CHUNK_BYTES) {
                to = framing.end(lines.bytes(), to, end);
            }
            Chunk chunk = chunk(chunks.size());
            byte[] part = new byte[to - from + Decoder.PADDING];
            System.arraycopy(lines.bytes(), from, part, 0, to - from);
            chunk.setAppended(framing, part, to - from, source, lines.offset() + from);
            chunk.arrivedAt(lines.arrivedMs());
            chunk.kind = lines.kind();
            folding.takeHeader(chunk);
            chunks.add(chunk);
            from = to;
            if (chunks.size() == CHUNKS_MAX || from == end) {
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
        Redriven decided = chunk.redriven();
        Redriven redriven = decided == null ? redriven(countsBefore, state.allCounts()) : decided;
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
        String place = redrive.place().source();
        Source found = state.sources.ofPlace(place);
        Source source = found == null ? source(place) : found;
        Chunk chunk = chunk(0);
        chunk.setRedriven(source, redrive.place(), redrive.record(), letter, redrive.arrivedMs());
        chunk.kind = redrive.kind();
        return chunk;
    }

    /// The fate of a record that was counted again: it counts once, by its last fate.
    private static Redriven redriven(Counts before, Counts after) {
        if (after.accepted() > before.accepted()) {
            return Redriven.ACCEPTED;
        }
        if (after.duplicate() > before.duplicate() || after.silent() > before.silent()) {
            return Redriven.DUPLICATE;
        }
        if (after.stale() > before.stale()) {
            return Redriven.STALE;
        }
        return after.conflicting() > before.conflicting() ? Redriven.CONFLICTING : Redriven.REJECTED;
    }
}
