package dev.onefold.cli.show;

import dev.onefold.cli.call.Caller;
import java.util.List;

/// A picture on a terminal, which takes the place of the one before. Is not thread-safe.
public final class Picture {
    private static final String HOME = "\u001b[H";
    private static final String CLEAR = "\u001b[2J";
    private static final String CLEAR_LINE = "\u001b[K";
    private static final String CLEAR_REST = "\u001b[J";

    private final Caller caller;
    private boolean drawn;

    public Picture(Caller caller) {
        this.caller = caller;
    }

    /// Whether standard output is a terminal that can draw.
    public boolean isPossible() {
        return caller.screen().outIsTerminal()
                && !caller.environment().getOrDefault("TERM", "").equals("dumb");
    }

    public void draw(List<String> lines) {
        caller.print((drawn ? "" : CLEAR) + HOME);
        lines.forEach(line -> caller.print(line + CLEAR_LINE + "\n"));
        caller.print(CLEAR_REST);
        drawn = true;
        caller.out().flush();
    }
}
