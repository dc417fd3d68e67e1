package dev.onefold.embedded.rows;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Arrays;

/// The claims of ids that are forgotten, by their marks: those below a bound, except for some ranges. A mark is
/// the place of a member among all members, or a time; see [Claims]. A forgotten claim stays forgotten: the bound
/// only grows, and the ranges only shrink.
///
/// @param below the first mark that is not forgotten, exceptions aside
/// @param keptFrom first marks of the ranges that are not forgotten, ascending
/// @param keptTo ends of these ranges, exclusive
@SuppressWarnings("ArrayRecordComponent") // Never changed; compared by sameAs.
public record Forgotten(long below, long[] keptFrom, long[] keptTo) {
    /// No id is forgotten.
    public static final Forgotten NONE = new Forgotten(Long.MIN_VALUE, new long[0], new long[0]);

    /// All marks below a bound.
    public static Forgotten below(long bound) {
        return new Forgotten(bound, NONE.keptFrom, NONE.keptTo);
    }

    /// Whether the claim with this mark is forgotten.
    boolean has(long mark) {
        if (mark >= below) {
            return false;
        }
        int found = Arrays.binarySearch(keptFrom, mark);
        int range = found >= 0 ? found : -found - 2;
        return range < 0 || mark >= keptTo[range];
    }

    /// Whether the same marks are forgotten.
    public boolean sameAs(Forgotten other) {
        return below == other.below && Arrays.equals(keptFrom, other.keptFrom) && Arrays.equals(keptTo, other.keptTo);
    }

    /// Writes it, for [#read].
    public void write(DataOutputStream out) throws IOException {
        out.writeLong(below);
        out.writeInt(keptFrom.length);
        for (int range = 0; range < keptFrom.length; range++) {
            out.writeLong(keptFrom[range]);
            out.writeLong(keptTo[range]);
        }
    }

    /// Reads what [#write] wrote.
    public static Forgotten read(DataInputStream in) throws IOException {
        long below = in.readLong();
        int ranges = in.readInt();
        long[] from = new long[ranges];
        long[] to = new long[ranges];
        for (int range = 0; range < ranges; range++) {
            from[range] = in.readLong();
            to[range] = in.readLong();
        }
        return new Forgotten(below, from, to);
    }
}
