package dev.onefold.cli.verbs;

import dev.onefold.cli.call.Call;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.EngineAccess;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.embedded.source.FileSource;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `onefold rebuild`: replaces the totals by recomputed ones.
@Command(
        name = "rebuild",
        sortOptions = false,
        description = {
            "Replaces the totals by recomputed ones.",
            "They are recomputed from the rows; what was different is named, and by how much. Where 'onefold verify' finds nothing, it changes nothing."
        },
        footerHeading = "%nExample:%n",
        footer = {"  onefold rebuild trade-risk.yaml"})
public final class RebuildCommand implements Callable<Integer> {
    private final Call call;

    @Mixin
    private final PipelineArgument pipeline = new PipelineArgument();

    @Option(
            names = "--from-sources",
            description =
                    "Folds the files again, and the journal, if it was kept, into new totals. Intake waits meanwhile.")
    private boolean fromSources;

    public RebuildCommand(Call call) {
        this.call = call;
    }

    @Override
    public Integer call() throws IOException {
        return EngineAccess.use(pipeline.directory(call), call, engine -> {
            try {
                VerificationText text = new VerificationText(
                        engine.pipeline(),
                        fromSources ? VerifyCommand.embedded(engine).rebuild(FileSource::reopen) : engine.rebuild(),
                        fromSources);
                call.caller().out().print(text.rebuilt(call.caller().screen()));
            } catch (IllegalArgumentException e) {
                throw new CommandFailure(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
            }
            return ExitCode.DONE.code();
        });
    }
}
