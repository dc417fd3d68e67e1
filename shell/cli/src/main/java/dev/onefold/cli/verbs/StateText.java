package dev.onefold.cli.verbs;

import dev.onefold.cli.show.Words;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.process.KeyState;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/// The state of a key that a function folds, as text.
///
/// @param letters of the key
record StateText(KeyState state, Iterable<DeadLetters.OfKey> letters) {
    String text(int width) {
        Map<String, String> lines = new LinkedHashMap<>();
        lines.put("key", RowText.key(state.key()));
        lines.put("version", state.version().toString());
        state.hasGaps()
                .ifPresent(gaps -> lines.put(
                        "missing", gaps ? "versions between the lowest and this one have not come" : "no version"));
        lines.put("folded by", "version " + state.code() + " of the function");
        lines.put("kept", Words.count(state.kept(), "event") + " that a late one can be folded before");
        if (!state.failed().isEmpty()) {
            lines.put(
                    "failed",
                    state.failed().stream().map(Object::toString).collect(Collectors.joining(", "))
                            + ": the function failed at it");
        }
        for (DeadLetters.OfKey letter : letters) {
            lines.merge(
                    "waits",
                    (letter.version().isNone() ? "no version" : "version " + letter.version()) + ": "
                            + Words.of(letter.letter().reason()) + ", dead letter "
                            + letter.letter().id(),
                    (one, other) -> one + "; " + other);
        }
        state.context()
                .components()
                .forEach((name, value) -> lines.put("context." + Words.visible(name), RowsText.shown(value)));
        int names = lines.keySet().stream().mapToInt(String::length).max().orElse(0) + 2;
        StringBuilder text = new StringBuilder();
        lines.forEach((name, value) -> text.append(name)
                .repeat(' ', names - name.length())
                .append(Words.broken(value, " ".repeat(names), width).substring(names))
                .append('\n'));
        return text.toString();
    }
}
