package dev.onefold.cli.verbs;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.show.GroupPath;
import dev.onefold.cli.show.Words;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.document.Json;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Row;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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
                    GroupPath.shown(groups.get(i).parts()));
        }
        List<Amount> amounts = row.payload().amounts();
        for (int i = 0; i < amounts.size(); i++) {
            lines.put(Words.visible(input(i)), shown(amounts.get(i)));
        }
        lines.put("from", caller.shownSource(row.source()) + ", byte " + Words.count(row.offset()));
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

    private String input(int index) {
        Measure.Input input = Rollups.of(pipeline).inputs().get(index);
        String type = input instanceof Measure.Input.Decimal decimal ? " " + decimal.type() : "";
        return input.field() + type;
    }

    private static String shown(Amount amount) {
        return switch (amount) {
            case Amount.None _ -> Words.NONE;
            case Amount.Number(var value) -> Words.number(value);
            case Amount.Text(var value) -> Words.group(value);
        };
    }

    String json() {
        Map<String, Object> groups = new LinkedHashMap<>();
        for (int i = 0; i < row.payload().groups().size(); i++) {
            groups.put(
                    Rollups.of(pipeline).all().get(i).name(),
                    row.payload().groups().get(i).parts());
        }
        Map<String, @Nullable Object> amounts = new LinkedHashMap<>();
        for (int i = 0; i < row.payload().amounts().size(); i++) {
            amounts.put(
                    input(i),
                    switch (row.payload().amounts().get(i)) {
                        case Amount.None _ -> null;
                        case Amount.Number(var value) -> value;
                        case Amount.Text(var value) -> value;
                    });
        }
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("key", row.key());
        json.put("version", row.version().toString());
        json.put("deleted", row.payload().kind() == Event.Kind.DELETE);
        json.put("filtered", row.payload().kind() == Event.Kind.FILTERED);
        json.put("groups", groups);
        json.put("amounts", amounts);
        json.put("source", row.source());
        json.put("offset", row.offset());
        json.put(
                "deadLetters",
                letters.stream()
                        .map(letter -> Map.of(
                                "id", letter.letter().id(),
                                "version", letter.version().toString(),
                                "newer", row.isOlderThan(letter.version())))
                        .toList());
        return Json.of(json) + "\n";
    }
}
