package dev.onefold.cli.run;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.show.Words;
import dev.onefold.core.Causes;
import dev.onefold.core.Counts;
import dev.onefold.embedded.EmbeddedEngine;

/// Tells of a source of which no record counts: each becomes a dead letter, so the pipeline cannot read it or
/// its function fails; or each is the change of another table. Used by one thread at a time.
final class RejectedSource {
    /// So many records, of which none could be read, are enough to say so.
    public static final int RECORDS = 100;

    /// So many changes of other tables: a snapshot reads one table after the other.
    private static final int CHANGES = 1_000;

    private final Caller caller;
    private final EmbeddedEngine engine;
    private final String shown;
    private final Counts before;
    private final Causes causesBefore;
    private boolean isTold;

    /// Begins to count.
    ///
    /// @param shown the source's name for people
    RejectedSource(Caller caller, EmbeddedEngine engine, String shown) {
        this.caller = caller;
        this.engine = engine;
        this.shown = shown;
        before = engine.counts();
        causesBefore = engine.causes();
    }

    private static long taken(Counts counts) {
        return counts.accepted() + counts.duplicate() + counts.stale() + counts.conflicting();
    }

    /// Says it while the source is read, once.
    void seen(Counts now) {
        Counts more = now.minus(before);
        if (isTold || taken(more) > 0) {
            return;
        }
        if (more.silent() == 0 && more.rejected() >= RECORDS) {
            isTold = true;
            caller.note("Of the first " + Words.count(more.rejected(), "record") + " of " + shown
                    + " not one was accepted. The dead letters have the reasons. Folding goes on.");
        } else if (more.rejected() == 0 && more.silent() >= CHANGES) {
            FateLines fates = new FateLines(more, engine.causes().since(causesBefore));
            isTold = fates.hasOtherTablesAlone();
            if (isTold) {
                caller.note("The first " + Words.count(more.silent(), "record") + " of " + shown + " have "
                        + fates.noChange(engine.pipeline()) + ". Folding goes on.");
            }
        }
    }

    /// Says at the end whether each record was rejected, those aside that report no row; whether it was so.
    boolean isAll(Counts now) {
        Counts more = now.minus(before);
        boolean areLate = engine.causes().since(causesBefore).counts().containsKey(Causes.BEYOND_KEEP);
        boolean isAll = taken(more) == 0 && !areLate && more.rejected() > 0;
        if (isAll) {
            String what = more.silent() == 0 ? "Every record of " : "Every record of a row in ";
            caller.note(what + shown + " was rejected: " + Words.count(more.rejected()) + ". So the exit code is 1.");
        }
        return isAll;
    }
}
