package dev.onefold.cli.trial;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.show.Words;
import java.time.Duration;
import java.util.List;

/// Where a trial shows how far it is. A terminal shows one picture, which is drawn again; a pipe gets a line now and
/// then, and no control characters. One thread.
final class Board {
    private static final Duration LINE_EACH = Duration.ofSeconds(10);
    private static final String HOME = "\u001b[H";
    private static final String CLEAR = "\u001b[2J";
    private static final String CLEAR_LINE = "\u001b[K";
    private static final String CLEAR_REST = "\u001b[J";

    private final Caller caller;
    private final boolean redraws;
    private long lineNanos;
    private boolean drawn;
    private int shownLength;
    private String step = "";

    Board(Caller caller) {
        this.caller = caller;
        redraws = caller.screen().outIsTerminal()
                && !caller.environment().getOrDefault("TERM", "").equals("dumb");
        lineNanos = System.nanoTime() - LINE_EACH.toNanos();
    }

    /// Whether a picture is worth its making now.
    boolean isDrawn() {
        return redraws;
    }

    /// Whether it is time for a line in a pipe.
    boolean isLineDue() {
        return !redraws && System.nanoTime() - lineNanos >= LINE_EACH.toNanos();
    }

    /// Draws a picture, in place of the one before.
    void draw(List<String> lines) {
        caller.print((drawn ? "" : CLEAR) + HOME);
        lines.forEach(line -> caller.print(line + CLEAR_LINE + "\n"));
        caller.print(CLEAR_REST);
        drawn = true;
        caller.out().flush();
    }

    /// A line in a pipe.
    void line(String text) {
        lineNanos = System.nanoTime();
        say(text);
    }

    /// Text that stays.
    void say(String text) {
        endStep();
        text.lines()
                .forEach(line ->
                        caller.printLine(Words.wrap(line, caller.screen().outWidth())));
        caller.out().flush();
    }

    /// Shows the current step. A terminal shows the step in one line, which the next step replaces. A pipe gets a
    /// line if the step has changed and a line is due.
    void step(String text) {
        if (redraws) {
            String cut = text.length() >= caller.screen().width()
                    ? text.substring(0, caller.screen().width() - 1)
                    : text;
            caller.print("\r" + cut + " ".repeat(Math.max(0, shownLength - cut.length())));
            caller.out().flush();
            shownLength = cut.length();
        } else if (!text.equals(step) && (step.isEmpty() || isLineDue())) {
            step = text;
            lineNanos = System.nanoTime();
            caller.printLine(text + " ...");
            caller.out().flush();
        }
    }

    /// Ends the line of a step.
    void endStep() {
        step = "";
        if (shownLength > 0) {
            caller.print("\r" + " ".repeat(shownLength) + "\r");
            shownLength = 0;
        }
    }
}
