package dev.onefold.cli.verbs;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.EngineArgument;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.Engine;
import dev.onefold.core.form.JsonForm;
import dev.onefold.core.json.Json;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.process.KeyState;
import dev.onefold.core.state.Row;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `onefold get`: the row of a key.
@Command(
        name = "get",
        description = {
            "Shows the row of a key.",
            "That is its version, what it contributes to which groups, and where it came from. It says when a newer version of the key"
                    + " was rejected and waits among the dead letters. Exit code 1 when the key was never seen.",
            "Of a key that a function folds: its version, its context, how many events are kept for late ones, and"
                    + " whether versions are missing."
        },
        footer = {
            "  A key of one field:",
            "    ${COMMAND-FULL-NAME} trade-risk.yaml 8f14e45f-ceea-467f-9a0c-0f1a2b3c4d5e",
            "  A key of two fields, for a program:",
            "    ${COMMAND-FULL-NAME} orders.yaml EMEA 4711 --format json"
        })
final class GetCommand implements Callable<Integer> {
    private static final int LETTERS_MAX = 20;

    @Mixin
    private final EngineArgument pipeline;

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "KEY",
            description = "The key: the value of each of its fields, in the order of the pipeline file.")
    private List<String> key = List.of();

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description = "One of ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    private RowFormat format = RowFormat.table;

    /// How a row is written.
    enum RowFormat {
        table,
        json
    }

    GetCommand(EngineArgument pipeline) {
        this.pipeline = pipeline;
    }

    @Override
    public Integer call() throws IOException {
        return pipeline.read(engine -> engine.pipeline().fold() instanceof Processing
                        ? show(state(engine), engine.deadLetters().ofKey(key, LETTERS_MAX))
                        : show(engine.underOneDefinition(served -> new Found(
                                served, row(engine), engine.deadLetters().ofKey(key, LETTERS_MAX)))))
                .code();
    }

    private ExitCode show(Optional<KeyState> found, List<DeadLetters.OfKey> letters) {
        if (found.isEmpty()) {
            return notThere(letters);
        }
        KeyState state = found.get();
        Caller caller = pipeline.caller();
        caller.print(
                format == RowFormat.json
                        ? Json.of(JsonForm.state(state, letters)) + "\n"
                        : new StateText(state, letters).text(caller.screen().outWidth()));
        return ExitCode.DONE;
    }

    private ExitCode notThere(List<DeadLetters.OfKey> letters) {
        String waiting = letters.isEmpty()
                ? " was never seen."
                : " was never accepted. Dead letter "
                        + letters.getFirst().letter().id() + " is a record of it that was rejected.";
        pipeline.caller().note("The key " + RowText.key(key) + waiting);
        return ExitCode.DIFFERENT;
    }

    /// The row and the dead letters of the key, under one definition.
    private record Found(Pipeline served, Optional<Row> row, List<DeadLetters.OfKey> letters) {}

    private ExitCode show(Found found) {
        if (found.row.isEmpty()) {
            return notThere(found.letters);
        }
        Row row = found.row.get();
        pipeline.caller()
                .print(
                        format == RowFormat.json
                                ? Json.of(JsonForm.row(found.served, row, found.letters)) + "\n"
                                : new RowText(found.served, row, found.letters).table(pipeline.caller()));
        return ExitCode.DONE;
    }

    private Optional<Row> row(Engine engine) {
        return said(() -> engine.get(key));
    }

    private Optional<KeyState> state(Engine engine) {
        return said(() -> engine.state(key));
    }

    private static <T> T said(Supplier<T> asked) {
        try {
            return asked.get();
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(ExitCode.USAGE, e.getMessage() + ".", e);
        }
    }
}
