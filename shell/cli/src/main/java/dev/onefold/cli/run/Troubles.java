package dev.onefold.cli.run;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.show.Words;
import dev.onefold.core.SealedBatches;
import dev.onefold.core.SealedBatches.Line;
import dev.onefold.core.SealedBatches.Summary;
import dev.onefold.core.batch.BatchNumber;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/// Says on standard error why batches are not delivered: of the oldest one, as soon as its reason is another
/// one and each minute while it stays, and each time that more of them wait for a person. Any thread.
final class Troubles {
    private static final Duration AGAIN = Duration.ofMinutes(1);

    /// Batches that are looked at, of which later ones wait for their turn.
    private static final int LOOKED_AT_MAX = 100;

    private final Caller caller;
    private final SealedBatches batches;
    private final String list;
    private String told = "";
    private Instant toldAt = Instant.MIN;
    private int persons;

    /// @param list the command that shows them
    Troubles(Caller caller, SealedBatches batches, String list) {
        this.caller = caller;
        this.batches = batches;
        this.list = list;
        Summary summary = batches.summary();
        persons = summary.inDoubt() + summary.aside();
    }

    /// Says what is to be said now.
    synchronized void tell(Instant now) {
        Summary summary = batches.summary();
        int awaiting = summary.inDoubt() + summary.aside();
        if (awaiting == 0 && summary.undelivered() == 0) {
            persons = 0;
            told = "";
            return;
        }
        List<Line> lines = batches.list(BatchNumber.of(1), LOOKED_AT_MAX, true).stream()
                .filter(line -> !line.reason().isEmpty())
                .toList();
        if (awaiting > persons) {
            lines.stream()
                    .filter(line -> line.next() == null)
                    .reduce((_, later) -> later)
                    .ifPresent(line -> tellPerson(line, summary, awaiting));
        }
        persons = awaiting;
        lines.stream().filter(line -> line.next() != null).findFirst().ifPresent(line -> tell(line, now));
    }

    private void tellPerson(Line line, Summary summary, int awaiting) {
        caller.note("Batch " + line.number() + " is " + line.state() + ": " + reason(line) + " "
                + Words.count(awaiting) + (awaiting == 1 ? " batch waits" : " batches wait")
                + " for a person: see " + list + "."
                + (summary.heldUpBy() == null
                        ? ""
                        : " Batch " + summary.heldUpBy() + " and what waits for a person hold up later ones."));
    }

    private void tell(Line line, Instant now) {
        String trouble = line.number() + line.reason();
        if (trouble.equals(told) && now.isBefore(toldAt.plus(AGAIN))) {
            return;
        }
        told = trouble;
        toldAt = now;
        caller.note("Batch " + line.number() + " is not delivered yet: " + reason(line)
                + (line.next() == null ? "" : " It is tried again at " + Words.time(line.next()) + "."));
    }

    private static String reason(Line line) {
        return Words.visible(line.reason()) + (line.reason().endsWith(".") ? "" : ".");
    }
}
