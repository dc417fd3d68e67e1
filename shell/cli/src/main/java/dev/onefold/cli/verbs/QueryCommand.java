package dev.onefold.cli.verbs;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.TimeOption;
import dev.onefold.cli.data.EngineArgument;
import dev.onefold.cli.data.EngineArgument.Verb;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.cli.show.Words;
import dev.onefold.core.Engine;
import dev.onefold.core.form.CsvForm;
import dev.onefold.core.form.GroupPath;
import dev.onefold.core.form.JsonForm;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.core.query.TableAnswer;
import dev.onefold.core.query.TableQuery;
import dev.onefold.core.shape.Value;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `onefold query`: totals, one consistent cut.
@Command(
        name = "query",
        description = {
            "Shows totals, or rows of a function's tables: one consistent cut, and what it covers.",
            "Every parent is the sum of its children. Works beside a running engine. Exit code 1 if there is no such"
                    + " group, or a key has no rows."
        },
        footer = {
            "  All totals, as a tree:",
            "    ${COMMAND-FULL-NAME} trade-risk.yaml",
            "  What is below PV, one level deep:",
            "    ${COMMAND-FULL-NAME} trade-risk.yaml --group PV --depth 1",
            "  The ten leaf groups with the greatest value, for a program:",
            "    ${COMMAND-FULL-NAME} trade-risk.yaml --top 10 --by value --format json",
            "  Two tables of a function, the rows of one key:",
            "    ${COMMAND-FULL-NAME} runs.yaml --table stats --table tendency --key u7",
            "  The top list, kept fresh until Ctrl-C:",
            "    ${COMMAND-FULL-NAME} trade-risk.yaml --top 10 --by value --watch"
        })
final class QueryCommand implements Callable<Integer> {
    private static final Duration WATCH_INTERVAL = Duration.ofSeconds(1);

    @Mixin
    private final EngineArgument pipeline;

    @Option(
            names = "--rollup",
            paramLabel = "NAME",
            description = "Which of the pipeline's roll-ups. Default: the first.")
    private @Nullable String rollup;

    @ArgGroup
    private final Top group = new Top();

    /// Which group is at the top of the answer; one way to say it at a time.
    static final class Top {
        @Option(
                names = "--group",
                paramLabel = "A/B",
                description = "Only this group and what is below it: the values of its first levels, joined by /."
                        + " Inside a value write \\/ for a slash and \\\\ for a backslash.")
        private @Nullable String path;

        @Option(
                names = "--group-json",
                paramLabel = "JSON",
                description = "The same as a JSON list of texts, for any character there is: '[\"A\",\"B\"]'.")
        private @Nullable String json;
    }

    @Option(
            names = "--depth",
            paramLabel = "N",
            description = "How many levels below the group are shown; 0 is the group alone. Default: all.")
    private int depth = Integer.MAX_VALUE;

    @Option(
            names = "--top",
            paramLabel = "N",
            description = "Only the N greatest groups at that depth, greatest first. Needs --by.")
    private @Nullable Integer top;

    @Option(names = "--by", paramLabel = "MEASURE", description = "The measure that --top goes by.")
    private @Nullable String by;

    @Option(
            names = "--table",
            paramLabel = "NAME",
            description = "Rows of this table of a function, in place of totals. Several times: tables of one cut.")
    private List<String> tables = List.of();

    @Option(
            names = "--key",
            paramLabel = "KEY",
            description =
                    "With --table: only the rows of this key. Once for each of its fields. Of a table that several"
                            + " keys write: the first field of the table's own key, or all.")
    private List<String> key = List.of();

