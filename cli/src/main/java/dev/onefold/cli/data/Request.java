package dev.onefold.cli.data;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.Screen;
import dev.onefold.core.document.Json;
import dev.onefold.core.document.JsonText;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A command line that another process wants run here, and all of its caller that the command can see.
///
/// @param protocol that the visitor speaks; when it is not ours, the rest is not read
record Request(int protocol, List<String> arguments, String folder, String base, Screen screen) {
    static final int PROTOCOL = 1;

    Request {
        arguments = List.copyOf(arguments);
    }

    static Request of(Caller caller, List<String> arguments) {
        return new Request(
                PROTOCOL,
                arguments,
                caller.folder().toString(),
                caller.environment().getOrDefault(PipelineArgument.BASE_VARIABLE, ""),
                caller.screen());
    }

    /// The environment of the caller, as far as commands look at it.
    Map<String, String> environment() {
        return base.isEmpty() ? Map.of() : Map.of(PipelineArgument.BASE_VARIABLE, base);
    }

    String json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("protocol", protocol);
        json.put("arguments", arguments);
        json.put("folder", folder);
        json.put("base", base);
        json.put("width", screen.width());
        json.put("colour", screen.colour());
        json.put("outIsTerminal", screen.outIsTerminal());
        json.put("errIsTerminal", screen.errIsTerminal());
        return Json.of(json);
    }

    /// @throws IllegalArgumentException for what is no request
    static Request parse(String json) {
        Problems problems = new Problems();
        Map<String, Node> values = new HashMap<>();
        if (JsonText.read(json, problems) instanceof Node.Mapping mapping) {
            mapping.entries().forEach(entry -> values.put(entry.name().text(), entry.value()));
        }
        int protocol = Integer.parseInt(text(values, "protocol"));
        if (protocol != PROTOCOL) {
            return new Request(protocol, List.of(), "", "", Screen.pipe());
        }
        List<String> arguments = values.get("arguments") instanceof Node.Sequence sequence
                ? sequence.items().stream().map(Request::text).toList()
                : List.of();
        Screen screen = new Screen(
                Integer.parseInt(text(values, "width")),
                Boolean.parseBoolean(text(values, "colour")),
                Boolean.parseBoolean(text(values, "outIsTerminal")),
                Boolean.parseBoolean(text(values, "errIsTerminal")));
        return new Request(protocol, arguments, text(values, "folder"), text(values, "base"), screen);
    }

    private static String text(Map<String, Node> values, String name) {
        Node value = values.get(name);
        if (value == null) {
            throw new IllegalArgumentException("The request does not say '" + name + "'");
        }
        return text(value);
    }

    private static String text(Node node) {
        if (node instanceof Node.Scalar scalar) {
            return scalar.text();
        }
        throw new IllegalArgumentException("The request has a list or an object where a text is expected");
    }
}
