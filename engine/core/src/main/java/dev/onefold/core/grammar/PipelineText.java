package dev.onefold.core.grammar;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.json.Json;
import dev.onefold.core.json.JsonText;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Condition;
import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Figure;
import dev.onefold.core.pipeline.Formula;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input;
import dev.onefold.core.pipeline.Input.EventTime;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Let;
import dev.onefold.core.pipeline.Level;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Processing.Feed;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.pipeline.TableName;
import dev.onefold.core.pipeline.TimeType;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The canonical text of a pipeline: one line of JSON, itself a pipeline file. Equal pipelines have equal text
/// and different ones different text, so it identifies a definition. A setting that has its default is left
/// out, so that a setting added later does not change older texts.
///
/// It is one idea: the text of each setting.
public final class PipelineText {
    private static final String ZONES = "zones"; // No setting of a pipeline file.

    private PipelineText() {}

    /// The canonical text of a pipeline.
    public static String write(Pipeline pipeline) {
        return Json.of(file(pipeline, Edition.UNSTATED));
    }

    /// The text that data bears. It leaves out the first edition, as all texts did before there were others,
    /// and has the hashes of the rules of time zones.
    public static String stored(Pipeline pipeline) {
        Map<String, Object> file = file(pipeline, Edition.FIRST);
        if (!pipeline.zones().isEmpty()) {
            file.put(ZONES, pipeline.zones());
        }
        return Json.of(file);
    }

    /// @param leftOut the edition that is not written
    private static Map<String, Object> file(Pipeline pipeline, int leftOut) {
        Map<String, Object> file = new LinkedHashMap<>();
        file.put("pipeline", pipeline.name());
        Map<String, Object> input = input(pipeline.input(), leftOut);
        if (pipeline.origin() != null) {
            OriginReader.putEncoding(pipeline.origin(), input);
            input.put("from", OriginReader.text(pipeline.origin()));
        }
        file.put("input", input);
        switch (pipeline.fold()) {
            case Rollups rollups -> file.put("rollups", byName(rollups.all(), Rollup::name, PipelineText::rollup));
            case Batching batching -> {
                file.put("batch", BatchReader.text(batching));
                if (!batching.key().isEmpty()) {
                    input.put("key", of(batching.key(), pipeline.input().format()));
                }
            }
            case Processing processing -> {
                file.put("process", ProcessReader.text(processing));
                if (!processing.feeds().isEmpty()) {
                    file.put(
                            "rollups",
                            byName(processing.feeds(), feed -> feed.rollup().name(), PipelineText::feed));
                }
            }
        }
        if (pipeline.publishing() != null) {
            file.put("publish", PublishingReader.text(pipeline.publishing()));
        }
        return file;
    }

    /// The pipeline of a JSON text, or all its problems.
    public static Reading read(String text) {
        return read(text, PipelineReader::read);
    }

    private static Reading read(String text, Function<Node, Reading> reader) {
        Problems problems = new Problems();
        Node file = JsonText.read(Objects.requireNonNull(text, "The text is null"), problems);
        return file == null ? new Reading.Refused(problems.inOrder()) : reader.apply(file);
    }

    /// The pipeline that data bear, or all its problems.
    public static Reading readStored(String text) {
        return read(text, PipelineText::stored);
    }

    private static Reading stored(Node text) {
        SortedMap<String, String> zones = new TreeMap<>();
        List<Node.Entry> file = new ArrayList<>(text.entries());
        file.removeIf(setting -> setting.name().text().equals(ZONES));
        Node hashes = text.find(ZONES);
        if (hashes != null) {
            hashes.entries()
                    .forEach(each -> zones.put(each.name().text(), each.value().text()));
        }
        return switch (PipelineReader.read(new Node.Mapping(file, text.place()))) {
            case Reading.Read(Pipeline pipeline) ->
                new Reading.Read(pipeline.inEdition(Edition.FIRST).withZones(zones));
            case Reading.Refused refused -> refused;
        };
    }

