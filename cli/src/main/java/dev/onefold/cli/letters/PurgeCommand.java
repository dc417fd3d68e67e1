package dev.onefold.cli.letters;

import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.run.Progress;
import dev.onefold.cli.show.Words;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `onefold dead-letters PIPELINE purge`.
@Command(
        name = "purge",
        description = {
            "Removes rejected records for good. Asks first, unless --yes is given.",
            "A purged record stays out, also when 'rebuild --from-sources' reads its file again."
        },
        footer = {
            "  ${PARENT-COMMAND-FULL-NAME} trade-risk.yaml purge 12 13",
            "  ${PARENT-COMMAND-FULL-NAME} trade-risk.yaml purge --reason malformed",
            "  ${PARENT-COMMAND-FULL-NAME} trade-risk.yaml purge --all --yes"
        })
final class PurgeCommand implements Callable<Integer> {
    private final DeadLettersCommand all;

    @Mixin
    private final Numbered numbered = new Numbered();

    @Option(
            names = {"-y", "--yes"},
            description = "Does not ask.")
    private boolean yes;

    @Mixin
    private final Chosen chosen = new Chosen();

    PurgeCommand(DeadLettersCommand all) {
        this.all = all;
    }

    @Override
    public Integer call() throws IOException {
        boolean several = numbered.areSeveral(chosen, "purge");
        chosen.check();
        return all.ask(letters -> {
            if (!yes) {
                confirm(several ? chosen.count(letters, all) : numbered.ids().size());
            }
            return owned -> purge(owned, several);
        });
    }

    private ExitCode purge(DeadLetters letters, boolean several) throws IOException {
        long[] purged = new long[1];
        if (several) {
            long count = chosen.count(letters, all);
            try (Progress progress =
                    Progress.begin(all.caller(), Progress.Mode.auto, "Purging", Progress.Unit.RECORDS, count)) {
                chosen.forEach(letters, all, 0, some -> {
                    purged[0] += letters.purge(some.stream().map(DeadLetter::id).toList());
                    progress.at(purged[0], purged[0]);
                    return true;
                });
            }
        } else {
            purged[0] = letters.purge(numbered.ids());
        }
        long gone = several ? 0 : numbered.ids().stream().distinct().count() - purged[0];
        String text = "Purged " + Words.count(purged[0], "dead letter") + ".";
        if (gone > 0) {
            text += " " + Words.count(gone) + (gone == 1 ? " was" : " were") + " not there.";
        }
        all.caller().print(text + "\n");
        return gone > 0 && purged[0] == 0 ? ExitCode.DIFFERENT : ExitCode.DONE;
    }

    private void confirm(long count) throws IOException {
        String question = "Purge " + Words.count(count, "dead letter") + " for good?";
        if (count > 0 && !all.caller().confirms(question)) {
            throw new CommandFailure(ExitCode.DIFFERENT, "Nothing was purged.");
        }
    }
}
