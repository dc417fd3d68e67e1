package dev.onefold.core.aggregate;

import dev.onefold.core.bytes.Hash;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Measure;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// How often each value is in each leaf of one roll-up, for the measures that are made of values: extremes and distinct
/// counts must survive retraction. All shards share it. It is divided into parts by the hash of the value, each with a
/// lock of its own, so a value of a leaf is in exactly one part. Threads may add at the same time; all other methods
/// are called while nobody adds.
///
///     key    = leaf 4, measure's number among those made of values 1, value
///     value  = of a text: its UTF-8 bytes; of a number: 7f - n (negative) or 80 + n, then n bytes of two's
///              complement, highest first, n as small as it can be. Their unsigned order is that of the numbers.
public final class Values implements AutoCloseable {
    /// Longest key, and the bytes that must exist behind it in an array.
    public static final int KEY_BYTES_MAX = 5 + Limits.TEXT_BYTES_MAX;

    public static final int PADDING = TreePage.PADDING;

    static final int VALUE_AT = 5;
    private static final int CHUNK_BITS = 10;
    private static final int CHUNK = 1 << CHUNK_BITS;

    /// Bytes of memory that a value takes at most beside its own bytes: its entry, in pages that are half full, once
    /// in use and once as removed since the last checkpoint.
    private static final long ENTRY_BYTES_MAX = 4 * (12 + VALUE_AT);

    private static final int NUMBER_BYTES_MAX = 17;
    private static final long PART_BYTES_MAX = 4L * Pages.SLAB_BYTES;

    final int[] measures; // Of the roll-up, by number.
    final int[] distinctOf; // By number: which distinct count it is, or -1.
    private final int distincts;
    final Part[] parts;
    private volatile AtomicLongArray[] chunks = {}; // Distinct counts per leaf; replaced by a longer array.

    /// The values whose hashes fall into one part.
    static final class Part {
        final Pages pages;
        final ValueTree present;
        final ValueTree removed; // Since the last checkpoint.

        Part(LongConsumer account) {
            pages = new Pages(account);
            present = new ValueTree(pages);
            removed = new ValueTree(pages);
        }
    }

    /// @param parts how many threads may add without waiting for each other, 1 and more
    /// @param account receives each change of the bytes in use; called by any thread
    public Values(List<Measure> measures, int parts, LongConsumer account) {
        List<Integer> valued = new ArrayList<>();
        for (int i = 0; i < measures.size(); i++) {
            switch (measures.get(i)) {
                case Measure.Numeric numeric when !numeric.fold().isSummed() -> valued.add(i);
                case Measure.Distinct _ -> valued.add(i);
                case Measure.Numeric _, Measure.Count _ -> {}
            }
        }
        this.measures = valued.stream().mapToInt(Integer::intValue).toArray();
        distinctOf = new int[this.measures.length];
        int distinct = 0;
        for (int number = 0; number < distinctOf.length; number++) {
            distinctOf[number] = measures.get(this.measures[number]) instanceof Measure.Distinct ? distinct++ : -1;
        }
        distincts = distinct;
        this.parts = new Part[distinctOf.length == 0 ? 0 : parts];
        for (int i = 0; i < this.parts.length; i++) {
            this.parts[i] = new Part(account);
        }
    }

    /// How many different values there are.
    public long count() {
        long count = 0;
        for (Part part : parts) {
            count += part.present.size();
        }
        return count;
    }

    /// Bytes of memory in use.
    public long bytes() {
        long bytes = 0;
        for (Part part : parts) {
            bytes += part.pages.bytes();
        }
        return bytes;
    }

    /// Greatest number of bytes that a batch may need in addition.
    ///
    /// @param rows how many rows it brings
    /// @param textBytes bytes of all their texts, at most
    public long bytesFor(long rows, long textBytes) {
        if (parts.length == 0) {
            return 0;
        }
        long numbers = (long) measures.length * rows * (ENTRY_BYTES_MAX + 4 * NUMBER_BYTES_MAX);
        return numbers + 4L * distincts * textBytes + parts.length * PART_BYTES_MAX;
    }

    // Keys.

    /// Writes where a value is into the beginning of its key.
    static void putPlace(int leaf, int number, byte[] key) {
        key[0] = (byte) (leaf >>> 24);
        key[1] = (byte) (leaf >>> 16);
        key[2] = (byte) (leaf >>> 8);
        key[3] = (byte) leaf;
        key[4] = (byte) number;
    }

    /// Writes a number as the value of a key; the key's length.
    static int putNumber(long hi, long lo, byte[] key) {
        int n = hi == lo >> 63
                ? Math.max(1, (72 - Long.numberOfLeadingZeros(lo ^ lo >> 63)) >>> 3)
                : (136 - Long.numberOfLeadingZeros(hi ^ hi >> 63)) >>> 3;
        key[VALUE_AT] = (byte) (hi < 0 ? 0x7f - n : 0x80 + n);
        for (int i = 0; i < n; i++) {
            int shift = 8 * (n - 1 - i);
            key[VALUE_AT + 1 + i] = (byte) ((shift >= 64 ? hi : lo) >>> shift); // A shift counts modulo 64.
        }
        return VALUE_AT + 1 + n;
    }

