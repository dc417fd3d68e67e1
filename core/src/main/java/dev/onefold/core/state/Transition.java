package dev.onefold.core.state;

/// What an arriving event does to the stored state of its key: the maximum of (version, contribution) stays, so the
/// order of arrival can never matter. An enum and not records, because this is asked a million times a second.
public enum Transition {
    /// The key was never seen, or this is a higher version: the old contribution leaves and the new one joins, in
    /// one step.
    CHANGED,
    /// The same version and the same contribution again.
    DUPLICATE,
    /// A higher version is stored.
    STALE,
    /// One version, two contributions: the greater one stays ([Contribution#compareTo]), the other becomes a dead
    /// letter.
    CONFLICTING;

    /// Decides.
    ///
    /// @param versionOrder the arriving version compared with the stored one; positive also when nothing is stored
    /// @param sameContribution whether the two contribute the same; asked of only when the versions are equal
    public static Transition of(int versionOrder, boolean sameContribution) {
        if (versionOrder > 0) {
            return CHANGED;
        }
        if (versionOrder < 0) {
            return STALE;
        }
        return sameContribution ? DUPLICATE : CONFLICTING;
    }
}