    private static Map<String, Object> input(Input input, int leftOut) {
        Map<String, Object> settings = new LinkedHashMap<>();
        putFormat(input.format(), settings);
        if (!input.lets().isEmpty()) {
            settings.put("let", byName(input.lets(), let -> let.field().toString(), let -> of(let.term())));
        }
        switch (input.identity()) {
            case Identity.Versioned(var parts, var version, var type, var composite) -> {
                settings.put("key", of(parts, input.format()));
                if (!composite.isEmpty()) {
                    settings.put(
                            "version", composite.stream().map(PipelineText::of).toList());
                } else if (version != null) {
                    settings.put("version", type == null ? version : pair("field", version, "type", type.word()));
                }
            }
            case Identity.ById(var parts, var horizon) -> {
                settings.put("id", of(parts, input.format()));
                if (horizon != null) {
                    settings.put("horizon", of(horizon));
                }
            }
            case Identity.ByMessage _ -> settings.put("id", Identity.ByMessage.WORD); // A field is in a list.
            case Identity.ByPlace _ -> {}
        }
        EventTime time = input.time();
        if (time != null) {
            boolean isAuto = time.type() == TimeType.AUTO;
            settings.put(
                    "time",
                    isAuto
                            ? time.field()
                            : pair("field", time.field(), "type", time.type().word()));
        }
        if (input.delete() != null) {
            settings.put("delete", of(input.delete()));
        }
        if (input.filter() != null) {
            settings.put("filter", of(input.filter()));
        }
        putTexts("truths", input.spellings().truths(), settings);
        putTexts("falsehoods", input.spellings().falsehoods(), settings);
        if (input.spellings().normalized()) {
            settings.put("normalize", ValuesReader.NFC);
        }
        if (input.spellings().zone() != null) {
            settings.put("zone", input.spellings().zone().getId());
        }
        if (input.spellings().fold() != null) {
            settings.put("fold", input.spellings().fold().word());
        }
        if (input.edition() != leftOut && Edition.matters(input)) {
            settings.put("edition", input.edition());
        }
        return settings;
    }

    private static Object of(Identity.Part part, Format format) {
        for (TableName.Origin origin : TableName.Origin.values()) {
            if (format instanceof Format.Debezium && part.equals(new Identity.Part(origin.field()))) {
                return Map.of("origin", origin.word());
            }
        }
        Map<String, Object> settings =
                settings(part.field(), part.type() == null ? null : part.type().word(), part.missing());
        if (part.element() != Identity.Part.WHOLE) {
            settings.put("element", part.element());
        }
        return settings.size() == 1 ? part.field() : settings;
    }

    private static List<Object> of(List<Identity.Part> parts, Format format) {
        return parts.stream().map(part -> of(part, format)).toList();
    }

    private static Object of(Identity.VersionPart part) {
        Map<String, Object> settings =
                settings(part.field(), part.time() == null ? null : part.time().word(), part.missing());
        return settings.size() == 1 ? part.field() : settings;
    }

    private static Map<String, Object> settings(FieldPath field, @Nullable String type, @Nullable String missing) {
        Map<String, Object> settings = new LinkedHashMap<>();
        settings.put("field", field);
        if (type != null) {
            settings.put("type", type);
        }
        if (missing != null) {
            settings.put("missing", missing);
        }
        return settings;
    }

    private static void putTexts(String name, List<String> texts, Map<String, Object> settings) {
        if (!texts.isEmpty()) {
            settings.put(name, texts);
        }
    }

