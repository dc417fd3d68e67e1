package dev.onefold.oracle;

import java.math.BigDecimal;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/// A pipeline file, read. It is taken to be a valid one: to say what is wrong with a file is the product's
/// task.
///
/// @param keepsExpired whether a row that a table removed by its time to live counts on
/// @param tables whose changes count, as the file names them; none: the file leaves it open
/// @param logs names of logs of a database, the oldest first; none: there is one
/// @param decimals how a database's log has them where its records bring no schema; null where the file leaves
///     it open
/// @param columns of a CSV file without header line; null when the first line is the header
/// @param derived fields that are computed
/// @param unwrap the fields that hold the event, the outermost first
/// @param parts the fields that name a row; of an append-only pipeline its id; none when the place is the
///     identity
/// @param version where the version stands; null when there are none
/// @param versionType `integer`, or how a time is written
/// @param composite the fields of a version of several
/// @param horizon seconds that a time may lie before the arrival; null without one
record Definition(
        String format,
        boolean keepsExpired,
        List<String> logs,
        List<String> tables,
        @Nullable String decimals,
        @Nullable List<String> columns,
        char delimiter,
        List<List<String>> unwrap,
        Derived derived,
        List<Part> parts,
        @Nullable List<String> version,
        String versionType,
        List<Part> composite,
        @Nullable List<String> time,
        String timeType,
        @Nullable BigDecimal horizon,
        @Nullable Condition delete,
        @Nullable Condition filter,
        Document.Spellings spellings,
        List<Rollup> rollups) {
    /// A tree of groups, with figures at each node.
    ///
    /// @param measures what the figures are made of: those that answers show, then those inside of formulas
    /// @param figures what answers show by name: measures and formulas
    /// @param keep seconds that a time bucket is kept; null: for ever
    record Rollup(
            String name,
            List<Level> levels,
            List<Measure> measures,
            Map<String, Object> figures,
            @Nullable BigDecimal keep) {}

    /// A part of a key.
    ///
    /// @param type `text`, `integer`, or null
    /// @param missing what stands for a missing field; null refuses the record
    /// @param element of the array in the field; null means the field itself
    record Part(
            List<String> path,
            @Nullable String type,
            @Nullable String missing,
            @Nullable Integer element) {
        private @Nullable Object value(Document document) {
            Object value = document.at(path);
            if (element == null || value == null) {
                return value;
            }
            if (!(value instanceof List<?> array)) {
                throw new Refused("no array where an element is the key");
            }
            return element < array.size() ? array.get(element) : null;
        }

        /// @param isOfTable whether it is a column of a table, which may hold an empty text
        String text(Document document, boolean isOfTable) {
            Object value = value(document);
            String text = document.text(value);
            if (text == null) {
                if (missing == null) {
                    throw new Refused("the key is missing");
                }
                return String.valueOf(document.text(missing));
            }
            if ("integer".equals(type)) {
                return Values.integer(text);
            }
            if (type == null && text.isEmpty() && !"".equals(missing) && !isOfTable) {
                throw new Refused("an empty text where a key is wanted");
            }
            if (type == null && value instanceof String && Values.isUnusualNumber(text)) {
                throw new Refused("an unusual spelling of a number where a key is wanted");
            }
            return text;
        }
    }

    /// What a single roll-up is called.
    static final String ONLY_ROLLUP = "main";

    static Definition parse(String yaml) {
        // With room for all of it at once: the reader fails on a surrogate pair across the end of a full buffer.
        LoadSettings settings =
                LoadSettings.builder().setBufferSize(yaml.length() + 2).build();
        Map<?, ?> file = map(new Load(settings).loadFromString(yaml));
        Map<?, ?> input = map(file.get("input"));
        Object version = input.get("version");
        Object time = input.get("time");
        Object columns = input.get("columns");
        Object delimiter = input.get("delimiter");
        Object horizon = input.get("horizon");
        return new Definition(
                input.get("format") == null ? "json" : String.valueOf(input.get("format")),
                "keep".equals(input.get("expired")),
                input.get("logs") == null
                        ? List.of()
                        : list(input.get("logs")).stream().map(String::valueOf).toList(),
                tables(input.get("table")),
                input.get("decimals") == null ? null : String.valueOf(input.get("decimals")),
                columns == null
                        ? null
                        : list(columns).stream().map(String::valueOf).toList(),
                delimiter == null ? ',' : String.valueOf(delimiter).charAt(0),
                paths(input.get("unwrap")),
                Derived.parse(input.get("let") == null ? Map.of() : map(input.get("let"))),
                parts(input.get(input.containsKey("id") ? "id" : "key")),
                version == null ? null : path(field(version instanceof List<?> several ? several.getFirst() : version)),
                type(version, "integer"),
                version instanceof List<?> ? parts(version) : List.of(),
                time == null ? null : path(field(time)),
                type(time, "auto"),
                horizon == null ? null : Level.duration(String.valueOf(horizon)),
                condition(input.get("delete")),
                condition(input.get("filter")),
                spellings(input),
                rollups(file, time == null ? null : path(field(time)), type(time, "auto")));
    }

    /// The fields that name a row.
    List<List<String>> key() {
        return parts.stream().map(Part::path).toList();
    }

    boolean csv() {
        return format.equals("csv");
    }

    /// Whether records are changes of a table.
    boolean isOfChanges() {
        return format.equals("dynamodb-stream") || format.equals("debezium");
    }

    /// Whether sums say all that a row comes to.
    boolean isSummed() {
        return rollups.stream()
                .flatMap(rollup -> rollup.measures().stream())
                .noneMatch(measure -> Set.of("min", "max", "distinct").contains(measure.function()));
    }

    /// The fields of key and version.
    Set<List<String>> identity() {
        Set<List<String>> paths = new LinkedHashSet<>(key());
        if (version != null) {
            paths.add(version);
        }
        composite.forEach(part -> paths.add(part.path()));
        return paths;
    }

    /// The fields that decide whether a record counts, and when.
    Set<List<String>> filtered() {
        Set<List<String>> paths = new LinkedHashSet<>(filter == null ? List.of() : filter.paths());
        if (time != null) {
            paths.add(time);
        }
        return paths;
    }

    /// All fields that the pipeline reads, but for those that derived ones are made of.
    Set<List<String>> paths() {
        Set<List<String>> paths = identity();
        paths.addAll(filtered());
        if (delete != null) {
            paths.addAll(delete.paths());
        }
        for (Rollup rollup : rollups) {
            rollup.levels().forEach(level -> paths.add(level.path()));
            rollup.measures().forEach(measure -> paths.addAll(measure.paths()));
        }
        return paths;
    }

    /// The fields that are measured as numbers, or compared with them, and those of the version and of integer
    /// keys.
    Set<List<String>> numbers() {
        Set<List<String>> numbers = new LinkedHashSet<>();
        parts.stream().filter(part -> "integer".equals(part.type())).forEach(part -> numbers.add(part.path()));
        composite.stream().filter(part -> !"iso".equals(part.type())).forEach(part -> numbers.add(part.path()));
        if (version != null && composite.isEmpty() && !versionType.equals("iso")) {
            numbers.add(version);
        }
        List<Condition> conditions = new ArrayList<>();
        for (Rollup rollup : rollups) {
            rollup.levels().stream()
                    .filter(level -> level.function().equals("step"))
                    .forEach(level -> numbers.add(level.path()));
            for (Measure measure : rollup.measures()) {
                if (measure.isOfNumbers()) {
                    numbers.addAll(measure.factors());
                }
                if (measure.where() != null) {
                    conditions.add(measure.where());
                }
            }
        }
        if (delete != null) {
            conditions.add(delete);
        }
        if (filter != null) {
            conditions.add(filter);
        }
        conditions.forEach(condition -> numbers.addAll(condition.numbers()));
        derived.terms().values().forEach(term -> numbers.addAll(term.numbers()));
        return numbers;
    }

    private static List<Rollup> rollups(Map<?, ?> file, @Nullable List<String> time, String timeType) {
        if (file.containsKey("rollup")) {
            return List.of(rollup(ONLY_ROLLUP, map(file.get("rollup")), time, timeType));
        }
        List<Rollup> rollups = new ArrayList<>();
        map(file.get("rollups"))
                .forEach((name, rollup) -> rollups.add(rollup(String.valueOf(name), map(rollup), time, timeType)));
        return List.copyOf(rollups);
    }

    private static Rollup rollup(String name, Map<?, ?> setting, @Nullable List<String> time, String timeType) {
        Map<String, String> texts = new LinkedHashMap<>();
        map(setting.get("measures")).forEach((figure, text) -> texts.put(String.valueOf(figure), String.valueOf(text)));
        List<String> names = List.copyOf(texts.keySet());
        Map<String, Object> figures = new LinkedHashMap<>();
        texts.forEach((figure, text) ->
                figures.put(figure, Formula.parse(text, names, scan -> Measure.call(figure, scan, time, timeType))));
        List<Measure> measures = new ArrayList<>();
        figures.values().forEach(figure -> {
            if (figure instanceof Measure measure) {
                measures.add(measure);
            }
        });
        figures.values().forEach(figure -> {
            if (figure instanceof Formula formula) {
                measures.addAll(formula.measures());
            }
        });
        return new Rollup(
                name,
                list(setting.get("levels")).stream().map(Level::parse).toList(),
                List.copyOf(measures),
                Collections.unmodifiableMap(figures),
                setting.get("keep") == null ? null : Level.duration(String.valueOf(setting.get("keep"))));
    }

    private static List<String> tables(@Nullable Object setting) {
        if (setting == null) {
            return List.of();
        }
        return setting instanceof List<?> several
                ? several.stream().map(String::valueOf).toList()
                : List.of(String.valueOf(setting));
    }

    private static List<List<String>> paths(@Nullable Object setting) {
        if (setting == null) {
            return List.of();
        }
        return setting instanceof List<?> several
                ? several.stream().map(Definition::path).toList()
                : List.of(path(setting));
    }

    private static List<Part> parts(@Nullable Object setting) {
        if (setting == null) {
            return List.of();
        }
        return setting instanceof List<?> several
                ? several.stream().map(Definition::part).toList()
                : List.of(part(setting));
    }

    private static Part part(Object setting) {
        Map<?, ?> longer = setting instanceof Map<?, ?> map ? map : Map.of();
        return new Part(
                path(field(setting)),
                text(longer.get("type")),
                text(longer.get("missing")),
                longer.get("element") == null ? null : Integer.valueOf(String.valueOf(longer.get("element"))));
    }

    private static @Nullable String text(@Nullable Object setting) {
        return setting == null ? null : String.valueOf(setting);
    }

    private static List<String> path(Object setting) {
        if (setting instanceof Map<?, ?> part) {
            return List.of(Changes.ORIGIN + part.get("origin"));
        }
        Scan scan = new Scan(String.valueOf(setting));
        List<String> path = scan.path();
        scan.expectEnd();
        return path;
    }

    private static Object field(Object setting) {
        return setting instanceof Map<?, ?> longer ? String.valueOf(longer.get("field")) : setting;
    }

    private static String type(@Nullable Object setting, String otherwise) {
        return setting instanceof Map<?, ?> longer && longer.containsKey("type")
                ? String.valueOf(longer.get("type"))
                : otherwise;
    }

    private static Document.Spellings spellings(Map<?, ?> input) {
        String zone = text(input.get("zone"));
        return new Document.Spellings(
                texts(input.get("truths")),
                texts(input.get("falsehoods")),
                "nfc".equals(input.get("normalize")),
                zone == null ? null : ZoneId.of(zone),
                text(input.get("fold")));
    }

    private static Set<String> texts(@Nullable Object setting) {
        return setting == null
                ? Set.of()
                : list(setting).stream().map(String::valueOf).collect(Collectors.toUnmodifiableSet());
    }

    private static @Nullable Condition condition(@Nullable Object setting) {
        return setting == null ? null : Condition.parse(String.valueOf(setting));
    }

    private static Map<?, ?> map(@Nullable Object value) {
        if (value instanceof Map<?, ?> map) {
            return map;
        }
        throw new IllegalArgumentException("The pipeline has '" + value + "' where settings are expected.");
    }

    private static List<Object> list(@Nullable Object value) {
        if (value instanceof List<?> list) {
            return List.copyOf(list);
        }
        throw new IllegalArgumentException("The pipeline has '" + value + "' where a list is expected.");
    }
}
