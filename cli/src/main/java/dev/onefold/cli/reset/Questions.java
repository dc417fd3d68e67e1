package dev.onefold.cli.reset;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.show.Words;
import java.io.IOException;

/// Asks before something is deleted.
final class Questions {
    private Questions() {}

    /// Says what will happen, and asks on a terminal.
    ///
    /// @throws CommandFailure if the answer is no, or nobody can be asked
    static void ask(Caller caller, String what, String question, boolean yes) throws IOException {
        int width = caller.screen().errWidth();
        what.lines().forEach(line -> caller.note(Words.wrap(line, width)));
        if (yes) {
            return;
        }
        if (!caller.screen().errIsTerminal()) {
            throw CommandFailure.usage(
                    "Nobody can be asked, because this is no terminal. Nothing was deleted. Say --yes to delete it.");
        }
        if (!caller.confirms(question)) {
            throw new CommandFailure(ExitCode.DIFFERENT, "Nothing was deleted.");
        }
    }
}
