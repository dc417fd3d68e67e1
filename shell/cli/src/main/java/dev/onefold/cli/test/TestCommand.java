package dev.onefold.cli.test;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.cli.run.InputFile;
import dev.onefold.cli.show.Table;
import dev.onefold.cli.show.Words;
import dev.onefold.cli.test.ExpectedFile.Difference;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.test.Answers;
import dev.onefold.test.EngineRuns;
import dev.onefold.test.FunctionCheck;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `onefold test`: does a sample come to the expected tables and totals, whatever happens?
@Command(
        name = "test",
        description = {
            "Runs a pipeline on a sample, and compares its tables and totals with a file of expected ones.",
            "First the records are folded as they are; then in orders of arrival that seeds draw, some of them twice, cut"
                    + " anyhow, while the process is killed and the power cut. All runs must come to the same. Of a"
                    + " function (process) every call is made twice, too: equal arguments must give equal results.",
            "The exit code is 1 if anything differs. Nothing is stored: disk and clock are simulated."
        },
        footerHeading = "%nExample:%n",
        footer = {
            "  Write the expected file once, and read it through:",
            "    onefold test runs.yaml --input sample.ndjson --expect tables.json --write",
            "  From then on:",
            "    onefold test runs.yaml --input sample.ndjson --expect tables.json"
        })
public final class TestCommand implements Callable<Integer> {
    private static final int SHOWN_MAX = 10;
    private static final int RUNS_MAX = 100_000;

    private final Caller caller;

    @Parameters(paramLabel = "PIPELINE", description = "The pipeline file.")
    private String file = "";

    @Option(
            names = "--input",
            required = true,
            paramLabel = "FILE",
            description = "The sample: some hundred records, one a line.")
    private String input = "";

    @Option(
            names = "--expect",
            required = true,
            paramLabel = "FILE",
            description = "The expected tables and totals, as JSON. A table or roll-up that it does not name is not"
                    + " compared with it.")
    private String expect = "";

    @Option(names = "--write", description = "Writes that file, a new one, from the records as they are.")
    private boolean write;

    @Option(names = "--runs", paramLabel = "N", description = "How many seeds are run. Default: ${DEFAULT-VALUE}.")
    private int runs = 20;

    @Option(names = "--seed", paramLabel = "N", description = "Runs this seed alone: one that has failed.")
    private @Nullable Long seed;

    @Option(
            names = "--keep-order",
            description = "Leaves the order of arrival as it is. For a function with order latest or every that depends"
                    + " on it, because its source delivers in order.")
    private boolean keepOrder;

    public TestCommand(Caller caller) {
        this.caller = caller;
    }

    @Override
    public Integer call() throws IOException {
        if (runs < 1 || runs > RUNS_MAX) {
            throw CommandFailure.usage("--runs is " + runs + "; it is 1 to " + RUNS_MAX + ".");
        }
        Pipeline definition = PipelineArgument.read(caller, file);
        LoadedFunction function = definition.fold() instanceof Processing
                ? PipelineArgument.function(caller, file, definition).function()
                : null;
        Pipeline pipeline = function == null ? definition : function.pipeline();
        Identity.ByMessage.problem(pipeline, "a line of the sample").ifPresent(problem -> {
            throw CommandFailure.usage(problem);
        });
        List<String> records = records();
        EngineRuns engine = new EngineRuns(pipeline, function, records, !keepOrder);
        Answers plain = engine.asTheyAre();
        if (write) {
            write(plain);
        }
        ExpectedFile expected =
                ExpectedFile.read(pipeline, Files.readString(expectedPath()), caller.shown(expectedPath()));
        List<Difference> differences = expected.differences(ExpectedFile.of(pipeline, plain));
        if (!differences.isEmpty()) {
            caller.printLine(
                    wrapped("Different: the records as they are do not come to " + caller.shown(expectedPath()) + "."));
            return show(differences);
        }
        return (function == null || isRight(function, records)) && areEqual(pipeline, engine, plain, records)
                ? ExitCode.DONE.code()
                : ExitCode.DIFFERENT.code();
    }

    private List<String> records() throws IOException {
        try (BufferedReader lines = new BufferedReader(
                new InputStreamReader(InputFile.of(caller, input).open(), StandardCharsets.UTF_8))) {
            List<String> records = lines.lines().toList();
            if (records.isEmpty()) {
                throw new CommandFailure(ExitCode.DIFFERENT, caller.shown(caller.path(input)) + " has no records.");
            }
            return records;
        }
    }

