package dev.onefold.cli.verbs;

import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.EngineArgument;
import dev.onefold.cli.run.TopicInput;
import dev.onefold.core.Capabilities.Capability;
import dev.onefold.core.Truth;
import dev.onefold.core.Verification;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `onefold rebuild`: replaces the totals by recomputed ones.
@Command(
        name = "rebuild",
        description = {
            "Replaces the totals by recomputed ones.",
            "They are recomputed from the rows; what was different is named, and by how much. Where '${PARENT-COMMAND-FULL-NAME} verify' finds nothing, it changes nothing."
        },
        footerHeading = "%nExample:%n",
        footer = {"  ${COMMAND-FULL-NAME} trade-risk.yaml"})
final class RebuildCommand implements Callable<Integer> {
    @Mixin
    private final EngineArgument pipeline;

    private final FromSources fromSources = new FromSources();

    /// Where sources can be read again.
    private static final class FromSources {
        @Option(
                names = "--from-sources",
                description = "Folds the files and topics again, and the journal, if it was kept, into new totals."
                        + " Intake waits meanwhile, that of a topic only at the end.")
        private boolean isSaid;
    }

    private RebuildCommand(EngineArgument pipeline) {
        this.pipeline = pipeline;
    }

    /// The command with the options that have a meaning where its engine is.
    static CommandLine commandLine(EngineArgument pipeline) {
        RebuildCommand rebuild = new RebuildCommand(pipeline);
        CommandLine commandLine = new CommandLine(rebuild);
        if (pipeline.mayHave(Capability.SOURCES)) {
            commandLine.addMixin("sources", rebuild.fromSources);
        }
        return commandLine;
    }

    @Override
    public Integer call() throws IOException {
        return pipeline.use(engine -> {
                    TopicInput.lend(pipeline.here(), engine);
                    try {
                        Verification verification =
                                engine.rebuild(fromSources.isSaid ? new Truth.Sources() : Truth.ROWS);
                        VerificationText text = new VerificationText(
                                engine.pipeline(), verification, fromSources.isSaid, pipeline.capabilities());
                        pipeline.caller().print(text.rebuilt(pipeline.caller().screen()));
                    } catch (IllegalArgumentException e) {
                        throw new CommandFailure(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
                    }
                    return ExitCode.DONE;
                })
                .code();
    }
}
