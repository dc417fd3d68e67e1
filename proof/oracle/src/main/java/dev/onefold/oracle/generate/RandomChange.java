package dev.onefold.oracle.generate;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Changes the roll-ups of a pipeline file: levels and measures go or are repeated otherwise, decimals become wider or
/// narrower, a field is required or may be missing. The input stays as it is.
public final class RandomChange {
    private static final Pattern DECIMAL = Pattern.compile("decimal\\((\\d+),(\\d+)\\)");
    private static final Pattern FUNCTION = Pattern.compile("\"(sum|average|min|max)\\(");
    private static final Pattern TIME = Pattern.compile(", (iso|epoch-[a-z]+|uuid7|ulid)\\)");
    private static final Pattern TREATED = Pattern.compile("\": \"(sum|average|min|max|distinct)\\(");
    private static final Pattern NAME = Pattern.compile("[a-z-]+");
    private static final String MISSING = " missing ";
    private static final String WHERE = " where ";

    private final Chance chance;

    private RandomChange(Chance chance) {
        this.chance = chance;
    }

    /// The text of a changed file; in rare cases it is no valid pipeline.
    public static String of(String pipeline, RandomGenerator random) {
        return new RandomChange(new Chance(random)).changed(pipeline);
    }

    private String changed(String pipeline) {
        List<String> lines = new ArrayList<>(pipeline.lines().toList());
        for (int changes = chance.between(1, 3); changes > 0; changes--) {
            switch (chance.between(0, 7)) {
                case 0 -> drop(lines, RandomChange::isLevel);
                case 1 -> drop(lines, RandomChange::isMeasure);
                case 2, 3, 4 -> redeclare(lines);
                case 5 -> otherwise(lines);
                default -> repeat(lines);
            }
        }
        return lines.stream().collect(Collectors.joining("\n", "", "\n"));
    }

    private static boolean isLevel(String line) {
        return line.strip().startsWith("- ");
    }

    private static boolean isMeasure(String line) {
        return line.strip().startsWith("\"") && line.endsWith("\"");
    }

    private int any(List<String> lines, Predicate<String> kind) {
        List<Integer> found = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            if (kind.test(lines.get(i))) {
                found.add(i);
            }
        }
        return found.isEmpty() ? -1 : chance.of(found);
    }

    /// Drops a line that has one of its kind beside it: a block must not be empty.
    private void drop(List<String> lines, Predicate<String> kind) {
        int at = any(lines, kind);
        if (at > 0 && (kind.test(lines.get(at - 1)) || at + 1 < lines.size() && kind.test(lines.get(at + 1)))) {
            lines.remove(at);
        }
    }

    private void redeclare(List<String> lines) {
        int at = any(lines, line -> DECIMAL.matcher(line).find());
        if (at < 0) {
            return;
        }
        Matcher decimal = DECIMAL.matcher(lines.get(at));
        lines.set(at, decimal.replaceFirst(found -> {
            int scale = Math.clamp(Integer.parseInt(found.group(2)) + chance.between(-2, 2), 0, 12);
            int whole = chance.of(List.of(1, 2, 3, 5, 9, 22));
            return "decimal(" + (whole + scale) + "," + scale + ")";
        }));
    }

    /// A missing field is treated otherwise.
    private void otherwise(List<String> lines) {
        int at = any(lines, line -> TREATED.matcher(line).find() || isLevel(line));
        if (at < 0 || lines.get(at).contains("{") || lines.get(at).contains(WHERE)) {
            return;
        }
        String line = lines.get(at);
        int policy = line.lastIndexOf(MISSING);
        String quote = line.substring(line.length() - 1);
        if (policy > 0) {
            lines.set(at, line.substring(0, policy) + quote);
        } else {
            String inside = quote.equals("'") ? "\"none\"" : "'none'";
            lines.set(at, line.substring(0, line.length() - 1) + MISSING + (isLevel(line) ? inside : "ignore") + quote);
        }
    }

    /// Another measure of the same field, in front of the others or behind its own.
    private void repeat(List<String> lines) {
        int at = any(lines, line -> FUNCTION.matcher(line).find());
        if (at < 0) {
            return;
        }
        String line = lines.get(at);
        String indent = line.substring(0, line.indexOf('"'));
        String name = "again-"
                + lines.stream().filter(each -> each.contains("again-")).count();
        if (lines.stream().anyMatch(each -> each.contains(name))) {
            return; // One before it was dropped.
        }
        String its = line.substring(indent.length() + 1, line.indexOf('"', indent.length() + 1));
        if (chance.percent(30) && NAME.matcher(its).matches()) {
            lines.add(at + 1, indent + '"' + name + "\": \"100 * " + its + " / count() decimal(12,2)\"");
            return;
        }
        Matcher function = FUNCTION.matcher(line);
        if (!function.find()) {
            throw new IllegalStateException(line);
        }
        boolean isTime = TIME.matcher(line).find() || !DECIMAL.matcher(line).find();
        List<String> functions = isTime ? List.of("min", "max") : List.of("sum", "min", "max", "average");
        String other = indent + '"' + name + "\": \"" + chance.of(functions) + line.substring(function.end() - 1);
        int first = at;
        while (isMeasure(lines.get(first - 1))) {
            first--;
        }
        lines.add(chance.percent(50) ? first : at + 1, other);
    }
}
