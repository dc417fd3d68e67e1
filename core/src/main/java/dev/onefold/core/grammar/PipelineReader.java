package dev.onefold.core.grammar;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.document.Spelling;
import dev.onefold.core.pipeline.Condition;
import dev.onefold.core.pipeline.EventTime;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Format;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.pipeline.TimeType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Reads a pipeline from a document, as `docs/pipelines.md` says, and finds all that is wrong with it. The one
/// judge of what a pipeline may be: YAML, JSON text and the fluent API all come here. Not thread-safe.
public final class PipelineReader {
    public static final String JSON = "json";
    public static final String CSV = "csv";
    static final String INTEGER = "integer";
    static final char DELIMITER = ',';

    private static final Pattern NAME = Pattern.compile("[a-z0-9](?:[a-z0-9-]*[a-z0-9])?");
    private static final String KEY_ADVICE = "write key and version to let the highest version of a key count";

    private final Problems problems = new Problems();

    private PipelineReader() {}

    /// The pipeline that the document is, or all that is wrong with it.
    public static Reading read(Node file) {
        PipelineReader reader = new PipelineReader();
        Pipeline pipeline = reader.pipeline(file);
        return pipeline == null ? new Reading.Refused(reader.problems.inOrder()) : new Reading.Read(pipeline);
    }

    /// Reads the name of a pipeline or roll-up.
    static String name(Expression expression) {
        String name = expression.whole();
        if (name.length() > Limits.NAME_LENGTH_MAX || !NAME.matcher(name).matches()) {
            throw expression.refuseFrom(
                    0,
                    name.isEmpty() ? "is empty" : "is not a name",
                    "write letters a-z, digits and hyphens, at most " + Limits.NAME_LENGTH_MAX
                            + ", no hyphen first or last");
        }
        return name;
    }

    /// Takes the name of a time type.
    static TimeType timeType(Expression expression) {
        int start = expression.offset();
        String word = expression.word();
        List<TimeType> types = List.of(TimeType.values());
        return types.stream()
                .filter(type -> type.word().equals(word))
                .findFirst()
                .orElseThrow(() -> unknown(
                        expression,
                        start,
                        "is not a type of time",
                        types.stream().map(TimeType::word).toList()));
    }

    private static Expression.Refusal unknown(Expression expression, int start, String wrong, List<String> words) {
        expression.back(start);
        String word = expression.word();
        return word.isEmpty()
                ? expression.refuse(wrong, "write " + Spelling.oneOf(words))
                : expression.refuseFrom(start, wrong, Spelling.advice(word, words));
    }

    private @Nullable Pipeline pipeline(Node file) {
        Section settings = Section.of(file, Section.Kind.FILE, "", problems);
        if (settings == null) {
            return null;
        }
        settings.require("pipeline", "write the pipeline's name: letters a-z, digits and hyphens");
        String name = settings.read("pipeline", PipelineReader::name);
        Node inputNode = settings.require("input", "write what an event is under input: its format, key and version");
        Section input = inputNode == null ? null : Section.of(inputNode, Section.Kind.INPUT, "input", problems);
        if (input == null) {
            new RollupReader(new FieldGrammar(null), problems)
                    .rollups(settings); // To find what is wrong with them, too.
            return null;
        }
        Format format = format(input);
        FieldGrammar fields = new FieldGrammar(format);
        Identity identity = identity(input, fields);
        EventTime time = time(input, fields);
        Condition delete = input.read("delete", text -> ConditionParser.parse(text, fields));
        Condition filter = input.read("filter", text -> ConditionParser.parse(text, fields));
        List<Rollup> rollups = new RollupReader(fields, problems).rollups(settings);
        return name == null || format == null || identity == null || !problems.isEmpty()
                ? null
                : new Pipeline(name, new Input(format, identity, time, delete, filter), new Rollups(rollups));
    }

    private @Nullable Format format(Section input) {
        String word = input.has("format") ? input.read("format", PipelineReader::formatWord) : JSON;
        List<String> columns = columns(input);
        Character delimiter = input.read("delimiter", PipelineReader::delimiter);
        if (word == null) {
            return null;
        }
        if (word.equals(JSON)) {
            Stream.of("columns", "delimiter")
                    .filter(input::has)
                    .forEach(name -> input.refuse(name, "is for csv only", "write 'format: csv', or leave it out"));
            return new Format.Json();
        }
        return new Format.Csv(delimiter == null ? DELIMITER : delimiter, columns);
    }

