package dev.onefold.embedded.rows;

/// How long the rows of a store are kept. A row that is forgotten at a time is from then on as if it had never
/// come, and [Forgetting] frees its space.
interface Lifetime {
    /// The last time at which a row is not forgotten, on whatever clock the store's owner keeps.
    ///
    /// @param rowStart where the row begins behind its length
    long keptUntilMs(Segment segment, long rowStart, long rowEnd);
}
