package dev.onefold.core.event;

import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.bytes.Hash;
import dev.onefold.core.bytes.VersionBytes;
import dev.onefold.core.event.Decoder.RecordIdentity;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// A record, decoded: identity, and contributions to groups and measures. One object serves record after
/// record, because a new object for each would be too expensive at a million events a second; a caller copies
/// the parts that it keeps. Not thread-safe.
///
/// All texts are in [#data], encoded so that comparing bytes (unsigned) compares their values:
///
///     key      one field: its UTF-8 bytes; several: a tuple
///     version  see [VersionBytes]
///     group    a tuple: each level's UTF-8 bytes, 00 written as 00 FF, ended by 00 01
///     input    a text's UTF-8 bytes
///     content  see [dev.onefold.core.codec.Codec]
public final class Event {
    /// The effect of an event on its key, in the order of conflicts: the greater stays.
    public enum Kind {
        /// Seen, and contributes nothing.
        FILTERED(0),
        /// Contributes to groups.
        COUNTED(1),
        /// Retracts the contribution of its key.
        DELETE(2);

        private final int code;

        Kind(int code) {
            this.code = code;
        }

        /// Its number in files.
        public int code() {
            return code;
        }

        /// The kind of a number.
        public static Kind of(int code) {
            return switch (code) {
                case 0 -> FILTERED;
                case 1 -> COUNTED;
                case 2 -> DELETE;
                default -> throw new IllegalArgumentException("There is no kind of event " + code);
            };
        }
    }

    /// Why a record of a change log reports no row of the table.
    ///
    /// @param isOfOtherTable whether it reports a row of another table
    /// @param what the cause, as a summary names it
    public record Silence(boolean isOfOtherTable, String what) {
        /// So many other tables are named; the changes of any more are counted together.
        public static final int TABLES_MAX = 16;

        /// A table with a longer name is not named either.
        static final int NAME_CHARS_MAX = 256;

        /// The change of a table that is not named any more.
        public static final Silence UNNAMED = new Silence(true, "of further tables");

        static final Silence HEADER = new Silence(false, "header again");
        static final Silence COMMENT = new Silence(false, "comment");
        static final Silence TOMBSTONE = new Silence(false, "tombstone");
        static final Silence HEARTBEAT = new Silence(false, "heartbeat");
        static final Silence MARK = new Silence(false, "mark of a transaction");
        static final Silence MESSAGE = new Silence(false, "message");
        static final Silence SCHEMA = new Silence(false, "change of the schema");
    }

    private static final int NOT_READ = -1;

    public byte[] data = new byte[1 << 12];
    public int length;
    public Kind kind = Kind.COUNTED;

    /// Why the record changes no key; `null` if it is not silent. Then nothing else is set.
    public @Nullable Silence silence;

    public int keyFrom;
    public int keyTo;
    public int versionFrom;
    public int versionTo;

    /// The fields that a user's function takes of the record, as a [dev.onefold.core.codec.Codec] writes them;
    /// empty where there is no function, or the event is filtered.
    public int contentFrom;

    public int contentTo;

    /// Event time, milliseconds since 1970-01-01T00:00Z, rounded down and at most some 146 million years away;
    /// [Long#MIN_VALUE] where none is read.
    public long timeMs = Long.MIN_VALUE;

    /// In a pipeline that makes batches: a hash of the content by which two records with one id are compared;
    /// 0 of a filtered record.
    public long contentHash;

    /// In a pipeline that makes batches in the order of keys: a hash of the record's key; else 0.
    public long orderHash;

    public final int[] groupFrom;
    public final int[] groupTo;
    /// Per input: whether it has a value; a number as `hi` and `lo` of its unscaled value, a text as a range.
    public final boolean[] present;

    public final long[] hi;
    public final long[] lo;
    public final int[] textFrom;
    public final int[] textTo;

    Event(int rollups, int inputs) {
        groupFrom = new int[rollups];
        groupTo = new int[rollups];
        present = new boolean[inputs];
        hi = new long[inputs];
        lo = new long[inputs];
        textFrom = new int[inputs];
        textTo = new int[inputs];
    }

    void clear() {
        length = 0;
        kind = Kind.COUNTED;
        silence = null;
        keyTo = NOT_READ;
        versionFrom = 0;
        versionTo = 0;
        contentFrom = 0;
        contentTo = 0;
        timeMs = Long.MIN_VALUE;
        contentHash = 0;
        orderHash = 0;
    }

    void reserve(int more) {
        if (length + more + Hash.PADDING > data.length) {
            data = Arrays.copyOf(data, Math.max(data.length * 2, length + more + Hash.PADDING));
        }
    }

    /// Appends bytes as they are.
    void append(byte[] bytes, int from, int to) {
        reserve(to - from);
        System.arraycopy(bytes, from, data, length, to - from);
        length += to - from;
    }

    /// Appends one part of a tuple.
    void appendPart(byte[] bytes, int from, int to) {
        reserve(2 * (to - from) + 2);
        byte[] target = data;
        int at = length;
        for (int i = from; i < to; i++) {
            byte b = bytes[i];
            target[at++] = b;
            if (b == 0) {
                target[at++] = (byte) 0xff;
            }
        }
        target[at++] = 0;
        target[at++] = 1;
        length = at;
    }

    void appendContent(BytesOut content) {
        reserve(content.length());
        content.copyTo(data, length);
        contentFrom = length;
        length += content.length();
        contentTo = length;
    }

    void appendVersion(long version) {
        reserve(VersionBytes.LENGTH_MAX);
        versionFrom = length;
        length += VersionBytes.put(version, data, length);
        versionTo = length;
    }

    void appendVersion(BigInteger version) {
        reserve(VersionBytes.LENGTH_MAX);
        versionFrom = length;
        length += VersionBytes.put(version, data, length);
        versionTo = length;
    }

    /// The identity that was read, also of a record that is refused for something else.
    public RecordIdentity identity() {
        boolean hasKey = keyTo > keyFrom;
        boolean hasVersion = hasKey && versionTo > versionFrom;
        return new RecordIdentity(
                hasKey ? Arrays.copyOfRange(data, keyFrom, keyTo) : null,
                hasVersion ? Arrays.copyOfRange(data, versionFrom, versionTo) : null);
    }

    /// The number of an input, at the scale of its type; `null` if it has none.
    public @Nullable BigDecimal number(int input, int scale) {
        return present[input] ? Decimals.decimal(hi[input], lo[input], scale) : null;
    }
}
