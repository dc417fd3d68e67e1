package dev.onefold.cli.verbs;

import dev.onefold.cli.call.Call;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.DataDirectory;
import dev.onefold.cli.data.EngineAccess;
import dev.onefold.cli.data.PipelineArgument;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `onefold status`: how a pipeline is.
@Command(
        name = "status",
        sortOptions = false,
        description = {
            "Shows how a pipeline is: records by what became of them, dead letters by reason, rows, memory, disk,"
                    + " checkpoint and lag.",
            "The lag is the bytes by which files have grown since they were folded. Works beside a running engine."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  For the eye:",
            "    onefold status trade-risk.yaml",
            "  For a program:",
            "    onefold status trade-risk --format json"
        })
public final class StatusCommand implements Callable<Integer> {
    private final Call call;

    @Mixin
    private final PipelineArgument pipeline = new PipelineArgument();

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

    public StatusCommand(Call call) {
        this.call = call;
    }

    @Override
    public Integer call() throws IOException {
        DataDirectory data = pipeline.directory(call);
        return EngineAccess.read(data, call, engine -> {
            StatusText text = StatusText.of(VerifyCommand.embedded(engine), data);
            call.caller().out().print(format == StatusFormat.json ? text.json() : text.table(call.caller()));
            return ExitCode.DONE.code();
        });
    }
}
