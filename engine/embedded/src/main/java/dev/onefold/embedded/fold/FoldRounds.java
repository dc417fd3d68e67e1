package dev.onefold.embedded.fold;

import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetter.Place;
import dev.onefold.core.EngineException;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.seal.RecordLine;
import dev.onefold.embedded.framing.Framing;
import dev.onefold.embedded.framing.Records;
import dev.onefold.embedded.framing.Source;
import dev.onefold.embedded.letters.Letters;
import dev.onefold.embedded.letters.Rejected;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Folds records in rounds of two steps, each done by all threads at once: decode the chunks, then apply to
/// each shard its part, chunk after chunk. So within a key the order is that of the input for any number of
/// threads, and between two rounds nothing is under way: at this barrier checkpoints and answers are cut.
/// (Valiant, "A Bridging Model for Parallel Computation", 1990.) Called with the engine's lock held.
public final class FoldRounds {
    /// Letters of a round wait on the heap for a checkpoint, which is taken between two rounds.
    private static final long LETTER_BYTES_PER_ROUND = 8 << 20;

    private final ShardFold fold;
    private final State state;
    private final Letters letters;
    private final InstantSource clock;
    private final Workers workers;
    private final Decoding[] decodings;
    private final Times times;
    private final RecordEnds ofSource;
    private Settled settled = Settled.NOTHING;

    /// The decoder and the buffers of one thread.
    private final class Decoding {
        final Decoder decoder = new Decoder(state.pipeline);
        final ShardFold.Encoder encoder = fold.encoder();

        @Nullable
        Source headed;
    }

    public FoldRounds(ShardFold fold, Letters letters, InstantSource clock, Workers workers) {
        this.fold = fold;
        state = fold.state();
        this.letters = letters;
        this.clock = clock;
        this.workers = workers;
        decodings = new Decoding[workers.parallelism()];
        Arrays.setAll(decodings, _ -> new Decoding());
        times = new Times(state, clock);
        ofSource = RecordEnds.ofSource(state.pipeline);
    }

    /// From now on sources are folded again, and the decisions of people stay valid.
    public void settle(Settled places) {
        settled = places;
    }

    /// Takes the header line from the first chunk of a source that has one.
    ///
    /// @throws EngineException if it is not a header for this pipeline
    public void takeHeader(Chunk chunk) {
        Source source = chunk.source;
        if (chunk.mayHaveHeader() && Decoder.wantsHeader(state.pipeline) && source.header().length == 0) {
            source.setHeader(header(source, chunk.bytes, chunk.length));
            decodings[0].headed = source;
            chunk.from = Math.min(source.header().length + 1, chunk.length);
            chunk.clear();
        }
    }

    /// Requires that lines which are to be the first ones of a source begin with a header, if the format has
    /// one, and that lines which come as one hold no other header, of which the first line need show less.
    /// Numbered lines may begin anywhere.
    ///
    /// @param areOne whether a sender began with the first one
    /// @throws EngineException if they begin with no header for this pipeline
    public void requireHeader(Source source, byte[] lines, boolean areOne) {
        if (Decoder.wantsHeader(state.pipeline)) {
            requireHeaderFirst(source, lines, areOne);
        }
        if (!areOne || !ofSource.seesHeaders()) {
            return;
        }
        RecordEnds ends = ofSource.behind(source.header(), source.header().length);
        ends = ends.behind(lines, ends.endAnyhow(lines, 0, lines.length));
        RecordEnds.Fault fault = ends.areWhole(lines, 0, lines.length) ? null : ends.fault(lines, 0, lines.length);
        if (fault != null && fault.state() == RecordEnds.OTHER_HEADER) {
            throw new EngineException(
                    EngineException.Kind.SOURCE_CHANGED,
                    "Nothing of this was taken by source " + source.name() + ": " + fault.message(0) + ".");
        }
    }

    private void requireHeaderFirst(Source source, byte[] lines, boolean areOne) {
        if (source.awaitsHeader()) {
            header(source, lines, lines.length);
        } else if (areOne && source.header().length > 0) {
            takeColumns(decodings[0], source);
            int end = Framing.ofLines(state.pipeline).end(lines, 0, lines.length);
            String other = decodings[0].decoder.otherHeader(lines, 0, RecordLine.end(lines, 0, end));
            if (other != null) {
                throw new EngineException(
                        EngineException.Kind.SOURCE_CHANGED,
                        "Source " + source.name() + " has another header: its first record is "
                                + new String(source.header(), StandardCharsets.UTF_8) + ", and these records begin with"
                                + " names of columns. " + other + ". Send them as a source of their own.");
            }
        }
    }

