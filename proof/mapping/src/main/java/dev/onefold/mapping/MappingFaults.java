package dev.onefold.mapping;

/// How often a mapping does what its documentation allows and one would rather it did not: chances from 0 to 1. It
/// never loses a record.
///
/// @param seed of all that is left to chance
/// @param twice per invocation: the same batch in another invocation at the same time, whose answer counts for nothing
/// @param lostAnswer per invocation: it is done, and taken for failed
/// @param recut per failed batch: what comes again is cut elsewhere
/// @param again per batch: some of what was done long ago comes again, out of order; a parent's last records, too
/// @param handover per batch: another reader takes the shard over in its middle, from an older checkpoint
public record MappingFaults(long seed, double twice, double lostAnswer, double recut, double again, double handover) {
    /// None at all.
    public static final MappingFaults NONE = new MappingFaults(0, 0, 0, 0, 0, 0);

    public MappingFaults {
        for (double chance : new double[] {twice, lostAnswer, recut, again, handover}) {
            if (!(chance >= 0 && chance <= 1)) {
                throw new IllegalArgumentException("A chance is from 0 to 1: " + chance);
            }
        }
    }

    /// Of everything equally much.
    public static MappingFaults of(long seed, double chance) {
        return new MappingFaults(seed, chance, chance, chance, chance, chance);
    }
}
