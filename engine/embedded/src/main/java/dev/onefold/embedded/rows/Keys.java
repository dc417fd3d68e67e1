package dev.onefold.embedded.rows;

import dev.onefold.core.Counts;
import dev.onefold.core.aggregate.Values;
import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Reason;
import dev.onefold.core.keyed.Arrival;
import dev.onefold.core.keyed.Base;
import dev.onefold.core.keyed.Change;
import dev.onefold.core.keyed.Change.RowChange;
import dev.onefold.core.keyed.Feeds;
import dev.onefold.core.keyed.Head;
import dev.onefold.core.keyed.KeyAudit;
import dev.onefold.core.keyed.KeyFold;
import dev.onefold.core.keyed.LikelyCalls;
import dev.onefold.core.keyed.RowId;
import dev.onefold.core.keyed.StepFunction;
import dev.onefold.core.keyed.Verdict;
import dev.onefold.core.map.Amounts;
import dev.onefold.core.map.Groups;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.process.KeyDifference;
import dev.onefold.core.process.KeyState;
import dev.onefold.core.state.Amount;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The keys of a shard that a function folds: their heads, kept events and rows of tables, and the cells of
/// the rows.
public final class Keys extends Shard {
    /// The least memory to expect for the writes of one event, in bytes.
    private static final long WRITTEN_BYTES_MIN = 512;

    private static final int LINES = 3; // Of the cache, that most heads with their rows have.
    private static final int ENTRY_BYTES = 32; // Lengths, and the share of the index.

    private final Pipeline pipeline;
    private final Processing processing;
    private final LookAhead ahead;
    private final RowStore kept;
    private final Groups[] groups;
    private final KeyRecords records;
    private final SharedRows shared;
    private Keys[] siblings = {this};
    private final Feeds feeds;
    private final List<Measure.Input> inputs;
    private final int[][] inputsOf; // Per table that feeds: where its inputs are among all.
    private final Amounts before;
    private final Amounts after;
    private long accepted;
    private long displaced; // Of the accepted ones, by events at which the function has failed.
    private long duplicate;
    private long stale;
    private long conflicting;
    private long rejected;
    private long count;
    private long events;
    private long writtenBytes;

    /// @param values of each roll-up; other shards have the same ones
    public Keys(Pipeline pipeline, Processing processing, Groups[] groups, Values[] values, Memory memory) {
        RowStore heads = new RowStore(memory, Contents.HEADS);
        RowStore events = new RowStore(memory, Contents.KEPT);
        super(pipeline, values, heads, events);
        kept = events;
        this.pipeline = pipeline;
        this.processing = processing;
        ahead = new LookAhead(store, LINES);
        this.groups = groups;
        records = reading();
        shared = new SharedRows(processing.tables(), this);
        feeds = new Feeds(processing);
        inputs = processing.rollups().inputs();
        inputsOf = new int[processing.tables().size()][];
        before = new Amounts(groups.length, inputs.size());
        after = new Amounts(groups.length, inputs.size());
    }

    private KeyRecords reading() {
        return new KeyRecords(pipeline, processing.tables(), new SharedRows(processing.tables(), this), store, kept);
    }

    /// Makes the other shards known, in which rows of shared tables may be.
    ///
    /// @param all shards, this one included
    public void beside(Keys[] all) {
        siblings = all;
    }

    Keys[] siblings() {
        return siblings;
    }

    /// The result of an event, to be stored.
    ///
    /// @param change of the key by the event; `null` if there is none
    public record Folded(
            Arrival arrival, Verdict verdict, @Nullable Change change) {
        /// Whether an earlier event has lost against it.
        private boolean displaces() {
            return change != null
                    && change.letters().stream()
                            .anyMatch(letter ->
                                    letter.content() != null && letter.why().reason() == Reason.CONFLICT);
        }
    }

    /// Where an event was read.
    ///
    /// @param source number of the source
    public record Origin(int source, long offset) {
        /// The place of these bytes.
        public static Origin of(byte[] bytes) {
            BytesIn in = new BytesIn(bytes);
            return new Origin((int) in.number(), in.number());
        }

        byte[] bytes() {
            return new BytesOut().number(source).number(offset).toBytes();
        }
    }

    /// Reads ahead the memory that the next events need, some at a time.
    public void lookAhead(RowBatch batch, int from) {
        if (from % LookAhead.ROWS == 0) {
            ahead.read(batch, from, Math.min(batch.count, from + LookAhead.ROWS));
        }
    }

