package dev.onefold.cli.run;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.show.Words;
import dev.onefold.core.Counts;

/// Tells of a source of which each record becomes a dead letter: then the pipeline cannot read it, or its function
/// fails.
/// Used by one thread at a time.
public final class RejectedSource {
    /// So many records, of which none could be read, are enough to say so.
    public static final int RECORDS = 100;

    private final Caller caller;
    private final String shown;
    private final Counts before;
    private boolean isTold;

    /// Begins to count.
    ///
    /// @param shown the source's name for people
    RejectedSource(Caller caller, String shown, Counts before) {
        this.caller = caller;
        this.shown = shown;
        this.before = before;
    }

    private long rejected(Counts now) {
        long taken = now.accepted()
                + now.duplicate()
                + now.stale()
                + now.conflicting()
                + now.silent()
                - before.accepted()
                - before.duplicate()
                - before.stale()
                - before.conflicting()
                - before.silent();
        return taken > 0 ? 0 : now.rejected() - before.rejected();
    }

    /// Says it while the source is read, once.
    void seen(Counts now) {
        long rejected = isTold ? 0 : rejected(now);
        if (rejected >= RECORDS) {
            isTold = true;
            caller.note("Of the first " + Words.count(rejected, "record") + " of " + shown
                    + " not one was accepted. The dead letters have the reasons. Folding goes on.");
        }
    }

    /// Says it at the end; whether it was so.
    boolean isAll(Counts now) {
        long rejected = rejected(now);
        if (rejected > 0) {
            caller.note("Every record of " + shown + " was rejected: " + Words.count(rejected)
                    + ". So the exit code is 1.");
        }
        return rejected > 0;
    }
}