    private static void putCsv(Format.Csv csv, Map<String, Object> settings) {
        settings.put("format", PipelineReader.CSV);
        if (!csv.columns().isEmpty()) {
            settings.put("columns", csv.columns());
        }
        if (csv.delimiter() != PipelineReader.DELIMITER) {
            settings.put("delimiter", csv.delimiter());
        }
        if (csv.quote() != Format.Csv.QUOTE) {
            boolean isNone = csv.quote() == Format.Csv.NO_QUOTE;
            settings.put("quote", isNone ? PipelineReader.NONE : String.valueOf(csv.quote()));
        }
        if (csv.decimal() != Format.Csv.POINT) {
            settings.put("decimal", String.valueOf(csv.decimal()));
        }
        if (csv.thousands() != Format.Csv.NO_THOUSANDS) {
            settings.put("thousands", String.valueOf(csv.thousands()));
        }
        putTexts("nulls", csv.nulls(), settings);
        if (csv.comment() != Format.Csv.NO_COMMENT) {
            settings.put("comment", String.valueOf(csv.comment()));
        }
        if (csv.escape() != Format.Csv.NO_ESCAPE) {
            settings.put("escape", String.valueOf(csv.escape()));
        }
        if (csv.isHeaderOnce()) {
            settings.put("header", PipelineReader.FIRST);
        }
    }

    private static void putFormat(Format format, Map<String, Object> settings) {
        switch (format) {
            case Format.Json json -> {
                if (!json.unwrap().isEmpty()) {
                    settings.put("unwrap", json.unwrap());
                }
                if (json.records() != Input.Records.LINES) {
                    settings.put("records", json.records().word());
                }
            }
            case Format.Csv csv -> putCsv(csv, settings);
            case Format.DynamoDbStream stream -> {
                settings.put("format", PipelineReader.DYNAMODB_STREAM);
                if (stream.table() != null) {
                    settings.put("table", stream.table());
                }
                if (stream.stream() != null) {
                    settings.put(
                            "stream",
                            LocalDateTime.ofInstant(stream.stream(), ZoneOffset.UTC)
                                    .toString());
                }
                if (stream.keepsExpired()) {
                    settings.put("expired", PipelineReader.KEEP);
                }
            }
            case Format.Debezium debezium -> {
                settings.put("format", PipelineReader.DEBEZIUM);
                List<String> tables =
                        debezium.tables().stream().map(TableName::toString).toList();
                settings.put("table", tables.size() == 1 ? tables.getFirst() : tables);
                if (!debezium.logs().isEmpty()) {
                    settings.put("logs", debezium.logs());
                }
                if (debezium.decimals() != null) {
                    settings.put("decimals", debezium.decimals().word());
                }
            }
        }
    }

    private static Object feed(Feed feed) {
        Map<String, Object> of = new LinkedHashMap<>();
        of.put("of", feed.table());
        of.putAll(rollup(feed.rollup()));
        return of;
    }

    private static Map<String, Object> rollup(Rollup rollup) {
        Map<String, Object> settings = new LinkedHashMap<>(pair(
                "levels", rollup.levels().stream().map(PipelineText::level).toList(),
                "measures", byName(rollup.figures(), Figure::name, PipelineText::of)));
        if (rollup.keep() != null) {
            settings.put("keep", of(rollup.keep()));
        }
        return settings;
    }

    private static Object level(Level level) {
        String source = of(level.source());
        String missing = level.missing();
        String text = missing == null ? source : source + " missing " + quoted(missing);
        return level.name().equals(source) ? text : pair("field", text, "name", level.name());
    }

    private static <T> Map<String, Object> byName(List<T> items, Function<T, String> name, Function<T, Object> value) {
        Map<String, Object> map = new LinkedHashMap<>();
        items.forEach(item -> map.put(name.apply(item), value.apply(item)));
        return map;
    }

    private static Map<String, Object> pair(String name, Object value, String otherName, Object otherValue) {
        Map<String, Object> pair = new LinkedHashMap<>();
        pair.put(name, value);
        pair.put(otherName, otherValue);
        return pair;
    }

