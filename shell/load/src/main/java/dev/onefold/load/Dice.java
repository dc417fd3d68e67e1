package dev.onefold.load;

/// A seeded source of chance: SplitMix64. Written out here because a seed must give the same messages on every JDK,
/// which the library's generators promise for their bits but not for their bounded numbers. Not thread-safe.
final class Dice {
    private static final long GOLDEN_GAMMA = 0x9e37_79b9_7f4a_7c15L;
    static final int MILLION = 1_000_000;

    private long state;

    Dice(long seed) {
        state = mix(seed);
    }

    /// A number from 0 up to, and without, the bound.
    int below(int bound) {
        state += GOLDEN_GAMMA;
        return (int) Math.unsignedMultiplyHigh(mix(state), bound);
    }

    /// 64 bits of chance.
    long bits() {
        state += GOLDEN_GAMMA;
        return mix(state);
    }

    /// True in so many of a million cases.
    boolean chance(int perMillion) {
        return perMillion > 0 && below(MILLION) < perMillion;
    }

    /// One to one, and every bit of the result depends on every bit of the argument.
    static long mix(long bits) {
        long mixed = (bits ^ (bits >>> 30)) * 0xbf58_476d_1ce4_e5b9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94d0_49bb_1331_11ebL;
        return mixed ^ (mixed >>> 31);
    }
}
