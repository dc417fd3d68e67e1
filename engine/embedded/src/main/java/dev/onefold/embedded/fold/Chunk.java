package dev.onefold.embedded.fold;

import dev.onefold.core.DeadLetter.Place;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.event.Event.Silence;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.embedded.framing.Framing;
import dev.onefold.embedded.framing.LineReader;
import dev.onefold.embedded.framing.Records;
import dev.onefold.embedded.framing.Source;
import dev.onefold.embedded.rows.RowBatch;
import dev.onefold.embedded.source.LogBatch;
import dev.onefold.embedded.source.QueueBatch;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Some whole records of one source on their way through a round: first the bytes, then the decoded events
/// per shard. Used again round after round.
public final class Chunk {
    static final long NO_ARRIVAL = Long.MIN_VALUE;

    private Framing framing = Framing.LINES;

    /// The kind of its records, by the way they came.
    public RecordKind kind = RecordKind.SENT;

    byte[] bytes = new byte[0];
    int length;
    Source source = Source.NOWHERE;
    /// Place of the first byte in the source.
    long offset;
    /// The source's position behind these records.
    long next;
    /// The mark of a log's reader that is kept with that position; empty to keep the one before.
    String mark = "";
    /// The beginning of the lines that are records: behind a header.
    int from;
    /// Records, a header included; of lines, the lines.
    long records;
    /// The source's digest behind these lines.
    @Nullable
    MessageDigest digest;
    /// Bytes of a line over the limit that takes the place of records, or -1.
    long oversized = -1;

    byte[] oversizedHash = new byte[0];
    /// Whether the last line has no end.
    boolean isUnfinished;
    /// Records of the source in front of these; for a redriven record, of its place. Known when the round has
    /// ended.
    long recordsBefore;
    /// Whether the source's position moves with it; not for a redriven record.
    boolean progresses;
    /// The dead letter that is redriven, or 0: it keeps its id if it is rejected again.
    long letter;
    /// Whether the redriven dead letter still exists when the round has ended.
    boolean letterStays;
    /// The fate of the redriven event, if a function folds it.
    @Nullable
    Redriven redriven;

    /// The redrives and purges of people, if the sources are folded again.
    private Settled settled = Settled.NOTHING;

    private long[] places = {}; // Of the source, for [Settled#fate].

    /// When the journal recorded the records, epoch milliseconds; [#NO_ARRIVAL] if they did not come through
    /// it.
    long arrivedMs = NO_ARRIVAL;
    /// The id of the message whose dead letter is redriven.
    private byte @Nullable [] message;
    /// The greatest time of its events; with a horizon each is at most its arrival.
    long seenMs = Long.MIN_VALUE;

    final RowBatch[] rows;
    /// The beginnings of the records that are not events. A bit each: a chunk may hold a hundred thousand of
    /// them, and the reason of each is found when its letter is written.
    final BitSet rejectedAt = new BitSet();

    int rejectedCount;
    /// Records that report no row.
    final Map<Silence, long[]> silences = new HashMap<>();
    /// Whether the records are decoded. They are not if the letters of the chunks before are enough for a
    /// round.
    boolean isDecoded;
    /// Bytes of the records that are not events.
    long rejectedBytes;

    private @Nullable Arrivals arrivals;

    public Chunk(int shards) {
        rows = new RowBatch[shards];
        Arrays.setAll(rows, _ -> new RowBatch());
    }

    /// Its events in their order, for a fold that makes batches; made at the first use.
    Arrivals arrivals() {
        Arrivals all = arrivals == null ? new Arrivals(rows.length) : arrivals;
        arrivals = all;
        return all;
    }

    /// Holds lines of a file, or one that is too long.
    ///
    /// @return position of the source behind them
    public long setLines(Framing how, LineReader.Lines lines, Source linesSource, long linesOffset) {
        set(how, lines.bytes(), lines.length(), linesSource, linesOffset);
        next = linesOffset + lines.consumed();
        oversized = lines.oversized();
        oversizedHash = lines.oversizedHash();
        isUnfinished = oversized >= 0 ? lines.consumed() == oversized : hasUnfinishedLine();
        digest = lines.digest();
        return next;
    }

