package dev.onefold.cli.batches;

import dev.onefold.cli.call.ExitCode;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/// `onefold batches PIPELINE seal`.
@Command(
        name = "seal",
        description = "Seals the open batch now, without waiting for more records.",
        footer = {"    onefold batches quakes.yaml seal"})
final class SealCommand implements Callable<Integer> {
    private final BatchesCommand all;

    SealCommand(BatchesCommand all) {
        this.all = all;
    }

    @Override
    public Integer call() throws IOException {
        return all.use(batches -> {
            boolean isSealed = batches.seal();
            all.caller()
                    .print(
                            isSealed
                                    ? "Sealed batch " + batches.summary().sealed() + ".\n"
                                    : "The open batch is empty.\n");
            return ExitCode.DONE;
        });
    }
}
