package dev.onefold.aws.comparison;

import dev.onefold.aws.item.Items;
import dev.onefold.tables.compare.Finding.Kind;
import dev.onefold.tables.compare.Finding.Outcome;
import dev.onefold.tables.compare.Report;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// The result of a comparison, in numbers alone: no key and no content of a row.
///
/// @param rows number of rows of the source
/// @param readings number of times that the source was read
/// @param moved number of keys that changed while they were compared
/// @param withoutKey number of rows of the source whose keys cannot be read
/// @param expired number of rows that the source lacks and that still count, because they may have expired
/// @param unended number of repairs that were begun by attempts which did not end: an invocation that was killed
///     or had no more time, or a comparison that failed. Those that are in were found equal later
/// @param findings number of findings by kind and outcome, as in `MISSING REPAIRED`
public record Tally(
        long rows, long readings, long moved, long withoutKey, long expired, long unended, Map<String, Long> findings) {
    static final Tally NONE = new Tally(0, 0, 0, 0, 0, 0, Map.of());

    /// Outcomes that are no drift: a letter explains the row, or a live change has put it right.
    private static final Set<Outcome> NO_DRIFT = EnumSet.of(Outcome.EXPLAINED, Outcome.OVERTAKEN);

    private static final Set<Outcome> LEFT = EnumSet.of(Outcome.REPORTED, Outcome.NOT_REPAIRABLE, Outcome.HELD_BACK);

    public Tally {
        findings = Map.copyOf(findings);
    }

    private static String name(Kind kind, Outcome outcome) {
        return kind + " " + outcome;
    }

    /// With what one invocation has seen more.
    Tally plus(Report report) {
        Map<String, Long> sums = new TreeMap<>(findings);
        for (Kind kind : Kind.values()) {
            for (Outcome outcome : Outcome.values()) {
                long count = report.count(kind, outcome);
                if (count > 0) {
                    sums.merge(name(kind, outcome), count, Long::sum);
                }
            }
        }
        boolean hasRead = report.readings() > 0;
        return new Tally(
                hasRead ? report.rows() : rows,
                readings + report.readings(),
                moved + report.moved(),
                hasRead ? report.withoutKey() : withoutKey,
                expired + report.expired(),
                unended,
                sums);
    }

    /// With more repairs of attempts that did not end.
    Tally plusUnended(long repairs) {
        return new Tally(rows, readings, moved, withoutKey, expired, unended + repairs, findings);
    }

    /// How many findings there are of a kind and outcome.
    public long count(Kind kind, Outcome outcome) {
        return findings.getOrDefault(name(kind, outcome), 0L);
    }

    private long count(Set<Outcome> outcomes) {
        long sum = 0;
        for (Kind kind : Kind.values()) {
            for (Outcome outcome : outcomes) {
                sum += count(kind, outcome);
            }
        }
        return sum;
    }

    /// Rows that had drifted, also those that are repaired.
    public long drifted() {
        return count(EnumSet.complementOf(EnumSet.copyOf(NO_DRIFT))) + withoutKey;
    }

    /// Rows that still differ.
    public long left() {
        return count(LEFT) + withoutKey;
    }

    /// Whether every row was compared, and was equal from the beginning.
    public boolean isClean() {
        return findings.isEmpty() && moved + withoutKey + expired + unended == 0;
    }

    /// Rows that the source and the engine have differently because a dead letter of the key waits.
    public long explained() {
        return count(EnumSet.of(Outcome.EXPLAINED));
    }

    /// Rows that were repaired.
    long repaired() {
        return count(EnumSet.of(Outcome.REPAIRED));
    }

    /// Rows that a guard keeps, because too many would be removed.
    public long heldBack() {
        return count(EnumSet.of(Outcome.HELD_BACK));
    }

    /// The findings, as in `missing: 3 repaired, 1 reported`; empty if there are none.
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        for (Kind kind : Kind.values()) {
            List<String> parts = new ArrayList<>();
            for (Outcome outcome : Outcome.values()) {
                long count = count(kind, outcome);
                if (count > 0) {
                    parts.add(count + " " + word(outcome));
                }
            }
            if (!parts.isEmpty()) {
                lines.add(word(kind) + ": " + String.join(", ", parts));
            }
        }
        return lines;
    }

    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    AttributeValue item() {
        Map<String, AttributeValue> sums = new TreeMap<>();
        findings.forEach((name, count) -> sums.put(name, Items.number(count)));
        return AttributeValue.fromM(Map.of(
                "n", Items.number(rows),
                "r", Items.number(readings),
                "m", Items.number(moved),
                "k", Items.number(withoutKey),
                "e", Items.number(expired),
                "u", Items.number(unended),
                "f", AttributeValue.fromM(sums)));
    }

    static Tally of(Map<String, AttributeValue> item) {
        Map<String, Long> sums = new TreeMap<>();
        Items.require(item, "f").m().forEach((name, count) -> sums.put(name, Long.parseLong(count.n())));
        return new Tally(
                Items.number(item, "n"),
                Items.number(item, "r"),
                Items.number(item, "m"),
                Items.number(item, "k"),
                Items.number(item, "e"),
                Items.number(item, "u"),
                sums);
    }
}