    static BigInteger number(byte[] key, int length) {
        return new BigInteger(key, VALUE_AT + 1, length - VALUE_AT - 1);
    }

    static int leaf(byte[] key) {
        return (key[0] & 0xff) << 24 | (key[1] & 0xff) << 16 | (key[2] & 0xff) << 8 | key[3] & 0xff;
    }

    private Part part(byte[] key, int length) {
        long hash = Hash.of(key, VALUE_AT, length);
        return parts[(int) ((hash >>> 33) * parts.length >>> 31)];
    }

    // Changes.

    /// Adds a value `count` times; its key has [#PADDING] bytes behind it.
    void add(byte[] key, int length, long count) {
        Part part = part(key, length);
        int came;
        synchronized (part) {
            came = part.present.add(key, length, count);
            if (came < 0) {
                part.removed.set(key, length, 1);
            }
        }
        count(key, came);
    }

    private void count(byte[] key, int came) {
        int distinct = distinctOf[key[4]];
        if (came != 0 && distinct >= 0) {
            int leaf = leaf(key);
            chunk(leaf >>> CHUNK_BITS).getAndAdd((leaf & CHUNK - 1) * distincts + distinct, came);
        }
    }

    private AtomicLongArray chunk(int index) {
        AtomicLongArray[] known = chunks;
        return index < known.length ? known[index] : addChunks(index);
    }

    private synchronized AtomicLongArray addChunks(int index) {
        if (index >= chunks.length) {
            AtomicLongArray[] more = java.util.Arrays.copyOf(chunks, index + 1);
            for (int i = chunks.length; i <= index; i++) {
                more[i] = new AtomicLongArray(CHUNK * distincts);
            }
            chunks = more;
        }
        return chunks[index];
    }

    /// Receives keys of values, which have [#PADDING] bytes behind them, and how often the values are there.
    public interface Visitor {
        void value(byte[] key, int length, long count);
    }

    /// How many values have changed since they were last written.
    public long changedCount() {
        long changed = 0;
        for (Part part : parts) {
            changed += part.present.changedCount() + part.removed.size();
        }
        return changed;
    }

    /// Writes the values that have changed since the last call, each with its count; the count of a removed
    /// value is 0. The last count that is written for a value is the valid one.
    public void writeChanged(Visitor visitor) {
        for (Part part : parts) {
            TreeCursor cursor = part.removed.cursor();
            byte[] key = new byte[KEY_BYTES_MAX + PADDING];
            for (boolean more = cursor.seek(key, 0); more; more = cursor.next()) {
                visitor.value(key, cursor.key(key), 0);
            }
            part.removed.clear();
            part.present.writeChanged(visitor::value);
        }
    }

    /// A place between two values in the order in which [#write] visits them.
    ///
    /// @param key of the next value; empty at the beginning of a part
    public record Place(int part, byte[] key) {
        /// Before the first value.
        public static final Place START = new Place(0, new byte[0]);
    }

    /// Writes some values, changed or not.
    ///
    /// @param valuesMax how many values, at most
    /// @return the place to continue at; `null` behind the last value
    public @Nullable Place write(Place from, int valuesMax, Visitor visitor) {
        int left = valuesMax;
        byte[] start = from.key;
        for (int i = from.part; i < parts.length; i++) {
            TreeCursor cursor = parts[i].present.cursor();
            byte[] key = java.util.Arrays.copyOf(start, KEY_BYTES_MAX + PADDING);
            for (boolean more = cursor.seek(key, start.length); more; more = cursor.next()) {
                int length = cursor.key(key);
                if (left-- == 0) {
                    return new Place(i, java.util.Arrays.copyOf(key, length));
                }
                visitor.value(key, length, cursor.count());
            }
            start = new byte[0];
        }
        return null;
    }

    /// Sets the count of a value, as it was written; nothing is noted as changed.
    ///
    /// @param key with [#PADDING] bytes behind it
    /// @throws IllegalArgumentException if it is not a key of this roll-up
    public void set(byte[] key, int length, long count) {
        if (length < VALUE_AT || length > KEY_BYTES_MAX || key[4] < 0 || key[4] >= measures.length || count < 0) {
            throw new IllegalArgumentException("A value of a measure is not one of this roll-up");
        }
        count(key, part(key, length).present.set(key, length, count));
    }

    /// Notes the differences from another object of the same shape that was written, so that only these are
    /// written again.
    public void replaces(Values written) {
        for (int i = 0; i < parts.length; i++) {
            Part mine = parts[i];
            mine.present.noteUnchanged();
            mine.removed.clear();
            forEachDifference(i, written, (key, length) -> {
                if (!mine.present.touch(key, length)) {
                    mine.removed.set(key, length, 1);
                }
            });
            copyChanges(written.parts[i], mine);
        }
    }

