package dev.onefold.aws.item;

import dev.onefold.core.keyed.Base;
import dev.onefold.core.keyed.Head;
import dev.onefold.core.keyed.Kept;
import dev.onefold.core.reduce.DeltaId;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// The head of a key that a function folds, in the table of rows, and what else is kept of the key. All of a step is
/// written in one transaction, on condition that the head is as it was read.
///
///     head = k 02 and the key, h the head, s the step, t its time, d the last deltas that rows of the key came to
///     kept = k 03, the key and an ordinal of 8 bytes, e an event that is kept
///     base = k 04 and the key, b the base, r the head's revision that it was written with
///
/// @param step is never given twice, so a condition on it is a condition on all of the key
/// @param atMs when it was written, epoch milliseconds
/// @param deltas that the next one is added with or after
public record KeyItem(byte[] key, Head head, String step, long atMs, Set<DeltaId> deltas) {
    public static final String STEP = "s";
    public static final String REVISION = "r";
    private static final String HEAD = "h";
    private static final String TIME = "t";
    private static final String DELTAS = "d";
    private static final String KEPT = "e";
    private static final String BASE = "b";
    private static final byte HEAD_MARK = 2;
    private static final byte KEPT_MARK = 3;
    private static final byte BASE_MARK = 4;

    public KeyItem {
        deltas = Set.copyOf(deltas);
    }

    /// The key's head that an item holds.
    public static KeyItem of(Map<String, AttributeValue> item) {
        Set<DeltaId> deltas = new HashSet<>();
        if (item.containsKey(DELTAS)) {
            item.get(DELTAS).ss().forEach(text -> deltas.add(DeltaId.parse(text)));
        }
        byte[] marked = Items.bytes(item, RowItem.KEY);
        return new KeyItem(
                Arrays.copyOfRange(marked, 1, marked.length),
                Head.read(Items.bytes(item, HEAD)),
                Items.text(item, STEP),
                Items.number(item, TIME),
                deltas);
    }

    /// Whether an item of the table is the head of a key.
    public static boolean isHead(Map<String, AttributeValue> item) {
        return Items.bytes(item, RowItem.KEY)[0] == HEAD_MARK;
    }

    /// Whether an item of the table is the base of a key.
    public static boolean isBase(Map<String, AttributeValue> item) {
        return Items.bytes(item, RowItem.KEY)[0] == BASE_MARK;
    }

    /// The key of which an item holds a kept event or the base; empty if it is something else.
    public static Optional<byte[]> owner(Map<String, AttributeValue> item) {
        byte[] marked = Items.bytes(item, RowItem.KEY);
        return switch (marked[0]) {
            case KEPT_MARK -> Optional.of(Arrays.copyOfRange(marked, 1, marked.length - Long.BYTES));
            case BASE_MARK -> Optional.of(Arrays.copyOfRange(marked, 1, marked.length));
            default -> Optional.empty();
        };
    }

    /// The item of this head.
    public Map<String, AttributeValue> item() {
        Map<String, AttributeValue> item = new TreeMap<>(keyOf(key));
        item.put(HEAD, Items.bytes(head.encoded()));
        item.put(STEP, AttributeValue.fromS(step));
        item.put(TIME, Items.number(atMs));
        if (!deltas.isEmpty()) {
            List<String> texts = deltas.stream().map(DeltaId::toString).sorted().toList();
            item.put(DELTAS, AttributeValue.fromSs(texts));
        }
        return item;
    }

    /// The key of the head's item.
    public static Map<String, AttributeValue> keyOf(byte[] key) {
        return marked(HEAD_MARK, key);
    }

    /// The key of the base's item.
    public static Map<String, AttributeValue> baseOf(byte[] key) {
        return marked(BASE_MARK, key);
    }

    /// The key of a kept event's item.
    public static Map<String, AttributeValue> keptOf(byte[] key, long ordinal) {
        byte[] all = ByteBuffer.allocate(key.length + Long.BYTES)
                .put(key)
                .putLong(ordinal)
                .array();
        return marked(KEPT_MARK, all);
    }

    private static Map<String, AttributeValue> marked(byte mark, byte[] key) {
        byte[] marked = ByteBuffer.allocate(key.length + 1).put(mark).put(key).array();
        return Map.of(RowItem.KEY, Items.bytes(marked));
    }

    /// The item of an event that is kept.
    public static Map<String, AttributeValue> item(byte[] key, Kept kept) {
        Map<String, AttributeValue> item = new TreeMap<>(keptOf(key, kept.ordinal()));
        item.put(KEPT, Items.bytes(kept.encoded()));
        return item;
    }

    /// The event that an item holds.
    public static Kept kept(Map<String, AttributeValue> item) {
        return Kept.read(Items.bytes(item, KEPT));
    }

    /// The item of a base.
    public static Map<String, AttributeValue> item(byte[] key, Base base, long revision) {
        Map<String, AttributeValue> item = new TreeMap<>(baseOf(key));
        item.put(BASE, Items.bytes(base.encoded()));
        item.put(REVISION, Items.number(revision));
        return item;
    }

    /// The base that an item holds.
    public static Base base(Map<String, AttributeValue> item) {
        return Base.read(Items.bytes(item, BASE));
    }
}