    private static String formatWord(Expression expression) {
        String word = expression.whole();
        List<String> words = List.of(JSON, CSV);
        if (!words.contains(word)) {
            throw expression.refuseFrom(0, "is not a format", Spelling.advice(word, words));
        }
        return word;
    }

    private static char delimiter(Expression expression) {
        String text = expression.whole();
        char first = text.isEmpty() ? '"' : text.charAt(0);
        if (text.length() != 1 || first == '"' || first > '~' || first < ' ' && first != '\t') {
            throw expression.refuseFrom(
                    0,
                    text.isEmpty() ? "is empty" : "is not a delimiter",
                    "write one ASCII character in quotes, but not a double quote or line break: \",\", \";\", \"|\", \"\\t\"");
        }
        return first;
    }

    private List<String> columns(Section input) {
        Node node = input.get("columns");
        if (node == null) {
            return List.of();
        }
        String path = input.path("columns");
        if (!(node instanceof Node.Sequence sequence) || sequence.items().isEmpty()) {
            String right = "a list of names, or leave it out when the first line of each file names the columns";
            if (node instanceof Node.Sequence) {
                problems.add(node.place(), path, "", "is empty", "write " + right);
            } else {
                Section.refuseKind(node, path, right, problems);
            }
            return List.of();
        }
        List<String> columns = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < sequence.items().size(); i++) {
            Node item = sequence.items().get(i);
            String itemPath = path + "[" + i + "]";
            String column = Section.read(item, itemPath, Expression::whole, problems);
            if (column != null && !seen.add(column)) {
                problems.add(item.place(), itemPath, column, "is there twice", "give each column a name of its own");
            }
            if (column != null) {
                columns.add(column);
            }
        }
        return columns;
    }

    private @Nullable Identity identity(Section input, FieldGrammar fields) {
        boolean versioned = input.has("key") && input.has("version");
        refuseMixedIdentities(input, versioned);
        List<FieldPath> key = fieldList(input, "key", fields);
        Version version = version(input, fields);
        List<FieldPath> id = fieldList(input, "id", fields);
        Duration horizon = input.read("horizon", PipelineReader::horizon);
        if (input.has("horizon") && !input.has("id")) {
            input.refuse("horizon", "is for pipelines with an id only", "write id, or leave horizon out");
        } else if (input.has("horizon") && !input.has("time")) {
            input.refuse("horizon", "needs to know the time of a record", "write time: FIELD, or leave horizon out");
        }
        if (input.has("id")) {
            return new Identity.ById(id, horizon);
        }
        if (versioned) {
            return version == null ? null : new Identity.Versioned(key, version.field(), version.time());
        }
        return new Identity.ByPlace();
    }

    private static void refuseMixedIdentities(Section input, boolean versioned) {
        if (input.has("id")) {
            for (String name : List.of("key", "version", "delete")) {
                if (input.has(name)) {
                    input.refuse(
                            name,
                            "stands beside id, but a pipeline with an id replaces and deletes nothing",
                            "leave out " + name + " or id");
                }
            }
        } else if (input.has("key") && !versioned) {
            input.refuse(
                    "key",
                    "has no version beside it: nothing would say which of two records is newer",
                    "write version: FIELD; or write id in place of key if each record counts");
        } else if (input.has("version") && !versioned) {
            input.refuse(
                    "version", "has no key beside it: nothing would say what it is a version of", "write key: FIELD");
        }
        if (input.has("delete") && !input.has("id") && !versioned) {
            input.refuse(
                    "delete", "needs key and version: without them nothing is ever replaced or deleted", KEY_ADVICE);
        }
    }

    private static Duration horizon(Expression expression) {
        Duration horizon = expression.duration(Limits.DURATION_DAYS_MAX);
        expression.end("write one number and one unit, like 36h");
        return horizon;
    }

    private List<FieldPath> fieldList(Section input, String name, FieldGrammar fields) {
        Node node = input.get(name);
        if (node == null) {
            return List.of();
        }
        String path = input.path(name);
        if (!(node instanceof Node.Sequence sequence)) {
            if (node instanceof Node.Mapping) {
                Section.refuseKind(node, path, "a field or a list of fields", problems);
                return List.of();
            }
            FieldPath field = field(node, path, fields);
            return field == null ? List.of() : List.of(field);
        }
        int size = sequence.items().size();
        if (size == 0 || size > Limits.KEY_FIELDS_MAX) {
            problems.add(
                    node.place(),
                    path,
                    "",
                    size == 0 ? "is empty" : "has " + size + " fields",
                    "write 1 to " + Limits.KEY_FIELDS_MAX + " fields");
        }
        List<FieldPath> list = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            Node item = sequence.items().get(i);
            FieldPath field = field(item, path + "[" + i + "]", fields);
            if (field != null && list.contains(field)) {
                problems.add(item.place(), path + "[" + i + "]", field.toString(), "is there twice", "name it once");
            } else if (field != null && list.size() < Limits.KEY_FIELDS_MAX) {
                list.add(field);
            }
        }
        return list;
    }

    private @Nullable FieldPath field(Node node, String path, FieldGrammar fields) {
        return Section.read(node, path, text -> onlyField(text, fields), problems);
    }

    private static FieldPath onlyField(Expression expression, FieldGrammar fields) {
        FieldPath field = fields.read(expression);
        expression.end("write one field alone; " + expression.nameAdvice());
        return field;
    }

    /// @param time null: an integer
    private record Version(FieldPath field, @Nullable TimeType time) {}

    private @Nullable Version version(Section input, FieldGrammar fields) {
        Node node = input.get("version");
        if (node == null) {
            return null;
        }
        String path = input.path("version");
        if (!(node instanceof Node.Mapping)) {
            FieldPath field = field(node, path, fields);
            return field == null ? null : new Version(field, null);
        }
        Section settings = Section.of(node, Section.Kind.VERSION, path, problems);
        if (settings == null || settings.require("field", "write the field that holds the version") == null) {
            return null;
        }
        FieldPath field = settings.read("field", text -> onlyField(text, fields));
        String type = settings.has("type") ? settings.read("type", PipelineReader::versionType) : INTEGER;
        if (field == null || type == null) {
            return null;
        }
        return new Version(
                field,
                Stream.of(TimeType.values())
                        .filter(time -> time.word().equals(type))
                        .findFirst()
                        .orElse(null));
    }

    /// The types of a version, as they are written; but for the first they are types of time.
    static List<String> versionTypes() {
        return Stream.concat(
                        Stream.of(INTEGER),
                        Stream.of(TimeType.values())
                                .filter(type -> type != TimeType.AUTO)
                                .map(TimeType::word))
                .toList();
    }

    private static String versionType(Expression expression) {
        String word = expression.whole();
        if (!versionTypes().contains(word)) {
            String wrong =
                    word.equals(TimeType.AUTO.word()) ? "leaves open how versions compare" : "is not a type of version";
            throw expression.refuseFrom(0, wrong, Spelling.advice(word, versionTypes()));
        }
        return word;
    }

    private @Nullable EventTime time(Section input, FieldGrammar fields) {
        Node node = input.get("time");
        if (node == null) {
            return null;
        }
        String path = input.path("time");
        if (!(node instanceof Node.Mapping)) {
            FieldPath field = field(node, path, fields);
            return field == null ? null : new EventTime(field, TimeType.AUTO);
        }
        Section settings = Section.of(node, Section.Kind.TIME, path, problems);
        if (settings == null || settings.require("field", "write the field that holds the time") == null) {
            return null;
        }
        FieldPath field = settings.read("field", text -> onlyField(text, fields));
        TimeType type = settings.has("type") ? settings.read("type", PipelineReader::onlyTimeType) : TimeType.AUTO;
        return field == null || type == null ? null : new EventTime(field, type);
    }

    private static TimeType onlyTimeType(Expression expression) {
        TimeType type = timeType(expression);
        expression.end("write the type alone");
        return type;
    }
}
