package dev.onefold.embedded;

import dev.onefold.core.Engine.KeptJournal;
import dev.onefold.embedded.directory.Current;
import dev.onefold.embedded.view.View;
import java.util.function.Supplier;

/// Whether a data directory keeps its journal for ever. It is set when the directory is made
/// ([Settings#withKeepJournal]), and remembered there. Any thread may call.
final class OwnJournal implements KeptJournal {
    private final View.Opening opening;
    private final Supplier<View> view;

    OwnJournal(View.Opening opening, Supplier<View> view) {
        this.opening = opening;
        this.view = view;
    }

    @Override
    public boolean isKept() {
        return opening.guard()
                .reading(() -> opening.journal().isKept() && opening.journal().isWhole());
    }

    @Override
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
