package dev.onefold.local.cloud;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/// A request of AWS's query protocol: an action with parameters, whose names are paths such as `Tags.member.1.Key`.
record QueryRequest(String action, Map<String, String> parameters) {
    private static final Set<String> OF_ALL = Set.of("Action", "Version");

    static QueryRequest of(byte[] body) {
        Map<String, String> parameters = new TreeMap<>();
        for (String part : new String(body, StandardCharsets.UTF_8).split("&", -1)) {
            String[] sides = part.split("=", 2);
            parameters.put(decoded(sides[0]), sides.length == 1 ? "" : decoded(sides[1]));
        }
        return new QueryRequest(parameters.getOrDefault("Action", ""), parameters);
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    Optional<String> text(String name) {
        return Optional.ofNullable(parameters.get(name));
    }

    String required(String name) {
        return text(name)
                .filter(text -> !text.isEmpty())
                .orElseThrow(() -> Refusal.invalid(action + " needs the parameter " + name));
    }

    /// The texts of a list.
    List<String> list(String name) {
        List<String> list = new ArrayList<>();
        for (int i = 1; parameters.containsKey(name + ".member." + i); i++) {
            list.add(parameters.getOrDefault(name + ".member." + i, ""));
        }
        return list;
    }

    /// A list of names and values.
    ///
    /// @param key what the name is called, such as `ParameterKey`
    Map<String, String> pairs(String name, String key, String value) {
        return pairs(name, key, value, Map.of());
    }

    /// The same.
    ///
    /// @param previous values that a member may ask for with `UsePreviousValue`
    Map<String, String> pairs(String name, String key, String value, Map<String, String> previous) {
        Map<String, String> pairs = new TreeMap<>();
        for (int i = 1; parameters.containsKey(name + ".member." + i + "." + key); i++) {
            String member = name + ".member." + i + ".";
            pairs.put(
                    parameters.getOrDefault(member + key, ""),
                    text(member + value)
                            .or(() -> text(member + "UsePreviousValue")
                                    .filter("true"::equals)
                                    .map(_ -> previous.get(parameters.getOrDefault(member + key, ""))))
                            .orElseThrow(() -> Refusal.invalid(
                                    "The stand-in for CloudFormation needs a value of each of " + name)));
        }
        return pairs;
    }

    /// Refuses what is not known here.
    void requireOnly(String... known) {
        for (String name : parameters.keySet()) {
            int dot = name.indexOf('.');
            String first = dot < 0 ? name : name.substring(0, dot);
            if (!OF_ALL.contains(first) && !List.of(known).contains(first)) {
                throw Refusal.invalid(
                        "The stand-in for CloudFormation does not know the parameter " + first + " of " + action);
            }
        }
    }
}
