package dev.onefold.cli.data;

/// Cleans up when it is closed, or when the process exits before that.
public final class AtExit implements AutoCloseable {
    private final Runnable cleaning;
    private final Thread thread;

    public AtExit(Runnable cleaning) {
        this.cleaning = cleaning;
        thread = new Thread(cleaning);
        Runtime.getRuntime().addShutdownHook(thread);
    }

    @Override
    public void close() {
        cleaning.run();
        try {
            Runtime.getRuntime().removeShutdownHook(thread);
        } catch (IllegalStateException exiting) {
            // Then the thread runs, too, and has nothing left to do.
        }
    }
}
