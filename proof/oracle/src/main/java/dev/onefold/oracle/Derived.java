package dev.onefold.oracle;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The derived fields of a pipeline, in the order of the file. A value is null, where it is missing, a [String], a
/// [Boolean] or a [BigDecimal].
///
/// @param terms by the name
record Derived(Map<String, Term> terms) {
    private static final int BYTES_MAX = 10_000;
    private static final int DIGITS_MAX = 1_000;
    private static final int OPERAND_DIGITS_MAX = 28;
    private static final String BLANKS = "[\\p{Z}\\t\\n\\x0B\\f\\r]*";
    private static final Set<String> OF_TEXTS =
            Set.of("lower", "upper", "trim", "concat", "substring", "replace", "split");

    /// A value that is computed of a record, the paths that it reads, and those that it may take for numbers.
    record Term(Value value, Set<List<String>> paths, Set<List<String>> numbers) {}

    /// How a value is computed.
    interface Value {
        @Nullable
        Object of(Document document);
    }

    static Derived parse(Map<?, ?> setting) {
        Map<String, Term> terms = new LinkedHashMap<>();
        setting.forEach((name, text) -> {
            Scan scan = new Scan(String.valueOf(text));
            terms.put(String.valueOf(name), sum(scan));
            scan.expectEnd();
        });
        return new Derived(terms);
    }

    /// The paths, and all that those among them are made of that are derived.
    Set<List<String>> closure(Collection<List<String>> paths) {
        Set<List<String>> all = new LinkedHashSet<>(paths);
        List<String> names = new ArrayList<>(terms.keySet());
        for (String name : names.reversed()) {
            if (all.contains(List.of(name))) {
                all.addAll(term(name).paths());
            }
        }
        return all;
    }

    private Term term(String name) {
        Term term = terms.get(name);
        if (term == null) {
            throw new IllegalArgumentException("There is no derived field " + name + ".");
        }
        return term;
    }

    /// The paths among these that are fields of a record.
    List<List<String>> ofRecord(Collection<List<String>> paths) {
        return paths.stream()
                .filter(path -> path.size() > 1 || !terms.containsKey(path.getFirst()))
                .toList();
    }

    /// The record with the derived fields among these paths.
    ///
    /// @param done those that it has already; the new ones are added
    Document derive(Document document, Collection<List<String>> paths, Set<String> done) {
        Set<List<String>> wanted = closure(paths);
        Document derived = document;
        for (String name : terms.keySet()) {
            if (wanted.contains(List.of(name)) && done.add(name)) {
                if (derived.fields().containsKey(name)) {
                    throw new Refused("a record has the derived field " + name);
                }
                Map<String, @Nullable Object> fields = new LinkedHashMap<>(derived.fields());
                Object value = term(name).value().of(derived);
                fields.put(name, value instanceof BigDecimal number ? new Document.Literal(written(number)) : value);
                derived = new Document(fields, derived.twice(), derived.spellings());
            }
        }
        return derived;
    }

    private static Term sum(Scan scan) {
        Term term = product(scan);
        while (true) {
            String sign = scan.take("+") ? "+" : scan.take("-") ? "-" : "";
            if (sign.isEmpty()) {
                return term;
            }
            term = call(sign, List.of(term, product(scan)));
        }
    }

    private static Term product(Scan scan) {
        Term term = one(scan);
        while (scan.take("*")) {
            term = call("*", List.of(term, one(scan)));
        }
        return term;
    }

    private static Term one(Scan scan) {
        if (scan.take("(")) {
            Term inner = sum(scan);
            scan.expect(")");
            return inner;
        }
        if (scan.isQuoteNext()) {
            String text = scan.quoted();
            return new Term(_ -> text, Set.of(), Set.of());
        }
        if (scan.isNumberNext()) {
            BigDecimal number = scan.number();
            return new Term(_ -> number, Set.of(), Set.of());
        }
        if (scan.takeFunction("if")) {
            return choice(scan);
        }
        if (scan.takeFunction("field")) {
            Term field = field(scan.path());
            scan.expect(")");
            return field;
        }
        if (!scan.isCallNext()) {
            return field(scan.path());
        }
        String name = scan.run("[a-z]");
        scan.expect("(");
        List<Term> arguments = new ArrayList<>();
        do {
            arguments.add(sum(scan));
        } while (scan.take(","));
        scan.expect(")");
        return call(name, arguments);
    }

    private static Term field(List<String> path) {
        return new Term(document -> read(document.at(path)), Set.of(path), Set.of(path));
    }

