package dev.onefold.local.template;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/// YAML with CloudFormation's tags, as plain values: text, lists, maps, and functions that are not yet called.
final class Document {
    private Document() {}

    /// A function of CloudFormation in its short form, such as `!Ref Rows`.
    record Call(String function, Object argument) {}

    static Map<String, Object> read(String yaml) {
        Node root = new Compose(LoadSettings.builder().build())
                .composeString(yaml)
                .orElseThrow(() -> new IllegalArgumentException("The template is empty"));
        return map(value(root));
    }

    private static Object value(Node node) {
        String tag = node.getTag().getValue();
        Object plain = switch (node) {
            case ScalarNode scalar -> scalar.getValue();
            case SequenceNode sequence -> {
                List<Object> items = new ArrayList<>();
                sequence.getValue().forEach(item -> items.add(value(item)));
                yield items;
            }
            case MappingNode mapping -> {
                Map<String, Object> entries = new LinkedHashMap<>();
                for (NodeTuple entry : mapping.getValue()) {
                    entries.put(((ScalarNode) entry.getKeyNode()).getValue(), value(entry.getValueNode()));
                }
                yield entries;
            }
            default -> throw new IllegalArgumentException("A template has no " + node);
        };
        return tag.startsWith("!") ? new Call(tag.substring(1), plain) : plain;
    }

    static Map<String, Object> map(@Nullable Object value) {
        if (value instanceof Map<?, ?> entries) {
            Map<String, Object> map = new LinkedHashMap<>();
            entries.forEach((name, entry) -> map.put(String.valueOf(name), entry));
            return map;
        }
        throw new IllegalArgumentException("The template has " + value + " where names and values belong");
    }

    static List<Object> list(@Nullable Object value) {
        if (value instanceof List<?> items) {
            return new ArrayList<>(items);
        }
        throw new IllegalArgumentException("The template has " + value + " where a list belongs");
    }
}
