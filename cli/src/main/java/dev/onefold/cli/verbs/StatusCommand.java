package dev.onefold.cli.verbs;

import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.EngineArgument;
import dev.onefold.core.Capabilities.Capability;
import dev.onefold.core.Status;
import dev.onefold.core.document.Json;
import dev.onefold.core.form.EngineJson;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `onefold status`: how a pipeline is.
@Command(
        name = "status",
        description = {
            "Shows how a pipeline is: records by what became of them, dead letters by reason, rows, memory, disk,"
                    + " checkpoint and lag.",
            "The lag is the bytes by which files have grown since they were folded. Works beside a running engine."
        },
        footer = {
            "  For the eye:",
            "    ${COMMAND-FULL-NAME} trade-risk.yaml",
            "  For a program:",
            "    ${COMMAND-FULL-NAME} trade-risk --format json"
        })
final class StatusCommand implements Callable<Integer> {
    @Mixin
    private final EngineArgument pipeline;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description = "One of ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    private StatusFormat format = StatusFormat.table;

    /// How a status is written.
    enum StatusFormat {
        table,
        json
    }

    StatusCommand(EngineArgument pipeline) {
        this.pipeline = pipeline;
    }

    @Override
    public Integer call() throws IOException {
        return pipeline.read(engine -> {
                    EngineArgument.require(engine, Capability.STATUS);
                    Status status = engine.status().pendingIf(pipeline.isOther(engine));
                    String name = engine.pipeline().name();
                    pipeline.caller()
                            .print(
                                    format == StatusFormat.json
                                            ? Json.of(EngineJson.status(name, status)) + "\n"
                                            : new StatusText(name, pipeline.place(), status).table());
                    return ExitCode.DONE;
                })
                .code();
    }
}
