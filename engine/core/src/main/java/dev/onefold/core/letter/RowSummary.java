package dev.onefold.core.letter;

import dev.onefold.core.DeadLetter.Place;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.event.Version;
import dev.onefold.core.json.Json;
import dev.onefold.core.json.JsonText;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Contribution;
import dev.onefold.core.state.Row;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/// A row as JSON: the values that the pipeline read of a record that is not kept. A dead letter holds it for
/// a loser of a conflict, and for a row that a new definition refuses.
public final class RowSummary {
    private static final int MEMBERS = 5;

    private RowSummary() {}

    /// The summary of a row.
    public static byte[] of(Row row, Pipeline pipeline) {
        Map<String, List<String>> groups = new LinkedHashMap<>();
        for (int i = 0; i < row.payload().groups().size(); i++) {
            groups.put(
                    Rollups.of(pipeline).all().get(i).name(),
                    row.payload().groups().get(i).parts());
        }
        StringBuilder json = new StringBuilder(keyText(row.key())).append(",\"version\":");
        Json.append(json, row.version().toString());
        Json.append(json.append(",\"kind\":"), row.payload().kind().name().toLowerCase(Locale.ROOT));
        Json.append(json.append(",\"groups\":"), groups);
        json.append(",\"amounts\":{");
        String separator = "";
        List<Measure.Input> inputs =
                Rollups.of(pipeline).inputs(); // A field may be read as a number and as a text: not a map.
        for (int i = 0; i < row.payload().amounts().size(); i++) {
            Json.append(json.append(separator), inputs.get(i).value());
            json.append(':');
            switch (row.payload().amounts().get(i)) {
                case Amount.None _ -> Json.append(json, null);
                case Amount.Number(var value) -> Json.append(json, value);
                case Amount.Text(var value) -> Json.append(json, value);
            }
            separator = ",";
        }
        return json.append("}}").toString().getBytes(StandardCharsets.UTF_8);
    }

    /// The row of a summary.
    ///
    /// @param pipeline under which it was made
    /// @param place of the record
    /// @return empty if this is not a summary
    public static Optional<Row> read(byte[] text, Pipeline pipeline, Place place) {
        Node node = JsonText.read(new String(text, StandardCharsets.UTF_8), new Problems());
        if (!(node instanceof Node.Mapping row) || row.entries().size() != MEMBERS) {
            return Optional.empty();
        }
        List<Node.Entry> entries = row.entries();
        List<List<String>> groups = new ArrayList<>();
        members(entries.get(3).value()).forEach(group -> groups.add(scalars(group)));
        List<String> amounts =
                members(entries.get(4).value()).stream().map(RowSummary::scalar).toList();
        Event.Kind kind = Event.Kind.valueOf(scalar(entries.get(2).value()).toUpperCase(Locale.ROOT));
        List<Measure.Input> inputs = Rollups.of(pipeline).inputs();
        if (kind == Event.Kind.COUNTED && amounts.size() != inputs.size()) {
            return Optional.empty();
        }
        List<Amount> values = new ArrayList<>();
        for (int i = 0; i < amounts.size(); i++) {
            Node value = members(entries.get(4).value()).get(i);
            values.add(
                    value instanceof Node.Scalar one && one.isNull()
                            ? new Amount.None()
                            : switch (inputs.get(i)) {
                                case Measure.Input.Decimal _ -> new Amount.Number(new BigDecimal(amounts.get(i)));
                                case Measure.Input.Text _ -> new Amount.Text(amounts.get(i));
                            });
        }
        return Optional.of(new Row(
                scalars(entries.get(0).value()),
                Version.parse(pipeline, scalar(entries.get(1).value())),
                new Contribution(kind, groups.stream().map(Tuple::of).toList(), values),
                place.source(),
                place.offset()));
    }

    private static List<Node> members(Node node) {
        return node instanceof Node.Mapping mapping
                ? mapping.entries().stream().map(Node.Entry::value).toList()
                : List.of();
    }

    private static List<String> scalars(Node node) {
        return node instanceof Node.Sequence sequence
                ? sequence.items().stream().map(RowSummary::scalar).toList()
                : List.of();
    }

    private static String scalar(Node node) {
        return node instanceof Node.Scalar scalar ? scalar.text() : "";
    }

    /// Whether a text may be of this key: it is the summary of a row of the key, or not a summary.
    static boolean hasKey(byte[] text, List<String> key) {
        String json = new String(text, StandardCharsets.UTF_8);
        return !json.startsWith("{\"key\":") || json.startsWith(keyText(key) + ",");
    }

    private static String keyText(List<String> key) {
        StringBuilder json = new StringBuilder("{\"key\":");
        Json.append(json, key);
        return json.toString();
    }
}
