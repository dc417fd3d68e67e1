package dev.onefold.cli.letters;

import dev.onefold.cli.show.Words;
import dev.onefold.core.DeadLetter;

/// A dead letter as text.
record LetterText(DeadLetter letter) {
    /// `too large`.
    String reason() {
        return Words.of(letter.reason());
    }
}
