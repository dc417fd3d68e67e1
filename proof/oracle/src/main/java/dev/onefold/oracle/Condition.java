package dev.onefold.oracle;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// A condition of a pipeline file. Each comparison in it is looked at, so that one that cannot be made is found
/// wherever it stands.
interface Condition {
    boolean holds(Document document);

    /// The fields that are asked about.
    List<List<String>> paths();

    /// The fields that are compared with numbers.
    default List<List<String>> numbers() {
        return List.of();
    }

    static Condition parse(String text) {
        Scan scan = new Scan(text);
        Condition condition = or(scan);
        scan.expectEnd();
        return condition;
    }

    /// Reads a condition as far as it goes.
    static Condition next(Scan scan) {
        return or(scan);
    }

    private static Condition or(Scan scan) {
        Condition condition = and(scan);
        while (scan.takeWord("or")) {
            condition = new Join(condition, and(scan), false);
        }
        return condition;
    }

    private static Condition and(Scan scan) {
        Condition condition = not(scan);
        while (scan.takeWord("and")) {
            condition = new Join(condition, not(scan), true);
        }
        return condition;
    }

    private static Condition not(Scan scan) {
        if (scan.takeWord("not")) {
            return new Not(not(scan));
        }
        if (scan.take("(")) {
            Condition inner = or(scan);
            scan.expect(")");
            return inner;
        }
        return comparison(scan);
    }

    private static Condition comparison(Scan scan) {
        List<String> path = scan.path();
        if (scan.takeWord("is")) {
            boolean negated = scan.takeWord("not");
            scan.expect("missing");
            return negated ? new Not(new Missing(path)) : new Missing(path);
        }
        boolean negated = scan.takeWord("not");
        if (negated || scan.takeWord("in")) {
            if (negated) {
                scan.expect("in");
            }
            Set<String> texts = new TreeSet<>();
            scan.expect("(");
            do {
                texts.add(scan.quoted());
            } while (scan.take(","));
            scan.expect(")");
            return new OneOf(path, texts, !negated);
        }
        // The longer sign first: '<' is also the beginning of '<='.
        for (String sign : List.of("!=", "<=", ">=", "=", "<", ">")) {
            if (scan.take(sign)) {
                return right(scan, path, sign);
            }
        }
        scan.expect("a comparison");
        throw new AssertionError("expected above");
    }

    private static Condition right(Scan scan, List<String> path, String sign) {
        boolean isEquality = sign.equals("=") || sign.equals("!=");
        if (isEquality && scan.isQuoteNext()) {
            return new OneOf(path, Set.of(scan.quoted()), sign.equals("="));
        }
        for (String flag : List.of("true", "false")) {
            if (isEquality && scan.takeWord(flag)) {
                return new Truth(path, flag.equals("true") == sign.equals("="));
            }
        }
        return new Compare(path, sign, scan.number());
    }

    /// Both, or at least one.
    record Join(Condition left, Condition right, boolean both) implements Condition {
        @Override
        public boolean holds(Document document) {
            return both ? left.holds(document) && right.holds(document) : left.holds(document) || right.holds(document);
        }

        @Override
        public List<List<String>> paths() {
            List<List<String>> paths = new ArrayList<>(left.paths());
            paths.addAll(right.paths());
            return Collections.unmodifiableList(paths);
        }

        @Override
        public List<List<String>> numbers() {
            List<List<String>> numbers = new ArrayList<>(left.numbers());
            numbers.addAll(right.numbers());
            return Collections.unmodifiableList(numbers);
        }
    }

    /// The contrary.
    record Not(Condition inner) implements Condition {
        @Override
        public boolean holds(Document document) {
            return !inner.holds(document);
        }

        @Override
        public List<List<String>> paths() {
            return inner.paths();
        }

        @Override
        public List<List<String>> numbers() {
            return inner.numbers();
        }
    }

    /// Nothing stands there, or null.
    record Missing(List<String> path) implements Condition {
        @Override
        public boolean holds(Document document) {
            return document.at(path) == null;
        }

        @Override
        public List<List<String>> paths() {
            return List.of(path);
        }
    }

    /// The text is there and is, or is not, one of these.
    record OneOf(List<String> path, Set<String> texts, boolean wanted) implements Condition {
        @Override
        public boolean holds(Document document) {
            @Nullable String text = Values.text(document.at(path));
            return text != null && document.isOneOf(texts, text) == wanted;
        }

        @Override
        public List<List<String>> paths() {
            return List.of(path);
        }
    }

    /// The field is there and is true, or is there and is false.
    record Truth(List<String> path, boolean wanted) implements Condition {
        @Override
        public boolean holds(Document document) {
            @Nullable Object value = document.at(path);
            if (value == null) {
                return false;
            }
            String text = Values.text(value);
            return text != null && document.truth(text) == wanted;
        }

        @Override
        public List<List<String>> paths() {
            return List.of(path);
        }
    }

    /// The number is there and stands so to another.
    record Compare(List<String> path, String sign, BigDecimal number) implements Condition {
        @Override
        public boolean holds(Document document) {
            @Nullable BigDecimal value = Values.decimal(document.at(path));
            if (value == null) {
                return false;
            }
            int order = value.compareTo(number);
            return switch (sign) {
                case "=" -> order == 0;
                case "!=" -> order != 0;
                case "<" -> order < 0;
                case "<=" -> order <= 0;
                case ">" -> order > 0;
                case ">=" -> order >= 0;
                default -> throw new IllegalArgumentException("There is no comparison " + sign + ".");
            };
        }

        @Override
        public List<List<String>> paths() {
            return List.of(path);
        }

        @Override
        public List<List<String>> numbers() {
            return List.of(path);
        }
    }
}
