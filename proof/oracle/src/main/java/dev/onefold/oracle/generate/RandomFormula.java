package dev.onefold.oracle.generate;

import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/// Writes formulas over measures.
final class RandomFormula {
    private static final int DEPTH_MAX = 3;

    /// Operators of a formula that another may name: then a formula has fewer than 64 operands.
    static final int SHORT_MAX = 6;

    private static final List<String> NUMBERS = List.of("0", "1", "2", "-1", "0.5", "100", "3", "1000000", "0.001");
    private static final List<String> TYPES =
            List.of("decimal(9,4)", "decimal(12,0)", "decimal(38,18)", "decimal(5,2)", "decimal(38,38)");
    private static final Pattern DIGITS = Pattern.compile("[0-9]+");

    private final Chance chance;
    private final List<String> names;
    private final Supplier<String> measures;

    /// @param names of figures that it may name
    /// @param measures writes a measure
    RandomFormula(Chance chance, List<String> names, Supplier<String> measures) {
        this.chance = chance;
        this.names = names;
        this.measures = measures;
    }

    String write() {
        String measure = named();
        String rest = join(1);
        String operator = operator();
        String formula =
                chance.percent(50) ? measure + operator + "(" + rest + ")" : "(" + rest + ")" + operator + measure;
        boolean divides = formula.contains("/");
        return divides || chance.percent(50) ? "(" + formula + ") " + chance.of(TYPES) : formula;
    }

    private String join(int depth) {
        return operand(depth) + operator() + operand(depth);
    }

    private String operator() {
        return chance.of(List.of(" + ", " - ", " * ", " / ", "* ", " /"));
    }

    private String operand(int depth) {
        if (depth < DEPTH_MAX && chance.percent(25)) {
            return "(" + join(depth + 1) + ")";
        }
        return chance.percent(40) ? chance.of(NUMBERS) : named();
    }

    /// The name of a figure, or a measure in parentheses, because what may stand behind it would go on.
    private String named() {
        if (names.isEmpty() || chance.percent(30)) {
            return "(" + measures.get() + ")";
        }
        String name = chance.of(names);
        return DIGITS.matcher(name).matches() ? "'" + name + "'" : name;
    }
}
