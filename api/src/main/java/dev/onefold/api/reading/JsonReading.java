package dev.onefold.api.reading;

import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetter.Place;
import dev.onefold.core.Status;
import dev.onefold.core.Verification;
import dev.onefold.core.document.JsonText;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Reason;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.event.Version;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.KeyAudit;
import dev.onefold.core.process.KeyState;
import dev.onefold.core.process.StepFunction.Impurity;
import dev.onefold.core.query.Answer;
import dev.onefold.core.shape.Value;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Contribution;
import dev.onefold.core.state.Row;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Reads the JSON that [dev.onefold.core.form.JsonForm] writes. Unreadable JSON is an [IllegalStateException],
/// because the two sides have compared their versions before.
public final class JsonReading {
    private JsonReading() {}

    public static Node parse(String json) {
        Problems problems = new Problems();
        Node node = JsonText.read(json, problems);
        if (node == null) {
            throw new IllegalStateException("The engine's answer cannot be read: " + problems.inOrder());
        }
        return node;
    }

    public static @Nullable Node find(Node object, String name) {
        if (object instanceof Node.Mapping mapping) {
            for (Node.Entry entry : mapping.entries()) {
                if (entry.name().text().equals(name)) {
                    return entry.value();
                }
            }
        }
        return null;
    }

    public static Node get(Node object, String name) {
        Node value = find(object, name);
        if (value == null) {
            throw new IllegalStateException("The engine's answer does not have '" + name + "'");
        }
        return value;
    }

    public static String text(Node object, String name) {
        return text(get(object, name));
    }

    private static String text(Node node) {
        if (node instanceof Node.Scalar scalar) {
            return scalar.text();
        }
        throw new IllegalStateException("The engine's answer has a list or an object in the place of a text");
    }

    public static long number(Node object, String name) {
        return Long.parseLong(text(object, name));
    }

    public static boolean truth(Node object, String name) {
        return Boolean.parseBoolean(text(object, name));
    }

    public static List<Node> list(Node object, String name) {
        return items(get(object, name));
    }

    private static List<Node> items(Node node) {
        if (node instanceof Node.Sequence sequence) {
            return sequence.items();
        }
        throw new IllegalStateException("The engine's answer has something else in the place of a list");
    }

    public static List<Node.Entry> entries(Node object, String name) {
        return get(object, name) instanceof Node.Mapping mapping ? mapping.entries() : List.of();
    }

    public static List<String> texts(Node object, String name) {
        return list(object, name).stream().map(JsonReading::text).toList();
    }

    public static <E extends Enum<E>> E constant(Class<E> type, String word) {
        return Enum.valueOf(type, word.toUpperCase(Locale.ROOT).replace(' ', '_'));
    }

    private static @Nullable BigDecimal decimal(Node node) {
        return node instanceof Node.Scalar scalar && scalar.isNull() ? null : new BigDecimal(text(node));
    }

    private static List<@Nullable BigDecimal> decimals(List<Node> nodes) {
        List<@Nullable BigDecimal> decimals = new ArrayList<>(nodes.size());
        nodes.forEach(node -> decimals.add(decimal(node)));
        return decimals;
    }

    /// `{"group":["A","B"],"values":{"value":1.00}}`.
    public static Answer.Line line(String json) {
        Node line = parse(json);
        return new Answer.Line(
                texts(line, "group"),
                decimals(entries(line, "values").stream().map(Node.Entry::value).toList()));
    }

    public static Answer.Cut cut(Node cut) {
        return new Answer.Cut(progress(cut), Instant.parse(text(cut, "at")));
    }

    private static List<Answer.Progress> progress(Node of) {
        return list(of, "sources").stream()
                .map(source ->
                        new Answer.Progress(text(source, "source"), number(source, "records"), number(source, "bytes")))
                .toList();
    }

    public static Row row(Pipeline pipeline, Node row) {
        Event.Kind kind = truth(row, "deleted")
                ? Event.Kind.DELETE
                : truth(row, "filtered") ? Event.Kind.FILTERED : Event.Kind.COUNTED;
        List<Tuple> groups = entries(row, "groups").stream()
                .map(group -> Tuple.of(
                        items(group.value()).stream().map(JsonReading::text).toList()))
                .toList();
        List<Amount> amounts = entries(row, "amounts").stream()
                .map(amount -> amount(amount.value()))
                .toList();
        return new Row(
                texts(row, "key"),
                version(pipeline, row),
                new Contribution(kind, groups, amounts),
                text(row, "source"),
                number(row, "offset"));
    }

    /// The version that a row or a letter has.
    public static Version version(Pipeline pipeline, Node of) {
        String version = text(of, "version");
        return version.isEmpty() ? Version.NONE : Version.parse(pipeline, version);
    }

