package dev.onefold.cli.trial;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.event.Reason;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// The rejected records among dead letters, each once: a producer that gets no answer puts a record again. The
/// losers of conflicts are not among them.
final class RejectedRecords {
    private static final int LETTERS_MAX = 1_000;

    private RejectedRecords() {}

    /// The hashes of the records.
    static Set<String> of(DeadLetters letters) {
        Set<String> hashes = new HashSet<>();
        List<DeadLetter> some = letters.list(0, LETTERS_MAX);
        while (!some.isEmpty()) {
            some.stream()
                    .filter(letter -> letter.reason() != Reason.CONFLICT)
                    .forEach(letter -> hashes.add(letter.sha256()));
            some = letters.list(some.getLast().id(), LETTERS_MAX);
        }
        return hashes;
    }
}
