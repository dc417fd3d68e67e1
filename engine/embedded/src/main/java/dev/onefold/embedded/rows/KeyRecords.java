package dev.onefold.embedded.rows;

import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.bytes.Hash;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.keyed.Base;
import dev.onefold.core.keyed.Head;
import dev.onefold.core.keyed.Kept;
import dev.onefold.core.keyed.RowId;
import dev.onefold.core.keyed.Store;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.state.Key;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// The records of one key that a function folds. They are in the shard of that key, which owns them. One
/// object serves key after key; it is not thread-safe.
///
///     key   = key of the owner as in [RowBatch], varint length of what follows, kind and place
///     head  nothing; its value: count of rows; for each the number of its table, its length and its content; head
///     row   1 + number of the table, then the part of the row's key that is not the owner's, in UTF-8
///     kept  40, varint ordinal
///     base  41
///
/// The rest of a record is encoded by `core.keyed`; for a row it is its content. A row without content was
/// removed. A small row whose key is the owner's alone is in the record of the head, so that an event that
/// writes it looks up and appends one record. All records of an owner have the low half of its hash, which
/// defines the shard.
final class KeyRecords implements Store {
    static final int ROW = 1;
    private static final int KEPT = 40;
    private static final int BASE = 41;
    /// Greatest length of a row beside its head: a longer one would be copied with each event that does not
    /// write it.
    private static final int BESIDE_HEAD_BYTES_MAX = 1_000;

    private static final VarHandle BIG_ENDIAN =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    private static final byte[] NONE = {};
    private static final int VALUE_BYTES = 1_000;
    private static final long SHARD_MASK = 0xffff_ffffL;

    private final Pipeline pipeline;
    private final RowStore store;
    private final RowStore kept;
    private final List<Table> tables = new ArrayList<>();
    private final SharedRows shared;
    private final byte[] key = new byte[RowStore.KEY_BUFFER_BYTES];
    private byte[] value = new byte[VALUE_BYTES];
    private final BytesOut next = new BytesOut();
    private int ownerLength;
    private long ownerHash;
    private int length;
    private long hash;
    private @Nullable Head head;
    private long headSlot = -1;
    private long headEntry;
    private final byte[] @Nullable [] beside; // By table: the rows beside the head.

    /// @param owner for each part of the key of a row: the matching part of the owner's key, or -1
    /// @param isShared whether its rows are in [SharedRows]
    private record Table(int[] owner, boolean isOwnersAlone, boolean isShared) {
        Table(int[] owner, boolean isShared) {
            this(owner, !isShared && Arrays.stream(owner).allMatch(part -> part >= 0), isShared);
        }
    }

    KeyRecords(Pipeline pipeline, List<Processing.Table> given, SharedRows shared, RowStore store, RowStore kept) {
        this.shared = shared;
        this.kept = kept;
        this.pipeline = pipeline;
        this.store = store;
        List<String> names = pipeline.input().identity() instanceof Identity.Versioned versioned
                ? versioned.key().stream().map(Object::toString).toList()
                : List.of();
        for (Processing.Table table : given) {
            tables.add(new Table(
                    table.key().stream().mapToInt(names::indexOf).toArray(), table.isShared(pipeline.input())));
        }
        beside = new byte[tables.size()][];
    }

    /// The hash of a record's key.
    static long hash(byte[] key, int length) {
        int end = key[0] == 0 ? 17 : ownerEnd(key);
        long owner = Hash.of(key, 0, end);
        return key[end] == 0 ? owner : owner & SHARD_MASK | Hash.of(key, 0, length) & ~SHARD_MASK;
    }

    private static int ownerEnd(byte[] key) {
        long ownerBytes = -1;
        int at = 0;
        int shift = 0;
        do {
            ownerBytes += (long) (key[at] & 0x7f) << shift;
            shift += 7;
        } while (key[at++] < 0);
        return at + (int) ownerBytes;
    }

