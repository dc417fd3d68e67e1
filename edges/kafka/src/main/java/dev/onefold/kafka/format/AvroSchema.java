package dev.onefold.kafka.format;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.json.JsonText;
import dev.onefold.kafka.format.AvroType.Meaning;
import dev.onefold.kafka.format.AvroType.Plain;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Reads schemas of Avro: those that a schema refers to, and then itself. Not thread-safe.
final class AvroSchema {
    private static final int PRECISION_MAX = 1_000;
    private static final int UUID_BYTES = 16;
    private static final Map<String, Integer> DIGITS = Map.of("millis", 3, "micros", 6, "nanos", 9);

    private final Map<String, AvroType> named = new HashMap<>();

    private AvroSchema() {}

    /// The type of the last schema.
    static AvroType read(List<String> texts) throws Undecodable {
        AvroSchema schema = new AvroSchema();
        AvroType type = Plain.NULL;
        for (String text : texts) {
            Problems problems = new Problems();
            Node node = JsonText.read(text, problems);
            if (node == null) {
                throw new Undecodable(
                        "the schema is not JSON: " + problems.inOrder().getFirst());
            }
            try {
                type = schema.type(node, "");
            } catch (IllegalStateException | NumberFormatException e) {
                throw new Undecodable("the schema is not one of Avro: " + e.getMessage());
            }
        }
        return type;
    }

    private AvroType type(Node node, String namespace) throws Undecodable {
        return switch (node) {
            case Node.Scalar name -> named(name.text(), namespace);
            case Node.Sequence union -> {
                List<AvroType> branches = new ArrayList<>();
                for (Node branch : union.items()) {
                    branches.add(type(branch, namespace));
                }
                yield new AvroType.Union(branches);
            }
            case Node.Mapping schema -> type(schema, namespace);
        };
    }

    private AvroType type(Node.Mapping schema, String namespace) throws Undecodable {
        Node kind = schema.get("type");
        if (!(kind instanceof Node.Scalar word)) {
            return type(kind, namespace);
        }
        return switch (word.text()) {
            case "record", "error" -> row(schema, namespace);
            case "enum" ->
                add(
                        schema,
                        namespace,
                        new AvroType.Symbols(schema.get("symbols").texts()));
            case "fixed" -> {
                int size = Integer.parseInt(schema.get("size").text());
                yield add(schema, namespace, logical(schema, new AvroType.Fixed(size)));
            }
            case "array" -> new AvroType.Items(type(schema.get("items"), namespace));
            case "map" -> new AvroType.Entries(type(schema.get("values"), namespace));
            case String name -> logical(schema, named(name, namespace));
        };
    }

    private AvroType row(Node.Mapping schema, String namespace) throws Undecodable {
        List<AvroType.Field> fields = new ArrayList<>();
        AvroType row = add(schema, namespace, new AvroType.Row(fields));
        String fullName = fullName(schema, namespace);
        String inside = fullName.substring(0, Math.max(0, fullName.lastIndexOf('.')));
        for (Node field : schema.get("fields").items()) {
            fields.add(new AvroType.Field(field.get("name").text(), type(field.get("type"), inside)));
        }
        return row;
    }

    private AvroType add(Node.Mapping schema, String namespace, AvroType type) {
        named.put(fullName(schema, namespace), type);
        return type;
    }

    private static String fullName(Node.Mapping schema, String namespace) {
        String name = schema.get("name").text();
        Node own = schema.find("namespace");
        return fullName(name, own == null ? namespace : own.text());
    }

    private static String fullName(String name, String namespace) {
        return name.indexOf('.') >= 0 || namespace.isEmpty() ? name : namespace + "." + name;
    }

    private AvroType named(String name, String namespace) throws Undecodable {
        for (Plain plain : Plain.values()) {
            if (plain.name().toLowerCase(Locale.ROOT).equals(name)) {
                return plain;
            }
        }
        return Stream.of(fullName(name, namespace), name)
                .filter(named::containsKey)
                .<AvroType>map(named::get)
                .findFirst()
                .orElseThrow(() -> new Undecodable("the schema names the type " + name + ", which is not known"));
    }

    /// What a schema says that its values mean; as the specification of Avro has it, the values themselves where
    /// that is not known or cannot be.
    private static AvroType logical(Node.Mapping schema, AvroType base) throws Undecodable {
        if (!(schema.find("logicalType") instanceof Node.Scalar named)) {
            return base;
        }
        String word = named.text();
        if (word.equals("decimal") && (base == Plain.BYTES || base instanceof AvroType.Fixed)) {
            return decimal(schema, base);
        }
        if (word.equals("uuid") && base.equals(new AvroType.Fixed(UUID_BYTES))) {
            return new AvroType.Uuid();
        }
        if (word.equals("date") && base == Plain.INT) {
            return new AvroType.Logical(Plain.INT, Meaning.DATE, 0);
        }
        int dash = word.lastIndexOf('-');
        Integer digits = DIGITS.get(word.substring(dash + 1));
        Meaning meaning = digits == null ? null : meaning(word.substring(0, Math.max(dash, 0)), digits);
        boolean isShort = meaning == Meaning.TIME && digits != null && digits == 3;
        return meaning != null && digits != null && base == (isShort ? Plain.INT : Plain.LONG)
                ? new AvroType.Logical(isShort ? Plain.INT : Plain.LONG, meaning, digits)
                : base;
    }

    private static @Nullable Meaning meaning(String word, int digits) {
        return switch (word) {
            case "time" -> digits < 9 ? Meaning.TIME : null;
            case "timestamp" -> Meaning.TIMESTAMP;
            case "local-timestamp" -> Meaning.LOCAL_TIMESTAMP;
            default -> null;
        };
    }

    private static AvroType decimal(Node.Mapping schema, AvroType base) throws Undecodable {
        Node precision = schema.find("precision");
        Node scale = schema.find("scale");
        long digits = precision == null ? 0 : Long.parseLong(precision.text());
        long behind = scale == null ? 0 : Long.parseLong(scale.text());
        if (digits <= 0 || behind < 0 || behind > digits) {
            return base;
        }
        if (digits > PRECISION_MAX) {
            throw new Undecodable("the schema has a decimal of more than " + PRECISION_MAX + " digits");
        }
        return new AvroType.Decimal(base, (int) behind);
    }
}
