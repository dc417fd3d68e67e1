package dev.onefold.cli.verbs;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.json.JsonText;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.AbstractMap.SimpleImmutableEntry;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Totals that a producer has written down: what `generate --totals` writes, or `query --format json`.
final class TotalsFile {
    private static final String GROUPS = "groups";
    private static final String GROUP = "group";
    private static final String VALUES = "values";

    private final String shown;

    private TotalsFile(String shown) {
        this.shown = shown;
    }

    /// Reads it.
    ///
    /// @throws CommandFailure if it holds no totals
    static Totals read(Caller caller, String file) throws IOException {
        Path path = caller.path(file);
        TotalsFile totals = new TotalsFile(caller.shown(path));
        if (!Files.isRegularFile(path)) {
            throw CommandFailure.usage("There is no file " + totals.shown + ".");
        }
        Problems problems = new Problems();
        Node document = JsonText.read(Files.readString(path), problems);
        if (document == null) {
            throw totals.refused("it is not JSON");
        }
        return totals.of(document);
    }

    private CommandFailure refused(String why) {
        return CommandFailure.usage(shown + " holds no totals: " + why + ". Write it with 'onefold generate trade-risk"
                + " --totals FILE' or 'onefold query PIPELINE --format json'; or as {\"groups\": [{\"group\": [\"A\"],"
                + " \"value\": \"1.00\"}]}.");
    }

    private Totals of(Node document) {
        Node groups = document.find(GROUPS);
        if (!(groups instanceof Node.Sequence(List<Node> items, var _))) {
            throw refused("it has no list 'groups'");
        }
        Set<String> measures = new LinkedHashSet<>();
        Map<List<String>, Map<String, @Nullable BigDecimal>> read = new LinkedHashMap<>();
        for (Node item : items) {
            if (!(item instanceof Node.Mapping group)) {
                throw refused("a group is no object");
            }
            List<String> path = path(group);
            Map<String, @Nullable BigDecimal> values = values(group, path);
            measures.addAll(values.keySet());
            if (read.put(path, values) != null) {
                throw refused("group " + path + " is there twice");
            }
        }
        List<String> names = List.copyOf(measures);
        List<Map.Entry<List<String>, List<@Nullable BigDecimal>>> all = new ArrayList<>();
        read.forEach((path, values) -> {
            List<@Nullable BigDecimal> row = new ArrayList<>();
            names.forEach(name -> row.add(values.get(name)));
            all.add(new SimpleImmutableEntry<>(path, row));
        });
        return Totals.of(names, all);
    }

    private List<String> path(Node.Mapping group) {
        if (!(group.find(GROUP) instanceof Node.Sequence(List<Node> names, var _))) {
            throw refused("a group has no list 'group'");
        }
        return names.stream().map(name -> text(name, "the name of a group")).toList();
    }

    private Map<String, @Nullable BigDecimal> values(Node.Mapping group, List<String> path) {
        Node.Mapping from = group.find(VALUES) instanceof Node.Mapping values ? values : group;
        Map<String, @Nullable BigDecimal> all = new LinkedHashMap<>();
        for (Node.Entry entry : from.entries()) {
            if (!entry.name().text().equals(GROUP)) {
                all.put(entry.name().text(), number(entry.value(), path));
            }
        }
        return all;
    }

    private @Nullable BigDecimal number(Node value, List<String> path) {
        if (value instanceof Node.Scalar scalar && scalar.isNull()) {
            return null;
        }
        String text = text(value, "a value of group " + path);
        try {
            return new BigDecimal(text);
        } catch (NumberFormatException e) {
            throw refused("a value of group " + path + " is not a number: " + text);
        }
    }

    private String text(Node node, String what) {
        if (node instanceof Node.Scalar scalar) {
            return scalar.text();
        }
        throw refused(what + " is a list or an object");
    }
}
