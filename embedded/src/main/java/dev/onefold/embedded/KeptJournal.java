package dev.onefold.embedded;

import java.util.function.Supplier;

/// Whether a data directory keeps its journal for ever. Asked for when the directory is made
/// ([Settings#withKeepJournal]), and remembered there.
public final class KeptJournal {
    private final View.Opening opening;
    private final Supplier<View> view;
    private final LetterBox.Locked locked;

    KeptJournal(View.Opening opening, Supplier<View> view, LetterBox.Locked locked) {
        this.opening = opening;
        this.view = view;
        this.locked = locked;
    }

    /// Whether all entries are kept, from the first on, so that totals can be recomputed from them.
    public boolean isKept() {
        return locked.run(() -> opening.journal().isKept() && opening.journal().isWhole());
    }

    /// Keeps the journal no longer: what a checkpoint covers is deleted, now and from now on. Cannot be
    /// taken back.
    public void release() {
        if (opening.reading()) {
            throw new IllegalArgumentException("The data directory was opened to be read only");
        }
        locked.run(() -> {
            View served = view.get();
            new Stored.Current(served.number, opening.identity(), false)
                    .write(opening.root(), opening.settings().pause());
            opening.journal().keep(false);
            served.checkpoints.take();
            served.checkpoints.await();
            return served;
        });
    }
}
