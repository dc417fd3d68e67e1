package dev.onefold.core.grammar;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.document.Spelling;
import dev.onefold.core.pipeline.DecimalType;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Level;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.TimeType;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Reads roll-ups, their levels and their measures. Not thread-safe.
final class RollupReader {
    private static final Pattern MEASURE_NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_-]*");
    private static final List<String> LEVEL_FUNCTIONS = List.of("bucket", "prefix", "step");
    private static final List<String> MEASURE_FUNCTIONS = Stream.concat(
                    Stream.concat(
                            Stream.of("count"), Stream.of(Measure.Fold.values()).map(Measure.Fold::word)),
                    Stream.of("distinct"))
            .toList();
    private static final String TYPE_ADVICE = "write decimal(precision,scale): digits in all, 1 to "
            + Limits.SUM_DIGITS_MAX + ", and digits after the point, 0 to precision";

    private final FieldGrammar fields;
    private final Problems problems;

    RollupReader(FieldGrammar fields, Problems problems) {
        this.fields = fields;
        this.problems = problems;
    }

    /// The roll-ups of a file, as far as they are right.
    List<Rollup> rollups(Section file) {
        List<Rollup> rollups = new ArrayList<>();
        Node single = file.get("rollup");
        Node several = file.get("rollups");
        if (single != null && several != null) {
            file.refuse("rollups", "stands beside rollup", "write all roll-ups under rollups, each with a name");
        } else if (single == null && several == null) {
            file.require("rollup", "write what is to be totalled under rollup: its levels and its measures");
        }
        if (single != null) {
            add(rollup(Rollup.MAIN, single, file.path("rollup")), rollups);
        }
        if (several instanceof Node.Mapping mapping) {
            severalRollups(mapping, file.path("rollups"), rollups);
        } else if (several != null) {
            Section.refuseKind(several, file.path("rollups"), "roll-ups, each with a name: 'by-town: …'", problems);
        }
        int groups =
                rollups.stream().mapToInt(rollup -> rollup.levels().size() + 1).sum();
        if (groups > Limits.GROUPS_PER_RECORD_MAX) {
            file.refuse(
                    single != null ? "rollup" : "rollups",
                    "make one record touch " + groups + " groups (levels + 1 over all roll-ups)",
                    "at most " + Limits.GROUPS_PER_RECORD_MAX + " are possible");
        }
        return rollups;
    }

    private void severalRollups(Node.Mapping mapping, String path, List<Rollup> rollups) {
        Map<String, Node.Entry> entries = Section.unique(mapping, path, problems);
        if (entries.isEmpty()) {
            problems.add(mapping.place(), path, "", "has no roll-up", "write at least one, with a name");
        }
        refuseTooMany(mapping, entries.size(), Limits.ROLLUPS_MAX, path);
        entries.forEach((name, entry) -> {
            String rollupPath = Section.pathTo(path, name);
            Expression.read(entry.name(), rollupPath, problems, PipelineReader::name);
            add(rollup(name, entry.value(), rollupPath), rollups);
        });
    }

    private @Nullable Rollup rollup(String name, Node node, String path) {
        Section settings = Section.of(node, Section.Kind.ROLLUP, path, problems);
        if (settings == null) {
            return null;
        }
        Node levelsNode =
                settings.require("levels", "write the fields to group by, outermost first; [] for a grand total alone");
        Node measuresNode = settings.require("measures", "write at least one, like 'trades: count()'");
        List<Level> levels = levelsNode == null ? List.of() : levels(levelsNode, settings.path("levels"));
        List<Measure> measures = measuresNode == null ? List.of() : measures(measuresNode, settings.path("measures"));
        return new Rollup(name, levels, measures);
    }

    private List<Level> levels(Node node, String path) {
        if (!(node instanceof Node.Sequence sequence)) {
            Section.refuseKind(node, path, "a list: levels: [field, field]", problems);
            return List.of();
        }
        refuseTooMany(node, sequence.items().size(), Limits.LEVELS_MAX, path);
        List<Level> levels = new ArrayList<>();
        Map<String, Integer> names = new HashMap<>();
        for (int i = 0; i < sequence.items().size(); i++) {
            Node item = sequence.items().get(i);
            String itemPath = path + "[" + i + "]";
            Level level = item instanceof Node.Mapping
                    ? namedLevel(item, itemPath)
                    : Section.read(item, itemPath, this::level, problems);
            if (level == null) {
                continue;
            }
            Integer first = names.putIfAbsent(level.name(), i);
            if (first != null) {
                problems.add(
                        item.place(),
                        itemPath,
                        level.name(),
                        "is also the name of " + path + "[" + first + "]",
                        "give one of them another: {field: …, name: …}");
            }
            levels.add(level);
        }
        return levels;
    }

    private @Nullable Level namedLevel(Node node, String path) {
        Section settings = Section.of(node, Section.Kind.LEVEL, path, problems);
        if (settings == null || settings.require("field", "write the field, or a function of it") == null) {
            return null;
        }
        Level level = settings.read("field", this::level);
        String name = settings.read("name", RollupReader::levelName);
        String missing = settings.read("missing", Expression::whole);
        if (level == null || settings.has("name") && name == null) {
            return null;
        }
        if (settings.has("missing") && level.missing() != null) {
            settings.refuse("missing", "is also said in field", "say it once");
        }
        return new Level(
                name == null ? level.name() : name, level.source(), missing == null ? level.missing() : missing);
    }

    private static String levelName(Expression expression) {
        String name = expression.whole();
        if (name.isBlank()
                || name.length() > Limits.NAME_LENGTH_MAX
                || name.chars().anyMatch(Character::isISOControl)) {
            throw expression.refuseFrom(
                    0,
                    name.isBlank() ? "is empty" : "is not a name",
                    "write 1 to " + Limits.NAME_LENGTH_MAX + " characters, without line breaks or tabs");
        }
        return name;
    }

    private Level level(Expression expression) {
        Level.Source source = source(expression);
        String missing = null;
        if (expression.takeWord("missing")) {
            missing = expression.quotedText();
            if (missing == null) {
                throw expression.refuse(
                        "is no text", "write what stands in for a missing value, in quotes: missing \"unknown\"");
            }
        }
        expression.refuseArithmetic();
        String right = "a level is a field or one function of it, and may end with: missing \"text\"";
        expression.end(expression.isPlainWords() ? right + "; " + expression.nameAdvice() : right);
        return new Level(PipelineText.of(source), source, missing);
    }

    private Level.Source source(Expression expression) {
        int start = expression.offset();
        String word = expression.word();
        if (word.isEmpty() || !expression.take('(')) {
            expression.back(start);
            return new Level.Source.Text(fields.read(expression));
        }
        return switch (word) {
            case "bucket" -> bucket(expression);
            case "prefix" -> prefix(expression);
            case "step" -> step(expression);
            default -> throw unknownFunction(expression, start, word, LEVEL_FUNCTIONS);
        };
    }

    private Level.Source bucket(Expression expression) {
        String right = "write bucket(field, 1h) or bucket(field, 1h, epoch-millis)";
        FieldPath field = fields.read(expression);
        expression.expect(',', right);
        Duration size = expression.duration(Limits.DURATION_DAYS_MAX);
        TimeType type = TimeType.AUTO;
        if (expression.take(',')) {
            type = PipelineReader.timeType(expression);
        }
        expression.expect(')', right);
        return new Level.Source.Bucket(field, size, type);
    }

    private Level.Source prefix(Expression expression) {
        String right = "write prefix(field, 2)";
        FieldPath field = fields.read(expression);
        expression.expect(',', right);
        int length = expression.wholeNumber(1, Limits.PREFIX_LENGTH_MAX);
        expression.expect(')', right);
        return new Level.Source.Prefix(field, length);
    }

    private Level.Source step(Expression expression) {
        String right = "write step(field, 0.5)";
        FieldPath field = fields.read(expression);
        expression.expect(',', right);
        int start = expression.offset();
        BigDecimal step = expression.number();
        if (step == null) {
            throw expression.refuse("is not a number", right);
        }
        if (step.signum() <= 0) {
            throw expression.refuseFrom(start, "is no step", "a step is above zero");
        }
        expression.expect(')', right);
        return new Level.Source.Step(field, step);
    }

    private List<Measure> measures(Node node, String path) {
        if (!(node instanceof Node.Mapping mapping)) {
            Section.refuseKind(node, path, "measures, each with a name: 'trades: count()'", problems);
            return List.of();
        }
        Map<String, Node.Entry> entries = Section.unique(mapping, path, problems);
        if (entries.isEmpty()) {
            problems.add(node.place(), path, "", "has no measure", "write at least one, like 'trades: count()'");
        }
        refuseTooMany(node, entries.size(), Limits.MEASURES_MAX, path);
        List<Measure> measures = new ArrayList<>();
        entries.forEach((name, entry) -> {
            String measurePath = Section.pathTo(path, name);
            Expression.read(entry.name(), measurePath, problems, RollupReader::measureName);
            add(Section.read(entry.value(), measurePath, text -> measure(name, text), problems), measures);
        });
        return measures;
    }

    private static String measureName(Expression expression) {
        String name = expression.whole();
        if (name.length() > Limits.NAME_LENGTH_MAX
                || !MEASURE_NAME.matcher(name).matches()) {
            throw expression.refuseFrom(
                    0,
                    name.isEmpty() ? "is empty" : "is not a name of a measure",
                    "write letters A-Z and a-z, digits, '_' and '-', at most " + Limits.NAME_LENGTH_MAX
                            + ", '-' not first");
        }
        return name;
    }

    private Measure measure(String name, Expression expression) {
        int start = expression.offset();
        String word = expression.word();
        if (!MEASURE_FUNCTIONS.contains(word)) {
            if (word.isEmpty()) {
                throw expression.refuse("is no measure", "write one like count() or sum(Value) decimal(18,2)");
            }
            throw unknownFunction(expression, start, word, MEASURE_FUNCTIONS);
        }
        expression.expect('(', "write " + (word.equals("count") ? "count()" : word + "(field)"));
        Measure measure = switch (word) {
            case "count" -> {
                expression.expect(')', "count counts rows and takes no field: write count()");
                yield new Measure.Count(name);
            }
            case "distinct" -> new Measure.Distinct(name, textInput(expression));
            default -> new Measure.Numeric(name, fold(word), decimalInput(expression));
        };
        expression.end(
                switch (measure) {
                    case Measure.Count _ -> "write count()";
                    case Measure.Distinct _ -> "it may end with: missing ignore, or missing \"text\"";
                    case Measure.Numeric _ -> "it may end with: missing ignore, or missing 0";
                });
        return measure;
    }

    private static Measure.Fold fold(String word) {
        return Stream.of(Measure.Fold.values())
                .filter(fold -> fold.word().equals(word))
                .findFirst()
                .orElseThrow();
    }

    private Measure.Input.Text textInput(Expression expression) {
        FieldPath field = fieldInParentheses(expression);
        return new Measure.Input.Text(
                field,
                missing(
                        expression,
                        "write missing ignore, or a text in quotes: missing \"none\"",
                        Expression::quotedText));
    }

    private Measure.Input.Decimal decimalInput(Expression expression) {
        FieldPath field = fieldInParentheses(expression);
        DecimalType type = decimalType(expression);
        int start = expression.offset();
        Measure.Missing<BigDecimal> missing =
                missing(expression, "write missing ignore, or a number: missing 0", Expression::number);
        BigDecimal value = missing.value();
        if (value != null && value.signum() != 0 && !fits(value, type)) {
            throw expression.refuseFrom(
                    start,
                    "is no " + type,
                    String.format(
                            Locale.ROOT,
                            "at most %d digits before the point, %d after it, and %d in all are possible",
                            type.precision() - type.scale(),
                            type.scale(),
                            type.valueDigitsMax()));
        }
        return new Measure.Input.Decimal(field, type, missing);
    }

    private static boolean fits(BigDecimal value, DecimalType type) {
        return value.scale() <= type.scale()
                && value.precision() - value.scale() <= type.precision() - type.scale()
                && Math.max(value.precision(), value.precision() - value.scale()) <= type.valueDigitsMax();
    }

    private FieldPath fieldInParentheses(Expression expression) {
        FieldPath field = fields.read(expression);
        expression.refuseArithmetic();
        expression.expect(
                ')', "close the parenthesis after the field; a name with other characters is in double quotes");
        return field;
    }

    private static DecimalType decimalType(Expression expression) {
        if (!expression.takeWord("decimal")) {
            throw expression.refuse("is unexpected, expected the type of the number", TYPE_ADVICE);
        }
        expression.expect('(', TYPE_ADVICE);
        int precision = expression.wholeNumber(1, Limits.SUM_DIGITS_MAX);
        expression.expect(',', TYPE_ADVICE);
        int scale = expression.wholeNumber(0, precision);
        expression.expect(')', TYPE_ADVICE);
        return new DecimalType(precision, scale);
    }

    private static <T> Measure.Missing<T> missing(
            Expression expression, String right, Function<Expression, @Nullable T> literal) {
        if (!expression.takeWord("missing")) {
            return Measure.Missing.refuse();
        }
        if (expression.takeWord("ignore")) {
            return Measure.Missing.ignore();
        }
        T value = literal.apply(expression);
        if (value == null) {
            throw expression.refuse("cannot stand in for a missing value", right);
        }
        return Measure.Missing.take(value);
    }

    private static Expression.Refusal unknownFunction(
            Expression expression, int start, String word, List<String> functions) {
        expression.back(start);
        expression.word();
        return expression.refuseFrom(start, "is no function here", Spelling.advice(word, functions));
    }

    private void refuseTooMany(Node node, int count, int countMax, String path) {
        if (count > countMax) {
            problems.add(node.place(), path, "", "has " + count + " entries", "at most " + countMax + " are possible");
        }
    }

    private static <T> void add(@Nullable T item, List<T> list) {
        if (item != null) {
            list.add(item);
        }
    }
}
