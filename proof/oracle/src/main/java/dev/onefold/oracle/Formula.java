package dev.onefold.oracle;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// A figure that is calculated from others, as a fraction in lowest terms, and rounded once.
///
/// @param decimals of the figure; null: as many as it comes to
record Formula(Node node, @Nullable Integer decimals) {
    /// A part of it.
    private sealed interface Node {}

    private record Figure(String name) implements Node {}

    private record Stored(Measure measure) implements Node {}

    private record Number(BigDecimal value) implements Node {}

    private record Join(char operator, Node left, Node right) implements Node {}

    /// A fraction, and how many decimals it has where it was never divided.
    private record Exact(BigInteger over, BigInteger under, int decimals) {
        static Exact of(BigDecimal value) {
            int decimals = Math.max(0, value.scale());
            return of(value.setScale(decimals).unscaledValue(), BigInteger.TEN.pow(decimals), decimals);
        }

        static Exact of(BigInteger over, BigInteger under, int decimals) {
            BigInteger common = over.gcd(under).multiply(BigInteger.valueOf(under.signum()));
            return new Exact(over.divide(common), under.divide(common), decimals);
        }
    }

    /// The measure that a text is, or the formula.
    ///
    /// @param names of all figures of the roll-up
    /// @param calls takes a measure
    static Object parse(String text, List<String> names, Function<Scan, Measure> calls) {
        Scan scan = new Scan(text);
        boolean inParentheses = text.strip().startsWith("(");
        Node node = sum(scan, names, calls);
        Integer decimals = null;
        if (scan.takeWord("decimal")) {
            scan.expect("(");
            scan.integer();
            scan.expect(",");
            decimals = scan.integer();
            scan.expect(")");
        }
        scan.expectEnd();
        return node instanceof Stored stored && !inParentheses ? stored.measure : new Formula(node, decimals);
    }

    private static Node sum(Scan scan, List<String> names, Function<Scan, Measure> calls) {
        Node node = product(scan, names, calls);
        while (true) {
            if (scan.take("+")) {
                node = new Join('+', node, product(scan, names, calls));
            } else if (scan.take("-")) {
                node = new Join('-', node, product(scan, names, calls));
            } else {
                return node;
            }
        }
    }

    private static Node product(Scan scan, List<String> names, Function<Scan, Measure> calls) {
        Node node = operand(scan, names, calls);
        while (true) {
            if (scan.take("*")) {
                node = new Join('*', node, operand(scan, names, calls));
            } else if (scan.take("/")) {
                node = new Join('/', node, operand(scan, names, calls));
            } else {
                return node;
            }
        }
    }

    private static Node operand(Scan scan, List<String> names, Function<Scan, Measure> calls) {
        if (scan.take("(")) {
            Node node = sum(scan, names, calls);
            scan.expect(")");
            return node;
        }
        if (scan.isQuoteNext()) {
            return new Figure(scan.quoted());
        }
        if (scan.isCallNext()) {
            return new Stored(calls.apply(scan));
        }
        String word = scan.run("[A-Za-z0-9_.-]");
        return names.contains(word) && !word.matches("[0-9]+") ? new Figure(word) : new Number(new BigDecimal(word));
    }

    /// The measures that it has in it.
    List<Measure> measures() {
        List<Measure> measures = new ArrayList<>();
        collect(node, measures);
        return measures;
    }

    private static void collect(Node node, List<Measure> into) {
        if (node instanceof Stored stored) {
            into.add(stored.measure);
        } else if (node instanceof Join join) {
            collect(join.left, into);
            collect(join.right, into);
        }
    }

    /// The figure; null where there is none.
    @Nullable
    String of(Function<String, @Nullable String> figures, Function<Measure, @Nullable String> stored) {
        Exact exact = exact(node, figures, stored);
        if (exact == null) {
            return null;
        }
        return new BigDecimal(exact.over)
                .divide(
                        new BigDecimal(exact.under),
                        decimals == null ? exact.decimals : decimals,
                        RoundingMode.HALF_EVEN)
                .toPlainString();
    }

    private static @Nullable Exact exact(
            Node node, Function<String, @Nullable String> figures, Function<Measure, @Nullable String> stored) {
        return switch (node) {
            case Number number ->
                Exact.of(number.value.signum() == 0 ? BigDecimal.ZERO : number.value.stripTrailingZeros());
            case Figure figure -> shown(figures.apply(figure.name));
            case Stored each -> shown(stored.apply(each.measure));
            case Join join -> {
                Exact left = exact(join.left, figures, stored);
                Exact right = exact(join.right, figures, stored);
                yield left == null || right == null ? null : join(left, join.operator, right);
            }
        };
    }

    private static @Nullable Exact shown(@Nullable String figure) {
        return figure == null ? null : Exact.of(new BigDecimal(figure));
    }

    private static @Nullable Exact join(Exact left, char operator, Exact right) {
        int decimals = Math.max(left.decimals, right.decimals);
        BigInteger under = left.under.multiply(right.under);
        BigInteger one = left.over.multiply(right.under);
        BigInteger other = right.over.multiply(left.under);
        return switch (operator) {
            case '+' -> Exact.of(one.add(other), under, decimals);
            case '-' -> Exact.of(one.subtract(other), under, decimals);
            case '*' -> Exact.of(left.over.multiply(right.over), under, left.decimals + right.decimals);
            default -> right.over.signum() == 0 ? null : Exact.of(one, left.under.multiply(right.over), decimals);
        };
    }
}
