package dev.onefold.cli.verbs;

import dev.onefold.aws.AwsEngine;
import dev.onefold.cli.call.Call;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.EngineAccess;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.core.Engine;
import dev.onefold.core.Verification;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.source.FileSource;
import java.io.IOException;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `onefold verify`: are the totals right?
@Command(
        name = "verify",
        sortOptions = false,
        description = {
            "Recomputes the totals from the rows and compares.",
            "Changes nothing. Each group that differs is named, and by how much; the exit code is 1 then."
        },
        footerHeading = "%nExample:%n",
        footer = {"  onefold verify trade-risk.yaml"})
public final class VerifyCommand implements Callable<Integer> {
    private final Call call;

    @Mixin
    private final PipelineArgument pipeline = new PipelineArgument();

    @Option(
            names = "--from-sources",
            description =
                    "Recomputes from the files, read again, and from the journal, if it was kept. Intake waits meanwhile.")
    private boolean fromSources;

    @Option(
            names = "--sample",
            paramLabel = "N",
            description = "Recomputes one leaf group in N, others each time. All rows are read, and few"
                    + " written. Default: all groups.")
    private @Nullable Integer sample;

    public VerifyCommand(Call call) {
        this.call = call;
    }

    @Override
    public Integer call() throws IOException {
        return EngineAccess.read(pipeline.directory(call), call, engine -> {
            Verification verification;
            try {
                verification = verify(engine);
            } catch (IllegalArgumentException e) {
                throw new CommandFailure(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
            }
            VerificationText text = new VerificationText(engine.pipeline(), verification, fromSources);
            call.caller().out().print(text.verified(call.caller().screen()));
            return (verification.isEqual() ? ExitCode.DONE : ExitCode.DIFFERENT).code();
        });
    }

    private Verification verify(Engine engine) throws IOException {
        if (fromSources) {
            return embedded(engine).verify(FileSource::reopen);
        }
        if (sample == null) {
            return engine.verify();
        }
        if (engine instanceof AwsEngine aws && sample > 0) {
            return aws.verify(sample);
        }
        throw CommandFailure.usage("--sample is for totals on AWS, and from 1 on; here all groups are recomputed.");
    }

    /// Only an engine on this machine has sources that it can read again.
    static EmbeddedEngine embedded(Engine engine) {
        if (engine instanceof EmbeddedEngine embedded) {
            return embedded;
        }
        throw CommandFailure.usage("This is for an engine on this machine.");
    }
}
