package dev.onefold.core.keyed;

import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.bytes.VersionBytes;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The versions that are in, as runs without a gap. They are never joined over a gap: a version in it is
/// not in. Immutable.
///
/// @param all from the lowest to the highest
/// @param floor at or below it, versions outside the runs are forgotten; `null`: none are
record Runs(List<Run> all, @Nullable BigInteger floor) {
    /// No version.
    public static final Runs NONE = new Runs(List.of(), null);

    public Runs {
        all = List.copyOf(all);
    }

    /// Versions from one to another, both included.
    public record Run(BigInteger low, BigInteger high) {}

    /// Whether a version is in, as far as that is known.
    public boolean contains(BigInteger version) {
        for (int i = all.size() - 1; i >= 0; i--) { // The one that is asked for is mostly the last one.
            Run run = all.get(i);
            if (version.compareTo(run.low) >= 0) {
                return version.compareTo(run.high) <= 0;
            }
        }
        return false;
    }

    /// Whether the runs no longer tell if a version is in.
    public boolean isForgotten(BigInteger version) {
        return floor != null && version.compareTo(floor) <= 0;
    }

    /// The highest version; `null` if there is none.
    public @Nullable BigInteger highest() {
        return all.isEmpty() ? floor : all.getLast().high;
    }

    /// Whether versions between the lowest and the highest are not in.
    public boolean hasGaps() {
        return all.size() > 1;
    }

    /// These and one more, in at most `runsMax` runs: the lowest are forgotten.
    public Runs with(BigInteger version, int runsMax) {
        if (contains(version) || isForgotten(version)) {
            return this;
        }
        List<Run> runs = new ArrayList<>(all);
        int at = runs.size();
        while (at > 0 && runs.get(at - 1).low.compareTo(version) > 0) {
            at--;
        }
        BigInteger low = version;
        BigInteger high = version;
        if (at < runs.size() && version.add(BigInteger.ONE).equals(runs.get(at).low)) {
            high = runs.remove(at).high;
        }
        if (at > 0 && runs.get(at - 1).high.add(BigInteger.ONE).equals(version)) {
            low = runs.remove(--at).low;
        }
        runs.add(at, new Run(low, high));
        BigInteger forgotten = floor;
        while (runs.size() > runsMax) {
            forgotten = runs.removeFirst().high;
        }
        return new Runs(runs, forgotten);
    }

    void write(BytesOut out) {
        out.number(all.size());
        for (Run run : all) {
            out.bytes(VersionBytes.of(run.low)).bytes(VersionBytes.of(run.high));
        }
        if (floor == null) {
            out.number(0);
        } else {
            out.bytes(VersionBytes.of(floor));
        }
    }

    static Runs read(BytesIn in) {
        long count = in.number();
        List<Run> runs = count == 0 ? List.of() : new ArrayList<>();
        for (; count > 0; count--) {
            runs.add(new Run(VersionBytes.number(in.bytes(), 0), VersionBytes.number(in.bytes(), 0)));
        }
        byte[] floor = in.bytes();
        return runs.isEmpty() && floor.length == 0
                ? NONE
                : new Runs(runs, floor.length == 0 ? null : VersionBytes.number(floor, 0));
    }
}