    /// The key whose event was folded last, as an event has it.
    public byte[] owner() {
        return records.owner();
    }

    /// Lets the function answer at once what the next events are likely to ask, if that costs less.
    ///
    /// @return the number of the first event that was not looked at
    public int askAhead(StepFunction function, RowBatch batch, int from) {
        if (function.aheadMax() == 0) {
            return batch.count;
        }
        LikelyCalls likely = new LikelyCalls(processing.order(), function.aheadMax());
        int next = from;
        while (next < batch.count && likely.hasRoom()) {
            int start = batch.starts[next++];
            int keyLength = batch.keyLength(start);
            records.own(batch.bytes, start + RowBatch.HEADER_BYTES, keyLength, batch.hash(start));
            byte[] key = Arrays.copyOfRange(
                    batch.bytes, start + RowBatch.HEADER_BYTES, start + RowBatch.HEADER_BYTES + keyLength);
            likely.add(key, records::head, function.start(), arrival(batch, start, Arrival.Way.ARRIVED));
        }
        function.ahead(likely.chains());
        return next;
    }

    /// Calls the function for one event. Changes nothing.
    public Folded fold(StepFunction function, RowBatch batch, int number, Arrival.Way way) {
        int start = batch.starts[number];
        int keyLength = batch.keyLength(start);
        int keyAt = start + RowBatch.HEADER_BYTES;
        records.own(batch.bytes, keyAt, keyLength, batch.hash(start));
        Arrival arrival = arrival(batch, start, way);
        KeyFold fold = new KeyFold(function, records.ownerParts(), records.head(), records);
        Verdict verdict = fold.fold(arrival);
        return new Folded(arrival, verdict, fold.hasChanged() ? fold.change() : null);
    }

    private static Arrival arrival(RowBatch batch, int start, Arrival.Way way) {
        byte[] bytes = batch.bytes;
        int at = start + RowBatch.HEADER_BYTES + batch.keyLength(start);
        int end = start + RowBatch.HEADER_BYTES + batch.rowLength(start);
        int versionEnd = batch.originAt(start);
        byte[] version = Arrays.copyOfRange(bytes, at, versionEnd);
        int kindAt = batch.kindAt(start);
        byte[] content = bytes[kindAt] == Event.Kind.COUNTED.code()
                ? Arrival.counted(bytes, kindAt + 1, end)
                : Arrival.filtered();
        return new Arrival(version, content, Arrays.copyOfRange(bytes, versionEnd, kindAt), way);
    }

    /// Stores the result of the event that [#fold] has folded last.
    @SuppressWarnings("EnumOrdinal") // It is the place of a counter in memory, and is stored nowhere.
    public void store(Folded folded, StepFunction function) {
        switch (folded.verdict) {
            case ACCEPTED -> accepted++;
            case DUPLICATE -> duplicate++;
            case STALE -> stale++;
            case CONFLICTING -> conflicting++;
            case REJECTED -> rejected++;
        }
        if (folded.verdict == Verdict.REJECTED && folded.displaces()) {
            displaced++;
        }
        events++;
        if (folded.change != null) {
            write(folded.change, function.feeds());
        }
    }

    /// Brings a key to this version of the function; the change is stored.
    public Optional<Change> upgrade(StepFunction function, byte[] key) {
        RowBatch.EncodedKey encoded = new RowBatch.EncodedKey().setHead(key, 0, key.length);
        records.own(encoded.bytes, 0, encoded.length, encoded.hash);
        KeyFold fold = new KeyFold(function, records.ownerParts(), records.head(), records);
        if (!fold.hasChanged()) {
            return Optional.empty();
        }
        Change change = fold.change();
        write(change, function.feeds());
        return Optional.of(change);
    }

    /// @param read the feeds that have read the rows that the function wrote, and need not read them again
    private void write(Change change, Feeds read) {
        long entries = store.index.count();
        long used = store.usedBytes() + kept.usedBytes();
        for (RowChange row : change.rows()) {
            if (records.isShared(row.row().table())) {
                // Its amounts are in the cells of the shard that has it.
                byte[] after = row.after();
                writtenBytes += after == null ? 0 : after.length + ENTRY_BYTES;
                shared.put(row.row(), records.owner(), after).move(row, read);
            } else {
                records.put(row.row(), row.after());
                move(row, read);
            }
        }
        change.kept().forEach(records::put);
        change.dropped().forEach(records::dropKept);
        Base base = change.base();
        if (base != null) {
            records.put(base);
        } else if (change.dropsBase()) {
            records.dropBase();
        }
        records.put(change.head());
        writtenBytes += store.usedBytes() + kept.usedBytes() - used + (store.index.count() - entries) * ENTRY_BYTES;
        if (change.head().revision() == 1) {
            count++;
        }
    }

