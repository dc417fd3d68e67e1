package dev.onefold.cli;

import dev.onefold.cli.call.Logs;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/// A command logs nothing: it reports to its user what the engine would write to an application's log. One that
/// runs for long writes errors, what goes wrong with requests and records, and the lines of a function, where [Logs]
/// says.
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
            Level least = switch (name) {
                case "dev.onefold.function" -> Level.INFO;
                case "dev.onefold.embedded.letters" -> Level.WARNING;
                default -> name.startsWith("dev.onefold.api") ? Level.WARNING : Level.ERROR;
            };
            return Logs.isOn()
                    && name.startsWith("dev.onefold")
                    && level.getSeverity() >= least.getSeverity()
                    && level != Level.OFF;
        }

        @Override
        public void log(
                Level level, @Nullable ResourceBundle bundle, @Nullable String message, @Nullable Throwable thrown) {
            if (isLoggable(level)) {
                Logs.write(level, String.valueOf(message), thrown);
            }
        }

        @Override
        public void log(
                Level level,
                @Nullable ResourceBundle bundle,
                @Nullable String format,
                @Nullable Object @Nullable ... parameters) {
            if (isLoggable(level)) {
                Logs.write(level, String.valueOf(format), null); // Values may be a part of a record.
            }
        }
    }
}
