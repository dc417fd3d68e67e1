package dev.onefold.load;

import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.StringJoiner;
import java.util.stream.Collectors;

/// The expected results for the messages of a producer: the number of messages of each kind, and the right
/// totals. The producer knows the newest state of each trade, so it needs no engine for them.
///
/// @param groups in the order of their UTF-8 bytes, the grand total first; without empty ones
public record TradeRiskTotals(long seed, Made made, InOrder inOrder, long bytes, List<Group> groups) {
    public TradeRiskTotals {
        groups = List.copyOf(groups);
    }

    /// How many messages of each kind were made. Each message is of one kind.
    ///
    /// @param reinserts corrections of a trade that was deleted, which is there again
    public record Made(
            long newTrades,
            long corrections,
            long reinserts,
            long duplicates,
            long late,
            long deletes,
            long malformed) {
        public long messages() {
            return newTrades + corrections + reinserts + duplicates + late + deletes + malformed;
        }

        /// The count of each kind by its name, in a fixed order.
        public SequencedMap<String, Long> byKind() {
            SequencedMap<String, Long> counts = new LinkedHashMap<>();
            counts.put("new", newTrades);
            counts.put("corrections", corrections);
            counts.put("re-inserts", reinserts);
            counts.put("duplicates", duplicates);
            counts.put("late", late);
            counts.put("deletes", deletes);
            counts.put("malformed", malformed);
            return counts;
        }
    }

    /// The counts of the messages by their fates, for a reader in the order in which they were made. In another
    /// order the counts of duplicates and stale messages differ; the totals are the same.
    public record InOrder(long accepted, long duplicate, long stale, long malformed) {}

    /// One node of the tree of totals.
    ///
    /// @param path values of risk type, trade desk, region: none for the grand total
    public record Group(List<String> path, long cents, long trades) {
        public Group {
            path = List.copyOf(path);
        }

        /// What is in both, at the path of this one.
        Group plus(Group more) {
            return new Group(path, Math.addExact(cents, more.cents), trades + more.trades);
        }

        /// The exact sum of the values, with two decimals.
        public String value() {
            return BigDecimal.valueOf(cents, 2).toPlainString();
        }
    }

    /// As JSON, sums as text so that no reader takes them for binary fractions.
    public String toJson() {
        StringJoiner lines = new StringJoiner(",\n    ", "[\n    ", "\n  ]");
        groups.forEach(group -> lines.add("{\"group\": %s, \"value\": \"%s\", \"trades\": %d}"
                .formatted(
                        group.path().stream().map(name -> '"' + name + '"').collect(Collectors.joining(", ", "[", "]")),
                        group.value(),
                        group.trades())));
        return """
            {
              "pipeline": "trade-risk",
              "seed": %d,
              "messages": %d,
              "bytes": %d,
              "made": {%s},
              "inOrder": {"accepted": %d, "duplicate": %d, "stale": %d, "malformed": %d},
              "groups": %s
            }
            """.formatted(
                seed,
                made.messages(),
                bytes,
                made.byKind().entrySet().stream()
                        .map(kind -> "\"%s\": %d".formatted(kind.getKey().replace("-", ""), kind.getValue()))
                        .collect(Collectors.joining(", ")),
                inOrder.accepted(),
                inOrder.duplicate(),
                inOrder.stale(),
                inOrder.malformed(),
                groups.isEmpty() ? "[]" : lines);
    }
}