    private void move(RowChange change, Feeds read) {
        int table = change.row().table();
        if (!feeds.isFed(table)) {
            return;
        }
        List<Integer> joined = fill(read, table, change.after(), after);
        List<Integer> left = fill(read, table, change.before(), before);
        for (int rollup : joined.isEmpty() ? left : joined) {
            cells[rollup].move(before, after);
        }
    }

    /// Fills in the contribution of a row; returns the roll-ups that it feeds, none without content.
    private List<Integer> fill(Feeds read, int table, byte @Nullable [] content, Amounts into) {
        into.counted = false;
        if (content == null || content.length == 0) {
            return List.of();
        }
        Feeds.Part part = read.part(table, content).orElseThrow();
        into.counted = part.contribution().kind() == Event.Kind.COUNTED;
        for (int i = 0; i < part.contribution().groups().size(); i++) {
            int rollup = part.rollups().get(i);
            into.group[rollup] =
                    groups[rollup].number(part.contribution().groups().get(i));
        }
        int[] places = inputsOf[table];
        if (places == null) {
            places = Rollups.of(part.pipeline()).inputs().stream()
                    .mapToInt(inputs::indexOf)
                    .toArray();
            inputsOf[table] = places;
        }
        for (int i = 0; i < part.contribution().amounts().size(); i++) {
            fill(part.contribution().amounts().get(i), places[i], into);
        }
        return part.rollups();
    }

    private static void fill(Amount amount, int input, Amounts into) {
        into.present[input] = !(amount instanceof Amount.None);
        switch (amount) {
            case Amount.None _ -> {}
            case Amount.Number(var value) -> {
                BigInteger unscaled = value.unscaledValue();
                into.hi[input] = unscaled.shiftRight(64).longValue();
                into.lo[input] = unscaled.longValue();
            }
            case Amount.Text(var text) -> into.text[input] = text.getBytes(StandardCharsets.UTF_8);
        }
    }

    /// Visits the contribution of each row of the tables to a roll-up.
    @Override
    public void forEach(int rollup, Visitor visitor) {
        store.forEach((segment, rowStart, rowEnd) ->
                records.forEachRow(segment, rowStart, rowEnd, (table, _, content) -> {
                    if (feeds.isFed(table) && fill(feeds, table, content, after).contains(rollup)) {
                        visitor.row(after);
                    }
                }));
    }

    @Override
    public long count() {
        return count;
    }

    @Override
    public Counts counts() {
        return new Counts(accepted - displaced, duplicate, stale, conflicting + displaced, rejected);
    }

    @Override
    public Counts arrivedCounts() {
        return new Counts(accepted, duplicate, stale, conflicting, rejected);
    }

    @Override
    public void map(RowFiles files) {
        kept.map(files);
    }

    @Override
    public RowStore storeOf(long sequence) {
        return takesMemory(sequence) ? store : kept;
    }

    /// Counts the loaded keys, and drops events that are no longer kept: their records were still there.
    @Override
    public void countLoaded() {
        long[] heads = new long[1];
        store.forEach((segment, rowStart, _) -> heads[0] += KeyRecords.isHead(segment, rowStart) ? 1 : 0);
        count = heads[0];
        Set<Long> named = new HashSet<>();
        for (long slot = kept.index.size() - 1; slot >= 0; slot--) {
            long entry = kept.index.get(slot);
            if (entry == 0) {
                continue;
            }
            long location = Index.location(entry);
            Segment segment = kept.segment(location);
            long rowStart = segment.varintEnd(RowStore.at(location));
            records.ownerOf(segment, rowStart);
            switch (records.kind(segment, rowStart)) {
                case KeyRecords.Kind.OfKept(long ordinal) -> {
                    if (!isAlive(ordinal, named)) {
                        records.dropKept(ordinal);
                    }
                }
                case KeyRecords.Kind.OfBase _ -> {
                    Head head = records.head();
                    if (head == null || head.window().baseCount() == 0) {
                        records.dropBase();
                    }
                }
                case KeyRecords.Kind.OfHead _, KeyRecords.Kind.OfRow _ ->
                    throw new IllegalStateException("A segment of kept events holds something else");
            }
        }
    }

