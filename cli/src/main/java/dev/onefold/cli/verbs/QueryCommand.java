package dev.onefold.cli.verbs;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.EngineArgument;
import dev.onefold.cli.show.Words;
import dev.onefold.core.Engine;
import dev.onefold.core.form.CsvForm;
import dev.onefold.core.form.GroupPath;
import dev.onefold.core.form.JsonForm;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import java.io.IOException;
import java.util.List;
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
            "Shows totals: one consistent cut, and what it covers.",
            "Every parent is the sum of its children. Works beside a running engine. Exit code 1 if there is no such"
                    + " group."
        },
        footer = {
            "  All totals, as a tree:",
            "    ${COMMAND-FULL-NAME} trade-risk.yaml",
            "  What is below PV, one level deep:",
            "    ${COMMAND-FULL-NAME} trade-risk.yaml --group PV --depth 1",
            "  The ten leaf groups with the greatest value, for a program:",
            "    ${COMMAND-FULL-NAME} trade-risk.yaml --top 10 --by value --format json"
        })
final class QueryCommand implements Callable<Integer> {
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
            names = "--format",
            paramLabel = "FORMAT",
            description = "One of ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}. JSON numbers have all their"
                    + " digits; CSV has the groups only, and not what they cover.")
    private OutputFormat format = OutputFormat.table;

    @Option(
            names = "--neutralise-formulas",
            description = "With --format csv: puts a ' before the name of a group or level that begins with = + - or @,"
                    + " so that no spreadsheet takes it for a formula.")
    private boolean neutralise;

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
        Caller caller = pipeline.caller();
        List<String> root = root();
        return pipeline.read(engine -> {
                    String name = engine.pipeline().name();
                    return ask(engine, root, answer -> write(caller, name, answer, root));
                })
                .code();
    }

    private ExitCode write(Caller caller, String name, Answer answer, List<String> root) {
        Consumer<String> out = caller.out()::print;
        switch (format) {
            case table ->
                new AnswerText(name, answer, root, top != null)
                        .table(out, caller.screen().outWidth(), caller.screen().outIsTerminal(), caller::shownSource);
            case json -> JsonForm.write(name, answer, piece -> out.accept(visible(piece)));
            case csv -> CsvForm.write(answer, neutralise, piece -> out.accept(visible(piece)));
        }
        if (answer.lines().isEmpty() && !root.isEmpty()) {
            caller.note("There is no group " + Words.path(root) + ".");
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
