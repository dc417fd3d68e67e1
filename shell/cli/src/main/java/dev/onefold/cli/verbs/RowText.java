package dev.onefold.cli.verbs;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.show.Words;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.form.JsonForm;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Row;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The row of a key as text.
///
/// @param letters of the key
record RowText(Pipeline pipeline, Row row, List<DeadLetters.OfKey> letters) {
    /// The parts of a key for the eye.
    static String key(List<String> parts) {
        return Words.visible(String.join(" ", parts));
    }

    String table(Caller caller) {
        Map<String, String> lines = new LinkedHashMap<>();
        lines.put("key", key(row.key()));
        if (!row.version().isNone()) {
            lines.put("version", row.version().toString());
        }
        lines.put(
                "state",
                switch (row.payload().kind()) {
                    case COUNTED -> "counted";
                    case FILTERED -> "filtered: it contributes nothing";
                    case DELETE -> "deleted: it contributes nothing";
                });
        List<Tuple> groups = row.payload().groups();
        for (int i = 0; i < groups.size(); i++) {
            Rollup rollup = Rollups.of(pipeline).all().get(i);
            lines.put(
                    rollup.name().equals(Rollup.MAIN) ? "group" : "group in " + rollup.name(),
                    Words.path(groups.get(i).parts()));
        }
        List<Amount> amounts = row.payload().amounts();
        for (int i = 0; i < amounts.size(); i++) {
            lines.put(Words.visible(JsonForm.input(Rollups.of(pipeline).inputs().get(i))), shown(amounts.get(i)));
        }
        lines.put("from", caller.shownSource(row.source()) + ", offset " + Words.count(row.offset()));
        for (DeadLetters.OfKey letter : letters) {
            lines.merge("waits", waits(letter), (one, other) -> one + "; " + other);
        }
        int width = lines.keySet().stream().mapToInt(String::length).max().orElse(0);
        StringBuilder text = new StringBuilder();
        lines.forEach((name, value) -> text.append(name)
                .repeat(' ', width - name.length() + 2)
                .append(value)
                .append('\n'));
        return text.toString();
    }

    private String waits(DeadLetters.OfKey letter) {
        String version = letter.version().isNone() ? "a record" : "version " + letter.version();
        String newer = row.isOlderThan(letter.version()) ? "newer, " : "";
        return version + " of this key: " + newer + "rejected, dead letter "
                + letter.letter().id();
    }

    private static String shown(Amount amount) {
        return switch (amount) {
            case Amount.None _ -> Words.NONE;
            case Amount.Number(var value) -> Words.number(value);
            case Amount.Text(var value) -> Words.group(value);
        };
    }
}
