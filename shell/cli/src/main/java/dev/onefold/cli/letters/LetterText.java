package dev.onefold.cli.letters;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.show.Words;
import dev.onefold.core.DeadLetter;

/// A dead letter as text.
record LetterText(DeadLetter letter) {
    /// `too large`.
    String reason() {
        return Words.of(letter.reason());
    }

    /// `trades.ndjson:1234`; the line is left out where it is not known.
    String place(Caller caller) {
        String line = letter.place().line() > 0
                ? ":" + letter.place().line()
                : ", offset " + Words.count(letter.place().offset());
        return caller.shownSource(letter.place().source()) + line;
    }
}
