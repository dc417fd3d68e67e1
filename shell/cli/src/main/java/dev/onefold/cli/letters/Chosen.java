package dev.onefold.cli.letters;

import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.show.Words;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.event.Reason;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Which letters a verb is about, by what is known of them. They are read page by page, never all at once.
final class Chosen {
    private static final int PAGE = 1_000;

    @Option(
            names = "--reason",
            paramLabel = "REASON",
            description = "Only letters with this reason, as 'list' shows it: malformed, refused, 'too large', ...")
    private @Nullable String reason;

    @Option(
            names = "--source",
            paramLabel = "NAME",
            description = "Only letters of this source: a file, a name that was given, a stream or a shard of it.")
    private @Nullable String source;

    /// An action on some letters.
    interface Verb {
        /// Does it; whether to go on.
        boolean on(List<DeadLetter> some) throws IOException;
    }

    /// Whether anything was said about them.
    boolean isSaid() {
        return reason != null || source != null;
    }

    /// Refuses a reason that there is not.
    void check() {
        if (reason != null && !isKnown(reason)) {
            throw CommandFailure.usage("There is no reason '" + reason + "'; the reasons are "
                    + Arrays.stream(Reason.values()).map(Words::of).collect(Collectors.joining(", ")) + ".");
        }
    }

    private static boolean isKnown(String said) {
        return Arrays.stream(Reason.values()).anyMatch(each -> isReason(said, each));
    }

    private static boolean isReason(String said, Reason reason) {
        String same = said.toUpperCase(Locale.ROOT).replace(' ', '_').replace('-', '_');
        return same.equals(reason.name());
    }

    private boolean matches(DeadLetter letter, DeadLettersCommand all) {
        return (reason == null || isReason(reason, letter.reason()))
                && (source == null || isSource(source, letter.place().source(), all));
    }

    /// On AWS the place is `stream/shard:sequence`.
    private static boolean isSource(String said, String name, DeadLettersCommand all) {
        return name.equals(said)
                || all.caller().shownSource(name).equals(said)
                || name.startsWith(said + ":")
                || name.startsWith(said + "/")
                || name.equals(all.caller().path(said).toString());
    }

    /// How many there are now.
    long count(DeadLetters letters, DeadLettersCommand all) throws IOException {
        if (!isSaid()) {
            return letters.size();
        }
        long[] count = new long[1];
        forEach(letters, all, 0, some -> {
            count[0] += some.size();
            return true;
        });
        return count[0];
    }

    /// Visits those that there are now, in the order of their ids. A letter that comes meanwhile is not among
    /// them.
    void forEach(DeadLetters letters, DeadLettersCommand all, long after, Verb verb) throws IOException {
        forEach(letters, all, after, letters.lastId(), verb);
    }

    /// The same up to an id.
    void forEach(DeadLetters letters, DeadLettersCommand all, long after, long last, Verb verb) throws IOException {
        boolean goesOn = true;
        List<DeadLetter> page = letters.list(after, PAGE);
        while (!page.isEmpty() && goesOn) {
            List<DeadLetter> some = page.stream()
                    .filter(letter -> letter.id() <= last && matches(letter, all))
                    .toList();
            goesOn = (some.isEmpty() || verb.on(some)) && page.getLast().id() < last;
            page = goesOn ? letters.list(page.getLast().id(), PAGE) : List.of();
        }
    }
}
