package dev.onefold.cli.letters;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.show.Words;
import dev.onefold.core.DeadLetters;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `onefold dead-letters PIPELINE purge`.
@Command(
        name = "purge",
        sortOptions = false,
        description = "Removes rejected records for good. Asks first, unless --yes is given.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  onefold dead-letters trade-risk.yaml purge 12 13",
            "  onefold dead-letters trade-risk.yaml purge --all --yes"
        })
final class PurgeCommand implements Callable<Integer> {
    private final DeadLettersCommand all;

    @Parameters(arity = "0..*", paramLabel = "ID", description = "The letters' numbers, as 'list' shows them.")
    private List<Long> ids = List.of();

    @Option(names = "--all", description = "All letters that there are now.")
    private boolean every;

    @Option(
            names = {"-y", "--yes"},
            description = "Does not ask.")
    private boolean yes;

    PurgeCommand(DeadLettersCommand all) {
        this.all = all;
    }

    @Override
    public Integer call() throws IOException {
        if (every != ids.isEmpty()) {
            throw CommandFailure.usage("Say which letters to purge: their numbers, or --all.");
        }
        return all.ask(letters -> {
            List<Long> chosen = every ? DeadLettersCommand.ids(letters) : ids;
            Caller caller = all.caller().caller();
            boolean sure = yes
                    || chosen.isEmpty()
                    || caller.confirms("Purge " + Words.count(chosen.size(), "dead letter") + " for good?");
            if (!sure) {
                throw new CommandFailure(ExitCode.DIFFERENT, "Nothing was purged.");
            }
            return owned -> purge(owned, chosen);
        });
    }

    private ExitCode purge(DeadLetters letters, List<Long> chosen) {
        int purged = letters.purge(chosen);
        int gone = chosen.size() - purged;
        all.caller()
                .caller()
                .out()
                .print("Purged " + Words.count(purged, "dead letter") + "."
                        + (gone > 0 ? " " + Words.count(gone) + " were not there.\n" : "\n"));
        return ExitCode.DONE;
    }
}
