package dev.onefold.api.reading;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.event.Version;
import dev.onefold.core.json.JsonText;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.KeyState;
import dev.onefold.core.query.Answer;
import dev.onefold.core.shape.Value;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Contribution;
import dev.onefold.core.state.Row;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Reads the JSON that [dev.onefold.core.form.JsonForm] writes. Unreadable JSON is an [IllegalStateException],
/// because the two sides have compared their versions before.
public final class JsonReader {
    private JsonReader() {}

    public static Node parse(String json) {
        Problems problems = new Problems();
        Node node = JsonText.read(json, problems);
        if (node == null) {
            throw new IllegalStateException("The engine's answer cannot be read: " + problems.inOrder());
        }
        return node;
    }

    private static @Nullable BigDecimal decimal(Node node) {
        return node instanceof Node.Scalar scalar && scalar.isNull() ? null : new BigDecimal(node.text());
    }

    /// `{"group":["A","B"],"values":{"value":1.00}}`.
    public static Answer.Line line(String json) {
        Node line = parse(json);
        List<@Nullable BigDecimal> values = new ArrayList<>();
        line.get("values").entries().forEach(value -> values.add(decimal(value.value())));
        return new Answer.Line(line.get("group").texts(), values);
    }

    public static Row row(Pipeline pipeline, Node row) {
        Event.Kind kind = Boolean.parseBoolean(row.get("deleted").text())
                ? Event.Kind.DELETE
                : Boolean.parseBoolean(row.get("filtered").text()) ? Event.Kind.FILTERED : Event.Kind.COUNTED;
        List<Tuple> groups = row.get("groups").entries().stream()
                .map(group -> Tuple.of(group.value().texts()))
                .toList();
        List<Amount> amounts = row.get("amounts").entries().stream()
                .map(amount -> amount(amount.value()))
                .toList();
        return new Row(
                row.get("key").texts(),
                version(pipeline, row),
                new Contribution(kind, groups, amounts),
                row.get("source").text(),
                Long.parseLong(row.get("offset").text()));
    }

    /// The version that a row or a letter has.
    public static Version version(Pipeline pipeline, Node of) {
        String version = of.get("version").text();
        return version.isEmpty() ? Version.NONE : Version.parse(pipeline, version);
    }

    private static Amount amount(Node node) {
        if (node instanceof Node.Scalar scalar && scalar.quoted()) {
            return new Amount.Text(scalar.text());
        }
        BigDecimal number = decimal(node);
        return number == null ? new Amount.None() : new Amount.Number(number);
    }

    /// The state of a key, with the bytes of its context.
    public static KeyState state(Pipeline pipeline, Node state) {
        return new KeyState(
                state.get("key").texts(),
                version(pipeline, state),
                Integer.parseInt(state.get("code").text()),
                Value.read(Base64.getDecoder().decode(state.get("context").text())),
                Integer.parseInt(state.get("kept").text()),
                state.get("gaps") instanceof Node.Scalar gaps && !gaps.isNull()
                        ? Optional.of(Boolean.valueOf(gaps.text()))
                        : Optional.empty(),
                state.get("failed").texts().stream()
                        .map(each -> Version.parse(pipeline, each))
                        .toList());
    }
}