    /// From here on the records of the owner whose head has this key.
    void own(byte[] bytes, int from, int headKeyLength, long headHash) {
        ownerLength = headKeyLength - 1;
        ownerHash = headHash;
        System.arraycopy(bytes, from, key, 0, ownerLength);
        head = null;
    }

    /// From here on the records of the owner of a record.
    void ownerOf(Segment segment, long rowStart) {
        byte[] owner = RowStore.bytes(segment, rowStart, RowReader.keyEnd(segment, rowStart));
        ownerLength = owner.length;
        System.arraycopy(owner, 0, key, 0, ownerLength);
        ownerHash = Hash.of(key, 0, ownerLength);
        head = null;
    }

    /// The key of the owner, as an event has it.
    byte[] owner() {
        if (key[0] == 0) {
            return uuid().toString().getBytes(StandardCharsets.US_ASCII);
        }
        int from = 0;
        while (key[from++] < 0) {
            // The length of the key is in front of it.
        }
        return Arrays.copyOfRange(key, from, ownerLength);
    }

    /// The parts of the owner's key.
    List<String> ownerParts() {
        return key[0] == 0 ? List.of(uuid().toString()) : Key.parts(pipeline, owner());
    }

    private UUID uuid() {
        return new UUID((long) BIG_ENDIAN.get(key, 1), (long) BIG_ENDIAN.get(key, 9));
    }

    private void atHead() {
        key[ownerLength] = 0;
        length = ownerLength + 1;
        hash = ownerHash;
    }

    private void atKept(long ordinal) {
        key[ownerLength + 1] = KEPT;
        at(RowBatch.putVarint(ordinal, key, ownerLength + 2));
    }

    private void atBase() {
        key[ownerLength + 1] = BASE;
        at(ownerLength + 2);
    }

    private void atRow(RowId row) {
        key[ownerLength + 1] = (byte) (ROW + row.table());
        Table table = tables.get(row.table());
        if (table.isOwnersAlone) {
            at(ownerLength + 2);
            return;
        }
        List<String> parts = row.key().parts();
        byte[] other = parts.get(table.owner[0] < 0 ? 0 : 1).getBytes(StandardCharsets.UTF_8);
        int lengthBytes = 1 + other.length < 0x80 ? 1 : 2;
        key[ownerLength + lengthBytes] = (byte) (ROW + row.table());
        System.arraycopy(other, 0, key, ownerLength + lengthBytes + 1, other.length);
        RowBatch.putVarint(1L + other.length, key, ownerLength);
        length = ownerLength + lengthBytes + 1 + other.length;
        hash = hash(key, length);
    }

    /// Ends a key that has at most 127 bytes behind that of its owner.
    private void at(int end) {
        key[ownerLength] = (byte) (end - ownerLength - 1);
        length = end;
        hash = hash(key, length);
    }

    private byte @Nullable [] get() {
        return store.get(hash, key, length);
    }

    private void put(byte[] value) {
        store.put(hash, key, length, value);
    }

    /// The head of the owner; `null` if it has none.
    @Nullable
    Head head() {
        atHead();
        Arrays.fill(beside, null);
        headSlot = store.find(hash, key, 0, length);
        headEntry = store.index.get(headSlot);
        head = headEntry == 0 ? null : readHead(value(headEntry));
        return head;
    }

    private BytesIn value(long entry) {
        int bytes = store.value(entry, length, value);
        if (bytes > value.length) {
            value = new byte[2 * bytes];
            store.value(entry, length, value);
        }
        return new BytesIn(value, 0, bytes);
    }

    private Head readHead(BytesIn in) {
        for (long rows = in.number(); rows > 0; rows--) {
            beside[in.octet()] = in.bytes();
        }
        return Head.read(in);
    }

