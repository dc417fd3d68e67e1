package dev.onefold.embedded.rows;

import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.bytes.Hash;
import dev.onefold.core.bytes.VersionBytes;
import dev.onefold.core.event.Event;
import dev.onefold.core.map.Groups;
import dev.onefold.core.map.Keep;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Contribution;
import dev.onefold.core.state.Key;
import dev.onefold.core.state.Row;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.math.BigInteger;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/// Rows on their way from a decoder to the shard that owns their keys, in the form in which they are stored.
/// Written by one thread, then read by one other.
///
///     entry = hash 8, length of the row 4, length of its key 4, row
///     row   = key, version, source, offset, kind, contribution
///
///     key          00 and 16 bytes for a lower-case UUID; else varint length + 1, bytes
///     version      as in VersionBytes; 80 (zero) in a pipeline without versions
///     source       varint number of the source;  offset  varint offset of the record there
///     kind         1 byte: 0 filtered, 1 counted, 2 delete
///     contribution only if counted: per roll-up the varint number of its group, then per input
///                  a number: its length 0 to 16 (0 is missing), little-endian two's complement
///                  a text:   varint length + 1 (0 is missing), bytes
///     time         8 bytes, only in a pipeline that forgets ids, see Horizon: milliseconds since 1970
public final class RowBatch {
    static final int HEADER_BYTES = 16;
    static final int TIME_BYTES = 8;
    /// Bytes that may be written or read behind the end of a row.
    static final int PADDING = 16;

    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int UUID_LENGTH = 36;
    private static final byte[] HEX = new byte[256];

    static {
        Arrays.fill(HEX, (byte) -1);
        for (int i = 0; i < 16; i++) {
            HEX["0123456789abcdef".charAt(i)] = (byte) i;
        }
    }

    byte[] bytes = new byte[1 << 10]; // Small, and grown: there are as many as chunks times shards.
    int length;
    int[] starts = new int[1 << 5];
    int count;
    private long[] seenMs = {}; // By row, if groups end.
    long arrivedMs = Keep.NOTHING_SEEN;

    /// Empties it, to be used again.
    public void clear() {
        length = 0;
        count = 0;
    }

    /// Encodes a key; no other code knows how keys are stored. Returns the end of the encoded key.
    static int putKey(byte[] source, int from, int to, byte[] target, int at) {
        int keyLength = to - from;
        if (keyLength == UUID_LENGTH && putUuid(source, from, target, at)) {
            return at + 17;
        }
        int next = putVarint(keyLength + 1L, target, at);
        System.arraycopy(source, from, target, next, keyLength);
        return next + keyLength;
    }

    private static boolean putUuid(byte[] source, int from, byte[] target, int at) {
        if (source[from + 8] != '-'
                || source[from + 13] != '-'
                || source[from + 18] != '-'
                || source[from + 23] != '-') {
            return false;
        }
        target[at] = 0;
        int out = at + 1;
        int bad = 0;
        for (int in = from; in < from + UUID_LENGTH; in += 2) {
            if (source[in] == '-') {
                in++;
            }
            int value = HEX[source[in] & 0xff] << 4 | HEX[source[in + 1] & 0xff];
            bad |= value;
            target[out++] = (byte) value;
        }
        return bad >= 0;
    }

