package dev.onefold.cli.batches;

import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.core.SealedBatches;
import dev.onefold.core.SealedBatches.Line;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `onefold batches PIPELINE release NUMBER`, or `redeliver`.
@Command(
        name = "release",
        aliases = "redeliver",
        description = {
            "Decides about a batch that was put aside or is in doubt. It is tried again, with the same id and the same"
                    + " content, and its time for retries begins again. A batch that waits for its next try is tried now.",
            "Whether a batch in doubt has arrived, only its receiver knows: look there first. With --delivered or --discard"
                    + " it is not tried again."
        },
        footer = {"    onefold batches quakes.yaml release 42", "    onefold batches quakes.yaml release 42 --delivered"
        })
final class ReleaseCommand implements Callable<Integer> {
    private final BatchesCommand all;

    @Parameters(paramLabel = "NUMBER", description = "Number of the batch, like 42, or of a part of one, like 42.1.")
    private String number = "";

    @Option(names = "--delivered", description = "The receiver has it: it is done.")
    private boolean delivered;

    @Option(names = "--discard", description = "Nobody needs it: it is done, and its records are never delivered.")
    private boolean discard;

    ReleaseCommand(BatchesCommand all) {
        this.all = all;
    }

    @Override
    public Integer call() throws IOException {
        if (delivered && discard) {
            throw CommandFailure.usage("--delivered and --discard exclude each other.");
        }
        BatchNumber wanted = BatchesCommand.number(number);
        return all.use(batches -> {
            Line line = BatchesCommand.line(batches, wanted);
            boolean waits = line.state().equals("waiting") && line.next() != null && !delivered && !discard;
            if (!waits && !line.state().equals("put aside") && !line.state().equals("in doubt")) {
                throw settled(line.number(), line.state());
            }
            try {
                all.caller().print(decide(batches, line.number()));
            } catch (IllegalArgumentException decidedMeanwhile) {
                throw settled(
                        line.number(),
                        batches.find(line.number()).map(Line::state).orElse("done"));
            }
            return ExitCode.DONE;
        });
    }

    private CommandFailure settled(BatchNumber number, String state) {
        if (state.equals("waiting") && !delivered && !discard) {
            return new CommandFailure(
                    ExitCode.DIFFERENT,
                    "Batch " + number + " needs no release: it is delivered in its turn, " + when());
        }
        return new CommandFailure(
                ExitCode.DIFFERENT,
                "Batch " + number + " does not wait for a person: it is " + state
                        + (state.equals("done") ? ", and its receiver has it." : "."));
    }

    private String decide(SealedBatches batches, BatchNumber wanted) {
        if (delivered || discard) {
            batches.settle(wanted, discard ? Delivery.How.DISCARDED : Delivery.How.SAID);
            return "Batch " + wanted + (discard ? " is discarded.\n" : " is done.\n");
        }
        batches.release(wanted);
        return "Batch " + wanted + " is delivered again, " + when() + "\n";
    }

    private String when() {
        return all.isDeployed() ? "within a minute or two." : "as soon as a process delivers: 'onefold run'.";
    }
}