    private Path expectedPath() {
        Path path = caller.path(expect);
        if (!Files.isRegularFile(path)) {
            throw CommandFailure.usage("There is no file " + caller.shown(path)
                    + " of expected tables. The option --write makes it from the records as they are.");
        }
        return path;
    }

    private void write(Answers plain) throws IOException {
        Path path = caller.path(expect);
        try {
            Files.writeString(path, ExpectedFile.text(plain), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        } catch (FileAlreadyExistsException e) {
            throw CommandFailure.usage(
                    "There is a file " + caller.shown(path) + " already. Choose another name, or remove it first.");
        }
        caller.printLine(wrapped(
                "Wrote " + caller.shown(path) + ". Read it through: if the checks pass, it is right from now on."));
    }

    /// The function alone, by the rules in memory.
    private boolean isRight(LoadedFunction function, List<String> records) {
        FunctionCheck check = FunctionCheck.of(function).events(records).runs(runs);
        check = seed == null ? check : check.seed(seed);
        try {
            (keepOrder ? check.allowingDependenceOnOrder() : check).check();
            return true;
        } catch (AssertionError failed) {
            String.valueOf(failed.getMessage())
                    .replace(
                            "Use order: in-order; or, if the events of a key always come in order, allow it.",
                            "Use order: in-order; or, if the events of a key always come in order, say --keep-order.")
                    .replace("differ, or allow it.", "differ, or say --keep-order.")
                    .replace("The same seed repeats it.", "The option --seed repeats it.")
                    .lines()
                    .forEach(line -> caller.printLine(wrapped(Words.visible(line))));
            return false;
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(ExitCode.DIFFERENT, e.getMessage() + ".", e);
        }
    }

    /// The whole engine, on a disk that loses what was not forced.
    private boolean areEqual(Pipeline pipeline, EngineRuns engine, Answers plain, List<String> records) {
        ExpectedFile expected = ExpectedFile.of(pipeline, plain);
        long from = seed == null ? 1 : seed;
        long to = seed == null ? runs : seed;
        long left = 0;
        for (long each = from; each <= to; each++) {
            Answers drawn = engine.drawn(each);
            if (drawn.tooLate() != plain.tooLate()) {
                left++; // Another set of events was accepted.
                continue;
            }
            List<Difference> differences = expected.differences(ExpectedFile.of(pipeline, drawn));
            if (!differences.isEmpty()) {
                caller.printLine(
                        wrapped("Different: seed " + each + " does not come to what the records come to as they"
                                + " are. The option --seed " + each + " repeats it." + owners(drawn)));
                show(differences);
                return false;
            }
        }
        String what = plain.tables().isEmpty() ? "" : Words.count(plain.tables().size(), "table");
        what += plain.totals().isEmpty()
                ? ""
                : (what.isEmpty() ? "" : " and ") + Words.count(plain.totals().size(), "roll-up");
        caller.printLine(wrapped("Equal: " + what + " from " + Words.count(records.size(), "record")
                + ", as they are, and in " + Words.count(to - from + 1, "run") + " with "
                + (keepOrder ? "" : "other orders, ") + "duplicates, cuts and crashes."));
        if (left > 0) {
            caller.printLine(wrapped(
                    Words.count(left, "run") + " were not compared, because other events were too late in them."));
        }
        return true;
    }

    private static String owners(Answers drawn) {
        return drawn.notTheOwner() == 0
                ? ""
                : " In it, " + Words.count(drawn.notTheOwner(), "event")
                        + " would have written rows that other keys own (dead letters 'not the owner'): which key"
                        + " comes first depends on the order of arrival.";
    }

    private int show(List<Difference> differences) {
        Table table = new Table(List.of("row", "column", "expected", "actual"))
                .left(1)
                .left(2)
                .left(3);
        for (Difference difference : differences.subList(0, Math.min(SHOWN_MAX, differences.size()))) {
            table.add(List.of(
                    Words.visible(difference.row()),
                    Words.visible(difference.column()),
                    Words.visible(difference.expected()),
                    Words.visible(difference.actual())));
        }
        caller.print(
                "\n" + table.text(caller.screen().outWidth(), caller.screen().outIsTerminal()));
        if (differences.size() > SHOWN_MAX) {
            caller.printLine("and " + Words.count(differences.size() - SHOWN_MAX) + " more");
        }
        return ExitCode.DIFFERENT.code();
    }

    private String wrapped(String text) {
        return Words.wrap(text, caller.screen().outWidth());
    }
}