    /// Marks the changes that `from` has not written yet as changes of `to`, which has to write them.
    private static void copyChanges(Part from, Part to) {
        byte[] key = new byte[KEY_BYTES_MAX + PADDING];
        TreeCursor removed = from.removed.cursor();
        for (boolean more = removed.seek(key, 0); more; more = removed.next()) {
            int length = removed.key(key);
            if (!to.present.touch(key, length)) {
                to.removed.set(key, length, 1);
            }
        }
        from.present.writeChanged((changed, length, _) -> to.present.touch(changed, length));
    }

    /// Receives keys; they are valid during the call.
    interface Keys {
        void key(byte[] key, int length);
    }

    /// Visits the keys of one part whose counts are not the same in another object of the same shape.
    private void forEachDifference(int part, Values other, Keys visitor) {
        byte[] one = new byte[KEY_BYTES_MAX + PADDING];
        byte[] two = new byte[KEY_BYTES_MAX + PADDING];
        TreeCursor mine = parts[part].present.cursor();
        TreeCursor theirs = other.parts[part].present.cursor();
        boolean more = mine.seek(one, 0);
        boolean moreOther = theirs.seek(two, 0);
        while (more || moreOther) {
            int length = more ? mine.key(one) : 0;
            int lengthOther = moreOther ? theirs.key(two) : 0;
            int order =
                    !moreOther ? -1 : !more ? 1 : java.util.Arrays.compareUnsigned(one, 0, length, two, 0, lengthOther);
            if (order < 0) {
                visitor.key(one, length);
            } else if (order > 0) {
                visitor.key(two, lengthOther);
            } else if (mine.count() != theirs.count()) {
                visitor.key(one, length);
            }
            more = order <= 0 ? mine.next() : more;
            moreOther = order >= 0 ? theirs.next() : moreOther;
        }
    }

    /// Whether the values of a leaf are those of a leaf in another object of the same shape.
    public boolean isSame(int leaf, Values other, int otherLeaf) {
        byte[] one = new byte[KEY_BYTES_MAX + PADDING];
        byte[] two = new byte[KEY_BYTES_MAX + PADDING];
        for (int i = 0; i < parts.length; i++) {
            TreeCursor mine = parts[i].present.cursor();
            TreeCursor theirs = other.parts[i].present.cursor();
            for (int number = 0; number < measures.length; number++) {
                putPlace(leaf, number, one);
                putPlace(otherLeaf, number, two);
                boolean more = mine.seek(one, VALUE_AT) && mine.startsWith(one, VALUE_AT);
                boolean moreOther = theirs.seek(two, VALUE_AT) && theirs.startsWith(two, VALUE_AT);
                while (more && moreOther) {
                    int length = mine.key(one);
                    int lengthOther = theirs.key(two);
                    boolean same = java.util.Arrays.equals(one, VALUE_AT, length, two, VALUE_AT, lengthOther);
                    if (!same || mine.count() != theirs.count()) {
                        return false;
                    }
                    more = mine.next() && mine.startsWith(one, VALUE_AT);
                    moreOther = theirs.next() && theirs.startsWith(two, VALUE_AT);
                }
                if (more || moreOther) {
                    return false;
                }
            }
        }
        return true;
    }

    // Answers.

    /// The least (or greatest) value of a leaf; `null` if it has none.
    ///
    /// @param number of the measure among those made of values
    public @Nullable BigInteger extreme(int leaf, int number, boolean least) {
        byte[] from = new byte[VALUE_AT + PADDING];
        byte[] key = new byte[VALUE_AT + NUMBER_BYTES_MAX + PADDING];
        putPlace(leaf, least ? number : number + 1, from);
        BigInteger extreme = null;
        for (Part part : parts) {
            TreeCursor cursor = part.present.cursor();
            boolean found = cursor.seek(from, VALUE_AT);
            found = least ? found : cursor.previous();
            putPlace(leaf, number, key);
            if (found && cursor.startsWith(key, VALUE_AT)) {
                BigInteger value = number(key, cursor.key(key));
                extreme = extreme == null ? value : least ? extreme.min(value) : extreme.max(value);
            }
        }
        return extreme;
    }

    /// How many distinct values a leaf has.
    ///
    /// @param number of the measure among those made of values
    public long distinct(int leaf, int number) {
        int index = leaf >>> CHUNK_BITS;
        return index >= chunks.length ? 0 : chunks[index].get((leaf & CHUNK - 1) * distincts + distinctOf[number]);
    }

    /// How many distinct values some leaves have together: those of the array in `[from, to)`.
    ///
    /// @param number of the measure among those made of values
    public long distinct(int[] leaves, int from, int to, int number) {
        return new DistinctUnion(this, number, leaves, from, to).count();
    }

    @Override
    public void close() {
        for (Part part : parts) {
            part.pages.close();
        }
    }
}