    /// Stores the head, and the rows beside it; the last call of each step that stores.
    void put(Head stepped) {
        BytesOut out = next;
        out.clear();
        int rows = 0;
        for (byte[] row : beside) {
            rows += row == null ? 0 : 1;
        }
        out.number(rows);
        for (int table = 0; table < beside.length; table++) {
            byte[] row = beside[table];
            if (row != null) {
                out.octet(table).bytes(row);
            }
        }
        stepped.write(out);
        atHead();
        boolean stays = headEntry != 0 && store.index.get(headSlot) == headEntry;
        if (!stays || !overwrites(out)) {
            store.putAt(stays ? headSlot : store.find(hash, key, 0, length), hash, key, length, out);
        }
    }

    /// Replaces the head where it is, if no cut has taken it, and both have the same length. A key that changes
    /// often is then written once for each checkpoint.
    private boolean overwrites(BytesOut out) {
        long at = RowStore.at(Index.location(headEntry));
        Segment segment = store.segment(Index.location(headEntry));
        if (at < segment.persisted || segment.varint(at) != length + out.length()) {
            return false;
        }
        out.copyTo(segment.memory, segment.varintEnd(at) + length);
        return true;
    }

    void put(Kept some) {
        atKept(some.ordinal());
        kept.put(hash, key, length, some.encoded());
    }

    void put(Base base) {
        atBase();
        kept.put(hash, key, length, base.encoded());
    }

    /// Stores a row of a table that is not shared.
    ///
    /// @param content of the row; `null`: it is removed
    void put(RowId row, byte @Nullable [] content) {
        int table = row.table();
        boolean isBeside =
                tables.get(table).isOwnersAlone && (content == null || content.length <= BESIDE_HEAD_BYTES_MAX);
        boolean wasBeside = beside[table] != null;
        if (tables.get(table).isOwnersAlone) {
            beside[table] = isBeside ? content : null;
        }
        if (!isBeside) {
            atRow(row);
            put(Objects.requireNonNullElse(content, NONE));
        } else if (!wasBeside) {
            atRow(row);
            if (get() != null) {
                put(NONE);
            }
        }
    }

    void dropKept(long ordinal) {
        atKept(ordinal);
        kept.remove(hash, key, length);
    }

    void dropBase() {
        atBase();
        kept.remove(hash, key, length);
    }

    @Override
    public List<Kept> kept(long from) {
        Head now = head == null ? head() : head;
        List<Kept> all = new ArrayList<>();
        if (now == null) {
            return all;
        }
        if (now.window().baseCount() > 0) {
            base().events().stream().map(Base.Event::ordinal).sorted().forEach(ordinal -> addKept(ordinal, all));
        }
        for (long ordinal = Math.max(from, now.window().first());
                ordinal < now.window().next();
                ordinal++) {
            addKept(ordinal, all);
        }
        return all;
    }

    private void addKept(long ordinal, List<Kept> into) {
        atKept(ordinal);
        byte[] bytes = kept.get(hash, key, length);
        if (bytes != null) {
            into.add(Kept.read(bytes));
        }
    }

    @Override
    public Base base() {
        atBase();
        byte[] bytes = kept.get(hash, key, length);
        if (bytes == null) {
            throw new IllegalStateException("What a refold left of a key is not stored");
        }
        return Base.read(bytes);
    }

    @Override
    public Map<RowId, byte[]> rows(Collection<RowId> rows) {
        if (head == null) {
            head();
        }
        if (rows.size() == 1) {
            RowId row = rows.iterator().next();
            byte[] content = content(row);
            return content == null ? Map.of() : Map.of(row, content);
        }
        Map<RowId, byte[]> found = new HashMap<>();
        for (RowId row : rows) {
            byte[] content = content(row);
            if (content != null) {
                found.put(row, content);
            }
        }
        return found;
    }

    private byte @Nullable [] content(RowId row) {
        if (isShared(row.table())) {
            SharedRows.Owned owned = shared.get(row);
            return owned != null && Arrays.equals(owned.owner(), owner()) ? owned.content() : null;
        }
        byte[] content = beside[row.table()];
        if (content == null || !tables.get(row.table()).isOwnersAlone) {
            atRow(row);
            content = get();
        }
        return content == null || content.length == 0 ? null : content;
    }