    /// Holds lines or messages that came through the journal.
    ///
    /// @param appended with room behind them for the decoder
    public void setAppended(Framing how, byte[] appended, int appendedLength, Source from, long appendedOffset) {
        set(how, appended, appendedLength, from, appendedOffset);
        isUnfinished = how.isOfLines() && hasUnfinishedLine();
    }

    /// Notes when the journal recorded the records.
    public void arrivedAt(long ms) {
        arrivedMs = ms;
    }

    private boolean hasUnfinishedLine() {
        return length > 0 && bytes[length - 1] != '\n';
    }

    /// Holds a line over the limit that came through the journal.
    public void setOversized(Source lineSource, long lineOffset, long lineBytes, byte[] sha256) {
        set(Framing.LINES, new byte[0], 0, lineSource, lineOffset);
        next = lineOffset + lineBytes + 1;
        oversized = lineBytes;
        oversizedHash = sha256;
    }

    /// Holds a record of a partition that is over the limit.
    public void setOversized(Source partition, LogBatch.Entry entry) {
        set(Framing.LENGTHS, new byte[0], 0, partition, entry.offset());
        next = entry.offset() + 1;
        oversized = entry.bytes().length;
        oversizedHash = Sha256.of(entry.bytes());
    }

    /// Holds records of a partition.
    ///
    /// @param to the partition's position behind them
    public void setRecords(List<LogBatch.Entry> entries, Source partition, long to) {
        long first = entries.isEmpty() ? to : entries.getFirst().offset();
        set(Framing.LENGTHS, Framing.encode(entries), Framing.bytes(entries), partition, first);
        next = to;
    }

    /// Gives the position behind these records the mark of the log's reader.
    public void markWith(String text) {
        mark = text;
    }

    /// Holds a dead letter's record, edited or as it was read, at the place where it was first read.
    ///
    /// @param letterId of the record; 0 if it has none yet
    /// @param firstArrivedMs when the record was first read
    public void setRedriven(Source first, Place place, byte[] record, long letterId, long firstArrivedMs) {
        boolean isMessage = !first.name().equals(place.source());
        boolean isLine = !isMessage
                && first.kind() != Source.Kind.PARTITION
                && record.length > 0
                && record[record.length - 1] == '\r';
        byte[] alone = isLine ? Arrays.copyOf(record, record.length - 1) : record;
        setRecords(List.of(new LogBatch.Entry(place.offset(), alone)), first, place.offset() + 1);
        progresses = false;
        message = isMessage ? QueueBatch.idOf(place.source()).getBytes(StandardCharsets.UTF_8) : null;
        arrivedMs = firstArrivedMs;
        letter = letterId;
        recordsBefore = place.line() - 1;
    }

    private void set(Framing recordFraming, byte[] content, int contentLength, Source contentSource, long place) {
        framing = recordFraming;
        kind = RecordKind.SENT;
        bytes = content;
        length = contentLength;
        source = contentSource;
        offset = place;
        next = place + contentLength;
        from = 0;
        mark = "";
        digest = null;
        oversized = -1;
        isUnfinished = false;
        progresses = true;
        letter = 0;
        letterStays = false;
        redriven = null;
        message = null;
        arrivedMs = NO_ARRIVAL;
        settled = Settled.NOTHING;
        clear();
    }

    /// The records, behind a header.
    Records records() {
        return records(from);
    }

    /// The kind of a record: an edit in its place has one of its own.
    RecordKind kind(Records of) {
        Settled.Edit edit = of.isEdited() ? settledEdit(of) : null;
        return edit == null ? kind : edit.kind();
    }

    /// The records, a header included.
    Records numbered() {
        return records(0);
    }

    private Records records(int at) {
        Records all = new Records(framing, bytes, at, length, offset);
        return settled.hasEdits() ? all.edited(this::edit) : all;
    }

    /// When a record arrived: a message when it was sent, others when the journal recorded them. If a record of a file
    /// has a dead letter and is read again, when it was first read.
    long arrivedMs(Records record) {
        if (isOfQueue()) {
            return record.sentMs();
        }
        return arrivedMs == NO_ARRIVAL ? settled.readMs(source.name(), record.place()) : arrivedMs;
    }

    /// Whether the definition has read its records before, and those that it rejected have letters.
    boolean isReadAgain() {
        return settled.isReadAgain();
    }