    private byte[] header(Source source, byte[] lines, int length) {
        int next = Framing.ofLines(state.pipeline).end(lines, 0, length);
        int end = next > 0 && lines[next - 1] == '\n' ? next - 1 : next;
        byte[] header = Arrays.copyOf(lines, end);
        decodings[0].headed = null;
        Malformed malformed = decodings[0].decoder.header(header, 0, end);
        if (malformed != null) {
            throw new EngineException(
                    EngineException.Kind.SOURCE_CHANGED,
                    "Source " + source.name() + " is refused: " + malformed.message() + ".");
        }
        return header;
    }

    /// Folds chunks, each whole, from the first one on: all of them, or as many as a round may have letters
    /// of. The others are to be folded in another round.
    ///
    /// @return how many were folded, 1 or more
    /// @throws EngineException if the state would not fit; nothing is changed then
    public int round(List<Chunk> chunks) {
        try {
            return decodeAndApply(chunks);
        } catch (IllegalArgumentException e) {
            throw new IllegalStateException("A round went wrong: " + e.getMessage(), e);
        }
    }

    /// Folds chunks in as many rounds as it takes.
    public void rounds(List<Chunk> chunks) {
        for (int from = 0; from < chunks.size(); ) {
            from += round(chunks.subList(from, chunks.size()));
        }
    }

    /// Whether the one record of a chunk, which is redriven, would be accepted now. Changes nothing.
    public boolean accepts(Chunk chunk) {
        decode(decodings[0], chunk);
        boolean accepts = chunk.rejectedCount == 0 && fold.accepts(chunk);
        chunk.clear();
        return accepts;
    }

    private int decodeAndApply(List<Chunk> chunks) {
        AtomicInteger next = new AtomicInteger();
        AtomicLong letterBytes = new AtomicLong();
        workers.run(Math.min(decodings.length, chunks.size()), worker -> {
            int i = next.getAndIncrement();
            while (i < chunks.size() && letterBytes.get() <= LETTER_BYTES_PER_ROUND) {
                decode(decodings[worker], chunks.get(i));
                letterBytes.addAndGet(letterBytes(chunks.get(i)));
                i = next.getAndIncrement();
            }
        });
        int folded = fitting(chunks);
        chunks.subList(folded, chunks.size()).forEach(Chunk::clear);
        apply(chunks.subList(0, folded));
        return folded;
    }

    /// How many chunks a round takes: at least one, and none that is not decoded.
    private static int fitting(List<Chunk> chunks) {
        long bytes = letterBytes(chunks.getFirst());
        int fitting = 1;
        while (fitting < chunks.size()
                && chunks.get(fitting).isDecoded
                && bytes + letterBytes(chunks.get(fitting)) <= LETTER_BYTES_PER_ROUND) {
            bytes += letterBytes(chunks.get(fitting++));
        }
        return fitting;
    }

    private static long letterBytes(Chunk chunk) {
        return chunk.rejectedCount * Letters.PENDING_BYTES + chunk.rejectedBytes;
    }

    private void apply(List<Chunk> chunks) {
        requireMemory(chunks);
        Instant now = clock.instant();
        fold.begin(chunks, now);
        AtomicInteger nextShard = new AtomicInteger();
        int shards = state.shards.length;
        workers.run(Math.min(workers.parallelism(), shards), _ -> {
            for (int shard = nextShard.getAndIncrement(); shard < shards; shard = nextShard.getAndIncrement()) {
                fold.apply(shard, chunks);
            }
        });
        for (Chunk chunk : chunks) {
            settle(chunk);
        }
        chunks.forEach(chunk -> state.saw(chunk.seenMs));
        fold.end(chunks, now);
    }

    private static void takeColumns(Decoding decoding, Source source) {
        byte[] header = source.header();
        if (header.length > 0 && !source.equals(decoding.headed)) {
            decoding.decoder.header(header, 0, header.length);
            decoding.headed = source;
        }
    }

    private void decode(Decoding decoding, Chunk chunk) {
        takeColumns(decoding, chunk.source);
        chunk.settle(settled);
        Records records = chunk.records();
        while (records.next()) {
            chunk.records += records.lines();
            if (chunk.fate(records) == Settled.Fate.PURGED) {
                continue;
            }
            if (state.byMessage) {
                decoding.decoder.message(chunk.message(records));
            }
            Malformed malformed =
                    decoding.decoder.decode(chunk.kind(records), records.content(), records.from(), records.to());
            Event event = decoding.decoder.event();
            malformed = malformed == null ? times.refusal(event, chunk, records) : malformed;
            if (malformed == null) {
                if (event.silence != null) {
                    chunk.silences.computeIfAbsent(event.silence, _ -> new long[1])[0]++;
                } else {
                    decoding.encoder.add(event, chunk, records);
                }
            } else {
                chunk.reject(records.at(), records.to() - records.from());
            }
        }
        chunk.isDecoded = true;
    }

