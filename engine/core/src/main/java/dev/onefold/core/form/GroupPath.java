package dev.onefold.core.form;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problem;
import dev.onefold.core.document.Problems;
import dev.onefold.core.json.JsonText;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/// A group as one text: the values of its levels joined by `/`; inside a value `/` is written `\/`, and `\` is `\\`.
public final class GroupPath {
    private GroupPath() {}

    /// The text of a group, which [#parse] reads back; the total of all is empty.
    public static String write(List<String> group) {
        return group.stream()
                .map(value -> value.replace("\\", "\\\\").replace("/", "\\/"))
                .collect(Collectors.joining("/"));
    }

    /// The group of a text.
    ///
    /// @throws IllegalArgumentException for a `\` before anything but `/` and `\`
    public static List<String> parse(String text) {
        if (text.isEmpty()) {
            return List.of();
        }
        List<String> group = new ArrayList<>();
        StringBuilder value = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '/') {
                group.add(value.toString());
                value.setLength(0);
            } else if (c != '\\') {
                value.append(c);
            } else if (i + 1 < text.length() && "/\\".indexOf(text.charAt(i + 1)) >= 0) {
                value.append(text.charAt(++i));
            } else {
                throw new IllegalArgumentException(
                        "In group '" + Problem.visible(text, Integer.MAX_VALUE) + "' the \\ at character " + (i + 1)
                                + " stands alone: write \\\\ for a backslash and \\/ for a slash inside a value.");
            }
        }
        group.add(value.toString());
        return group;
    }

    /// The group of a JSON list of texts.
    ///
    /// @param name of the option or parameter, for the message
    /// @throws IllegalArgumentException if it is something else
    public static List<String> ofJson(String name, String json) {
        Problems problems = new Problems();
        if (JsonText.read(json, problems) instanceof Node.Sequence sequence) {
            List<String> texts = sequence.items().stream()
                    .filter(item -> item instanceof Node.Scalar scalar && scalar.quoted())
                    .map(item -> ((Node.Scalar) item).text())
                    .toList();
            if (texts.size() == sequence.items().size()) {
                return texts;
            }
        }
        throw new IllegalArgumentException(name + " is a list of texts, such as '[\"PV\",\"FXSpot\"]'"
                + (problems.isEmpty() ? "." : "; at " + problems.inOrder().getFirst() + "."));
    }
}
