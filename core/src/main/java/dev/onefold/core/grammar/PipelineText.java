package dev.onefold.core.grammar;

import dev.onefold.core.document.JsonText;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.pipeline.Condition;
import dev.onefold.core.pipeline.EventTime;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Format;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input;
import dev.onefold.core.pipeline.Level;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.pipeline.TimeType;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The canonical text of a pipeline: one line of JSON, itself a pipeline file. Equal pipelines have equal text and
/// different ones different text, so it identifies a definition. What is a default is left out, so that a setting
/// added later changes no text of before.
public final class PipelineText {
    private PipelineText() {}

    /// The canonical text of a pipeline.
    public static String write(Pipeline pipeline) {
        List<Node.Entry> file = new ArrayList<>();
        file.add(entry("pipeline", pipeline.name()));
        file.add(Node.Entry.of("input", input(pipeline.input())));
        switch (pipeline.fold()) {
            case Rollups rollups ->
                file.add(Node.Entry.of(
                        "rollups",
                        Node.Mapping.of(rollups.all().stream()
                                .map(rollup -> Node.Entry.of(rollup.name(), rollup(rollup)))
                                .toList())));
        }
        return JsonText.write(Node.Mapping.of(file));
    }

    /// The pipeline that a JSON text says, or all that is wrong with it.
    public static Reading read(String text) {
        Problems problems = new Problems();
        Node file = JsonText.read(Objects.requireNonNull(text, "The text is null"), problems);
        return file == null ? new Reading.Refused(problems.inOrder()) : PipelineReader.read(file);
    }

    private static Node input(Input input) {
        List<Node.Entry> settings = new ArrayList<>();
        if (input.format() instanceof Format.Csv csv) {
            settings.add(entry("format", PipelineReader.CSV));
            if (!csv.columns().isEmpty()) {
                settings.add(Node.Entry.of("columns", texts(csv.columns())));
            }
            if (csv.delimiter() != PipelineReader.DELIMITER) {
                settings.add(entry("delimiter", String.valueOf(csv.delimiter())));
            }
        }
        switch (input.identity()) {
            case Identity.Versioned versioned -> {
                settings.add(Node.Entry.of("key", fields(versioned.key())));
                TimeType type = versioned.versionTime();
                settings.add(typed("version", versioned.version(), type == null ? null : type.word()));
            }
            case Identity.ById byId -> {
                settings.add(Node.Entry.of("id", fields(byId.id())));
                Duration horizon = byId.horizon();
                if (horizon != null) {
                    settings.add(entry("horizon", of(horizon)));
                }
            }
            case Identity.ByPlace _ -> {}
        }
        EventTime time = input.time();
        if (time != null) {
            settings.add(typed(
                    "time",
                    time.field(),
                    time.type() == TimeType.AUTO ? null : time.type().word()));
        }
        addCondition("delete", input.delete(), settings);
        addCondition("filter", input.filter(), settings);
        return Node.Mapping.of(settings);
    }

    private static Node rollup(Rollup rollup) {
        return Node.Mapping.of(List.of(
                Node.Entry.of(
                        "levels",
                        Node.Sequence.of(rollup.levels().stream()
                                .map(PipelineText::level)
                                .toList())),
                Node.Entry.of(
                        "measures",
                        Node.Mapping.of(rollup.measures().stream()
                                .map(measure -> entry(measure.name(), of(measure)))
                                .toList()))));
    }

    private static Node level(Level level) {
        String source = of(level.source());
        String missing = level.missing();
        String text = missing == null ? source : source + " missing " + quoted(missing);
        return level.name().equals(source)
                ? Node.Scalar.of(text)
                : Node.Mapping.of(List.of(entry("field", text), entry("name", level.name())));
    }

    /// As a level is written in a pipeline file.
    static String of(Level.Source source) {
        return switch (source) {
            case Level.Source.Text(FieldPath field) -> field.toString();
            case Level.Source.Prefix(FieldPath field, int length) -> "prefix(" + field + ", " + length + ")";
            case Level.Source.Bucket(FieldPath field, Duration size, TimeType type) ->
                "bucket(" + field + ", " + of(size) + (type == TimeType.AUTO ? "" : ", " + type.word()) + ")";
            case Level.Source.Step(FieldPath field, BigDecimal step) -> "step(" + field + ", " + of(step) + ")";
        };
    }

    /// As a measure is written in a pipeline file.
    static String of(Measure measure) {
        return switch (measure) {
            case Measure.Count _ -> "count()";
            case Measure.Numeric numeric -> {
                Measure.Input.Decimal input = numeric.input();
                BigDecimal value = input.missing().value();
                yield numeric.fold().word() + "(" + input.field() + ") " + input.type()
                        + missing(input.missing(), value == null ? "ignore" : of(value));
            }
            case Measure.Distinct distinct -> {
                Measure.Missing<String> missing = distinct.input().missing();
                String value = missing.value();
                yield "distinct(" + distinct.input().field() + ")"
                        + missing(missing, value == null ? "ignore" : quoted(value));
            }
        };
    }

    private static String missing(Measure.Missing<?> missing, String instead) {
        return missing.refused() ? "" : " missing " + instead;
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
            case Condition.Number(FieldPath field, Condition.Comparison comparison, BigDecimal number) ->
                leading(field) + " " + comparison.sign() + " " + of(number);
        };
    }

    /// In parentheses if it would fall apart beside an `and`.
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

    /// In the greatest unit that divides it.
    public static String of(Duration duration) {
        long seconds = duration.toSeconds();
        if (seconds <= 0 || !duration.equals(Duration.ofSeconds(seconds))) {
            return duration.toString(); // No time span of a pipeline: its reader will say so.
        }
        if (seconds % 86_400 == 0) {
            return seconds / 86_400 + "d";
        }
        if (seconds % 3_600 == 0) {
            return seconds / 3_600 + "h";
        }
        return seconds % 60 == 0 ? seconds / 60 + "m" : seconds + "s";
    }

    private static String of(BigDecimal number) {
        return number.stripTrailingZeros().toPlainString();
    }

    private static String quoted(String text) {
        return '"' + text.replace("\"", "\"\"") + '"';
    }

    private static void addCondition(String name, @Nullable Condition condition, List<Node.Entry> input) {
        if (condition != null) {
            input.add(entry(name, of(condition)));
        }
    }

    private static Node.Entry typed(String name, FieldPath field, @Nullable String type) {
        return type == null
                ? entry(name, field.toString())
                : Node.Entry.of(name, Node.Mapping.of(List.of(entry("field", field.toString()), entry("type", type))));
    }

    private static Node fields(List<FieldPath> fields) {
        return texts(fields.stream().map(FieldPath::toString).toList());
    }

    private static Node texts(List<String> texts) {
        return Node.Sequence.of(texts.stream().map(Node.Scalar::of).toList());
    }

    private static Node.Entry entry(String name, String text) {
        return Node.Entry.of(name, Node.Scalar.of(text));
    }
}
