package dev.onefold.cli;

import dev.onefold.cli.call.Call;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.cli.show.Words;
import dev.onefold.core.pipeline.Pipeline;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/// `onefold check`: is the pipeline file right?
@Command(
        name = "check",
        sortOptions = false,
        description = {
            "Validates a pipeline file.",
            "Each problem is shown with its line and column, the value that stands there, and"
                    + " what would be right; the exit code is 1 then."
        },
        footerHeading = "%nExample:%n",
        footer = {"  onefold check trade-risk.yaml"})
final class CheckCommand implements Callable<Integer> {
    private final Call call;

    @Parameters(paramLabel = "PIPELINE", description = "The pipeline file.")
    private String file = "";

    CheckCommand(Call call) {
        this.call = call;
    }

    @Override
    public Integer call() {
        Pipeline pipeline = PipelineArgument.read(call.caller(), file);
        int measures = pipeline.rollups().stream()
                .mapToInt(rollup -> rollup.measures().size())
                .sum();
        call.caller()
                .out()
                .print(call.caller().shown(call.caller().path(file)) + " is right: pipeline " + pipeline.name() + ", "
                        + Words.count(pipeline.rollups().size(), "roll-up") + ", " + Words.count(measures, "measure")
                        + ".\n");
        return ExitCode.DONE.code();
    }
}
