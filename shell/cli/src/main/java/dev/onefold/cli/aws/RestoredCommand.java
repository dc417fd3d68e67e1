package dev.onefold.cli.aws;

import dev.onefold.aws.batch.BatchesRestored;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.TableIds;
import dev.onefold.aws.upkeep.Restored;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Reason;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.cli.show.Words;
import dev.onefold.core.Verification;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import software.amazon.awssdk.core.exception.SdkException;

/// `onefold aws restored`: takes over tables that were restored from backups.
@Command(
        name = "restored",
        description = {
            "Takes over tables that were restored from backups, or replaced by empty ones.",
            "Functions and commands refuse such tables until this was run. It says which tables are other ones,"
                    + " refuses all writes that were begun before, and makes the totals of the rows that there are."
                    + " The table of rows must be there, of whatever moment; the others may be of other moments, or"
                    + " empty. Where no table is another one it changes nothing.",
            "The totals of a function's tables are made of the rows of these tables, and records wait meanwhile. Restore"
                    + " these tables to the same second as the table of rows.",
            "Of batches it says which are not there, seals what is in none under numbers that were never given, and puts"
                    + " in doubt what a receiver may have that must not get it again. What is not there is accepted again.",
            "It may be stopped and run again."
        },
        footerHeading = "%nExample:%n",
        footer = {
            "  What was lost since the backup comes back from the stream:",
            "    onefold aws restored trade-risk.yaml",
            "    onefold aws replay trade-risk.yaml --from 2026-11-21T08:00:00Z"
        })
final class RestoredCommand implements Callable<Integer> {
    private final Caller caller;
    private final AwsCommand aws;

    @Parameters(index = "0", paramLabel = "PIPELINE", description = "The pipeline file.")
    private String pipeline = "";

    @Option(
            names = "--anyway",
            description = "Does it also where no table is another one, such as when items were written over by hand.")
    private boolean anyway;

    RestoredCommand(Caller caller, AwsCommand aws) {
        this.caller = caller;
        this.aws = aws;
    }

    @Override
    public Integer call() {
        Pipeline definition = AwsCommand.pipeline(caller, pipeline);
        String name = definition.name();
        if (definition.fold() instanceof Processing) {
            PipelineArgument.function(caller, pipeline, definition); // Its jar is here, or nothing is begun.
        }
        Store store = FunctionBesideFile.with(caller, aws, pipeline, definition);
        try {
            Optional<BatchesRestored.Looked> ofBatches = BatchesRestored.look(store);
            if (ofBatches.isPresent()) {
                return batches(store, ofBatches.get());
            }
            List<Restored.Found> tables = Restored.look(store);
            boolean isOther = tables.stream().anyMatch(Restored.Found::isOther);
            tables.forEach(found -> tell(found.table(), found.isOther()));
            if (!isOther && !anyway && Restored.isWhole(store)) {
                caller.printLine("No table is another one, so nothing was changed.");
                return ExitCode.DONE.code();
            }
            report(Restored.takeOver(store));
            return ExitCode.DONE.code();
        } catch (SdkException | IllegalStateException failure) {
            throw new CommandFailure(
                    ExitCode.DIFFERENT,
                    "The tables of " + aws.deployment(name) + " were not taken over: " + Reason.of(failure)
                            + "\nNothing is answered until they are. Run it again, and with --anyway if it says then that"
                            + " nothing was changed.",
                    failure);
        }
    }

    private int batches(Store store, BatchesRestored.Looked looked) {
        looked.tables().forEach(found -> tell(found.table(), found.isOther()));
        if (looked.tables().stream().noneMatch(BatchesRestored.Found::isOther) && !anyway) {
            caller.printLine("No table is another one, so nothing was changed.");
            return ExitCode.DONE.code();
        }
        BatchesRestored.Report report = BatchesRestored.takeOver(store, looked);
        report.lost().forEach(caller::printLine);
        caller.printLine("Writes that were begun before are refused from now on.\n"
                + "Batches that were sealed of records in none, under numbers that no receiver has seen: "
                + Words.count(report.sealed()) + "\nDeliveries in doubt: " + Words.count(report.inDoubt())
                + "\nIds that are accepted again, because their records are not there: "
                + Words.count(report.reaccepted()));
        tell(report.letters());
        caller.printLine("Now send again what came since the backup.");
        return ExitCode.DONE.code();
    }

    private void tell(TableIds.Found table, boolean isOther) {
        caller.printLine("Table " + table.name()
                + (isOther ? " was restored or replaced at " + table.created() + "." : " is the same as before."));
    }

    private void tell(int letters) {
        if (letters > 0) {
            caller.printLine("Dead letters that were lost with their backup, or removed shortly before it: "
                    + Words.count(letters) + ". They come back when their records come again.");
        }
    }

    private void report(Restored.Report report) {
        Verification verification = report.totals();
        caller.printLine("Writes that were begun before are refused from now on.\nTotals of "
                + Words.count(verification.groups(), "group") + " are made of "
                + verification.truth() + ". "
                + Words.count(verification.differences().size())
                + " were different before.");
        tell(report.letters());
        caller.printLine("Now bring in again what came since the backup, with 'onefold aws replay' from a minute before"
                + " it.");
    }
}
