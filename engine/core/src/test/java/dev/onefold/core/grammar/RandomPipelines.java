package dev.onefold.core.grammar;

import dev.onefold.core.pipeline.Condition;
import dev.onefold.core.pipeline.Condition.Comparison;
import dev.onefold.core.pipeline.DecimalType;
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
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.pipeline.TimeType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Draws possible pipelines with all that a pipeline may have, strange names included.
final class RandomPipelines {
    private static final String CHARACTERS = "abcXYZ019_-@.,;:()[]{}<>=!'\"\\/ \t\n\u0000äß漢𝄞\u202e";

    private final Random random;

    RandomPipelines(Random random) {
        this.random = random;
    }

    Pipeline pipeline() {
        boolean json = random.nextBoolean();
        Format format = json
                ? new Format.Json(
                        random.nextBoolean() ? List.of() : distinct(1 + random.nextInt(3), () -> field(true)),
                        oneOf(Input.Records.LINES, Input.Records.ARRAY, Input.Records.OBJECTS))
                : new Format.Csv(
                        random.nextBoolean() ? ',' : ";|\t\\ a".charAt(random.nextInt(6)),
                        List.of(),
                        random.nextBoolean() ? '"' : "'`\0".charAt(random.nextInt(3)),
                        random.nextBoolean() ? '.' : ',',
                        "\0 '_".charAt(random.nextInt(4)),
                        random.nextBoolean() ? List.of() : List.of("NULL", "\\N"),
                        "\0#%".charAt(random.nextInt(3)),
                        "\0^".charAt(random.nextInt(2)),
                        random.nextInt(4) == 0);
        Identity identity = switch (random.nextInt(4)) {
            case 0 ->
                Identity.Versioned.of(
                        distinct(1 + random.nextInt(3), () -> field(json)),
                        field(json),
                        random.nextBoolean()
                                ? null
                                : oneOf(TimeType.ISO, TimeType.EPOCH_MILLIS, TimeType.EPOCH_SECONDS));
            case 1 ->
                Identity.ById.of(
                        distinct(1 + random.nextInt(3), () -> field(json)),
                        random.nextBoolean() ? null : duration().plusDays(1));
            case 2 -> new Identity.ByMessage();
            default -> new Identity.ByPlace();
        };
        boolean timed = random.nextBoolean() || identity instanceof Identity.ById byId && byId.horizon() != null;
        return new Pipeline(
                name(),
                new Input(
                        format,
                        identity,
                        timed ? new EventTime(field(json), oneOf(TimeType.values())) : null,
                        identity instanceof Identity.Versioned && random.nextBoolean() ? condition(json, 3) : null,
                        random.nextBoolean() ? condition(json, 3) : null,
                        Edition.UNSTATED,
                        Input.Spellings.NONE,
                        random.nextBoolean() ? List.of() : List.of(new Let(FieldPath.of("n"), term(json, 3)))),
                new Rollups(rollups(json)));
    }

    /// A term with a field in it.
    private Let.Term term(boolean json, int depth) {
        Let.Field field = new Let.Field(field(json));
        if (depth == 0 || field.field().names().getFirst().equals("n")) {
            return new Let.Field(FieldPath.of("other"));
        }
        Let.Term inner = term(json, depth - 1);
        return switch (random.nextInt(7)) {
            case 0 -> new Let.If(condition(json, 2), inner, new Let.Text(text()));
            case 1 -> new Let.Call(oneOf(Let.Function.LOWER, Let.Function.UPPER, Let.Function.TRIM), List.of(inner));
            case 2 -> new Let.Call(Let.Function.CONCAT, List.of(new Let.Text(text()), inner));
            case 3 -> new Let.Call(Let.Function.COALESCE, List.of(inner, new Let.Number(number(14, 14))));
            case 4 ->
                new Let.Call(
                        oneOf(Let.Function.PLUS, Let.Function.MINUS, Let.Function.TIMES),
                        List.of(inner, term(json, depth - 1)));
            case 5 ->
                new Let.Call(
                        Let.Function.DIVIDE,
                        List.of(
                                inner,
                                new Let.Number(number(14, 14)),
                                new Let.Number(new BigDecimal(random.nextInt(9)))));
            default -> field;
        };
    }

    private List<Rollup> rollups(boolean json) {
        return distinct(1 + random.nextInt(4), this::name).stream()
                .map(name -> Rollup.of(
                        name,
                        distinct(random.nextInt(4), () -> level(json).name()).stream()
                                .map(levelName ->
                                        new Level(levelName, source(json), random.nextBoolean() ? null : text()))
                                .filter(level -> isLevelName(level.name()))
                                .toList(),
                        distinct(1 + random.nextInt(4), this::name).stream()
                                .map(measureName -> figure(measureName, json))
                                .toList()))
                .toList();
    }

    private Figure figure(String name, boolean json) {
        Measure measure = measure(name, json);
        if (random.nextInt(3) > 0) {
            return new Figure.Stored(measure);
        }
        Formula formula = formula(measure.named(""), 3);
        DecimalType type = new DecimalType(20, random.nextInt(21));
        return new Figure.Derived(name, formula, formula.divides() || random.nextBoolean() ? type : null);
    }

    /// A formula with a measure in it. No two read one field as a number and as a time.
    private Formula formula(Measure measure, int depth) {
        if (depth == 0 || random.nextInt(4) == 0) {
            return new Formula.Of(measure);
        }
        Formula other = random.nextInt(3) == 0
                ? new Formula.Number(number(5, 5))
                : formula(random.nextBoolean() ? new Measure.Count("") : measure, depth - 1);
        Formula one = formula(measure, depth - 1);
        Formula.Operator operator = oneOf(Formula.Operator.values());
        return random.nextBoolean()
                ? new Formula.Operation(operator, one, other)
                : new Formula.Operation(operator, other, one);
    }

