package dev.onefold.embedded.rows;

/// The kind of the records of a [RowStore].
enum Contents {
    /// One row a key.
    ROWS(80),
    /// Those of [KeyRecords] that each event reads and replaces.
    HEADS(65),
    /// Those of [KeyRecords] that are read for a late event only: segments that are durable take no memory.
    KEPT(50);

    private final int livePercentMin;

    Contents(int livePercentMin) {
        this.livePercentMin = livePercentMin;
    }

    /// Percent of the memory in use that is live: with less, segments are cleaned.
    int livePercentMin() {
        return livePercentMin;
    }
}