    private static Amount amount(Node node) {
        BigDecimal number = node instanceof Node.Scalar scalar && scalar.quoted() ? null : decimal(node);
        if (number != null) {
            return new Amount.Number(number);
        }
        return node instanceof Node.Scalar scalar && scalar.quoted()
                ? new Amount.Text(scalar.text())
                : new Amount.None();
    }

    public static DeadLetter letter(Node letter) {
        return new DeadLetter(
                number(letter, "id"),
                constant(Reason.class, text(letter, "reason")),
                text(letter, "message"),
                new Place(text(letter, "source"), number(letter, "line"), number(letter, "offset")),
                number(letter, "bytes"),
                constant(DeadLetter.Content.class, text(letter, "content")),
                truth(letter, "edited"),
                text(letter, "sha256"),
                Instant.parse(text(letter, "at")));
    }

    public static Counts counts(Node counts) {
        return new Counts(
                number(counts, "accepted"),
                number(counts, "duplicate"),
                number(counts, "stale"),
                number(counts, "conflicting"),
                number(counts, "rejected"),
                number(counts, "silent"));
    }

    public static Status status(Node status) {
        Map<Reason, Long> reasons = new EnumMap<>(Reason.class);
        entries(status, "deadLettersByReason")
                .forEach(reason ->
                        reasons.put(constant(Reason.class, reason.name().text()), Long.valueOf(text(reason.value()))));
        return new Status(
                Instant.parse(text(status, "at")),
                counts(status),
                number(status, "deadLetters"),
                reasons,
                number(status, "rows"),
                number(status, "memoryBytes"),
                number(status, "diskBytes"),
                number(status, "checkpoint"),
                Instant.parse(text(status, "checkpointAt")),
                lags(status),
                Optional.ofNullable(find(status, "waitingForSpaceSince")).map(since -> Instant.parse(text(since))),
                truth(status, "definitionPending"),
                Optional.ofNullable(find(status, "function")).map(JsonReading::function),
                Optional.ofNullable(find(status, "batches")).map(BatchReading::summary),
                Optional.ofNullable(find(status, "writes")).map(JsonReading::writes),
                Optional.ofNullable(find(status, "publication")).map(JsonReading::publication),
                progress(status));
    }

    /// An engine of an earlier version says the sum alone.
    private static Map<String, Long> lags(Node status) {
        Map<String, Long> lags = new HashMap<>();
        if (find(status, "lags") == null) {
            lags.put("files", number(status, "lagBytes"));
        } else {
            entries(status, "lags").forEach(lag -> lags.put(lag.name().text(), Long.valueOf(text(lag.value()))));
        }
        return lags;
    }

    private static Status.OfWrites writes(Node writes) {
        return new Status.OfWrites(
                number(writes, "forces"),
                number(writes, "forcesNanos"),
                number(writes, "checkpoints"),
                number(writes, "checkpointsNanos"));
    }

    private static Status.OfPublication publication(Node publication) {
        return new Status.OfPublication(
                number(publication, "cut"),
                Optional.ofNullable(find(publication, "cutAt")).map(at -> Instant.parse(text(at))),
                Optional.ofNullable(find(publication, "failingSince")).map(since -> Instant.parse(text(since))),
                text(publication, "failure"));
    }

    private static Status.OfFunction function(Node function) {
        return new Status.OfFunction(
                number(function, "impureCalls"),
                Optional.ofNullable(find(function, "lastImpureCall"))
                        .map(last -> new Impurity(texts(last, "key"), text(last, "first"), text(last, "second"))),
                (int) number(function, "stuckThreads"),
                Optional.ofNullable(find(function, "otherJar")).map(JsonReading::text));
    }

    public static Verification verification(Node verification) {
        return new Verification(
                text(verification, "truth"),
                number(verification, "groups"),
                list(verification, "differences").stream()
                        .map(difference -> new Verification.Difference(
                                text(difference, "rollup"),
                                texts(difference, "group"),
                                decimals(list(difference, "served")),
                                decimals(list(difference, "recomputed"))))
                        .toList(),
                number(verification, "keys"),
                list(verification, "keyDifferences").stream()
                        .map(difference -> new KeyAudit.Difference(
                                texts(difference, "key"),
                                text(difference, "what"),
                                text(difference, "stored"),
                                text(difference, "recomputed")))
                        .toList());
    }

    /// The state of a key, with the bytes of its context.
    public static KeyState state(Pipeline pipeline, Node state) {
        return new KeyState(
                texts(state, "key"),
                version(pipeline, state),
                Math.toIntExact(number(state, "code")),
                Value.read(Base64.getDecoder().decode(text(state, "context"))),
                Math.toIntExact(number(state, "kept")),
                get(state, "gaps") instanceof Node.Scalar gaps && !gaps.isNull()
                        ? Optional.of(Boolean.valueOf(gaps.text()))
                        : Optional.empty(),
                texts(state, "failed").stream()
                        .map(each -> Version.parse(pipeline, each))
                        .toList());
    }
}
