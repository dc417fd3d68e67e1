package dev.onefold.core.builder;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problem;
import dev.onefold.core.document.TextPlace;
import dev.onefold.core.grammar.PipelineReader;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input;
import dev.onefold.core.pipeline.Input.LocalFold;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.TimeType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/// Builds a pipeline in Java. Fields, levels, measures and conditions are texts as in a pipeline file, and
/// [#build()] judges them by the same rules. Not thread-safe.
///
/// ```java
/// PipelineBuilder.named("trade-risk")
///         .json()
///         .key("TradeID")
///         .version("Version")
///         .rollup(rollup -> rollup.levels("Hierarchy.Region").sum("value", "Value", 18, 2).count("trades"))
///         .build();
/// ```
public final class PipelineBuilder {
    private final String name;
    private final List<Node.Entry> input = new ArrayList<>();
    private final List<Node.Entry> lets = new ArrayList<>();
    private final List<Node.Entry> rollups = new ArrayList<>();

    private PipelineBuilder(String name) {
        this.name = name;
    }

    /// Begins a pipeline of this name.
    public static PipelineBuilder named(String name) {
        return new PipelineBuilder(Objects.requireNonNull(name, "The pipeline's name is null"));
    }

    /// Records are JSON objects; this is the default.
    public PipelineBuilder json() {
        return set("format", PipelineReader.JSON);
    }

    /// The event is inside of a field of the record, as an object or as a text of JSON.
    ///
    /// @param fields the field, and inside of it the next such field, and so on: at most 4
    public PipelineBuilder unwrap(String... fields) {
        return set("unwrap", List.of(fields));
    }

    /// Records are lines of CSV, and the first line of each source names the columns.
    public PipelineBuilder csv() {
        return set("format", PipelineReader.CSV);
    }

    /// Records are lines of CSV with these columns, and no line names them.
    public PipelineBuilder csv(String... columns) {
        return csv().set("columns", List.of(columns));
    }

    /// Sets the separator of the values of a CSV line; the default is a comma.
    public PipelineBuilder delimiter(char delimiter) {
        return set("delimiter", delimiter);
    }

    /// Sets how files hold their records of JSON; the default is one object a line.
    public PipelineBuilder records(Input.Records records) {
        return set("records", records.word());
    }

    /// Sets the quote around CSV values; the default is a double quote.
    public PipelineBuilder quote(char quote) {
        return set("quote", quote);
    }

    /// Sets how numbers of CSV are written, such as `1.234,50`.
    ///
    /// @param decimal `.`, which is the default, or `,`
    /// @param thousands between groups of three digits: one of `.`, `,`, `'`, `_`, a space, U+00A0, U+202F and
    ///     U+2019
    public PipelineBuilder numbers(char decimal, char thousands) {
        return set("decimal", String.valueOf(decimal)).set("thousands", String.valueOf(thousands));
    }

    /// Sets the CSV values without quotes that are missing, beside the empty one.
    public PipelineBuilder nulls(String... values) {
        return set("nulls", List.of(values));
    }

    /// Sets the character at the beginning of lines of CSV that are comments.
    public PipelineBuilder comment(char comment) {
        return set("comment", String.valueOf(comment));
    }

    /// Sets the character of CSV that makes a delimiter, quote or line end behind it one of the value.
    public PipelineBuilder escape(char escape) {
        return set("escape", String.valueOf(escape));
    }

    /// Only the first record of a source is a header; others that look like one are records.
    public PipelineBuilder headerOnce() {
        return set("header", PipelineReader.FIRST);
    }

    /// Quotes are ordinary characters of CSV values.
    public PipelineBuilder noQuote() {
        return set("quote", PipelineReader.NONE);
    }

    /// Records are changes of a DynamoDB table; fields are named as in the table, and [#version] may be left
    /// out.
    public PipelineBuilder dynamoDbStream() {
        return set("format", PipelineReader.DYNAMODB_STREAM);
    }

    /// The same, for records that do not name their stream.
    ///
    /// @param stream its ARN
    public PipelineBuilder dynamoDbStream(String stream) {
        return dynamoDbStream().set("stream", stream);
    }

    /// Records are changes of a table as Debezium writes them; fields are named as in the table, and [#version]
    /// may be left out.
    ///
    /// @param table its name behind that of its schema or database and a dot
    /// @param logs if the database's log was restarted: the names of the connectors, the oldest first
    public PipelineBuilder debezium(String table, String... logs) {
        return debezium(List.of(table), logs);
    }

