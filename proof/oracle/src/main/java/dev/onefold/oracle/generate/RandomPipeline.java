package dev.onefold.oracle.generate;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A pipeline file of random features, and the fields that its records are to have.
final class RandomPipeline {
    private static final List<String> SPANS = List.of("1s", "7m", "90m", "1h", "5h", "1d", "7d");
    private static final List<String> PARTS =
            List.of("1d", "week", "week-from-sunday", "week-from-saturday", "month", "quarter", "year");
    private static final List<String> ZONES = List.of("", ", UTC", ", Europe/Madrid", ", America/St_Johns", ", +05:30");
    /// Of [RandomCase#TIMES] some are not kept; and no row is freed, of which an older version may be of a
    /// later time.
    private static final List<String> KEEPS = List.of("4d", "98h", "110h", "30d");

    private static final List<String> STEPS = List.of("1", "0.25", "0.5", "10", "0.1", "3", "100");
    private static final List<String> ROLLUP_NAMES = List.of("main", "by-town", "x", "count", "a1", "total");

    private final Chance chance;
    private final boolean csv;
    private final char delimiter;
    private final boolean header;
    private final boolean wrapped;
    private final List<Field> key = new ArrayList<>();
    private final @Nullable Field version;
    private final @Nullable Field time;
    private final boolean horizon;
    private final boolean kept;
    private final List<Field> others = new ArrayList<>();
    private final RandomLets lets;
    private final @Nullable String delete;
    private final @Nullable String filter;
    private final List<String> rollups = new ArrayList<>();
    private final String yaml;

    RandomPipeline(Chance chance, Instant firstTime) {
        this.chance = chance;
        csv = chance.percent(25);
        delimiter = csv ? chance.of(List.of(',', ',', ';', '\t', '|')) : ',';
        header = csv && chance.percent(60);
        wrapped = !csv && chance.percent(12);
        RandomFields fields = new RandomFields(chance, csv, firstTime);
        boolean versioned = chance.percent(70);
        boolean byId = !versioned && chance.percent(60);
        if (versioned || byId) {
            for (int count = chance.percent(70) ? 1 : chance.between(2, 3); count > 0; count--) {
                key.add(fields.text(chance.between(2, 6)));
            }
        }
        version = versioned ? (chance.percent(70) ? fields.integerVersion() : fields.time()) : null;
        for (int count = chance.between(2, 5); count > 0; count--) {
            others.add(fields.any());
        }
        horizon = byId && chance.percent(30);
        time = horizon || chance.percent(20) ? fields.time() : null;
        kept = time != null && !horizon && !key.isEmpty() && chance.percent(60);
        delete = versioned && chance.percent(60) ? delete(fields) : null;
        lets = new RandomLets(key, fields());
        RandomCondition conditions = new RandomCondition(chance, readable());
        filter = chance.percent(35) ? conditions.write() : null;
        for (int count = chance.percent(60) ? 1 : chance.between(2, 3); count > 0; count--) {
            rollups.add(rollup());
        }
        yaml = inputYaml() + rollupsYaml();
    }

    private String delete(RandomFields fields) {
        Field field = chance.percent(50) ? fields.flag() : fields.text(List.of("delete", "insert", "update", "update"));
        others.add(field);
        if (chance.percent(10)) {
            return new RandomCondition(chance, others).write();
        }
        return field.written() + (field.kind() == Field.Kind.FLAG ? " = true" : " = \"delete\"");
    }

    boolean isCsv() {
        return csv;
    }

    char delimiter() {
        return delimiter;
    }

    /// Whether the first line names the columns.
    boolean hasHeader() {
        return header;
    }

    /// Whether the event is inside of another record.
    boolean isWrapped() {
        return wrapped;
    }

    /// Whether a record may be too old or too new when it arrives.
    boolean hasHorizon() {
        return horizon;
    }

    /// Whether groups end.
    boolean isKept() {
        return kept;
    }

    @Nullable
    Field version() {
        return version;
    }

    List<Field> key() {
        return key;
    }

    /// The fields that conditions, levels and measures may read.
    private List<Field> readable() {
        List<Field> all = new ArrayList<>(others);
        all.addAll(lets.fields());
        return all;
    }

    /// All fields, each once; of CSV the columns in this order.
    List<Field> fields() {
        List<Field> all = new ArrayList<>(key);
        if (version != null) {
            all.add(version);
        }
        if (time != null) {
            all.add(time);
        }
        all.addAll(others);
        return all;
    }

    /// The pipeline file.
    String yaml() {
        return yaml;
    }

