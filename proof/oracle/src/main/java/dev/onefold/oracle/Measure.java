package dev.onefold.oracle;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// One figure of a roll-up.
///
/// @param function `count`, `sum`, `average`, `min`, `max` or `distinct`
/// @param factors the fields whose product it is about; none for `count`
/// @param timeType how the field says a time, which is taken in seconds; null if it is no time
/// @param onMissing what is done when a field is missing
/// @param instead the value to take then, a number or a text
/// @param where a record for which it does not hold gives nothing; null if there is none
record Measure(
        String name,
        String function,
        List<List<String>> factors,
        @Nullable String timeType,
        int precision,
        int scale,
        OnMissing onMissing,
        @Nullable Object instead,
        @Nullable Condition where) {
    private static final int TEXT_BYTES_MAX = 2_000;
    private static final int FACTOR_DIGITS_MAX = 28;

    /// What is done when a field is missing.
    enum OnMissing {
        REFUSE,
        IGNORE,
        TAKE
    }

    /// Reads one function, with what may stand behind it.
    ///
    /// @param time the time of an event and how it is written; null if it has none
    static Measure call(String name, Scan scan, @Nullable List<String> time, String timeType) {
        String function = scan.word();
        scan.expect("(");
        List<List<String>> factors = new ArrayList<>();
        String type = null;
        if (!function.equals("count")) {
            do {
                factors.add(scan.path());
            } while (scan.take("*"));
            type = scan.take(",") ? scan.word() : null;
        }
        scan.expect(")");
        boolean isNumeric = !function.equals("count") && !function.equals("distinct");
        boolean typed = isNumeric && scan.takeWord("decimal");
        int precision = 19; // Seconds to the nanosecond.
        int scale = 9;
        if (typed) {
            scan.expect("(");
            precision = scan.integer();
            scan.expect(",");
            scale = scan.integer();
            scan.expect(")");
        } else if (isNumeric && type == null && factors.equals(Collections.singletonList(time))) {
            type = timeType;
        }
        OnMissing onMissing = OnMissing.REFUSE;
        Object instead = null;
        if (scan.takeWord("missing")) {
            boolean ignored = !scan.isQuoteNext() && scan.takeWord("ignore");
            onMissing = ignored ? OnMissing.IGNORE : OnMissing.TAKE;
            instead = ignored ? null : isNumeric ? scan.number() : scan.quoted();
        }
        Condition where = scan.takeWord("where") ? Condition.next(scan) : null;
        return new Measure(name, function, factors, type, precision, scale, onMissing, instead, where);
    }

    private boolean isNumeric() {
        return !function.equals("count") && !function.equals("distinct");
    }

    /// Whether its factors are numbers, and no times.
    boolean isOfNumbers() {
        return isNumeric() && timeType == null;
    }

    /// All fields that it reads.
    List<List<String>> paths() {
        List<List<String>> paths = new ArrayList<>(factors);
        if (where != null) {
            paths.addAll(where.paths());
        }
        return paths;
    }

    /// What a record gives to this measure: a number, a text, or null for nothing.
    @Nullable
    Object input(Document document) {
        if (where != null && !where.holds(document)) {
            return null;
        }
        if (function.equals("count")) {
            return where == null ? null : BigDecimal.ONE;
        }
        List<@Nullable Object> values = new ArrayList<>();
        factors.forEach(path -> values.add(document.at(path)));
        if (values.contains(null)) {
            return switch (onMissing) {
                case REFUSE -> throw new Refused("the measure " + name + " is missing");
                case IGNORE -> null;
                case TAKE -> instead;
            };
        }
        if (!isNumeric()) {
            String text = document.text(values.getFirst());
            if (text != null && Values.utf8Bytes(List.of(text)) > TEXT_BYTES_MAX) {
                throw new Refused("a text of more than 2,000 bytes is counted");
            }
            return text;
        }
        if (timeType != null) {
            BigDecimal seconds = Objects.requireNonNull(document.time(values.getFirst(), timeType));
            return Values.measured(Values.likely(seconds), precision, scale);
        }
        BigDecimal product = BigDecimal.ONE;
        for (Object value : values) {
            BigDecimal factor = Objects.requireNonNull(Values.decimal(value));
            product = product.multiply(values.size() == 1 ? factor : factor(factor));
        }
        return Values.measured(product, precision, scale);
    }

    private static BigDecimal factor(BigDecimal number) {
        BigDecimal digits = number.signum() == 0 ? BigDecimal.ZERO : number.stripTrailingZeros();
        if (digits.scale() > FACTOR_DIGITS_MAX || digits.precision() - digits.scale() > FACTOR_DIGITS_MAX) {
            throw new Refused("a factor of too many digits");
        }
        return digits;
    }

    /// The figure over the inputs of the rows of a group; null when there is none.
    @Nullable
    String of(List<@Nullable Object> inputs) {
        if (function.equals("count")) {
            return String.valueOf(where == null ? inputs.size() : inputs.size() - Collections.frequency(inputs, null));
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
