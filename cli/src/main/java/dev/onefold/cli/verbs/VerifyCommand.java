package dev.onefold.cli.verbs;

import dev.onefold.cli.call.Call;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.EngineAccess;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.core.Verification;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

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

    public VerifyCommand(Call call) {
        this.call = call;
    }

    @Override
    public Integer call() throws IOException {
        return EngineAccess.use(pipeline.directory(call.caller()), call, engine -> {
            Verification verification;
            try {
                verification = engine.verify();
            } catch (IllegalArgumentException e) {
                throw new CommandFailure(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
            }
            VerificationText text = new VerificationText(engine.pipeline(), verification);
            call.caller().out().print(text.verified(call.caller().screen()));
            return (verification.isEqual() ? ExitCode.DONE : ExitCode.DIFFERENT).code();
        });
    }
}