    private String inputYaml() {
        StringBuilder yaml = new StringBuilder("pipeline: case\ninput:\n").append(formatYaml());
        yaml.append(lets.yaml());
        if (!key.isEmpty()) {
            List<String> parts = key.stream().map(this::part).toList();
            yaml.append(version == null ? "  id: " : "  key: ")
                    .append(parts.size() == 1 && chance.percent(60) ? parts.getFirst() : parts.toString())
                    .append('\n');
        }
        if (version != null) {
            yaml.append("  version: ").append(timed(version)).append('\n');
        }
        if (time != null) {
            yaml.append("  time: ").append(timed(time)).append('\n');
        }
        if (horizon) {
            yaml.append("  horizon: ")
                    .append(chance.of(List.of("1d", "2d", "36h", "7d")))
                    .append('\n');
        }
        if (delete != null) {
            yaml.append("  delete: ").append(quoted(delete)).append('\n');
        }
        if (filter != null) {
            yaml.append("  filter: ").append(quoted(filter)).append('\n');
        }
        if (chance.percent(40)) {
            yaml.append("  normalize: nfc\n  truths: [")
                    .append(RandomFields.TRUTH)
                    .append(", \"1\"]\n");
        }
        return yaml.toString();
    }

    private String formatYaml() {
        if (!csv) {
            return "  format: json\n" + (wrapped ? "  unwrap: Message\n" : "");
        }
        StringBuilder yaml = new StringBuilder("  format: csv\n");
        if (delimiter != ',') {
            yaml.append("  delimiter: ")
                    .append(quoted(String.valueOf(delimiter)))
                    .append('\n');
        }
        if (!header) {
            List<String> columns =
                    fields().stream().map(field -> field.path().getFirst()).toList();
            yaml.append("  columns: ").append(list(columns)).append('\n');
        }
        return yaml.toString();
    }

    private String rollupsYaml() {
        if (rollups.size() == 1 && chance.percent(80)) {
            return "rollup:\n" + rollups.getFirst();
        }
        StringBuilder yaml = new StringBuilder("rollups:\n");
        List<String> names = chance.shuffled(ROLLUP_NAMES);
        for (int index = 0; index < rollups.size(); index++) {
            yaml.append("  ").append(names.get(index)).append(":\n");
            rollups.get(index)
                    .lines()
                    .forEach(line -> yaml.append("  ").append(line).append('\n'));
        }
        return yaml.toString();
    }

    /// A part of the key: a field, or one with a type or with what stands for it.
    private String part(Field field) {
        String path = quoted(lets.written(field));
        if (chance.percent(25)) {
            return path;
        }
        // Texts are integers rarely: then most records are refused.
        String setting = chance.percent(2)
                ? ", type: integer"
                : chance.of(List.of(", type: text", ", type: text, missing: \"\""));
        return "{field: " + path + setting + "}";
    }

    private String timed(Field field) {
        return field.kind() == Field.Kind.TIME
                ? "{field: " + quoted(field.written()) + ", type: " + field.form() + "}"
                : quoted(field.written());
    }

    private String rollup() {
        StringBuilder yaml = new StringBuilder("  levels:");
        List<Field> candidates = readable();
        candidates.addAll(key);
        Set<String> levels = new LinkedHashSet<>();
        if (kept) {
            levels.add(bucket(Objects.requireNonNull(time), false));
        }
        for (int count = chance.between(0, 3); count > 0; count--) {
            levels.add(level(chance.of(candidates)));
        }
        yaml.append(levels.isEmpty() ? " []\n" : "\n");
        int number = 0;
        for (String level : levels) {
            boolean hasDefault = chance.percent(50)
                    && !(kept && level.equals(levels.iterator().next()));
            String otherwise = chance.of(Nasty.TEXTS);
            if (chance.percent(25)) {
                yaml.append("    - {field: ").append(quoted(level)).append(", name: ");
                yaml.append(quoted(chance.of(Nasty.NAMES) + number++));
                yaml.append(hasDefault ? ", missing: " + quoted(otherwise) : "").append("}\n");
            } else {
                String quote = chance.percent(50) ? "\"" : "'";
                String text = hasDefault ? level + " missing " + RandomCondition.quoted(otherwise, quote) : level;
                yaml.append("    - ").append(quoted(text)).append('\n');
            }
        }
        yaml.append("  measures:\n");
        List<String> names = chance.shuffled(Nasty.MEASURE_NAMES);
        int measures = chance.between(1, 5);
        List<String> above = new ArrayList<>();
        boolean hasFormula = false;
        for (int index = 0; index < measures; index++) {
            boolean derived = chance.percent(20);
            String text = derived ? new RandomFormula(chance, above, this::measure).write() : measure();
            // None names one below it, so there are no circles; nor two long ones, so operands stay below their limit.
            boolean isShort = text.replaceAll("[^-+*/]", "").length() < RandomFormula.SHORT_MAX;
            if (!derived || isShort && !hasFormula) {
                above.add(names.get(index));
            }
            hasFormula |= derived;
            yaml.append("    ").append(quoted(names.get(index))).append(": ");
            yaml.append(quoted(text)).append('\n');
        }
        return kept ? yaml + "  keep: " + chance.of(KEEPS) + "\n" : yaml.toString();
    }

