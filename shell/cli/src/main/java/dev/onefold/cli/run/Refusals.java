package dev.onefold.cli.run;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.show.Words;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.event.Reason;
import dev.onefold.core.json.JsonText;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/// The commonest reasons for which a run's records were rejected. The values in a message differ from record to
/// record, so messages that are equal but for their values count as one reason.
final class Refusals {
    private static final int LETTERS_MAX = 10_000; // Reading them takes some milliseconds.
    private static final int PAGE = 1_000;
    private static final int REASONS_MAX = 3;
    private static final int FIELDS_MAX = 8;
    private static final int RECORD_BYTES_MAX = 1 << 16;
    private static final Pattern VALUE = Pattern.compile("'[^']*'|[0-9]+");

    private final DeadLetters letters;
    private final long lastBefore;
    private final boolean isKept;

    private static final class Kind {
        private final DeadLetter example;
        private long count;

        Kind(DeadLetter example) {
            this.example = example;
        }
    }

    /// Begins: letters that are there already do not count.
    ///
    /// @param isKept whether the letters are there when the text is read
    Refusals(DeadLetters letters, boolean isKept) {
        this.letters = letters;
        this.isKept = isKept;
        lastBefore = letters.lastId();
    }

    /// Appends the commonest reasons, each with its count and an example.
    void appendTo(StringBuilder text, Caller caller) {
        Map<String, Kind> kinds = new HashMap<>();
        int seen = 0;
        long after = lastBefore;
        for (List<DeadLetter> page = letters.list(after, PAGE);
                !page.isEmpty() && seen < LETTERS_MAX;
                page = letters.list(after, PAGE)) {
            for (DeadLetter letter : page) {
                if (letter.reason() != Reason.CONFLICT) {
                    seen++;
                    String key = VALUE.matcher(letter.message()).replaceAll("*");
                    kinds.computeIfAbsent(key, _ -> new Kind(letter)).count++;
                }
            }
            after = page.getLast().id();
        }
        if (kinds.isEmpty()) {
            return;
        }
        boolean all = letters.list(after, 1).isEmpty();
        text.append("Commonest reasons")
                .append(all ? "" : ", of the first " + Words.count(seen) + " rejected records")
                .append(":\n");
        kinds.values().stream()
                .sorted(Comparator.comparingLong((Kind kind) -> -kind.count)
                        .thenComparingLong(kind -> kind.example.id()))
                .limit(REASONS_MAX)
                .forEach(kind -> append(text, caller, kind));
    }

    private void append(StringBuilder text, Caller caller, Kind kind) {
        DeadLetter example = kind.example;
        int width = caller.screen().outWidth();
        String fields = example.message().contains("is missing") ? fields(example) : "";
        String message = Words.count(kind.count) + " x " + Words.visible(example.message()) + fields + ".";
        text.append(Words.indented(message, "  ", width)).append('\n');
        String place = caller.shown(example.place());
        text.append(Words.indented(
                        "First: " + place + (isKept ? ", dead letter " + example.id() : "") + ".", "    ", width))
                .append('\n');
    }

    /// The names at the top of a JSON record: the missing one is often there in another spelling.
    private String fields(DeadLetter letter) {
        if (!letter.kept() || letter.bytes() > RECORD_BYTES_MAX) {
            return "";
        }
        String record = new String(letters.record(letter.id()), StandardCharsets.UTF_8);
        if (!(JsonText.read(record, new Problems()) instanceof Node.Mapping mapping)
                || mapping.entries().isEmpty()) {
            return "";
        }
        List<String> names = mapping.entries().stream()
                .map(entry -> Words.visible(entry.name().text()))
                .toList();
        if (names.containsAll(List.of("Type", "MessageId", "TopicArn", "Message"))) {
            return "; the record is a notification of SNS: write 'unwrap: Message' under input";
        }
        return "; the record has " + String.join(", ", names.subList(0, Math.min(names.size(), FIELDS_MAX)))
                + (names.size() > FIELDS_MAX ? ", …" : "");
    }
}