    private static Term choice(Scan scan) {
        Condition condition = Condition.next(scan);
        scan.expect(",");
        Term then = sum(scan);
        scan.expect(",");
        Term otherwise = sum(scan);
        scan.expect(")");
        Set<List<String>> paths = new LinkedHashSet<>(condition.paths());
        paths.addAll(then.paths);
        paths.addAll(otherwise.paths);
        Set<List<String>> numbers = new LinkedHashSet<>(condition.numbers());
        numbers.addAll(then.numbers);
        numbers.addAll(otherwise.numbers);
        return new Term(document -> (condition.holds(document) ? then : otherwise).value.of(document), paths, numbers);
    }

    private static Term call(String function, List<Term> arguments) {
        Set<List<String>> paths = new LinkedHashSet<>();
        Set<List<String>> numbers = new LinkedHashSet<>();
        arguments.forEach(argument -> paths.addAll(argument.paths));
        if (!OF_TEXTS.contains(function)) {
            arguments.forEach(argument -> numbers.addAll(argument.numbers));
        }
        return new Term(document -> result(function, arguments, document), paths, numbers);
    }

    private static @Nullable Object read(@Nullable Object value) {
        return value instanceof Document.Literal ? Values.decimal(value) : bounded(Values.text(value));
    }

    private static @Nullable Object result(String function, List<Term> arguments, Document document) {
        List<Object> values = new ArrayList<>();
        for (Term argument : arguments) {
            Object value = argument.value.of(document);
            if (function.equals("coalesce") && value != null) {
                return value;
            }
            if (!function.equals("coalesce") && value == null) {
                return null;
            }
            if (value != null) {
                values.add(value);
            }
        }
        if (values.isEmpty()) {
            return null;
        }
        if (OF_TEXTS.contains(function)) {
            String text = bounded(ofTexts(function, values));
            return text == null || text.isEmpty() ? null : text;
        }
        BigDecimal left = operand(values.getFirst());
        BigDecimal right = operand(values.get(1));
        return switch (function) {
            case "+" -> left.add(right);
            case "-" -> left.subtract(right);
            case "*" -> left.multiply(right);
            case "divide" -> right.signum() == 0 ? null : left.divide(right, number(values, 2), RoundingMode.HALF_EVEN);
            default -> throw new IllegalArgumentException("There is no function " + function + ".");
        };
    }

    private static String ofTexts(String function, List<Object> values) {
        String text = text(values.getFirst());
        return switch (function) {
            case "lower" -> text.toLowerCase(Locale.ROOT);
            case "upper" -> text.toUpperCase(Locale.ROOT);
            case "trim" -> text.replaceFirst("^" + BLANKS, "").replaceFirst(BLANKS + "\\z", "");
            case "concat" -> String.join("", values.stream().map(Derived::text).toList());
            case "substring" -> {
                int[] points = text.codePoints()
                        .skip(number(values, 1) - 1L)
                        .limit(values.size() > 2 ? number(values, 2) : Integer.MAX_VALUE)
                        .toArray();
                yield new String(points, 0, points.length);
            }
            case "replace" -> text.replace(text(values.get(1)), text(values.get(2)));
            case "split" -> {
                String[] parts = text.split(Pattern.quote(text(values.get(1))), -1);
                int part = number(values, 2);
                yield part > parts.length ? "" : parts[part - 1];
            }
            default -> throw new IllegalArgumentException("There is no function " + function + ".");
        };
    }

    private static int number(List<Object> values, int index) {
        return ((BigDecimal) values.get(index)).intValueExact();
    }

    private static String text(Object value) {
        return value instanceof BigDecimal number ? written(number) : String.valueOf(value);
    }

    private static String written(BigDecimal number) {
        if (number.signum() != 0 && (Math.abs((long) number.scale()) > DIGITS_MAX || number.precision() > DIGITS_MAX)) {
            throw new Refused("a number of more than 1,000 digits");
        }
        return Values.plain(number);
    }

    private static BigDecimal operand(Object value) {
        BigDecimal number = value instanceof BigDecimal found ? found : Values.decimal(value);
        BigDecimal shortest = number == null || number.signum() == 0 ? BigDecimal.ZERO : number.stripTrailingZeros();
        if (shortest.scale() > OPERAND_DIGITS_MAX
                || (long) shortest.precision() - shortest.scale() > OPERAND_DIGITS_MAX) {
            throw new Refused("more than 28 digits before or behind the point");
        }
        return shortest;
    }

    private static @Nullable String bounded(@Nullable String text) {
        if (text != null && text.getBytes(StandardCharsets.UTF_8).length > BYTES_MAX) {
            throw new Refused("a text of more than 10,000 bytes");
        }
        return text;
    }
}
