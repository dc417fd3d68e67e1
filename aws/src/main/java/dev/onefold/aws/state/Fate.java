package dev.onefold.aws.state;

import dev.onefold.aws.letter.Letter;
import dev.onefold.core.Causes;
import dev.onefold.core.Counts;
import dev.onefold.core.Fates;
import dev.onefold.core.event.Event.Silence;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.keyed.OlderCodeException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The fate of a record.
public sealed interface Fate {
    /// Its contribution is the key's now.
    record Accepted() implements Fate {}

    /// It was there already.
    record Duplicate() implements Fate {}

    /// A higher version is there.
    record Stale() implements Fate {}

    /// One version, two contents: the lesser of the two is a dead letter.
    ///
    /// @param loser that letter, if it is this record's; else empty
    record Conflicting(Optional<Letter> loser) implements Fate {}

    /// It tells of no row.
    record Silent(Silence why) implements Fate {}

    /// It is a dead letter.
    record Rejected(Malformed malformed) implements Fate {}

    /// A newer version of the function has folded its key, so this process writes nothing of it: it must come again.
    record HandedBack(OlderCodeException why) implements Fate {}

    /// How often each came, without those that must come again.
    public static Fates sum(List<Fate> fates) {
        Counts counts = new Counts(0, 0, 0, 0, 0);
        Map<Silence, Long> silences = new HashMap<>();
        for (Fate fate : fates) {
            counts = counts.plus(
                    switch (fate) {
                        case Accepted _ -> new Counts(1, 0, 0, 0, 0);
                        case Duplicate _ -> new Counts(0, 1, 0, 0, 0);
                        case Stale _ -> new Counts(0, 0, 1, 0, 0);
                        case Conflicting _ -> new Counts(0, 0, 0, 1, 0);
                        case Rejected _ -> new Counts(0, 0, 0, 0, 1);
                        case Silent(var why) -> {
                            silences.merge(why, 1L, Long::sum);
                            yield new Counts(0, 0, 0, 0, 0, 1);
                        }
                        case HandedBack _ -> new Counts(0, 0, 0, 0, 0);
                    });
        }
        return new Fates(
                counts,
                silences.entrySet().stream()
                        .map(each -> Causes.of(each.getKey(), each.getValue()))
                        .reduce(Causes.NONE, Causes::plus));
    }
}
