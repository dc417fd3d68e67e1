package dev.onefold.oracle.generate;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/// Writes conditions about fields: those that can hold, mostly.
final class RandomCondition {
    private static final List<String> COMPARISONS = List.of("=", "!=", "<", "<=", ">", ">=");
    private static final int DEPTH_MAX = 3;

    private final Chance chance;
    private final List<Field> fields;

    RandomCondition(Chance chance, List<Field> fields) {
        this.chance = chance;
        this.fields = fields;
    }

    String write() {
        return write(0);
    }

    private String write(int depth) {
        int kind = depth == DEPTH_MAX ? 0 : chance.between(0, 9);
        return switch (kind) {
            case 9, 8 -> join(depth, " and ");
            case 7 -> join(depth, " or ");
            case 6 -> "not " + operand(depth);
            default -> comparison(chance.of(fields));
        };
    }

    private String join(int depth, String word) {
        List<String> parts = new ArrayList<>();
        for (int count = chance.between(2, 3); count > 0; count--) {
            parts.add(operand(depth));
        }
        return String.join(word, parts);
    }

    /// In parentheses, for most operators bind closer or less close than the one around.
    private String operand(int depth) {
        String inner = write(depth + 1);
        return chance.percent(70) ? "(" + inner + ")" : inner;
    }

    private String comparison(Field field) {
        String path = field.written();
        if (chance.percent(10)) {
            return path + (chance.percent(50) ? " is missing" : " is not missing");
        }
        return switch (field.kind()) {
            case FLAG -> path + equality() + (chance.percent(80) ? "true" : "false");
            case NUMBER -> path + " " + chance.of(COMPARISONS) + " " + plain(number(field));
            case TIME -> path + " != " + quoted("never");
            case TEXT -> chance.percent(3) ? path + " >= 5" : text(field);
        };
    }

    private String text(Field field) {
        if (chance.percent(60)) {
            return field.written() + equality() + quoted(textOf(field));
        }
        List<String> texts = new ArrayList<>();
        for (int count = chance.between(1, 3); count > 0; count--) {
            texts.add(quoted(textOf(field)));
        }
        return field.written() + (chance.percent(70) ? " in (" : " not in (") + String.join(", ", texts) + ")";
    }

    private String equality() {
        return chance.of(List.of(" = ", " != ", "=", "  =  "));
    }

    private String textOf(Field field) {
        Value value = chance.of(field.pool());
        boolean writable = value instanceof Value.Text text && Nasty.TEXTS.contains(text.text());
        return writable ? ((Value.Text) value).text() : chance.of(Nasty.TEXTS);
    }

    private BigDecimal number(Field field) {
        return chance.of(field.pool()) instanceof Value.Decimal decimal
                ? decimal.number()
                : BigDecimal.valueOf(chance.between(-5, 50), 1);
    }

    private static String plain(BigDecimal number) {
        return number.toPlainString();
    }

    private String quoted(String text) {
        return quoted(text, chance.percent(50) ? "\"" : "'");
    }

    static String quoted(String text, String quote) {
        return quote + text.replace(quote, quote + quote) + quote;
    }
}
