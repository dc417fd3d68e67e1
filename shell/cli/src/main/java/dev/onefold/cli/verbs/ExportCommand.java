package dev.onefold.cli.verbs;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.EngineArgument;
import dev.onefold.cli.show.Words;
import dev.onefold.core.form.CsvForm;
import dev.onefold.core.query.TableAnswer;
import dev.onefold.core.query.TableQuery;
import dev.onefold.core.shape.Value;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `onefold export`: a table into a file.
@Command(
        name = "export",
        description = {
            "Writes all rows of a table of a function to a file, in the order of their keys: one consistent cut.",
            "Works beside a running engine. A list or a record in a row is JSON in CSV, too."
        },
        footer = {
            "  For a spreadsheet:",
            "    ${COMMAND-FULL-NAME} runs.yaml --table stats --output stats.csv",
            "  One JSON object a line, into another program:",
            "    ${COMMAND-FULL-NAME} runs.yaml --table stats --format ndjson -o - | wc -l"
        })
final class ExportCommand implements Callable<Integer> {
    @Mixin
    private final EngineArgument pipeline;

    @Option(names = "--table", required = true, paramLabel = "NAME", description = "The table.")
    private String table = "";

    @Option(
            names = {"-o", "--output"},
            required = true,
            paramLabel = "FILE",
            description = "Where the rows go: a new file, or - for standard output.")
    private String output = "-";

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description = "One of ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    private ExportFormat format = ExportFormat.csv;

    /// How rows are written.
    enum ExportFormat {
        csv,
        ndjson
    }

    ExportCommand(EngineArgument pipeline) {
        this.pipeline = pipeline;
    }

    @Override
    public Integer call() throws IOException {
        Caller caller = pipeline.caller();
        return pipeline.read(engine -> {
                    TableQuery all = new TableQuery(List.of(table), Optional.empty(), Long.MAX_VALUE);
                    try {
                        return engine.tables(
                                all, answer -> write(caller, answer.tables().getFirst()));
                    } catch (IllegalArgumentException e) {
                        throw new CommandFailure(ExitCode.USAGE, e.getMessage() + ".", e);
                    } catch (UncheckedIOException e) {
                        throw e.getCause();
                    }
                })
                .code();
    }

    private ExitCode write(Caller caller, TableAnswer.Table rows) {
        if (output.equals("-")) {
            boolean terminal = caller.screen().outIsTerminal();
            write(rows, text -> caller.print(terminal ? Words.visible(text.stripTrailing()) + "\n" : text));
            return ExitCode.DONE;
        }
        Path path = caller.path(output);
        try (BufferedWriter file = Files.newBufferedWriter(
                path, StandardCharsets.UTF_8, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            write(rows, text -> {
                try {
                    file.write(text);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        } catch (FileAlreadyExistsException e) {
            throw CommandFailure.usage(
                    "There is a file " + caller.shown(path) + " already. Choose another name, or remove it first.");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        caller.print("Wrote " + Words.count(rows.rows().size(), "row") + " to " + caller.shown(path) + ".\n");
        return ExitCode.DONE;
    }

    private void write(TableAnswer.Table rows, Consumer<String> out) {
        switch (format) {
            case csv -> CsvForm.write(rows, false, out);
            case ndjson -> {
                for (Value.Fields row : rows.rows()) {
                    out.accept(row.toJson() + "\n");
                }
            }
        }
    }
}
