package dev.onefold.embedded;

import dev.onefold.embedded.directory.Current;
import java.util.function.Supplier;

/// Whether a data directory keeps its journal for ever. Asked for when the directory is made
/// ([Settings#withKeepJournal]), and remembered there. Any thread may call.
public final class KeptJournal {
    private final View.Opening opening;
    private final Supplier<View> view;

    KeptJournal(View.Opening opening, Supplier<View> view) {
        this.opening = opening;
        this.view = view;
    }

    /// Whether all entries are kept, from the first on, so that totals can be recomputed from them.
    public boolean isKept() {
        return opening.guard()
                .reading(() -> opening.journal().isKept() && opening.journal().isWhole());
    }

    /// Keeps the journal no longer: the entries that a checkpoint covers are deleted, now and from now on. This
    /// cannot be taken back.
    public void release() {
        opening.requireOwner();
        opening.own()
                .call(() -> opening.guard().locked(() -> {
                    View served = view.get();
                    new Current(served.number, opening.identity(), false).write(opening.root(), opening.space());
                    opening.journal().keep(false);
                    served.checkpoints.take();
                    served.checkpoints.await();
                    return served;
                }));
    }
}
