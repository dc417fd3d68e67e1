package dev.onefold.fakes.aws.expression;

import static dev.onefold.fakes.aws.item.Refusal.invalid;

import dev.onefold.fakes.aws.item.Values;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// The names and values that a request gives to its expressions, all of which must be used.
public final class Placeholders {
    private static final Pattern NAME = Pattern.compile("#[A-Za-z0-9_]+");
    private static final Pattern VALUE = Pattern.compile(":[A-Za-z0-9_]+");

    private final Map<String, String> names;
    private final Map<String, AttributeValue> values = new TreeMap<>();
    private final Set<String> unused = new TreeSet<>();

    public Placeholders(Map<String, String> names, Map<String, AttributeValue> values) {
        this.names = names;
        for (String name : names.keySet()) {
            requireSyntax("ExpressionAttributeNames", NAME, name);
        }
        values.forEach((name, value) -> {
            requireSyntax("ExpressionAttributeValues", VALUE, name);
            this.values.put(name, Values.canonical(value));
        });
        unused.addAll(names.keySet());
        unused.addAll(values.keySet());
    }

    private static void requireSyntax(String where, Pattern pattern, String name) {
        if (!pattern.matcher(name).matches()) {
            throw invalid("%s contains invalid key: Syntax error; key: \"%s\"".formatted(where, name));
        }
    }

    /// To be called when all expressions of the request were parsed.
    public void requireAllUsed() {
        if (!unused.isEmpty()) {
            throw invalid("Names or values provided are unused in expressions: keys: %s".formatted(unused));
        }
    }

    String name(Tokens tokens, String placeholder) {
        unused.remove(placeholder);
        String name = names.get(placeholder);
        if (name == null) {
            throw tokens.refused(
                    "An expression attribute name used in the document path is not defined; attribute name: "
                            + placeholder);
        }
        return name;
    }

    AttributeValue value(Tokens tokens, String placeholder) {
        unused.remove(placeholder);
        AttributeValue value = values.get(placeholder);
        if (value == null) {
            throw tokens.refused(
                    "An expression attribute value used in expression is not defined; attribute value: " + placeholder);
        }
        return value;
    }
}
