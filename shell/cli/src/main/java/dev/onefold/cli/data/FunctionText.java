package dev.onefold.cli.data;

import dev.onefold.core.codec.Change;
import dev.onefold.core.codec.Changes;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Processing.Code;
import dev.onefold.core.pipeline.Processing.NewVersion;
import dev.onefold.core.pipeline.Processing.Order;
import dev.onefold.core.pipeline.Processing.Program;
import dev.onefold.core.pipeline.Processing.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/// The description of a pipeline's function, as sentences and lines.
public final class FunctionText {
    private FunctionText() {}

    /// The promises of the function's order, and of its shared tables, one sentence an item.
    public static List<String> promises(Pipeline pipeline, Processing processing) {
        List<String> promises = new ArrayList<>(ofOrder(processing));
        String shared = processing.tables().stream()
                .filter(table -> table.isShared(pipeline.input()))
                .map(Table::name)
                .collect(Collectors.joining(", "));
        if (!shared.isEmpty()) {
            promises.replaceAll(each ->
                    each.replace("The result is the same", "But for rows of " + shared + ", the result is the same"));
            promises.add("Shared by several keys, because their keys lack the pipeline's key: " + shared
                    + ". Each row has one owner: the key that wrote it first, until that key removes it. An event of"
                    + " another key that would put or remove the row is a dead letter 'not the owner', so which events"
                    + " are accepted depends on arrival.");
        }
        return promises;
    }

    private static List<String> ofOrder(Processing processing) {
        int keep = processing.keep();
        return switch (processing.order()) {
            case LATEST ->
                List.of(
                        "Order latest: an event above the highest version of its key is folded. A lower one is stale: it is"
                                + " counted, and changes nothing.",
                        "The result is the same in any order of arrival if it depends on the newest event alone.",
                        "Accepted depending on arrival: a version that comes after a higher one is stale. Of two contents"
                                + " of the highest version the first stays; the other is a dead letter.");
            case EVERY ->
                List.of(
                        "Order every: each version of a key is folded once, as it comes.",
                        "The result is the same in any order of arrival if the steps may be exchanged, as those of a sum.",
                        "Accepted depending on arrival: a version below the last " + keep
                                + " runs of versions of its key"
                                + " is too late, a dead letter. Of two contents of a version the first stays.");
            case IN_ORDER ->
                List.of(
                        "Order in-order: the result is that of folding the events of each key in the order of their"
                                + " versions, whatever the order of arrival.",
                        "The result is the same in any order of arrival for every pure function, while no event is too"
                                + " late.",
                        "Accepted depending on arrival: an event that comes after " + keep
                                + " newer ones of its key (or"
                                + " after 300 kB of them) is too late, a dead letter, and so is one whose refold would"
                                + " change more than 90 rows or 2 MB. Of two contents of a version the greater stays.");
        };
    }

    /// The types that were found, by what they are of.
    public static List<List<String>> types(Pipeline pipeline, Processing processing) {
        List<List<String>> lines = new ArrayList<>();
        Code code = processing.code();
        String key = pipeline.input().identity() instanceof Identity.Versioned versioned
                ? versioned.key().stream().map(FieldPath::toString).collect(Collectors.joining(", "))
                : "";
        if (code != null) {
            lines.add(List.of("key", key));
            lines.add(List.of("event", code.event().toString()));
            lines.add(List.of("context", code.context().toString()));
            processing
                    .tables()
                    .forEach(table -> lines.add(List.of(
                            "table " + table.name(),
                            "by " + String.join(", ", table.key()) + ": "
                                    + Optional.ofNullable(code.tables().get(table.name()))
                                            .map(Object::toString)
                                            .orElse("checked when its first row is written, because tables() does not"
                                                    + " say it"))));
            String sha256 = code.sha256().isEmpty() ? "" : ", SHA-256 " + code.sha256();
            switch (processing.program()) {
                case Program.JavaClass java when !sha256.isEmpty() -> lines.add(List.of("jar", java.jar() + sha256));
                case Program.JavaClass _ -> {}
                case Program.Command _ -> lines.add(List.of("command", processing.programName() + sha256));
            }
        }
        return lines;
    }

    /// A stored pipeline as its user writes it: without what was found of its function.
    public static Pipeline asWritten(Pipeline stored) {
        return stored.fold() instanceof Processing processing ? stored.with(processing.with(null)) : stored;
    }

    /// Both hashes, if the jar is another one and the version is the same.
    public static Optional<String> hashWarning(Pipeline stored, Pipeline given) {
        if (stored.fold() instanceof Processing has
                && given.fold() instanceof Processing wants
                && has.code() != null
                && wants.code() != null
                && has.version() == wants.version()
                && !has.code().sha256().equals(wants.code().sha256())) {
            return Optional.of("the function has another hash than the one that has folded, and the same version "
                    + wants.version() + ": " + hash(wants.code()) + ", and " + hash(has.code())
                    + " before. If it computes something else, raise its version.");
        }
        return Optional.empty();
    }

    private static String hash(Code code) {
        return code.sha256().isEmpty()
                ? "none (it is in no jar and in no file beside the pipeline file)"
                : code.sha256();
    }

    /// The effects of a given function on the data that the stored function has folded, one sentence an item;
    /// empty if the functions are equal.
    public static List<String> changes(Pipeline stored, Pipeline given) {
        List<String> sentences = new ArrayList<>();
        if (!(stored.fold() instanceof Processing has) || !(given.fold() instanceof Processing wants)) {
            return sentences;
        }
        hashWarning(stored, given).ifPresent(warning -> sentences.add("Warning: " + warning));
        if (has.version() < wants.version()) {
            sentences.add("Version " + wants.version() + " of the function follows version " + has.version() + ": "
                    + (wants.onNewVersion() == NewVersion.REFOLD && wants.order() == Order.IN_ORDER
                            ? "the events that are kept of each key are folded again, and rows are corrected."
                            : "each key goes on from its context.")
                    + " 'onefold rebuild --from-sources' folds the whole history by it, where the sources have it.");
        } else if (has.version() > wants.version()) {
            sentences.add("Version " + has.version() + " of the function has folded the data, and version "
                    + wants.version() + " is older: 'onefold run' refuses it.");
        }
        if (has.code() != null && wants.code() != null) {
            types("context", Changes.of(has.code().context(), wants.code().context()), sentences);
            types(
                    "event",
                    Changes.withoutDefaults(has.code().event(), wants.code().event()),
                    sentences);
        }
        return sentences;
    }

    private static void types(String what, Changes changes, List<String> sentences) {
        for (Change change : changes.all()) {
            sentences.add("The " + what + ": " + change + ".");
        }
    }
}
