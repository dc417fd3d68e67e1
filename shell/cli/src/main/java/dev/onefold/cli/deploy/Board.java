package dev.onefold.cli.deploy;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.show.Picture;
import dev.onefold.cli.show.Words;
import java.time.Duration;
import java.util.List;

/// Where a command shows how far it is. A terminal shows one picture, which is drawn again; a pipe gets a line
/// now and then, and no control characters. One thread.
public final class Board {
    private static final Duration LINE_EACH = Duration.ofSeconds(10);

    private final Caller caller;
    private final Picture picture;
    private long lineNanos;
    private int shownLength;
    private String step = "";

    public Board(Caller caller) {
        this.caller = caller;
        picture = new Picture(caller);
        lineNanos = System.nanoTime() - LINE_EACH.toNanos();
    }

    /// Whether a picture is worth its making now.
    public boolean isDrawn() {
        return picture.isPossible();
    }

    /// Whether it is time for a line in a pipe.
    public boolean isLineDue() {
        return !isDrawn() && System.nanoTime() - lineNanos >= LINE_EACH.toNanos();
    }

    /// Draws a picture, in place of the one before.
    public void draw(List<String> lines) {
        picture.draw(lines);
    }

    /// A line in a pipe.
    public void line(String text) {
        lineNanos = System.nanoTime();
        say(text);
    }

    /// Text that stays.
    public void say(String text) {
        endStep();
        text.lines()
                .forEach(line ->
                        caller.printLine(Words.wrap(line, caller.screen().outWidth())));
        caller.out().flush();
    }

    /// Says what could not be deleted.
    public void sayLeft(List<String> parts) {
        endStep();
        caller.out().flush();
        caller.note("Not deleted:");
        parts.forEach(each -> caller.note("  " + each));
    }

    /// Shows the current step. A terminal shows the step in one line, which the next step replaces. A pipe
    /// gets a line if the step has changed and a line is due.
    public void step(String text) {
        if (isDrawn()) {
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
    public void endStep() {
        step = "";
        if (shownLength > 0) {
            caller.print("\r" + " ".repeat(shownLength) + "\r");
            shownLength = 0;
        }
    }
}