    /// As a level is written in a pipeline file.
    static String of(Level.Source source) {
        return switch (source) {
            case Level.Source.Text(FieldPath field) -> field.toString();
            case Level.Source.Prefix(FieldPath field, int length) -> "prefix(" + field + ", " + length + ")";
            case Level.Source.Bucket(FieldPath field, Duration size, TimeType type) ->
                "bucket(" + field + ", " + of(size) + of(type) + ")";
            case Level.Source.Calendar(FieldPath field, Level.Unit unit, TimeType type, ZoneId zone) ->
                "bucket(" + field + ", " + unit.word() + of(type) + (zone == null ? "" : ", " + zone.getId()) + ")";
            case Level.Source.Step(FieldPath field, BigDecimal step) -> "step(" + field + ", " + of(step) + ")";
        };
    }

    private static String of(TimeType type) {
        return type == TimeType.AUTO ? "" : ", " + type.word();
    }

    /// As a figure is written in a pipeline file.
    static String of(Figure figure) {
        return switch (figure) {
            case Figure.Stored(Measure measure) -> of(measure);
            case Figure.Derived derived -> {
                String formula = derived.formula() instanceof Formula.Of
                        ? "(" + of(derived.formula()) + ")" // Alone it would be a measure.
                        : of(derived.formula());
                yield derived.type() == null ? formula : formula + " " + derived.type();
            }
        };
    }

    private static String of(Formula formula) {
        return switch (formula) {
            case Formula.Number(BigDecimal value) -> of(value);
            case Formula.Named(String name) -> Character.isDigit(name.charAt(0)) ? quoted(name) : name;
            case Formula.Of(Measure measure) -> hasMore(measure) ? "(" + of(measure) + ")" : of(measure);
            case Formula.Operation operation ->
                operand(operation.left(), operation.operator(), false)
                        + " " + operation.operator().sign() + " "
                        + operand(operation.right(), operation.operator(), true);
        };
    }

    /// Whether the text of a measure continues behind the function and its type.
    private static boolean hasMore(Measure measure) {
        return switch (measure) {
            case Measure.Count _ -> false;
            case Measure.Numeric numeric ->
                !numeric.input().missing().refused() || numeric.input().where() != null;
            case Measure.Distinct distinct ->
                !distinct.input().missing().refused() || distinct.input().where() != null;
        };
    }

    /// The operand, in parentheses if it needs them beside the operator.
    private static String operand(Formula operand, Formula.Operator beside, boolean isRight) {
        boolean apart = operand instanceof Formula.Operation operation
                && (isRight
                        ? beside.isTight() || !operation.operator().isTight()
                        : beside.isTight() && !operation.operator().isTight());
        return apart ? "(" + of(operand) + ")" : of(operand);
    }

    /// As a measure is written in a pipeline file.
    static String of(Measure measure) {
        return switch (measure) {
            case Measure.Count _ -> "count()";
            case Measure.Numeric numeric when numeric.input().isCounting() -> "count()" + where(numeric.input());
            case Measure.Numeric numeric -> {
                Measure.Input.Decimal input = numeric.input();
                String type = input.source() instanceof Measure.Source.Time time
                        ? ", " + time.type().word()
                        : "";
                BigDecimal value = input.missing().value();
                yield numeric.fold().word() + "(" + input.value() + type + ") " + input.type()
                        + missing(input.missing(), value == null ? "ignore" : of(value)) + where(input);
            }
            case Measure.Distinct distinct -> {
                Measure.Input.Text input = distinct.input();
                String value = input.missing().value();
                yield "distinct(" + input.field() + ")"
                        + missing(input.missing(), value == null ? "ignore" : quoted(value)) + where(input);
            }
        };
    }

    /// The condition of an input, with the word before it; empty if it has none.
    public static String where(Measure.Input input) {
        return input.where() == null ? "" : " where " + of(input.where());
    }

    private static String missing(Measure.Missing<?> missing, String instead) {
        return missing.refused() ? "" : " missing " + instead;
    }

