package dev.onefold.core;

import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/// Runs a property for many seeds. A failure names its seed, and `-Dseed=42` runs that one alone. `-Dseeds.max=100`
/// bounds how many are run, where the same tests run again and again.
public final class Seeds {
    /// A property that is judged for one seed.
    @FunctionalInterface
    public interface Property {
        void holds(RandomGenerator random) throws Exception;
    }

    private Seeds() {}

    /// Judges the property for the seeds below `count`, or for the one that `-Dseed` says.
    public static void forAllSeeds(int count, Property property) {
        Long only = Long.getLong("seed");
        if (only != null) {
            judge(only, property);
            return;
        }
        long end = Math.min(count, Long.getLong("seeds.max", count));
        for (long seed = 0; seed < end; seed++) {
            judge(seed, property);
        }
    }

    private static void judge(long seed, Property property) {
        try {
            property.holds(new SplittableRandom(seed));
        } catch (Exception | AssertionError failure) {
            throw new AssertionError(
                    "failed with seed " + seed + "; rerun with -Dseed=" + seed + ": " + failure.getMessage(), failure);
        }
    }
}