    private String level(Field field) {
        String path = field.written();
        return switch (field.kind()) {
            case TEXT -> chance.percent(75) ? path : "prefix(" + path + ", " + chance.between(1, 3) + ")";
            case NUMBER -> chance.percent(40) ? path : "step(" + path + ", " + chance.of(STEPS) + ")";
            case TIME -> chance.percent(10) ? path : bucket(field, true);
            case FLAG -> path;
        };
    }

    private String bucket(Field field, boolean mayGuess) {
        boolean auto = mayGuess
                && chance.percent(50)
                && (field.form().equals("iso") || !csv && field.form().equals("epoch-seconds"));
        String start = "bucket(" + field.written() + ", ";
        String type = auto ? "" : ", " + field.form();
        return chance.percent(70)
                ? start + chance.of(SPANS) + type + ")"
                : start + chance.of(PARTS) + type + chance.of(ZONES) + ")";
    }

    private String measure() {
        return call() + (chance.percent(20) ? " where " + new RandomCondition(chance, readable()).write() : "");
    }

    private String call() {
        Field field = chance.of(readable());
        if (chance.percent(20)) {
            return "count()";
        }
        if (time != null && chance.percent(15)) {
            return chance.of(List.of("min", "max")) + "(" + time.written() + ")" + missing(List.of("0"));
        }
        if (field.kind() == Field.Kind.TIME && chance.percent(60)) {
            String type = chance.percent(30) ? " " + chance.of(List.of("decimal(13,3)", "decimal(28,9)")) : "";
            return chance.of(List.of("min", "max")) + "(" + field.written() + ", " + field.form() + ")" + type
                    + missing(List.of("0", "1"));
        }
        if (field.kind() != Field.Kind.NUMBER) {
            return "distinct(" + field.written() + ")"
                    + missing(List.of(RandomCondition.quoted(chance.of(Nasty.TEXTS), "\"")));
        }
        String function = chance.of(List.of("sum", "sum", "average", "min", "max"));
        if (chance.percent(25)) {
            return product(function);
        }
        return function + "(" + field.written() + ") " + type(field) + missing(List.of("0", "1", "-2"));
    }

    private String product(String function) {
        List<Field> numbers = readable().stream()
                .filter(each -> each.kind() == Field.Kind.NUMBER)
                .toList();
        List<String> factors = new ArrayList<>();
        int scale = 0;
        for (int count = chance.between(2, 3); count > 0; count--) {
            Field factor = chance.of(numbers);
            factors.add(factor.written());
            scale += Integer.parseInt(factor.form());
        }
        int precision = scale + chance.of(List.of(9, 19, 26));
        return function + "(" + String.join(chance.of(List.of("*", " * ")), factors) + ") decimal(" + precision + ","
                + scale + ")" + missing(List.of("0", "1", "-2"));
    }

    private String missing(List<String> values) {
        return switch (chance.between(0, 3)) {
            case 0 -> "";
            case 1 -> " missing " + chance.of(values);
            default -> " missing ignore";
        };
    }

    /// A type that the field's values fit, mostly.
    private String type(Field field) {
        int scale = Integer.parseInt(field.form()) + chance.between(0, 2);
        if (chance.percent(5)) {
            return chance.of(
                    List.of("decimal(3,1)", "decimal(2,0)", "decimal(38,10)", "decimal(28,26)", "decimal(1,0)"));
        }
        return "decimal(" + (scale + chance.of(List.of(5, 9, 22, 33))) + "," + scale + ")";
    }

    private String list(List<String> texts) {
        return "["
                + String.join(", ", texts.stream().map(RandomPipeline::quoted).toList()) + "]";
    }

    /// A YAML text in double quotes.
    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\t", "\\t") + '"';
    }
}
