package dev.onefold.cli.data;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.show.Words;
import java.io.IOException;

/// Asks before something is deleted, or made that costs.
public final class Questions {
    private Questions() {}

    /// Says what will be deleted, and asks on a terminal.
    ///
    /// @throws CommandFailure if the answer is no, or nobody can be asked
    public static void ask(Caller caller, String what, String question, boolean yes) throws IOException {
        int width = caller.screen().errWidth();
        what.lines().forEach(line -> caller.note(Words.wrap(line, width)));
        if (!yes) {
            require(caller, question, "Nothing was deleted.");
        }
    }

    /// Asks on a terminal.
    ///
    /// @param nothing what a no comes to
    /// @throws CommandFailure if the answer is no, or nobody can be asked
    public static void require(Caller caller, String question, String nothing) throws IOException {
        if (!caller.screen().errIsTerminal()) {
            throw CommandFailure.usage("Nobody can be asked, because this is no terminal. " + nothing
                    + " Say --yes to do it without a question.");
        }
        if (!caller.confirms(question)) {
            throw new CommandFailure(ExitCode.DIFFERENT, nothing);
        }
    }
}
