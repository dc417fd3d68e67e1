package dev.onefold.batch;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/// A batch was received except for some records, which have had no effect. Only an idempotent receiver may
/// throw this.
public final class FailedRecordsException extends Exception {
    private static final long serialVersionUID = 1;

    private final TreeMap<Integer, String> reasons;

    /// @param reasons by the place of each failed record in this batch or part, from 0; at least one
    public FailedRecordsException(SortedMap<Integer, String> reasons) {
        super(reasons.size() + " records failed");
        if (reasons.isEmpty() || reasons.firstKey() < 0) {
            throw new IllegalArgumentException("Records that failed have places from 0 on: " + reasons.keySet());
        }
        this.reasons = new TreeMap<>(reasons);
    }

    /// Why each failed record failed, by its place.
    public SortedMap<Integer, String> reasons() {
        return Collections.unmodifiableSortedMap(reasons);
    }
}