    /// The id by which the source names a record.
    byte[] message(Records record) {
        if (message != null) {
            return message;
        }
        if (isOfQueue()) {
            return record.message();
        }
        if (source.kind() != Source.Kind.PARTITION) {
            throw new IllegalStateException("A line of " + source.name() + " has no message that names it");
        }
        return (source.name() + ":" + record.place()).getBytes(StandardCharsets.UTF_8);
    }

    /// The place of a record in its dead letter. The place of a message is the same whenever it comes again.
    Place place(Records record, long line) {
        byte[] id = isOfQueue() ? record.message() : message;
        return id == null
                ? source.place(line + record.comments(), record.place())
                : new Place(QueueBatch.place(source.name(), new String(id, StandardCharsets.UTF_8)), line, 0);
    }

    /// Whether its records may come again, as others of the source.
    boolean isOfQueue() {
        return framing.equals(Framing.MESSAGES);
    }

    /// Whether its first line may be a header.
    boolean mayHaveHeader() {
        return framing.isOfLines() && length > 0;
    }

    /// Whether it covers a place of the source.
    boolean covers(String name, long place) {
        return source.name().equals(name) && place >= offset && place < next;
    }

    /// Whether the redriven dead letter still exists.
    public boolean letterStays() {
        return letterStays;
    }

    /// The fate of the redriven event; `null` if it has to be read from the counts.
    public @Nullable Redriven redriven() {
        return redriven;
    }

    /// Forgets the decoded events: the records are decoded again in a later round.
    public void clear() {
        records = RecordEnds.lines(bytes, 0, from); // The bytes in front of the records are a header.
        seenMs = Long.MIN_VALUE;
        isDecoded = false;
        rejectedAt.clear();
        rejectedCount = 0;
        silences.clear();
        rejectedBytes = 0;
        for (RowBatch batch : rows) {
            batch.clear();
        }
        if (arrivals != null) {
            arrivals.clear();
        }
    }

    /// A record of the chunk, with the place that its letter has.
    record Found(Place place, long arrivedMs, byte[] bytes, RecordKind kind) {}

    /// The record at a place of the source; `null` if there is none.
    @Nullable
    Found find(long place) {
        Records all = numbered();
        for (long line = recordsBefore + 1; all.next(); line += all.lines()) {
            if (all.place() == place) {
                return new Found(place(all, line), arrivedMs(all), all.copy(), kind(all));
            }
        }
        return null;
    }

    /// The fate that a person has decided for the event with a number.
    Settled.Fate fate(RowBatch batch, int number) {
        return settled.isEmpty() ? Settled.Fate.OPEN : Settled.fate(places, batch.offset(number));
    }

    /// Takes the decisions of people. An edit also replaces a record that is over the limit.
    void settle(Settled all) {
        if (!progresses) {
            return;
        }
        settled = all;
        places = all.of(source.name());
        Settled.Edit edit = oversized < 0 ? null : all.edit(source.name(), offset);
        if (edit != null) {
            List<LogBatch.Entry> alone = List.of(new LogBatch.Entry(offset, edit.bytes()));
            framing = Framing.LENGTHS;
            bytes = Framing.encode(alone);
            length = Framing.bytes(alone);
            from = 0;
            oversized = -1;
        }
    }

    /// The fate that a person has decided for a record.
    Settled.Fate fate(Records record) {
        if (settled.isEmpty()) {
            return Settled.Fate.OPEN;
        }
        Settled.Fate fate = Settled.fate(places, record.place());
        return fate == Settled.Fate.OPEN && isOfQueue() ? settled.fate(place(record, 0)) : fate;
    }

    private byte @Nullable [] edit(Records record) {
        Settled.Edit edit = settledEdit(record);
        return edit == null ? null : edit.bytes();
    }

    /// The letter of a message that was rejected is settled by the message, that of another event by its place.
    private Settled.@Nullable Edit settledEdit(Records record) {
        Settled.Edit edit = settled.edit(source.name(), record.place());
        return edit == null && isOfQueue() ? settled.edit(place(record, 0).source(), 0) : edit;
    }

    /// Notes a record that is not an event.
    ///
    /// @param at as [Records#at] has it
    /// @param recordBytes its length
    void reject(int at, int recordBytes) {
        rejectedAt.set(at);
        rejectedCount++;
        rejectedBytes += recordBytes;
    }
}