    /// The same of several tables, or of those whose names fit a pattern. A part of the key that is the schema
    /// of the table is written `"origin: schema"`, in double quotes.
    public PipelineBuilder debezium(List<String> tables, String... logs) {
        set("format", PipelineReader.DEBEZIUM).set("table", tables);
        return logs.length == 0 ? this : set("logs", List.of(logs));
    }

    /// How Debezium writes decimals where a record has no schema.
    public PipelineBuilder decimals(Input.DecimalForm form) {
        return set("decimals", form.word());
    }

    /// The DynamoDB table that records are of, where they name one.
    ///
    /// @param table its name or ARN
    public PipelineBuilder table(String table) {
        return set("table", table);
    }

    /// Rows that a DynamoDB table removes by their time to live still count.
    public PipelineBuilder keepExpired() {
        return set("expired", PipelineReader.KEEP);
    }

    /// The edition of the rules by which records are read. The default is the edition of the existing data,
    /// and for new data the newest one.
    public PipelineBuilder edition(int edition) {
        return set("edition", edition);
    }

    /// Adds a derived field.
    ///
    /// @param term as in a pipeline file, made of fields and of those derived before: `lower(email)`
    public PipelineBuilder let(String field, String term) {
        lets.add(Node.entry(field, term));
        return this;
    }

    /// Sets the fields of the key; a higher version of a key replaces a lower one.
    public PipelineBuilder key(String... fields) {
        return set("key", List.of(fields));
    }

    /// Sets the key, the id or the version as a pipeline file has it: a text, a map such as `{field: id, type:
    /// integer}`, or a list.
    ///
    /// @param setting `key`, `id` or `version`
    public PipelineBuilder identity(String setting, Object parts) {
        return set(setting, parts);
    }

    /// Texts of keys, ids, levels and `distinct` are brought to Unicode's composed form.
    public PipelineBuilder normalized() {
        return set("normalize", "nfc");
    }

    /// The zone of times that are written without one.
    public PipelineBuilder zone(String zone) {
        return set("zone", zone);
    }

    /// The meaning of a local time that comes twice in the zone, or never.
    public PipelineBuilder fold(LocalFold fold) {
        return set("fold", fold.word());
    }

    /// The version, an integer.
    public PipelineBuilder version(String field) {
        return set("version", field);
    }

    /// The version, a time of this type.
    public PipelineBuilder version(String field, TimeType type) {
        return set("version", Map.of("field", field, "type", type.word()));
    }

    /// Sets the fields of the id of an append-only input: each id counts once.
    public PipelineBuilder id(String... fields) {
        return set("id", List.of(fields));
    }

    /// Each message of a queue, or each record of a stream, counts once, by the id that its source gives it.
    public PipelineBuilder idOfMessage() {
        return set("id", Identity.ByMessage.WORD);
    }

    /// How far a record's time may lie before its arrival. From one day.
    public PipelineBuilder horizon(Duration horizon) {
        return set("horizon", PipelineText.of(horizon));
    }

    /// The event time: text is ISO-8601, a number is epoch seconds.
    public PipelineBuilder time(String field) {
        return set("time", field);
    }

    /// The event time, of this type.
    public PipelineBuilder time(String field, TimeType type) {
        return set("time", Map.of("field", field, "type", type.word()));
    }

    /// A record for which the condition holds deletes its key.
    public PipelineBuilder delete(String condition) {
        return set("delete", condition);
    }

    /// A record for which the condition does not hold contributes nothing.
    public PipelineBuilder filter(String condition) {
        return set("filter", condition);
    }

    /// Texts that are true in a comparison with `true` or `false`, beside `true`.
    public PipelineBuilder truths(String... texts) {
        return set("truths", List.of(texts));
    }

    /// Texts that are false in a comparison with `true` or `false`, beside `false`.
    public PipelineBuilder falsehoods(String... texts) {
        return set("falsehoods", List.of(texts));
    }

    /// The only roll-up, called [Rollup#MAIN].
    public PipelineBuilder rollup(Consumer<RollupBuilder> rollup) {
        return rollup(Rollup.MAIN, rollup);
    }