    /// The arrival time of the records that arrive now, in milliseconds since 1970. An entry of the journal
    /// keeps it, so its replay decides alike.
    public long arrivalMs() {
        return clock.instant().toEpochMilli();
    }

    private void requireMemory(List<Chunk> chunks) {
        long needed = 0;
        long allBytes = 0;
        long allCount = 0;
        for (int shard = 0; shard < state.shards.length; shard++) {
            long bytes = 0;
            long count = 0;
            for (Chunk chunk : chunks) {
                bytes += chunk.rows[shard].bytes();
                count += chunk.rows[shard].count();
            }
            needed += state.shards[shard].bytesFor(bytes, count);
            allBytes += bytes;
            allCount += count;
        }
        long rejected = 0;
        for (Chunk chunk : chunks) {
            rejected += chunk.rejectedCount + 1; // One may be oversized.
        }
        needed += state.valueBytesFor(allCount, allBytes) + letters.bytesFor(rejected, allCount);
        state.requireHeap(0, 0);
        if (!state.memory.fits(needed)) {
            throw new EngineException(
                    EngineException.Kind.STATE_FULL,
                    "Memory for the state is used up: " + state.memory.used() + " bytes are in use for " + state.rows()
                            + " rows" + state.valuesText() + " and " + letters.size() + " dead letters, " + needed
                            + " more may be needed, "
                            + state.memory.bytesMax()
                            + " are allowed. What was folded is safe. Allow more (--state-memory), and go on.");
        }
    }

    private void settle(Chunk chunk) {
        Source source = chunk.source;
        if (chunk.progresses) {
            chunk.recordsBefore = source.records();
        }
        long known = keepRejected(chunk);
        boolean isKept =
                chunk.oversized >= 0 && settled.fate(new Place(source.name(), 0, chunk.offset)) != Settled.Fate.PURGED;
        if (isKept) {
            letters.addOversized(
                    Decoder.tooLarge(chunk.oversized).message(),
                    source.place(chunk.recordsBefore + 1, chunk.offset),
                    chunk.oversized,
                    chunk.oversizedHash,
                    clock.instant());
        }
        chunk.records = chunk.oversized >= 0 ? 1 : chunk.records;
        long rejectedCount = chunk.rejectedCount + (isKept ? 1L : 0L) - known;
        state.count(new Counts(0, known, 0, 0, rejectedCount, state.count(chunk.silences)));
        if (chunk.progresses) {
            source.advance(chunk.records, chunk.next, chunk.digest, chunk.isUnfinished);
            if (!chunk.mark.isEmpty()) {
                source.mark(chunk.mark);
            }
        }
    }

    /// Decodes the rejected records once more, one at a time, to say why they are rejected.
    ///
    /// @return how many of them are dead letters already: a queue has given them again
    private long keepRejected(Chunk chunk) {
        if (chunk.rejectedCount == 0) {
            return 0;
        }
        long known = 0;
        Decoder decoder = decodings[0].decoder;
        takeColumns(decodings[0], chunk.source);
        Records records = chunk.numbered();
        for (long line = chunk.recordsBefore + 1; records.next(); line += records.lines()) {
            if (!chunk.rejectedAt.get(records.at())) {
                continue;
            }
            Place place = chunk.place(records, line);
            if (chunk.isOfQueue() && !letters.at(place).isEmpty()) {
                known++;
                continue;
            }
            if (state.byMessage) {
                decoder.message(chunk.message(records));
            }
            Malformed malformed = decoder.decode(chunk.kind(records), records.content(), records.from(), records.to());
            malformed = malformed == null ? times.refusal(decoder.event(), chunk, records) : malformed;
            if (malformed == null) {
                throw new IllegalStateException("A record of " + place.source() + " is rejected for no reason");
            }
            letters.add(
                    malformed,
                    decoder.event().identity(),
                    new Rejected(
                            chunk.letter,
                            place,
                            records.copy(),
                            times.readAt(chunk.arrivedMs(records)),
                            chunk.kind(records)),
                    DeadLetter.Content.RECORD);
            chunk.letterStays = true;
        }
        return known;
    }
}