    @Option(
            names = "--limit",
            paramLabel = "N",
            description = "With --table: only the first N rows of each table, in the order of their keys.")
    private @Nullable Long limit;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description = "One of ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}. JSON numbers have all their"
                    + " digits; CSV has the groups or the rows of one table only, and not what they cover.")
    private OutputFormat format = OutputFormat.table;

    @Option(
            names = "--neutralise-formulas",
            description = "With --format csv: puts a ' before the name of a group or level that begins with = + - or @,"
                    + " so that no spreadsheet takes it for a formula.")
    private boolean neutralise;

    @Option(
            names = "--watch",
            description = "Keeps the table fresh, with a * beside what has changed, until Ctrl-C. Without a terminal, a"
                    + " table is written only when something has changed.")
    private boolean watch;

    @Option(names = "--every", paramLabel = "T", description = "With --watch: how often: 500ms, 5s, 1m. Default: 1s.")
    private @Nullable String every;

    @Option(
            names = "--equals",
            paramLabel = "FILE",
            description = "Compares the totals with those of a file, which a producer has written ('generate --totals')"
                    + " or 'query --format json'. Exit code 1, and the groups that differ, if they are not equal.")
    private @Nullable String equals;

    QueryCommand(EngineArgument pipeline) {
        this.pipeline = pipeline;
    }

    @Override
    public Integer call() throws IOException {
        if ((top == null) != (by == null)) {
            throw CommandFailure.usage("--top and --by go together: how many groups, and by which measure.");
        }
        if (neutralise && format != OutputFormat.csv) {
            throw CommandFailure.usage("--neutralise-formulas is for --format csv.");
        }
        if (watch && (format != OutputFormat.table || !tables.isEmpty())) {
            throw CommandFailure.usage("--watch is for totals as a table; leave out --format and --table.");
        }
        if (every != null && !watch) {
            throw CommandFailure.usage("--every is for --watch.");
        }
        if (equals != null && (watch || top != null || !tables.isEmpty() || format != OutputFormat.table)) {
            throw CommandFailure.usage("--equals goes without --watch, --top, --table and --format.");
        }
        Caller caller = pipeline.caller();
        List<String> root = root();
        if (equals != null) {
            Totals right = TotalsFile.read(caller, equals).below(root, depth);
            return pipeline.read(engine -> ask(engine, root, answer -> compare(caller, answer, root, right)))
                    .code();
        }
        if (!tables.isEmpty()) {
            return pipeline.read(this::rows).code();
        }
        if (!key.isEmpty() || limit != null) {
            throw CommandFailure.usage("--key and --limit are for --table.");
        }
        if (watch) {
            return watch(caller, root).code();
        }
        return pipeline.read(engine -> {
                    Pipeline asked = engine.pipeline();
                    return ask(engine, root, answer -> write(caller, asked, answer, root));
                })
                .code();
    }

    /// Only the measures that the file has are compared.
    private static ExitCode compare(Caller caller, Answer answer, List<String> root, Totals right) {
        Totals all = Totals.of(answer);
        List<String> missing = right.measures().stream()
                .filter(measure -> !all.measures().contains(measure))
                .toList();
        if (!missing.isEmpty() || right.measures().isEmpty()) {
            throw CommandFailure.usage("The file of --equals has the measures " + right.measures() + ", and roll-up "
                    + answer.rollup() + " has " + all.measures() + ".");
        }
        if (all.all(right).isEmpty()) {
            return missing(caller, root);
        }
        Sides sides = new Sides("", all.of(right.measures()), right);
        if (right.measures().size() < all.measures().size()) {
            caller.note(
                    "Compared are only the measures that the file has: " + String.join(", ", right.measures()) + ".");
        }
        if (sides.isEqual()) {
            caller.printLine("equal: " + Words.count(all.all(right).size(), "group") + ".");
            return ExitCode.DONE;
        }
        sides.differences(Integer.MAX_VALUE)
                .forEach(line ->
                        caller.printLine(Words.wrap(line, caller.screen().outWidth())));
        return ExitCode.DIFFERENT;
    }

    private ExitCode watch(Caller caller, List<String> root) throws IOException {
        StopRequest stop = new StopRequest();
        Duration interval = every == null ? WATCH_INTERVAL : TimeOption.of("--every", every);
        stop.makeOnSignals();
        Watch watching = new Watch(caller, interval, stop);
        WatchText text = new WatchText(caller.screen(), root, top != null);
        return watching.run(isFirst -> {
            Verb asking = engine -> {
                Pipeline asked = engine.pipeline();
                return ask(engine, root, answer -> {
                    watching.show(text.next(asked.name(), AnswerText.unit(asked), answer));
                    return ExitCode.DONE;
                });
            };
            ExitCode _ = isFirst ? pipeline.read(asking) : pipeline.readAgain(asking);
        });
    }

    private ExitCode write(Caller caller, Pipeline asked, Answer answer, List<String> root) {
        Consumer<String> out = caller.out()::print;
        switch (format) {
            case table ->
                new AnswerText(asked.name(), answer, root, top != null)
                        .table(
                                out,
                                caller.screen().outWidth(),
                                caller.screen().outIsTerminal(),
                                caller::shownSource,
                                AnswerText.unit(asked));
            case json -> JsonForm.write(asked.name(), answer, piece -> out.accept(visible(piece)));
            case csv -> CsvForm.write(answer, neutralise, piece -> out.accept(visible(piece)));
        }
        if (answer.lines().isEmpty() && !root.isEmpty()) {
            return missing(caller, root);
        }
        return ExitCode.DONE;
    }

    private static ExitCode missing(Caller caller, List<String> root) {
        caller.note("There is no group " + Words.path(root) + ".");
        return ExitCode.DIFFERENT;
    }

    private ExitCode rows(Engine engine) {
        if (rollup != null || top != null || group.path != null || group.json != null || depth != Integer.MAX_VALUE) {
            throw CommandFailure.usage(
                    "--table goes without --rollup, --group, --depth and --top, which are of totals.");
        }
        if (format == OutputFormat.csv && tables.size() > 1) {
            throw CommandFailure.usage("--format csv has one table; give one --table.");
        }
        try {
            return engine.tables(
                    new TableQuery(
                            tables,
                            key.isEmpty() ? Optional.empty() : Optional.of(key),
                            limit == null ? Long.MAX_VALUE : limit),
                    answer -> write(engine.pipeline(), answer));
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(ExitCode.USAGE, e.getMessage() + ".", e);
        }
    }

    private ExitCode write(Pipeline served, TableAnswer answer) {
        Caller caller = pipeline.caller();
        Consumer<String> out = caller.out()::print;
        switch (format) {
            case table ->
                new RowsText(served, answer)
                        .write(out, caller.screen().outWidth(), caller.screen().outIsTerminal(), caller::shownSource);
            case json -> JsonForm.write(served.name(), answer, Value::plain, piece -> out.accept(visible(piece)));
            case csv -> CsvForm.write(answer.tables().getFirst(), neutralise, piece -> out.accept(visible(piece)));
        }
        if (!key.isEmpty()
                && answer.tables().stream().allMatch(table -> table.rows().isEmpty())) {
            caller.note("The key " + RowText.key(key) + " has no rows.");
            return ExitCode.DIFFERENT;
        }
        return ExitCode.DONE;
    }

    /// A terminal must obey nothing that stands in the name of a group; a file or a pipe gets it as it is.
    private String visible(String text) {
        return pipeline.caller().screen().outIsTerminal()
                ? Stream.of(text.split("\n", -1)).map(Words::visible).collect(Collectors.joining("\n"))
                : text;
    }

    private ExitCode ask(Engine engine, List<String> root, Function<Answer, ExitCode> reader) {
        if (engine.pipeline().fold() instanceof Processing processing
                && processing.feeds().isEmpty()) {
            throw CommandFailure.usage("The pipeline has no roll-ups; name a table of its function, with --table: "
                    + processing.tableNames() + ".");
        }
        if (engine.pipeline().fold() instanceof Batching) {
            throw CommandFailure.usage("The pipeline makes batches, and no totals. See 'onefold batches "
                    + engine.pipeline().name() + " list'.");
        }
        String name =
                rollup == null ? Rollups.of(engine.pipeline()).all().getFirst().name() : rollup;
        try {
            Query.Top greatest = top == null || by == null ? null : new Query.Top(top, by);
            return engine.query(new Query(name, root, depth, greatest), reader);
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(ExitCode.USAGE, e.getMessage() + ".", e);
        }
    }

    private List<String> root() {
        try {
            if (group.json != null) {
                return GroupPath.ofJson("--group-json", group.json);
            }
            return group.path == null ? List.of() : GroupPath.parse(group.path);
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
        }
    }
}