    /// Whether several keys write the rows of a table.
    boolean isShared(int table) {
        return tables.get(table).isShared;
    }

    @Override
    public @Nullable List<String> otherOwner(RowId row) {
        SharedRows.Owned owned = shared.get(row);
        return owned == null || Arrays.equals(owned.owner(), owner()) ? null : Key.parts(pipeline, owned.owner());
    }

    /// The kind of a record.
    sealed interface Kind {
        record OfHead() implements Kind {}

        record OfRow(RowId row) implements Kind {}

        record OfKept(long ordinal) implements Kind {}

        record OfBase() implements Kind {}
    }

    /// Visits the rows that a record has: its own, or those beside its head.
    ///
    void forEachRow(Segment segment, long rowStart, long rowEnd, RowVisitor visitor) {
        int table = table(segment, rowStart);
        long valueAt = store.keyEnd(segment, rowStart);
        if (table >= 0) {
            if (valueAt < rowEnd) {
                byte[] value = RowStore.bytes(segment, valueAt, rowEnd);
                if (isShared(table)) {
                    SharedRows.Owned owned = SharedRows.Owned.of(value);
                    visitor.row(table, owned.owner(), owned.content());
                } else {
                    visitor.row(table, null, value);
                }
            }
        } else if (isHead(segment, rowStart)) {
            long at = segment.varintEnd(valueAt);
            for (long rows = segment.varint(valueAt); rows > 0; rows--) {
                int of = segment.memory.get(java.lang.foreign.ValueLayout.JAVA_BYTE, at);
                long from = segment.varintEnd(at + 1);
                long to = from + segment.varint(at + 1);
                visitor.row(of, null, RowStore.bytes(segment, from, to));
                at = to;
            }
        }
    }

    /// Called once per row.
    interface RowVisitor {
        /// @param table its number
        /// @param owner of a row of a shared table, as an event has it; `null`: the owner of the record
        void row(int table, byte @Nullable [] owner, byte[] content);
    }

    /// The key of a row beside the head of the owner, or of a record that is a row.
    RowId rowId(int table, Segment segment, long rowStart) {
        return kind(segment, rowStart) instanceof Kind.OfRow(RowId row) ? row : row(table, NONE);
    }

    /// Whether a record is the head of its owner.
    static boolean isHead(Segment segment, long rowStart) {
        return segment.varint(RowReader.keyEnd(segment, rowStart)) == 0;
    }

    /// Whether a record is a row of a table; -1 if it is something else.
    static int table(Segment segment, long rowStart) {
        long end = RowReader.keyEnd(segment, rowStart);
        long suffix = segment.varint(end);
        int kind =
                suffix == 0 ? 0 : segment.memory.get(java.lang.foreign.ValueLayout.JAVA_BYTE, segment.varintEnd(end));
        return kind >= ROW && kind < KEPT ? kind - ROW : -1;
    }

    /// The kind of a record of the owner.
    Kind kind(Segment segment, long rowStart) {
        long end = RowReader.keyEnd(segment, rowStart);
        long suffix = segment.varint(end);
        long at = segment.varintEnd(end);
        if (suffix == 0) {
            return new Kind.OfHead();
        }
        int kind = segment.memory.get(java.lang.foreign.ValueLayout.JAVA_BYTE, at);
        return switch (kind) {
            case KEPT -> new Kind.OfKept(segment.varint(at + 1));
            case BASE -> new Kind.OfBase();
            default -> new Kind.OfRow(row(kind - ROW, RowStore.bytes(segment, at + 1, at + suffix)));
        };
    }

    private RowId row(int table, byte[] other) {
        if (isShared(table)) {
            return shared.row(table, owner());
        }
        List<String> owner = ownerParts();
        List<String> parts = new ArrayList<>();
        for (int part : tables.get(table).owner) {
            parts.add(part < 0 ? new String(other, StandardCharsets.UTF_8) : owner.get(part));
        }
        return new RowId(table, Tuple.of(parts));
    }
}
