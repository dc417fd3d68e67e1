package dev.onefold.cli.verbs;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.cli.show.Picture;
import dev.onefold.cli.show.Words;
import dev.onefold.core.EngineException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/// Asks again and again until somebody stops it. On a terminal each answer takes the place of the one before; elsewhere
/// an answer is written only if it differs. An engine that is stopped and started again meanwhile is waited for.
final class Watch {
    private final Caller caller;
    private final Duration every;
    private final StopRequest stop;
    private final Picture picture;
    private boolean begun;
    private String noted = "";

    Watch(Caller caller, Duration every, StopRequest stop) {
        this.caller = caller;
        this.every = every;
        this.stop = stop;
        picture = new Picture(caller);
    }

    /// Asks once, and shows the answer.
    interface Asking {
        void ask(boolean isFirst) throws IOException;
    }

    /// Asks until it is stopped. The pause is at least as long as the answer took, so that watching never takes more
    /// than half of an engine's time.
    ExitCode run(Asking asking) throws IOException {
        while (!stop.isMade() && !caller.out().checkError()) {
            long started = System.nanoTime();
            try {
                asking.ask(!begun);
                noted = "";
            } catch (EngineException e) {
                if (!begun || e.kind() != EngineException.Kind.IN_USE && e.kind() != EngineException.Kind.STOPPED) {
                    throw e;
                }
                note(String.valueOf(e.getMessage()));
            }
            long took = System.nanoTime() - started;
            stop.pause(Duration.ofNanos(Math.max(every.toNanos() - took, took)));
        }
        return ExitCode.DONE;
    }

    /// A terminal keeps the last answer, and the reason stands below it.
    private void note(String reason) {
        if (!noted.equals(reason)) {
            noted = reason;
            caller.note("No answer: " + Words.visible(reason) + ". Asking again.");
        }
    }

    /// Shows an answer.
    void show(WatchText.Shown shown) {
        List<String> lines = shown.lines();
        if (picture.isPossible()) {
            picture.draw(lines);
        } else if (shown.isChanged()) {
            caller.print((begun ? "\n" : "") + String.join("\n", lines) + "\n");
        }
        begun = true;
        caller.out().flush();
    }
}