    static int putVarint(long value, byte[] target, int at) {
        int out = at;
        long rest = value;
        while (rest >= 0x80) {
            target[out++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        target[out++] = (byte) rest;
        return out;
    }

    /// Whether each input of the measures is a text.
    public static boolean[] texts(Pipeline pipeline) {
        List<Measure.Input> inputs = Rollups.of(pipeline).inputs();
        boolean[] texts = new boolean[inputs.size()];
        for (int i = 0; i < texts.length; i++) {
            texts[i] = inputs.get(i) instanceof Measure.Input.Text;
        }
        return texts;
    }

    /// Appends the row of an event.
    ///
    /// @param groups the number of its group in each roll-up
    /// @param texts whether each input is a text
    /// @param key scratch of one thread that holds the encoded key and its hash
    public void add(Event event, int[] groups, boolean[] texts, EncodedKey key) {
        int at = begin(event, key, groups.length * 5 + event.length + texts.length * 22);
        if (event.kind == Event.Kind.COUNTED) {
            for (int group : groups) {
                at = putVarint(group, bytes, at);
            }
            for (int input = 0; input < texts.length; input++) {
                at = putInput(event, input, texts[input], at);
            }
        }
        end(key.hash, key.length, at);
    }

    /// Appends an event for a function: its fields are in the place of a row's contribution.
    ///
    /// @param owner scratch of one thread that holds the encoded key of the head and its hash
    public void addEvent(Event event, EncodedKey owner) {
        int fields = event.contentTo - event.contentFrom;
        int at = begin(event, owner, fields);
        if (event.kind == Event.Kind.COUNTED) {
            System.arraycopy(event.data, event.contentFrom, bytes, at, fields);
            at += fields;
        }
        end(owner.hash, owner.length, at);
    }

    /// Appends a record that goes into a batch, for [Claims].
    ///
    /// @param id scratch of one thread that holds the encoded id and its hash
    /// @param forgets whether ids are forgotten
    public void addMember(Event event, EncodedKey id, boolean forgets) {
        int at = begin(event, id, 0);
        if (event.kind == Event.Kind.COUNTED) {
            LONG.set(bytes, at, event.contentHash);
            LONG.set(bytes, at + Long.BYTES, 0L);
            at += Claims.BYTES;
        } else if (forgets) {
            LONG.set(bytes, at, 0L); // The claim's mark.
            at += Long.BYTES;
        }
        end(id.hash, id.length, at);
    }

    /// Begins the row of an event up to its kind; returns the place of its contribution.
    private int begin(Event event, EncodedKey key, int contributionBytesMax) {
        reserve(key.length + 64 + contributionBytesMax);
        byte[] target = bytes;
        int at = length + HEADER_BYTES;
        System.arraycopy(key.bytes, 0, target, at, key.length);
        at += key.length;
        if (event.versionTo > event.versionFrom) {
            int versionLength = event.versionTo - event.versionFrom;
            System.arraycopy(event.data, event.versionFrom, target, at, versionLength);
            at += versionLength;
        } else {
            target[at++] = (byte) 0x80;
        }
        at = putVarint(key.source, target, at);
        at = putVarint(key.offset, target, at);
        target[at++] = (byte) event.kind.code();
        return at;
    }

    /// Begins an entry whose row has at most `rowLength` bytes.
    private void reserve(int rowLength) {
        int room = HEADER_BYTES + rowLength + PADDING;
        if (length + room > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, length + room));
        }
        if (count == starts.length) {
            starts = Arrays.copyOf(starts, count * 2);
        }
        starts[count++] = length;
    }

    /// Ends the entry whose row ends at a place.
    private void end(long hash, int keyLength, int at) {
        LONG.set(bytes, length, hash);
        INT.set(bytes, length + 8, at - length - HEADER_BYTES);
        INT.set(bytes, length + 12, keyLength);
        length = at;
    }

    /// Appends the time of the record to the row that was just appended.
    public void time(long timeMs) {
        int start = starts[count - 1];
        if (length + TIME_BYTES + PADDING > bytes.length) {
            bytes = Arrays.copyOf(bytes, 2 * bytes.length);
        }
        LONG.set(bytes, length, timeMs);
        INT.set(bytes, start + 8, rowLength(start) + TIME_BYTES);
        length += TIME_BYTES;
    }

    /// Notes the latest time of the records of its chunk that came before the row that was just appended.
    public void seen(long latestMs) {
        if (seenMs.length < count) {
            seenMs = Arrays.copyOf(seenMs, starts.length);
        }
        seenMs[count - 1] = latestMs;
    }

    /// The latest time that [#seen] has noted for a row.
    long seenMs(int number) {
        return number < seenMs.length ? seenMs[number] : Keep.NOTHING_SEEN;
    }

    /// Notes the arrival of a record without a time, before which no record of its chunk had one.
    public void arrivedAt(long ms) {
        arrivedMs = ms;
    }

    /// The time behind the row at a place; 0 if rows have none.
    long timeMs(int start, boolean hasTimes) {
        return hasTimes ? (long) LONG.get(bytes, start + HEADER_BYTES + rowLength(start) - TIME_BYTES) : 0;
    }

    static int putNumber(long hi, long lo, byte[] target, int at) {
        if (hi != lo >> 63) {
            target[at] = 16;
            LONG.set(target, at + 1, lo);
            LONG.set(target, at + 9, hi);
            return at + 17;
        }
        int n = Math.max(1, (72 - Long.numberOfLeadingZeros(lo ^ lo >> 63)) >>> 3);
        target[at] = (byte) n;
        LONG.set(target, at + 1, lo);
        return at + 1 + n;
    }

    /// Appends a row that is encoded already.
    void add(long hash, byte[] row, int keyLength, int rowLength) {
        reserve(rowLength);
        System.arraycopy(row, 0, bytes, length + HEADER_BYTES, rowLength);
        end(hash, keyLength, length + HEADER_BYTES + rowLength);
    }

