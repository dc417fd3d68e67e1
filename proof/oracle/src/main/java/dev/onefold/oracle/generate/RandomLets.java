package dev.onefold.oracle.generate;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/// Derived fields of a pipeline. The names of the other fields decide, and no random number: the cases without derived
/// fields stay.
final class RandomLets {
    private static final int PERCENT = 25;
    private static final String KEY = "derived-key";

    private final Chance chance;
    private final Map<String, String> terms = new LinkedHashMap<>();
    private final List<Field> fields = new ArrayList<>();

    private String ofKey = "";

    /// @param key without one there are none
    /// @param of the fields that they are made of
    RandomLets(List<Field> key, List<Field> of) {
        int draw = of.stream().map(Field::written).toList().hashCode();
        chance = new Chance(new SplittableRandom(draw));
        List<Field> candidates = new ArrayList<>(
                of.stream().filter(field -> field.kind() != Field.Kind.TIME).toList());
        if (key.isEmpty() || candidates.isEmpty() || Math.floorMod(draw, 100) >= PERCENT) {
            return;
        }
        for (int count = chance.between(1, 4); count > 0; count--) {
            add(chance.of(candidates));
            candidates.add(fields.getLast());
        }
        if (chance.percent(40)) {
            ofKey = key.getFirst().written();
            terms.put(KEY, chance.of(List.of("trim", "lower", "upper")) + "(" + named(ofKey) + ")");
        }
    }

    /// A field of the key, or the derived one in its place.
    String written(Field key) {
        return key.written().equals(ofKey) ? KEY : key.written();
    }

    /// As fields that a pipeline reads and no record has.
    List<Field> fields() {
        return fields;
    }

    /// The setting; empty if there are none.
    String yaml() {
        StringBuilder yaml = new StringBuilder(terms.isEmpty() ? "" : "  let:\n");
        terms.forEach((name, term) -> yaml.append("    ")
                .append(name)
                .append(": '")
                .append(term.replace("'", "''"))
                .append("'\n"));
        return yaml.toString();
    }

    private void add(Field from) {
        String name = "derived-" + terms.size();
        String field = named(from.written());
        boolean isNumber = from.kind() == Field.Kind.NUMBER && chance.percent(80);
        terms.put(name, isNumber ? number(field, from) : text(field, from));
        String scale = isNumber ? "3" : "";
        fields.add(new Field(List.of(name), isNumber ? Field.Kind.NUMBER : Field.Kind.TEXT, scale, from.pool()));
    }

    private static String named(String path) {
        return Character.isLetter(path.charAt(0)) ? path : "field(" + path + ")";
    }

    private String number(String field, Field from) {
        return switch (chance.between(0, 6)) {
            case 0 -> field + " + 0.125";
            case 1 -> "(" + field + " - 7) * 0.5";
            case 2 -> field + " * " + field;
            case 3 -> "divide(" + field + ", " + chance.of(List.of("3", "-0.7", field)) + ", 2)";
            case 4 -> "coalesce(" + field + ", 0)";
            case 5 -> "if(" + from.written() + " >= 0, " + field + ", 0 - " + field + ")";
            default -> "1 - " + field;
        };
    }

    private String text(String field, Field from) {
        return switch (chance.between(0, 9)) {
            case 0 -> "lower(" + field + ")";
            case 1 -> "upper(" + field + ")";
            case 2 -> "trim(" + field + ")";
            case 3 -> "concat(" + field + ", \"-\", " + field + ")";
            case 4 -> "coalesce(" + field + ", 'none')";
            case 5 -> "substring(" + field + ", " + chance.between(1, 3) + ")";
            case 6 -> "substring(" + field + ", " + chance.between(1, 2) + ", " + chance.between(1, 3) + ")";
            case 7 -> "replace(" + field + ", \"" + chance.of(List.of("a", " ", ".")) + "\", \"xy\")";
            case 8 -> "split(" + field + ", '" + chance.of(List.of(" ", ".", "e")) + "', " + chance.between(1, 2) + ")";
            default -> "if(" + new RandomCondition(chance, List.of(from)).write() + ", " + field + ", 'other')";
        };
    }
}
