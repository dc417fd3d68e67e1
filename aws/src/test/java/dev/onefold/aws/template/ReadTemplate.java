package dev.onefold.aws.template;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/// A template, read back by a parser that shares nothing with what wrote it. Short forms such as `!Ref x` are read as
/// the long ones, `{"Ref": "x"}`; all scalars are texts.
final class ReadTemplate {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final Pattern VARIABLE = Pattern.compile("\\$\\{([^}!]+)}");

    private final JsonNode root;

    ReadTemplate(String yaml) {
        LoadSettings settings =
                LoadSettings.builder().setAllowDuplicateKeys(false).build();
        root = json(new Compose(settings).composeString(yaml).orElseThrow());
    }

    private static JsonNode json(Node node) {
        JsonNode plain = switch (node) {
            case ScalarNode scalar -> NODES.textNode(scalar.getValue());
            case SequenceNode sequence -> {
                ArrayNode array = NODES.arrayNode();
                sequence.getValue().forEach(item -> array.add(json(item)));
                yield array;
            }
            case MappingNode mapping -> {
                ObjectNode object = NODES.objectNode();
                for (NodeTuple tuple : mapping.getValue()) {
                    object.set(((ScalarNode) tuple.getKeyNode()).getValue(), json(tuple.getValueNode()));
                }
                yield object;
            }
            default -> throw new AssertionError("An anchor is no part of a template: " + node);
        };
        String tag = node.getTag().getValue();
        if (!tag.startsWith("!")) {
            return plain;
        }
        String function = tag.equals("!Ref") ? "Ref" : "Fn::" + tag.substring(1);
        return NODES.objectNode().set(function, plain);
    }

    JsonNode root() {
        return root;
    }

    JsonNode resource(String name) {
        JsonNode resource = root.path("Resources").path(name);
        if (resource.isMissingNode()) {
            throw new AssertionError("There is no resource " + name);
        }
        return resource;
    }

    JsonNode properties(String resource) {
        return resource(resource).path("Properties");
    }

    /// Resources of a type, by name.
    Map<String, JsonNode> resources(String type) {
        Map<String, JsonNode> found = new TreeMap<>();
        root.path("Resources").properties().forEach(entry -> {
            if (entry.getValue().path("Type").asText().equals(type)) {
                found.put(entry.getKey(), entry.getValue());
            }
        });
        return found;
    }

    List<String> names(String section) {
        return names(root.path(section));
    }

    static List<String> names(JsonNode object) {
        List<String> names = new ArrayList<>();
        object.fieldNames().forEachRemaining(names::add);
        return names;
    }

    static List<String> texts(JsonNode array) {
        List<String> texts = new ArrayList<>();
        array.forEach(item -> texts.add(item.asText()));
        return texts;
    }

    /// Calls with each function and its argument, wherever they stand: `Ref`, `Fn::GetAtt`, `Fn::If` …
    static void forEachFunction(JsonNode node, BiConsumer<String, JsonNode> sink) {
        if (node.isObject() && node.size() == 1 && names(node).getFirst().matches("Ref|Fn::.*")) {
            sink.accept(names(node).getFirst(), node.elements().next());
        }
        node.elements().forEachRemaining(child -> forEachFunction(child, sink));
    }

    /// Names that anything in a node refers to, attributes cut off.
    static List<String> references(JsonNode node) {
        List<String> names = new ArrayList<>();
        forEachFunction(node, (function, argument) -> {
            switch (function) {
                case "Ref" -> names.add(argument.asText());
                case "Fn::GetAtt" -> names.add(argument.asText().replaceFirst("\\..*", ""));
                case "Fn::Sub" ->
                    variables(argument.asText()).forEach(name -> names.add(name.replaceFirst("\\..*", "")));
                default -> {}
            }
        });
        return names;
    }

    private static Stream<String> variables(String text) {
        List<String> variables = new ArrayList<>();
        Matcher matcher = VARIABLE.matcher(text);
        while (matcher.find()) {
            variables.add(matcher.group(1));
        }
        return variables.stream();
    }
}