    /// One of several roll-ups.
    public PipelineBuilder rollup(String rollupName, Consumer<RollupBuilder> rollup) {
        Objects.requireNonNull(rollupName, "The roll-up's name is null");
        RollupBuilder builder = new RollupBuilder();
        Objects.requireNonNull(rollup, "What builds the roll-up is null").accept(builder);
        builder.settings.add(Node.entry("levels", builder.levels));
        builder.settings.add(Node.entry("measures", map(builder.measures)));
        rollups.add(Node.entry(rollupName, map(builder.settings)));
        return this;
    }

    /// The pipeline.
    ///
    /// @throws IllegalArgumentException naming all that is wrong with it
    public Pipeline build() {
        if (!lets.isEmpty()) {
            set("let", map(lets));
        }
        Node file = Node.of(Map.of("pipeline", name, "input", map(input), "rollups", map(rollups)));
        return switch (PipelineReader.read(file)) {
            case Reading.Read(Pipeline pipeline) -> pipeline;
            case Reading.Refused(List<Problem> problems) ->
                throw new IllegalArgumentException(problems.stream()
                        .map(Problem::message)
                        .collect(Collectors.joining("\n  ", "The pipeline '" + name + "' is not possible:\n  ", "")));
        };
    }

    private PipelineBuilder set(String setting, Object value) {
        input.add(Node.entry(setting, value));
        return this;
    }

    private static Node map(List<Node.Entry> entries) {
        return new Node.Mapping(entries, TextPlace.START);
    }

    /// Builds one roll-up. Not thread-safe.
    public static final class RollupBuilder {
        private final List<Object> levels = new ArrayList<>();
        private final List<Node.Entry> measures = new ArrayList<>();
        private final List<Node.Entry> settings = new ArrayList<>();

        private RollupBuilder() {}

        /// For how long a group is kept behind the latest time; its first level is a time bucket.
        public RollupBuilder keep(Duration time) {
            settings.add(Node.entry("keep", PipelineText.of(time)));
            return this;
        }

        /// Levels, outermost first, each as in a pipeline file: `Hierarchy.Region`, `bucket(Timestamp, 1h)`.
        public RollupBuilder levels(String... texts) {
            levels.addAll(List.of(texts));
            return this;
        }

        /// A level below those before it, with a name for answers.
        public RollupBuilder level(String levelName, String text) {
            levels.add(Map.of("field", text, "name", levelName));
            return this;
        }

        /// How many rows.
        public RollupBuilder count(String measureName) {
            return measure(measureName, "count()");
        }

        /// For how many rows the condition holds.
        public RollupBuilder count(String measureName, String condition) {
            return measure(measureName, "count() where " + condition);
        }

        /// The exact sum of a field, or of a product of fields such as `price * quantity`, of this type.
        public RollupBuilder sum(String measureName, String field, int precision, int scale) {
            return numeric(measureName, Measure.Fold.SUM, field, precision, scale);
        }

        /// The average of a field, of this type.
        public RollupBuilder average(String measureName, String field, int precision, int scale) {
            return numeric(measureName, Measure.Fold.AVERAGE, field, precision, scale);
        }

        /// The least value of a field, of this type.
        public RollupBuilder min(String measureName, String field, int precision, int scale) {
            return numeric(measureName, Measure.Fold.MIN, field, precision, scale);
        }

        /// The greatest value of a field, of this type.
        public RollupBuilder max(String measureName, String field, int precision, int scale) {
            return numeric(measureName, Measure.Fold.MAX, field, precision, scale);
        }

        /// How many different texts a field has.
        public RollupBuilder distinct(String measureName, String field) {
            return measure(measureName, "distinct(" + field + ")");
        }

        /// Adds a figure that answers calculate from measures, at this type: `paid / orders`, with the names of
        /// other measures of the roll-up, or measures as in a pipeline file.
        public RollupBuilder formula(String measureName, String formula, int precision, int scale) {
            return measure(measureName, "(" + formula + ") decimal(" + precision + "," + scale + ")");
        }

        /// A measure as in a pipeline file: `sum(customers) decimal(18,0) missing ignore`.
        public RollupBuilder measure(String measureName, String text) {
            measures.add(Node.entry(measureName, text));
            return this;
        }

        private RollupBuilder numeric(String measureName, Measure.Fold fold, String field, int precision, int scale) {
            return measure(measureName, fold.word() + "(" + field + ") decimal(" + precision + "," + scale + ")");
        }
    }
}
