package dev.onefold.embedded;

import dev.onefold.embedded.disk.DirectoryLock;
import dev.onefold.embedded.view.View;
import org.jspecify.annotations.Nullable;

/// The end of an engine: makes the state durable, and releases everything.
///
/// @param lock of the directory; `null` for a reader
record Release(View.Opening opening, View view, @Nullable DirectoryLock lock) implements Runnable {
    private static final System.Logger LOG = System.getLogger("dev.onefold.embedded");

    @Override
    public void run() {
        try {
            if (!opening.guard().hasFailed()) {
                view.checkpoints.takeLast();
                LOG.log(System.Logger.Level.INFO, "Closed " + opening.root() + ".");
            }
        } finally {
            release();
        }
    }

    private void release() {
        try {
            opening.workers().close();
            view.close(opening.guard().hasFailed() && opening.settings().threads() > 0);
            opening.journal().close();
        } finally {
            if (lock != null) {
                lock.close();
            }
        }
    }
}
