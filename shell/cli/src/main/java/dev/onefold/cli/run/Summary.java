package dev.onefold.cli.run;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.data.DataDirectory;
import dev.onefold.cli.show.Words;
import dev.onefold.core.Causes;
import dev.onefold.core.Counts;
import dev.onefold.core.Status;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.embedded.EmbeddedEngine;
import java.io.PrintStream;
import java.time.Duration;

/// The summary of a run: its time, and its records by outcome.
final class Summary {
    private final Caller caller;
    private final EmbeddedEngine engine;
    private final DataDirectory data;
    private final String dataAgain;
    private final Counts before;
    private final Causes causesBefore;
    private final Refusals refusals;
    private final long startNanos = System.nanoTime();
    private boolean hasOtherTablesAlone;
    private Duration elapsed = Duration.ZERO;

    /// Begins to count.
    Summary(Caller caller, EmbeddedEngine engine, DataDirectory data, String dataAgain) {
        this.caller = caller;
        this.engine = engine;
        this.data = data;
        this.dataAgain = dataAgain;
        before = engine.counts();
        causesBefore = engine.causes();
        refusals = new Refusals(engine.deadLetters(), true);
    }

    /// How many records the run has rejected so far.
    long rejected() {
        return engine.counts().rejected() - before.rejected();
    }

    /// Whether the run had changes of other tables than the pipeline's alone. Known when it is printed.
    boolean hasOtherTablesAlone() {
        return hasOtherTablesAlone;
    }

    /// All that is folded is folded: what follows is delivery.
    void folded() {
        elapsed = Duration.ofNanos(System.nanoTime() - startNanos);
    }

    /// @param stopped what a stopped run has to say first; empty for one that came to the end
    void print(PrintStream out, String stopped) {
        Counts now = engine.counts();
        long records = now.records() - before.records();
        StringBuilder text = new StringBuilder(stopped).append("Folded ").append(Words.count(records, "record"));
        text.append(" in ").append(Words.duration(elapsed));
        text.append(records > 0 ? " (" + Words.rate(records, elapsed) + ").\n" : ".\n");
        if (records > 0) {
            FateLines fates = new FateLines(now.minus(before), engine.causes().since(causesBefore));
            text.append(fates.text());
            hasOtherTablesAlone = fates.hasOtherTablesAlone();
            if (hasOtherTablesAlone) {
                text.append("There is ")
                        .append(fates.noChange(engine.pipeline()))
                        .append(".\n");
            }
        }
        if (rejected() > 0) {
            refusals.appendTo(text, caller);
        }
        long letters = engine.deadLetters().size();
        if (letters > 0) {
            text.append(Words.count(letters, "dead letter")).append(": see 'onefold dead-letters ");
            text.append(data.pipeline()).append(dataAgain).append(" list'.\n");
        }
        Status status = engine.status();
        status.function()
                .flatMap(Status.OfFunction::lastImpure)
                .ifPresent(last -> text.append("The function is not pure: two calls with equal arguments for key ")
                        .append(Words.visible(String.join(", ", last.key())))
                        .append(" had different results. The first one counts: ")
                        .append(Words.visible(last.first()))
                        .append("; the second one: ")
                        .append(Words.visible(last.second()))
                        .append(".\n"));
        text.append("Durable in ").append(caller.shown(data.path())).append(": ");
        String rows = engine.pipeline().fold() instanceof Processing ? "key" : "row";
        text.append(Words.count(status.rows(), rows)).append(" of ");
        text.append(Words.count(now.records(), "record")).append(" in all.\n");
        out.print(text);
        out.flush();
    }
}
