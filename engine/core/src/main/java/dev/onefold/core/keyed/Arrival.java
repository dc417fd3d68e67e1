package dev.onefold.core.keyed;

import dev.onefold.core.bytes.Hash;
import dev.onefold.core.bytes.VersionBytes;
import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/// An event of a key as it comes.
///
/// @param version as in [dev.onefold.core.bytes.VersionBytes]
/// @param content the parts that the pipeline reads of it: a byte that says whether the filter leaves it out
///     (0) or not (1), and its fields as [dev.onefold.core.codec.Codec] writes them. Of two contents of a
///     version the greater one by bytes stays, if a refold can still change that
/// @param origin bytes by which the runtime finds the event's dead letter again, at most [#ORIGIN_BYTES_MAX]
/// @param way the way in which it comes
public record Arrival(byte[] version, byte[] content, byte[] origin, Way way) {
    public static final int ORIGIN_BYTES_MAX = 1_000;

    /// How an event comes to its key.
    public enum Way {
        /// From its source.
        ARRIVED,

        /// From its source, which is folded again after a person has purged the letter of the event, at which the
        /// function had failed or which was not the owner of a row. It fails again; the function is not called.
        FAILED,

        /// From its source, as before. The event had lost against another content of its version. It takes the place
        /// that it had, and the function is not called.
        LOST,

        /// A person has sent it again.
        REDRIVEN
    }

    private static final byte FILTERED = 0;
    private static final byte COUNTED = 1;

    /// The content of an event that the filter leaves out.
    public static byte[] filtered() {
        return new byte[] {FILTERED};
    }

    /// The content of an event with these fields.
    public static byte[] counted(byte[] fields, int from, int to) {
        byte[] content = new byte[1 + to - from];
        content[0] = COUNTED;
        System.arraycopy(fields, from, content, 1, to - from);
        return content;
    }

    boolean isRedriven() {
        return way == Way.REDRIVEN;
    }

    /// Whether the function is not called for it.
    boolean isPurged() {
        return way == Way.FAILED || way == Way.LOST;
    }

    /// Why it is skipped without a call; `null` if it is not.
    @Nullable
    String failure() {
        return way == Way.FAILED
                ? "The event contributed nothing when it came, and a person has purged its letter"
                : null;
    }

    /// Its version as a number.
    BigInteger number() {
        return VersionBytes.number(version, 0);
    }

    long hash() {
        return hash(content);
    }

    static long hash(byte[] content) {
        return Hash.of(content);
    }

    static boolean isFiltered(byte[] content) {
        return content[0] == FILTERED;
    }
}