    /// Appends the row of a key that is not an event's.
    ///
    /// @param source number of the row's source
    public void add(Row row, Pipeline pipeline, Groups[] groups, int source) {
        EncodedKey key = new EncodedKey();
        byte[] keyBytes = Key.bytes(pipeline, row.key());
        key.set(keyBytes, 0, keyBytes.length);
        byte[] version = row.version().bytes();
        Contribution contribution = row.payload();
        int room = key.length + version.length + 64 + groups.length * 5;
        for (Amount amount : contribution.amounts()) {
            room += amount instanceof Amount.Text(var text) ? 5 + 3 * text.length() : 22;
        }
        byte[] target = new byte[room];
        System.arraycopy(key.bytes, 0, target, 0, key.length);
        System.arraycopy(version, 0, target, key.length, version.length);
        int at = putVarint(source, target, key.length + version.length);
        at = putVarint(row.offset(), target, at);
        target[at++] = (byte) contribution.kind().code();
        for (int rollup = 0; rollup < contribution.groups().size(); rollup++) {
            at = putVarint(groups[rollup].number(contribution.groups().get(rollup)), target, at);
        }
        for (Amount amount : contribution.amounts()) {
            switch (amount) {
                case Amount.None _ -> target[at++] = 0;
                case Amount.Number(var value) -> {
                    BigInteger unscaled = value.unscaledValue();
                    at = putNumber(unscaled.shiftRight(64).longValue(), unscaled.longValue(), target, at);
                }
                case Amount.Text(var text) -> {
                    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
                    at = putVarint(bytes.length + 1L, target, at);
                    System.arraycopy(bytes, 0, target, at, bytes.length);
                    at += bytes.length;
                }
            }
        }
        add(key.hash, target, key.length, at);
    }

    private int putInput(Event event, int input, boolean text, int from) {
        byte[] target = bytes;
        int at = from;
        if (!event.present[input]) {
            target[at++] = 0;
        } else if (text) {
            int textLength = event.textTo[input] - event.textFrom[input];
            at = putVarint(textLength + 1L, target, at);
            System.arraycopy(event.data, event.textFrom[input], target, at, textLength);
            at += textLength;
        } else {
            at = putNumber(event.hi[input], event.lo[input], target, at);
        }
        return at;
    }

    static long word(byte[] bytes, int at) {
        return (long) LONG.get(bytes, at);
    }

    /// Bytes of the entries in it.
    public long bytes() {
        return length;
    }

    /// Hands its rows out to the batches of the shards that own them.
    public void split(List<RowBatch> byShard) {
        for (int i = 0; i < count; i++) {
            int start = starts[i];
            int rowLength = rowLength(start);
            byte[] row = Arrays.copyOfRange(bytes, start + HEADER_BYTES, start + HEADER_BYTES + rowLength);
            byShard.get(EncodedKey.shard(hash(start), byShard.size()))
                    .add(hash(start), row, keyLength(start), rowLength);
        }
    }

    /// The place of a row's record in its source.
    public long offset(int number) {
        int at = originAt(starts[number]);
        while (bytes[at++] < 0) {
            // The number of the source.
        }
        return new BytesIn(bytes, at, length).number();
    }

    /// The place of the origin of the row at `start`: behind key and version.
    int originAt(int start) {
        int versionAt = start + HEADER_BYTES + keyLength(start);
        return versionAt + VersionBytes.length(bytes[versionAt]);
    }

    /// The identity of the member with a number: its id and the hash of its content.
    public byte[] member(int number) {
        int start = starts[number];
        int key = start + HEADER_BYTES;
        int kind = kindAt(start);
        int length = keyLength(start);
        byte[] identity = Arrays.copyOfRange(bytes, key, key + length + Long.BYTES);
        System.arraycopy(bytes, kind + 1, identity, length, Long.BYTES);
        return identity;
    }

    /// The place of the kind of the row at `start`: behind its origin.
    int kindAt(int start) {
        int at = originAt(start);
        for (int varint = 0; varint < 2; varint++) {
            while (bytes[at++] < 0) {
                // A number of several bytes.
            }
        }
        return at;
    }

    /// How many rows are in it.
    public int count() {
        return count;
    }

    long hash(int start) {
        return (long) LONG.get(bytes, start);
    }

    int rowLength(int start) {
        return (int) INT.get(bytes, start + 8);
    }

    int keyLength(int start) {
        return (int) INT.get(bytes, start + 12);
    }

    /// A key as it is stored, with its hash, and the place of its record. One object serves key after key; owned by one
    /// thread.
    public static final class EncodedKey {
        byte[] bytes = new byte[1 << 11];
        int length;
        long hash;
        private long source;
        private long offset;

        /// Notes the place of the record that the key is of.
        public EncodedKey from(long recordSource, long recordOffset) {
            source = recordSource;
            offset = recordOffset;
            return this;
        }

        /// Encodes the key at `[from, to)`.
        public EncodedKey set(byte[] source, int from, int to) {
            length = putKey(source, from, to, bytes, 0);
            hash = Hash.of(bytes, 0, length);
            return this;
        }

        /// Encodes the key at `[from, to)` as that of a function's head, see [KeyRecords].
        public EncodedKey setHead(byte[] source, int from, int to) {
            set(source, from, to);
            bytes[length++] = 0;
            return this;
        }

        /// No key: a record that counts by its place, spread over the shards by it.
        public EncodedKey setNone(long offset) {
            length = putVarint(1, bytes, 0);
            hash = offset * 0x9e3779b97f4a7c15L >>> 32;
            return this;
        }

        /// The shard that owns the key.
        public int shard(int shards) {
            return shard(hash, shards);
        }

        static int shard(long hash, int shards) {
            return (int) ((hash & 0xffff_ffffL) * shards >>> 32);
        }
    }
}