    private Level level(boolean json) {
        Level.Source source = source(json);
        return new Level(random.nextBoolean() ? PipelineText.of(source) : "n" + random.nextInt(99), source, null);
    }

    private static boolean isLevelName(String name) {
        return !name.isBlank()
                && name.length() <= Limits.NAME_LENGTH_MAX
                && name.chars().noneMatch(Character::isISOControl);
    }

    private Level.Source source(boolean json) {
        return switch (random.nextInt(5)) {
            case 0 -> new Level.Source.Text(field(json));
            case 1 -> new Level.Source.Prefix(field(json), 1 + random.nextInt(Limits.PREFIX_LENGTH_MAX));
            case 3 ->
                new Level.Source.Calendar(
                        field(json),
                        oneOf(Level.Unit.WEEK, Level.Unit.WEEK_FROM_SUNDAY, Level.Unit.MONTH, Level.Unit.YEAR),
                        oneOf(TimeType.values()),
                        random.nextBoolean() ? null : ZoneId.of(oneOf("Europe/Madrid", "UTC", "+05:30")));
            case 2 -> new Level.Source.Bucket(field(json), duration(), oneOf(TimeType.values()));
            default -> new Level.Source.Step(field(json), number(14, 14).abs().add(BigDecimal.ONE));
        };
    }

    private Measure measure(String name, boolean json) {
        Condition where = random.nextInt(4) == 0 ? condition(json, 2) : null;
        return switch (random.nextInt(4)) {
            case 0 ->
                where == null
                        ? new Measure.Count(name)
                        : new Measure.Numeric(name, Measure.Fold.SUM, Measure.Input.Decimal.counting(where));
            case 1 -> new Measure.Distinct(name, new Measure.Input.Text(field(json), missing(this::text), where));
            case 2 ->
                new Measure.Numeric(
                        name,
                        oneOf(Measure.Fold.MIN, Measure.Fold.MAX),
                        decimal(new Measure.Source.Time(field(json), oneOf(TimeType.values())), where));
            default ->
                new Measure.Numeric(
                        name,
                        oneOf(Measure.Fold.values()),
                        decimal(new Measure.Source.Product(several(1, () -> field(json))), where));
        };
    }

    private Measure.Input.Decimal decimal(Measure.Source source, @Nullable Condition where) {
        int precision = 1 + random.nextInt(Limits.SUM_DIGITS_MAX);
        int scale = random.nextInt(precision + 1);
        int before = Math.min(precision - scale, 14);
        return new Measure.Input.Decimal(
                source, new DecimalType(precision, scale), missing(() -> number(before, Math.min(scale, 14))), where);
    }

    private <T> Measure.Missing<T> missing(Supplier<T> value) {
        return switch (random.nextInt(3)) {
            case 0 -> Measure.Missing.refuse();
            case 1 -> Measure.Missing.ignore();
            default -> Measure.Missing.take(value.get());
        };
    }

    Condition condition(boolean json, int depth) {
        return switch (random.nextInt(depth == 0 ? 3 : 6)) {
            case 0 -> new Condition.Missing(field(json));
            case 1 -> new Condition.TextIn(field(json), several(1, this::text), random.nextBoolean());
            case 2 -> new Condition.Number(field(json), oneOf(Comparison.values()), number(14, 14));
            case 3 -> new Condition.Not(condition(json, depth - 1));
            case 4 -> new Condition.And(several(2, () -> condition(json, depth - 1)));
            default -> new Condition.Or(several(2, () -> condition(json, depth - 1)));
        };
    }

    private FieldPath field(boolean json) {
        return new FieldPath(
                json
                        ? several(1, () -> random.nextInt(8) == 0 ? oneOf("not", "and", "missing", "in") : text())
                        : List.of(text()));
    }

    private String name() {
        return "n" + Integer.toString(random.nextInt(1_000_000), 36) + (random.nextBoolean() ? "" : "-x");
    }

    String text() {
        int[] points = CHARACTERS.codePoints().toArray();
        return IntStream.range(0, random.nextInt(6))
                .mapToObj(i -> Character.toString(points[random.nextInt(points.length)]))
                .reduce("", String::concat);
    }

    /// A number without trailing zeros, with at most this number of digits before and after its point.
    private BigDecimal number(int before, int after) {
        BigInteger digits = new BigInteger(BigInteger.TEN.pow(before + after).bitLength() - 1, random);
        return new BigDecimal(random.nextBoolean() ? digits : digits.negate(), after).stripTrailingZeros();
    }

    private Duration duration() {
        return Duration.ofSeconds((1 + random.nextInt(100)) * oneOf(1L, 60L, 3_600L, 86_400L));
    }

    private <T> List<T> several(int min, Supplier<T> draw) {
        return IntStream.range(0, min + random.nextInt(3))
                .mapToObj(i -> draw.get())
                .toList();
    }

    private <T> List<T> distinct(int count, Supplier<T> draw) {
        List<T> drawn = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            T next = draw.get();
            if (!drawn.contains(next)) {
                drawn.add(next);
            }
        }
        return drawn;
    }

    @SafeVarargs
    final <T> T oneOf(T... choices) {
        return choices[random.nextInt(choices.length)];
    }
}
