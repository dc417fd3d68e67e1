package dev.onefold.cli;

import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/// The command line logs nothing: it reports to its user what the engine would write to an application's log.
public final class QuietLoggers extends System.LoggerFinder {
    @Override
    public System.Logger getLogger(String name, Module module) {
        return new Quiet(name);
    }

    private record Quiet(String name) implements System.Logger {
        @Override
        public String getName() {
            return name;
        }

        @Override
        public boolean isLoggable(Level level) {
            return false;
        }

        @Override
        public void log(
                Level level, @Nullable ResourceBundle bundle, @Nullable String message, @Nullable Throwable thrown) {}

        @Override
        public void log(
                Level level,
                @Nullable ResourceBundle bundle,
                @Nullable String format,
                @Nullable Object @Nullable ... parameters) {}
    }
}