    /// As a term of a derived field is written in a pipeline file.
    private static String of(Let.Term term) {
        return switch (term) {
            case Let.Field(FieldPath field) -> {
                char first = field.toString().charAt(0);
                yield Character.isLetter(first) || first == '_' ? field.toString() : "field(" + field + ")";
            }
            case Let.Text(String text) -> quoted(text);
            case Let.Number(BigDecimal number) -> of(number);
            case Let.If(Condition condition, Let.Term then, Let.Term otherwise) ->
                "if(" + of(condition) + ", " + of(then) + ", " + of(otherwise) + ")";
            case Let.Call(Let.Function function, List<Let.Term> arguments) ->
                function.isOperator()
                        ? arguments.stream()
                                .map(PipelineText::operand)
                                .collect(Collectors.joining(" " + function.word() + " "))
                        : arguments.stream()
                                .map(PipelineText::of)
                                .collect(Collectors.joining(", ", function.word() + "(", ")"));
        };
    }

    private static String operand(Let.Term term) {
        return term instanceof Let.Call call && call.function().isOperator() ? "(" + of(term) + ")" : of(term);
    }

    /// As a condition is written in a pipeline file.
    static String of(Condition condition) {
        return switch (condition) {
            case Condition.Or(List<Condition> any) ->
                any.stream()
                        .map(part -> part instanceof Condition.Or ? "(" + of(part) + ")" : of(part))
                        .collect(Collectors.joining(" or "));
            case Condition.And(List<Condition> all) ->
                all.stream().map(PipelineText::tight).collect(Collectors.joining(" and "));
            case Condition.Not(Condition.Missing(FieldPath field)) -> leading(field) + " is not missing";
            case Condition.Not(Condition inner) -> "not " + tight(inner);
            case Condition.Missing(FieldPath field) -> leading(field) + " is missing";
            case Condition.TextIn(FieldPath field, List<String> texts, boolean negated)
            when texts.size() == 1 -> leading(field) + (negated ? " != " : " = ") + quoted(texts.getFirst());
            case Condition.TextIn(FieldPath field, List<String> texts, boolean negated) ->
                leading(field) + (negated ? " not in (" : " in (")
                        + texts.stream().map(PipelineText::quoted).collect(Collectors.joining(", ")) + ")";
            case Condition.Truth(FieldPath field, boolean word, boolean negated) ->
                leading(field) + (negated ? " != " : " = ") + word;
            case Condition.Number(FieldPath field, Condition.Comparison comparison, BigDecimal number) ->
                leading(field) + " " + comparison.sign() + " " + of(number);
        };
    }

    /// The condition, in parentheses if it needs them beside an `and`.
    private static String tight(Condition condition) {
        return condition instanceof Condition.Or || condition instanceof Condition.And
                ? "(" + of(condition) + ")"
                : of(condition);
    }

    /// A field at the beginning of a comparison, where a bare `not` would be the operator.
    private static String leading(FieldPath field) {
        String text = field.toString();
        return text.equals("not") ? "\"not\"" : text;
    }

    /// A time span in the greatest unit that divides it.
    public static String of(Duration duration) {
        long seconds = duration.toSeconds();
        if (seconds <= 0 || !duration.equals(Duration.ofSeconds(seconds))) {
            return duration.toString(); // Not a time span of a pipeline: its reader will refuse it.
        }
        if (seconds % 86_400 == 0) {
            return seconds / 86_400 + "d";
        }
        return seconds % 3_600 == 0 ? seconds / 3_600 + "h" : seconds % 60 == 0 ? seconds / 60 + "m" : seconds + "s";
    }

    private static String of(BigDecimal number) {
        return number.stripTrailingZeros().toPlainString();
    }

    private static String quoted(String text) {
        return '"' + text.replace("\"", "\"\"") + '"';
    }
}
