package dev.onefold.cli.letters;

import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.run.Progress;
import dev.onefold.cli.show.Words;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import java.io.IOException;
import java.util.List;
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
            long last = letters.lastId(); // A letter that comes while a person thinks is not among them.
            List<DeadLetter> seen = several ? List.of() : there(letters);
            if (!yes) {
                confirm(several ? chosen.count(letters, all) : numbered.ids().size());
            }
            return owned -> several ? purgeChosen(owned, last) : purgeNumbered(owned, seen);
        });
    }

    private List<DeadLetter> there(DeadLetters letters) {
        return numbered.ids().stream()
                .distinct()
                .flatMap(id -> letters.list(id - 1, 1).stream().filter(letter -> letter.id() == id))
                .toList();
    }

    private ExitCode purgeChosen(DeadLetters letters, long last) throws IOException {
        long[] purged = new long[1];
        try (Progress progress = Progress.begin(
                all.caller(), Progress.Mode.auto, "Purging", Progress.Unit.RECORDS, chosen.count(letters, all))) {
            chosen.forEach(letters, all, 0, last, some -> {
                purged[0] += letters.purge(some.stream().map(DeadLetter::id).toList());
                progress.at(purged[0], purged[0]);
                return true;
            });
        }
        all.caller().print("Purged " + Words.count(purged[0], "dead letter") + ".\n");
        return ExitCode.DONE;
    }

    /// Removes the letters that were seen. After a crash of the owner, another letter may have the number of one.
    private ExitCode purgeNumbered(DeadLetters letters, List<DeadLetter> seen) {
        List<Long> same = there(letters).stream()
                .filter(letter -> seen.stream()
                        .anyMatch(before -> before.place().equals(letter.place())
                                && before.sha256().equals(letter.sha256())
                                && before.id() == letter.id()))
                .map(DeadLetter::id)
                .toList();
        long purged = letters.purge(same);
        long gone = numbered.ids().stream().distinct().count() - purged;
        String text = "Purged " + Words.count(purged, "dead letter") + ".";
        if (gone > 0) {
            text += " " + Words.count(gone) + (gone == 1 ? " was" : " were") + " not there.";
        }
        all.caller().print(text + "\n");
        return gone > 0 && purged == 0 ? ExitCode.DIFFERENT : ExitCode.DONE;
    }

    private void confirm(long count) throws IOException {
        String question = "Purge " + Words.count(count, "dead letter") + " for good?";
        if (count > 0 && !all.caller().confirms(question)) {
            throw new CommandFailure(ExitCode.DIFFERENT, "Nothing was purged.");
        }
    }
}
