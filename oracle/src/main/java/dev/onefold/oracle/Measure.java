package dev.onefold.oracle;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// One figure of a roll-up.
///
/// @param function `count`, `sum`, `average`, `min`, `max` or `distinct`
/// @param path the field it is about; none for `count`
/// @param onMissing what is done when the field is missing
/// @param instead the value to take then, a number or a text
record Measure(
        String name,
        String function,
        List<String> path,
        int precision,
        int scale,
        OnMissing onMissing,
        @Nullable Object instead) {
    /// What is done when a field is missing.
    enum OnMissing {
        REFUSE,
        IGNORE,
        TAKE
    }

    static Measure parse(String name, String text) {
        Scan scan = new Scan(text);
        Measure measure = function(name, scan);
        if (scan.takeWord("missing")) {
            boolean ignored = !scan.isQuoteNext() && scan.takeWord("ignore");
            Object instead = ignored ? null : measure.isNumeric() ? scan.number() : scan.quoted();
            measure = new Measure(
                    name,
                    measure.function,
                    measure.path,
                    measure.precision,
                    measure.scale,
                    ignored ? OnMissing.IGNORE : OnMissing.TAKE,
                    instead);
        }
        scan.expectEnd();
        return measure;
    }

    private static Measure function(String name, Scan scan) {
        if (scan.takeFunction("count")) {
            scan.expect(")");
            return new Measure(name, "count", List.of(), 0, 0, OnMissing.IGNORE, null);
        }
        if (scan.takeFunction("distinct")) {
            List<String> path = scan.path();
            scan.expect(")");
            return new Measure(name, "distinct", path, 0, 0, OnMissing.REFUSE, null);
        }
        for (String function : List.of("sum", "average", "min", "max")) {
            if (scan.takeFunction(function)) {
                List<String> path = scan.path();
                scan.expect(")");
                scan.expect("decimal");
                scan.expect("(");
                int precision = scan.integer();
                scan.expect(",");
                int scale = scan.integer();
                scan.expect(")");
                return new Measure(name, function, path, precision, scale, OnMissing.REFUSE, null);
            }
        }
        scan.expect("count, sum, average, min, max or distinct");
        throw new AssertionError("expected above");
    }

    private boolean isNumeric() {
        return !function.equals("count") && !function.equals("distinct");
    }

    /// What a record gives to this measure: a number, a text, or null for nothing.
    @Nullable
    Object input(Document document) {
        if (function.equals("count")) {
            return null;
        }
        Object value = document.at(path);
        if (value == null) {
            return switch (onMissing) {
                case REFUSE -> throw new Refused("the measure " + name + " is missing");
                case IGNORE -> null;
                case TAKE -> instead;
            };
        }
        return isNumeric() ? Values.measured(value, precision, scale) : Values.text(value);
    }

    /// The figure over the inputs of the rows of a group; null when there is none.
    @Nullable
    String of(List<@Nullable Object> inputs) {
        if (function.equals("count")) {
            return String.valueOf(inputs.size());
        }
        List<Object> present =
                inputs.stream().filter(Objects::nonNull).map(Object.class::cast).toList();
        if (function.equals("distinct")) {
            return String.valueOf(present.stream().distinct().count());
        }
        List<BigDecimal> numbers = present.stream().map(BigDecimal.class::cast).toList();
        BigDecimal sum = numbers.stream().reduce(BigDecimal.ZERO, BigDecimal::add);
        BigDecimal figure = switch (function) {
            case "sum" -> sum;
            case "average" ->
                numbers.isEmpty()
                        ? null
                        : sum.divide(BigDecimal.valueOf(numbers.size()), scale, RoundingMode.HALF_EVEN);
            case "min" -> numbers.stream().min(Comparator.naturalOrder()).orElse(null);
            default -> numbers.stream().max(Comparator.naturalOrder()).orElse(null);
        };
        return figure == null ? null : figure.setScale(scale).toPlainString();
    }
}
