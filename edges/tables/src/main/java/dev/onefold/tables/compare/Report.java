package dev.onefold.tables.compare;

import dev.onefold.tables.compare.Difference.Kind;
import dev.onefold.tables.compare.Difference.Outcome;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/// The result of a comparison. Is not thread-safe.
public final class Report {
    /// Findings of a kind that are kept.
    public static final int SHOWN_MAX = 20;

    private final Map<Kind, Map<Outcome, Long>> counts = new EnumMap<>(Kind.class);
    private final Map<Kind, List<Difference>> first = new EnumMap<>(Kind.class);
    private long rows;
    private long readings;
    private long moved;
    private long withoutKey;
    private long expired;

    Report() {}

    void read(long sourceRows, long withoutKeys) {
        rows = sourceRows;
        withoutKey = withoutKeys;
        readings++;
    }

    void countMoved() {
        moved++;
    }

    void countExpired() {
        expired++;
    }

    void add(Difference finding) {
        counts.computeIfAbsent(finding.kind(), _ -> new EnumMap<>(Outcome.class))
                .merge(finding.outcome(), 1L, Long::sum);
        List<Difference> some = first.computeIfAbsent(finding.kind(), _ -> new ArrayList<>());
        if (some.size() < SHOWN_MAX) {
            some.add(finding);
        }
    }

    /// How many findings there are of a kind and outcome.
    public long count(Kind kind, Outcome outcome) {
        return counts.getOrDefault(kind, Map.of()).getOrDefault(outcome, 0L);
    }

    /// How many findings there are of a kind.
    public long count(Kind kind) {
        return counts.getOrDefault(kind, Map.of()).values().stream()
                .mapToLong(Long::longValue)
                .sum();
    }

    /// How many findings had an outcome.
    public long count(Outcome outcome) {
        return counts.values().stream()
                .mapToLong(each -> each.getOrDefault(outcome, 0L))
                .sum();
    }

    /// The first findings of a kind.
    public List<Difference> first(Kind kind) {
        return List.copyOf(first.getOrDefault(kind, List.of()));
    }

    /// Rows of the source.
    public long rows() {
        return rows;
    }

    /// How often the source was read.
    public long readings() {
        return readings;
    }

    /// Keys that changed while they were compared: the next comparison looks at them.
    public long moved() {
        return moved;
    }

    /// Rows of the source whose keys cannot be read.
    public long withoutKey() {
        return withoutKey;
    }

    /// Rows that the source no longer has and that still count, because it may have removed them when their
    /// time to live was over.
    public long expired() {
        return expired;
    }

    /// Whether every row was compared, and is and was equal.
    public boolean isClean() {
        return counts.isEmpty() && withoutKey + expired + moved == 0;
    }

    /// Whether no difference is left, apart from those that dead letters explain.
    public boolean isEqual() {
        return count(Outcome.REPORTED) + count(Outcome.NOT_REPAIRABLE) + count(Outcome.HELD_BACK) + withoutKey == 0;
    }
}
