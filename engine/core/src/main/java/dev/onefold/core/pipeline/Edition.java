package dev.onefold.core.pipeline;

import dev.onefold.core.pipeline.Input.Format;
import java.util.List;
import java.util.function.BiPredicate;

/// The editions of the rules by which records are read. A rule that reads the same bytes in another way than
/// before is a new edition: existing data keep the edition that they were folded with, and new data have the
/// newest.
///
/// An input has the greatest of its editions that has a rule for it. So inputs that are read alike are equal, and a
/// later edition changes no definition that it does not concern.
public final class Edition {
    /// The pipeline file names no edition: the edition of the data counts, or the newest one if there is no
    /// data.
    public static final int UNSTATED = 0;

    /// The edition of definitions that were stored before editions had numbers.
    public static final int FIRST = 1;

    /// The newest edition.
    public static final int NEWEST = 3;

    /// The edition since which truths, keys, times and versions have one meaning in all their spellings.
    public static final int OF_VALUES = 3;

    private static final List<Rule> RULES = List.of(
            new Rule(
                    2,
                    Edition::isOfDebeziumLog,
                    "changes of PostgreSQL are ordered by source.sequence, and changes of SQL Server by commit_lsn"
                            + " before change_lsn: the position of a change alone is not the order of the commits"),
            new Rule(3, (_, _) -> true, "a byte order mark in front of a record is passed over"),
            new Rule(
                    3,
                    (format, _) -> format instanceof Format.Json,
                    "a file that does not begin with one object in a line, but with an array or with objects side by"
                            + " side or over several lines, is refused"),
            new Rule(
                    OF_VALUES,
                    (_, _) -> true,
                    "a comparison with true or false refuses a value that spells neither; a key without a type refuses"
                            + " a text that is an unusual spelling of a number; a version may be 1.7e12; a time may"
                            + " have a blank for T and an offset +02 or +0200, and a number that may be a date is"
                            + " no time without a type"),
            new Rule(
                    3,
                    (format, _) -> format instanceof Format.Csv,
                    "a line break inside of quotes is a part of its CSV value, a quote inside a value without quotes is"
                            + " a character, a record that is equal to the header is passed over, another header inside"
                            + " a source is refused, and so are line ends that are CR alone and Excel's line 'sep=;'"),
            new Rule(
                    3,
                    (format, _) -> format instanceof Format.Debezium,
                    "a change whose schema, database or server of MySQL the pipeline file leaves open is refused; precise decimals and"
                            + " times are read by the record's schema, and without one a text that may be a number or base64 is"
                            + " refused; Avro's JSON and documents of MongoDB are read"),
            new Rule(
                    3,
                    (format, _) -> format instanceof Format.DynamoDbStream,
                    "a record that names its table is refused if the pipeline file names none"));

    private Edition() {}

    /// @param since the first edition with this rule
    private record Rule(int since, BiPredicate<Format, Identity> concerns, String says) {}

    private static boolean isOfDebeziumLog(Format format, Identity identity) {
        return format instanceof Format.Debezium
                && identity instanceof Identity.Versioned versioned
                && versioned.version() == null;
    }

    /// The edition of an input for which a file or a stored definition states this one.
    static int of(Format format, Identity identity, int stated) {
        if (RULES.stream().noneMatch(rule -> rule.concerns.test(format, identity))) {
            return FIRST;
        }
        return stated == UNSTATED
                ? UNSTATED
                : RULES.stream()
                        .filter(rule -> rule.since <= stated && rule.concerns.test(format, identity))
                        .mapToInt(Rule::since)
                        .max()
                        .orElse(FIRST);
    }

    /// Whether the editions have different rules for an input.
    public static boolean matters(Input input) {
        return of(input.format(), input.identity(), UNSTATED) == UNSTATED;
    }

    /// The rules that a later edition has for an input and an earlier one does not, each as a part of a
    /// sentence.
    public static List<String> between(Input input, int earlier, int later) {
        return RULES.stream()
                .filter(rule -> rule.since > earlier && rule.since <= later)
                .filter(rule -> rule.concerns.test(input.format(), input.identity()))
                .map(Rule::says)
                .toList();
    }
}
