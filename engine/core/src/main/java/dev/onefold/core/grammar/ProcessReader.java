package dev.onefold.core.grammar;

import dev.onefold.core.document.Node;
import dev.onefold.core.json.NearestWord;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Processing.Code;
import dev.onefold.core.pipeline.Processing.Feed;
import dev.onefold.core.pipeline.Processing.NewVersion;
import dev.onefold.core.pipeline.Processing.Order;
import dev.onefold.core.pipeline.Processing.Program;
import dev.onefold.core.pipeline.Processing.Table;
import dev.onefold.core.pipeline.Type;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Reads the section `process` of a pipeline file, and the roll-ups of its tables; and writes them. Not
/// thread-safe.
final class ProcessReader {
    private static final Pattern CLASS =
            Pattern.compile("[\\p{L}_$][\\p{L}\\p{N}_$]*(\\.[\\p{L}_$][\\p{L}\\p{N}_$]*)*");
    private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,6}");
    private static final String COMMAND_RIGHT = "the program and its arguments: [python3, runs.py]";
    private static final String TABLES_RIGHT = "tables with their keys: 'stats: [user_id, run_id]'";
    private static final List<String> ORDERS =
            Stream.of(Order.values()).map(Order::word).toList();

    private final Section file;
    private final @Nullable Input input;

    /// @param input `null` if it is wrong itself
    ProcessReader(Section file, @Nullable Input input) {
        this.file = file;
        this.input = input;
    }

    /// Reads the section; if something is wrong, notes it and returns `null`.
    @Nullable
    Processing read(Setting setting) {
        Section section = Section.of(setting, Section.Kind.PROCESS);
        if (section == null) {
            return null;
        }
        refuseInput();
        section.require(
                "order",
                "write latest (events above the highest version seen), every (each event once, as it comes) or in-order"
                        + " (as if all events of a key had come in the order of their versions)");
        Program program = program(section);
        Integer version = section.read("version", text -> number(text, Processing.VERSION_MAX));
        Order order = section.read("order", ProcessReader::order);
        Integer keep = section.read("keep", text -> number(text, Processing.KEEP_MAX));
        NewVersion onNewVersion = section.read("on-new-version", ProcessReader::newVersion);
        if (order == Order.LATEST && section.has("keep")) {
            section.refuse("keep", "is not for order: latest, which keeps no events", "leave it out");
        }
        if (order != null && order != Order.IN_ORDER && onNewVersion == NewVersion.REFOLD) {
            section.refuse(
                    "on-new-version",
                    "is refold, and order: " + order.word() + " keeps no events to fold again",
                    "write continue, or leave it out");
        }
        List<Table> tables = tables(section.get("tables"));
        List<Feed> feeds = feeds(tables);
        Code code = code(section.get("code"));
        return program == null || order == null
                ? null
                : new Processing(
                        program,
                        version == null ? 1 : version,
                        onNewVersion == null ? newVersionOf(order) : onNewVersion,
                        order,
                        keep == null ? Processing.KEEP_DEFAULT : keep,
                        tables,
                        feeds,
                        code);
    }

    private static NewVersion newVersionOf(Order order) {
        return order == Order.IN_ORDER ? NewVersion.REFOLD : NewVersion.CONTINUE;
    }

    private void refuseInput() {
        if (input == null) {
            return;
        }
        if (!(input.identity() instanceof Identity.Versioned)) {
            file.refuse(
                    "input",
                    "has no key with a version beside it, and a function is called per key, each version once",
                    "write key and version");
        }
        if (input.format() instanceof Input.Format.Changes) {
            file.refuse(
                    "input",
                    "has the changes of a table, and a function could not see a removal",
                    "write 'format: json', and let the function read what it needs of the change");
        }
        if (input.delete() != null) {
            file.refuse(
                    "input",
                    "has a delete condition, and a function handles such an event itself",
                    "leave delete out, and let the function remove the rows with Step.remove");
        }
    }

    private static @Nullable Program program(Section section) {
        Setting command = section.get("command");
        if (command == null) {
            section.require(
                    "class",
                    "write the name of the class that implements dev.onefold.process.Processor, or, for a function in"
                            + " another language, the command that runs it: 'command: [python3, runs.py]'");
            String name = section.read("class", ProcessReader::className);
            String jar = section.read("jar", ProcessReader::jar);
            return name == null ? null : new Program.JavaClass(name, jar);
        }
        for (String other : List.of("class", "jar")) {
            if (section.has(other)) {
                section.refuse(other, "is beside command, and a function is one or the other", "leave one of them out");
            }
        }
        if (!(command.node() instanceof Node.Sequence)) {
            command.refuseKind(COMMAND_RIGHT);
            return null;
        }
        command.refuseMoreThan(Program.Command.WORDS_MAX, command.items().size());
        List<String> words = command.items().stream()
                .map(item -> item.read(Expression::whole))
                .filter(Objects::nonNull)
                .toList();
        if (words.isEmpty() || words.getFirst().isEmpty()) {
            command.refuseKind(COMMAND_RIGHT);
            return null;
        }
        return words.size() == command.items().size() ? new Program.Command(words) : null;
    }

    private static String className(Expression expression) {
        String name = expression.whole();
        if (!CLASS.matcher(name).matches()) {
            throw expression.refuseFrom(
                    0, name.isEmpty() ? "is empty" : "is not the name of a class", "write it like com.example.Runs");
        }
        return name;
    }

    private static String jar(Expression expression) {
        String name = expression.whole();
        if (!name.endsWith(".jar") || name.startsWith("/") || name.contains("..") || name.contains("\\")) {
            throw expression.refuseFrom(
                    0, "is not a jar beside the pipeline file", "write its name, like runs.jar or build/runs.jar");
        }
        return name;
    }

    private static int number(Expression expression, int max) {
        String text = expression.whole();
        if (!NUMBER.matcher(text).matches() || Integer.parseInt(text) > max) {
            throw expression.refuseFrom(0, "is not possible", "write an integer from 1 to " + max);
        }
        return Integer.parseInt(text);
    }

    private static Order order(Expression expression) {
        String word = expression.whole();
        return Processing.order(word)
                .orElseThrow(
                        () -> expression.refuseFrom(0, "is not an order of events", NearestWord.advice(word, ORDERS)));
    }

    private static NewVersion newVersion(Expression expression) {
        String word = expression.whole();
        List<String> words =
                Stream.of(NewVersion.values()).map(NewVersion::word).toList();
        return Stream.of(NewVersion.values())
                .filter(each -> each.word().equals(word))
                .findFirst()
                .orElseThrow(() -> expression.refuseFrom(0, "is not possible", NearestWord.advice(word, words)));
    }

    private List<Table> tables(@Nullable Setting setting) {
        if (setting == null) {
            return List.of();
        }
        if (!(setting.node() instanceof Node.Mapping)) {
            setting.refuseKind(TABLES_RIGHT);
        }
        setting.refuseMoreThan(Processing.TABLES_MAX, setting.entries().size());
        List<Table> tables = new ArrayList<>();
        setting.entries().forEach((name, entry) -> {
            Setting key = setting.entry(entry);
            Expression.read(entry.name(), key.path(), setting.problems(), PipelineReader::name);
            List<String> names = key.node() instanceof Node.Scalar
                    ? Stream.ofNullable(key.read(ProcessReader::keyField)).toList()
                    : key.distinct(ProcessReader::keyField, "name it once");
            if (key.node() instanceof Node.Mapping
                    || key.node() instanceof Node.Sequence list && list.items().isEmpty()) {
                key.refuseKind("the components of its key: [user_id, run_id]");
            }
            refuseKey(names, key);
            tables.add(new Table(name, names));
        });
        return tables;
    }

    private static String keyField(Expression expression) {
        FieldPath path = new FieldGrammar(null).alone(expression);
        return path.toString();
    }

    private static void refuseKey(List<String> key, Setting setting) {
        if (key.size() > Table.KEY_FIELDS_MAX) {
            setting.refuse(
                    "",
                    "has " + key.size() + " components",
                    "a table's key has one or two, on AWS the partition key and the sort key");
        }
    }

    private List<Feed> feeds(List<Table> tables) {
        if (file.has("rollup")) {
            file.refuse(
                    "rollup",
                    "stands beside process",
                    "write roll-ups of its tables under rollups, each with a name and 'of: TABLE'");
        }
        List<Feed> feeds = new RollupReader(new FieldGrammar(new Input.Format.Json()), null)
                .feeds(file, tables.stream().map(Table::name).toList());
        if (input != null && !feeds.isEmpty() && !input.spellings().equals(Input.Spellings.NONE)) {
            file.refuse(
                    "input",
                    "has truths, falsehoods, normalize or zone, and roll-ups of tables read rows without them",
                    "leave it out, and let the function bring such values into one form");
        }
        return feeds;
    }

    private static @Nullable Code code(@Nullable Setting setting) {
        Section section = setting == null ? null : Section.of(setting, Section.Kind.CODE);
        if (section == null) {
            return null;
        }
        String sha256 = section.read("sha256", Expression::whole);
        Type.Fields context = section.read("context", ProcessReader::type);
        Type.Fields event = section.read("event", ProcessReader::type);
        SortedMap<String, Type.Fields> tables = new TreeMap<>();
        Setting rows = section.get("tables");
        if (rows != null) {
            rows.entries().forEach((name, entry) -> {
                Type.Fields row = rows.entry(entry).read(ProcessReader::type);
                if (row != null) {
                    tables.put(name, row);
                }
            });
        }
        return context == null || event == null ? null : new Code(sha256 == null ? "" : sha256, context, event, tables);
    }

    private static Type.Fields type(Expression expression) {
        String text = expression.whole();
        try {
            return TypeReader.read(text);
        } catch (IllegalArgumentException e) {
            throw expression.refuseFrom(0, "is not a type: " + e.getMessage(), "Onefold writes this section itself");
        }
    }

    /// The section as it is written, without settings that have their defaults.
    static Map<String, Object> text(Processing processing) {
        Map<String, Object> section = new LinkedHashMap<>();
        switch (processing.program()) {
            case Program.JavaClass(String name, String jar) -> {
                section.put("class", name);
                if (jar != null) {
                    section.put("jar", jar);
                }
            }
            case Program.Command(List<String> words) -> section.put("command", words);
        }
        if (processing.version() != 1) {
            section.put("version", processing.version());
        }
        if (processing.onNewVersion() != newVersionOf(processing.order())) {
            section.put("on-new-version", processing.onNewVersion().word());
        }
        section.put("order", processing.order().word());
        if (processing.order() != Order.LATEST && processing.keep() != Processing.KEEP_DEFAULT) {
            section.put("keep", processing.keep());
        }
        if (!processing.tables().isEmpty()) {
            Map<String, Object> tables = new LinkedHashMap<>();
            processing.tables().forEach(table -> tables.put(table.name(), table.key()));
            section.put("tables", tables);
        }
        Code code = processing.code();
        if (code != null) {
            Map<String, Object> found = new LinkedHashMap<>();
            found.put("sha256", code.sha256());
            found.put("context", code.context().toString());
            found.put("event", code.event().toString());
            if (!code.tables().isEmpty()) {
                Map<String, Object> rows = new LinkedHashMap<>();
                code.tables().forEach((name, type) -> rows.put(name, type.toString()));
                found.put("tables", rows);
            }
            section.put("code", found);
        }
        return section;
    }
}