    private boolean isAlive(long ordinal, Set<Long> named) {
        Head head = records.head();
        if (head == null || ordinal < head.window().lowest()) {
            return false;
        }
        if (ordinal >= head.window().first() || head.window().baseCount() == 0) {
            return ordinal >= head.window().first();
        }
        named.clear();
        records.base().events().forEach(event -> named.add(event.ordinal()));
        return named.contains(ordinal);
    }

    /// Bytes of memory that a batch may need, judged by earlier events. One event may write far more; it is
    /// in the state then, and the next round is refused.
    @Override
    public long bytesFor(long batchBytes, long batchCount) {
        long each = events == 0 ? WRITTEN_BYTES_MIN : Math.max(WRITTEN_BYTES_MIN, 2 * writtenBytes / events);
        return store.bytesFor(2 * batchBytes + batchCount * each, 4 * batchCount);
    }

    @Override
    public long bytesForLines(long lines, long bytes) {
        return bytesFor(2 * bytes, lines);
    }

    /// The state of a key.
    public Optional<KeyState> state(RowBatch.EncodedKey key) {
        KeyRecords reading = reading();
        reading.own(key.bytes, 0, key.length, key.hash);
        Head head = reading.head();
        return head == null ? Optional.empty() : Optional.of(head.state(pipeline, reading.owner(), reading));
    }

    /// A row of a table.
    ///
    /// @param owner the key that owns it, as an event has it
    public record TableRow(byte[] owner, RowId id, byte[] content) {}

    /// Visits the rows of a table, in no order.
    ///
    /// @param owner the key whose rows are wanted, as an event has it; `null`: all
    public void forEachRow(int table, byte @Nullable [] owner, Consumer<TableRow> visitor) {
        KeyRecords reading = reading();
        store.forEach((segment, rowStart, rowEnd) ->
                reading.forEachRow(segment, rowStart, rowEnd, (of, sharedOwner, content) -> {
                    if (of == table) {
                        reading.ownerOf(segment, rowStart);
                        byte[] rowOwner = sharedOwner == null ? reading.owner() : sharedOwner;
                        if (owner == null || Arrays.equals(owner, rowOwner)) {
                            visitor.accept(new TableRow(rowOwner, reading.rowId(of, segment, rowStart), content));
                        }
                    }
                }));
    }

    /// A row of a shared table, in whatever shard it is; empty if it is not there.
    public Optional<TableRow> sharedRow(RowId row) {
        SharedRows.Owned owned = new SharedRows(processing.tables(), this).get(row);
        return owned == null ? Optional.empty() : Optional.of(new TableRow(owned.owner(), row, owned.content()));
    }

    /// The content of a row of an owner; `null` if it is not there.
    ///
    /// @param owner its key, as an event has it
    public byte @Nullable [] content(byte[] owner, RowId row) {
        return reading(owner).rows(List.of(row)).get(row);
    }

    /// The keys, in no order.
    public List<byte[]> keys() {
        List<byte[]> keys = new ArrayList<>();
        forEachKey(keys::add);
        return keys;
    }

    /// Visits the places of the heads of all keys, in no order.
    public void forEachKey(Consumer<byte[]> visitor) {
        KeyRecords reading = reading();
        store.forEach((segment, rowStart, rowEnd) -> {
            reading.ownerOf(segment, rowStart);
            if (reading.kind(segment, rowStart) instanceof KeyRecords.Kind.OfHead) {
                visitor.accept(reading.owner());
            }
        });
    }

    /// The head of a key; `null` if it has none.
    public @Nullable Head head(byte[] key) {
        return reading(key).head();
    }

    private KeyRecords reading(byte[] key) {
        KeyRecords reading = reading();
        RowBatch.EncodedKey encoded = new RowBatch.EncodedKey().setHead(key, 0, key.length);
        reading.own(encoded.bytes, 0, encoded.length, encoded.hash);
        return reading;
    }

    /// The differences between the stored state of a key and the result of its kept events.
    public List<KeyDifference> audit(StepFunction function, byte[] key) {
        KeyRecords reading = reading(key);
        Head head = reading.head();
        return head == null ? List.of() : KeyAudit.of(function, key, head, reading);
    }
}
