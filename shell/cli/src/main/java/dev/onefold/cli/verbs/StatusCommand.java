package dev.onefold.cli.verbs;

import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.EngineArgument;
import dev.onefold.core.Capabilities.Capability;
import dev.onefold.core.Fates;
import dev.onefold.core.Status;
import dev.onefold.core.form.EngineJson;
import dev.onefold.core.json.Json;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `onefold status`: how a pipeline is.
@Command(
        name = "status",
        description = {
            "Shows how a pipeline is: records by what became of them, dead letters by reason, rows, memory, disk,"
                    + " checkpoint and lag.",
            "The lag is the bytes by which files have grown since they were folded. Works beside a running engine.",
            "Of a deployment on AWS it shows the records alone."
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
                    String name = engine.pipeline().name();
                    Optional<String> missing = engine.capabilities().reason(Capability.STATUS);
                    if (missing.isPresent()) {
                        pipeline.caller().note(missing.get());
                        Fates fates = new Fates(engine.counts(), engine.causes());
                        print(StatusText.ofRecords(name, pipeline.place(), fates), EngineJson.FATES.write(fates));
                        return ExitCode.DONE;
                    }
                    Status status = engine.status().pendingIf(pipeline.isOther(engine));
                    print(new StatusText(name, pipeline.place(), status).table(), EngineJson.status(name, status));
                    return ExitCode.DONE;
                })
                .code();
    }

    private void print(String table, Map<String, @Nullable Object> json) {
        pipeline.caller().print(format == StatusFormat.json ? Json.of(json) + "\n" : table);
    }
}
