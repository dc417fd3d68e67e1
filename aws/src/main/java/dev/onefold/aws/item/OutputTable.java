package dev.onefold.aws.item;

import dev.onefold.core.event.Tuple;
import dev.onefold.core.json.Json;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Processing.Table;
import dev.onefold.core.pipeline.Type;
import dev.onefold.core.process.KeyDifference;
import dev.onefold.core.shape.Value;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// A table of the user's function as a table of DynamoDB: one item for each row, with its components as plain
/// attributes, which any program reads.
///
/// item = each component: numbers N, times, dates, durations and enums as text S, booleans BOOL, lists L,
/// records
/// M; an absent one is left out. `onefold` the row as the function wrote it. `onefold_owner` in a table that
///            several keys write: the bytes of the key that owns the row
///
/// The partition key is the component that the pipeline's key has, or the first one if the table is shared; the
/// sort key is the other one. A key has no empty text in DynamoDB, so a text of a key that consists of NUL
/// characters, or of nothing, has one more of them there.
///
/// @param name of the table in the pipeline
/// @param key components of the key, the one of the partition first
/// @param places where these stand in the key as the pipeline has it
/// @param ownerParts how many parts the key of a row's owner has, if several keys write the table; 0: one key
///     writes a
///     row, and the row's key says which
public record OutputTable(String name, List<Key> key, List<Integer> places, int ownerParts) {
    /// The attribute that holds a row as the function wrote it.
    public static final String ROW = "onefold";

    /// The attribute that names the owner of a row.
    public static final String OWNER = "onefold_owner";

    /// More than a row's attributes may have; then the row alone is stored.
    private static final int ATTRIBUTES_MAX = 300_000;

    /// Levels of lists and records; DynamoDB allows 32.
    private static final int DEPTH_MAX = 30;

    public OutputTable {
        key = List.copyOf(key);
        places = List.copyOf(places);
    }

    /// A part of the key.
    ///
    /// @param isNumber whether its attribute is a number, not a text
    public record Key(String name, boolean isNumber) {}

    /// The tables of a pipeline whose function was found.
    ///
    /// @throws IllegalArgumentException if a table cannot be one of DynamoDB
    public static List<OutputTable> of(Pipeline pipeline, Processing processing) {
        List<OutputTable> tables = new ArrayList<>();
        for (Table table : processing.tables()) {
            Processing.Code code = processing.code();
            Type.Fields row = code == null ? null : code.tables().get(table.name());
            if (row == null) {
                throw refusal(pipeline, table, "the types of its rows are not known. Name its record in tables()");
            }
            for (String ours : table.isShared(pipeline.input()) ? List.of(ROW, OWNER) : List.of(ROW)) {
                if (row.named(ours).isPresent()) {
                    throw refusal(
                            pipeline, table, "its rows have a component '" + ours + "', which is an attribute of ours");
                }
            }
            tables.add(of(pipeline, table, row));
        }
        return tables;
    }

    private static IllegalArgumentException refusal(Pipeline pipeline, Table table, String why) {
        return new IllegalArgumentException(
                "Pipeline " + pipeline.name() + " cannot be on AWS: table " + table.name() + ": " + why + ".");
    }

    private static OutputTable of(Pipeline pipeline, Table table, Type.Fields row) {
        List<String> own = pipeline.input().identity() instanceof Identity.Versioned versioned
                ? versioned.key().stream().map(FieldPath::toString).toList()
                : List.of();
        boolean isShared = table.isShared(pipeline.input());
        List<Key> key = new ArrayList<>();
        List<Integer> places = new ArrayList<>();
        for (int place = 0; place < table.key().size(); place++) {
            String name = table.key().get(place);
            Type type = row.named(name).orElseThrow().type();
            if (type == Type.Scalar.BOOLEAN) {
                throw refusal(pipeline, table, "its key has the boolean " + name + ", which no key of DynamoDB can be");
            }
            boolean isNumber = type == Type.Scalar.INT || type == Type.Scalar.LONG || type == Type.Scalar.DECIMAL;
            int at = !isShared
                            && own.contains(name)
                            && !places.isEmpty()
                            && !own.contains(table.key().getFirst())
                    ? 0
                    : key.size();
            key.add(at, new Key(name, isNumber));
            places.add(at, place);
        }
        return new OutputTable(table.name(), key, places, isShared ? own.size() : 0);
    }

    /// Whether several keys write the table.
    public boolean isShared() {
        return ownerParts > 0;
    }

    /// The bytes of the key that owns the row of an item of a shared table.
    public static byte[] owner(Map<String, AttributeValue> item) {
        return Items.bytes(item, OWNER);
    }

    /// The parts of the same key.
    public List<String> ownerOf(Map<String, AttributeValue> item) {
        byte[] owner = owner(item);
        return ownerParts == 1 ? List.of(new String(owner, StandardCharsets.UTF_8)) : new Tuple(owner).parts();
    }

    /// The key of a row's item.
    ///
    /// @param row the texts of its key, in the pipeline's order
    public Map<String, AttributeValue> keyOf(Tuple row) {
        List<String> parts = row.parts();
        Map<String, AttributeValue> item = new HashMap<>();
        for (int i = 0; i < key.size(); i++) {
            item.put(key.get(i).name, value(i, parts.get(places.get(i))));
        }
        return item;
    }

    /// The attribute of a part of the key.
    public AttributeValue value(int part, String text) {
        if (key.get(part).isNumber) {
            try {
                return number(new BigDecimal(text));
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException(
                        key.get(part).name + " of table " + name + " is a number, and '" + text + "' is none", e);
            }
        }
        return AttributeValue.fromS(text.chars().allMatch(c -> c == 0) ? text + '\0' : text);
    }

    /// The key of the row of an item.
    public Tuple rowKey(Map<String, AttributeValue> item) {
        String[] parts = new String[key.size()];
        for (int i = 0; i < parts.length; i++) {
            AttributeValue value = Items.require(item, key.get(i).name);
            parts[places.get(i)] = key.get(i).isNumber
                    ? new BigDecimal(value.n()).toPlainString()
                    : value.s().chars().allMatch(c -> c == 0) ? value.s().substring(1) : value.s();
        }
        return Tuple.of(List.of(parts));
    }

    /// The item of a row.
    ///
    /// @param owner the bytes of the key that writes it
    /// @param plain whether its components are attributes, if they have not too many bytes for that
    public Map<String, AttributeValue> item(byte[] owner, Tuple row, byte[] content, boolean plain) {
        Map<String, AttributeValue> item = new HashMap<>();
        if (plain) {
            Value.Fields fields = Value.read(content);
            Map<String, AttributeValue> attributes = map(fields);
            if (depth(fields) <= DEPTH_MAX && bytes(attributes) <= ATTRIBUTES_MAX) {
                item.putAll(attributes);
            }
        }
        item.put(ROW, Items.bytes(content));
        if (isShared()) {
            item.put(OWNER, Items.bytes(owner));
        }
        item.putAll(keyOf(row));
        return item;
    }

    /// The row that an item holds, read.
    ///
    /// @throws IllegalStateException naming the row, if somebody has made it unreadable
    public Value.Fields read(Map<String, AttributeValue> item) {
        try {
            return Value.read(content(item));
        } catch (IllegalStateException e) {
            throw new IllegalStateException(
                    "Row " + String.join(", ", rowKey(item).parts()) + " of table " + name
                            + " cannot be read, because its attribute '" + ROW + "' was not written by Onefold: "
                            + e.getMessage() + ". Restore the attribute from a backup of the table.",
                    e);
        }
    }

    /// The row that an item holds, as the function wrote it.
    public static byte[] content(Map<String, AttributeValue> item) {
        return Items.bytes(item, ROW);
    }

    /// The attributes of an item that were changed since its row was written; empty if there are none.
    ///
    /// @param owner the key whose row it is
    public Optional<KeyDifference> edited(List<String> owner, Map<String, AttributeValue> item) {
        Tuple row = rowKey(item);
        read(item);
        int ours = isShared() ? 2 : 1;
        byte[] writer = isShared() ? owner(item) : new byte[0];
        Map<String, AttributeValue> written = item(writer, row, content(item), item.size() > key.size() + ours);
        Map<String, @Nullable Object> now = new TreeMap<>();
        Map<String, @Nullable Object> then = new TreeMap<>();
        Set<String> names = new TreeSet<>(written.keySet());
        names.addAll(item.keySet());
        for (String name : names) {
            Object one = plain(item.get(name));
            Object other = plain(written.get(name));
            if (!Json.of(one).equals(Json.of(other))) {
                now.put(name, one);
                then.put(name, other);
            }
        }
        return now.isEmpty()
                ? Optional.empty()
                : Optional.of(new KeyDifference(
                        owner,
                        name + " " + String.join(", ", row.parts()) + ", attributes",
                        Json.of(now),
                        Json.of(then)));
    }

    private static @Nullable Object plain(@Nullable AttributeValue value) {
        if (value == null) {
            return null;
        }
        return switch (value.type()) {
            case S -> value.s();
            case N -> new BigDecimal(value.n()).stripTrailingZeros();
            case BOOL -> value.bool();
            case L -> value.l().stream().map(OutputTable::plain).toList();
            case M -> {
                Map<String, @Nullable Object> fields = new TreeMap<>();
                value.m().forEach((name, field) -> fields.put(name, plain(field)));
                yield fields;
            }
            default -> value.toString();
        };
    }

    private static Map<String, AttributeValue> map(Value.Fields fields) {
        Map<String, AttributeValue> map = new HashMap<>();
        fields.components().forEach((name, value) -> {
            if (!(value instanceof Value.Absent)) {
                map.put(name, attribute(value));
            }
        });
        return map;
    }

    private static AttributeValue attribute(Value value) {
        return switch (value) {
            case Value.Absent _ -> AttributeValue.fromNul(true);
            case Value.Flag(boolean flag) -> AttributeValue.fromBool(flag);
            case Value.Whole whole -> Items.number(whole.number());
            case Value.Decimal(BigDecimal number) -> number(number);
            case Value.Items(List<Value> items) ->
                AttributeValue.fromL(items.stream().map(OutputTable::attribute).toList());
            case Value.Fields fields -> AttributeValue.fromM(map(fields));
            default -> AttributeValue.fromS(String.valueOf(value.plain()));
        };
    }

    private static AttributeValue number(BigDecimal number) {
        return AttributeValue.fromN(number.stripTrailingZeros().toString());
    }

    private static int depth(Value value) {
        return switch (value) {
            case Value.Items(List<Value> items) ->
                1 + items.stream().mapToInt(OutputTable::depth).max().orElse(0);
            case Value.Fields fields ->
                1
                        + fields.components().values().stream()
                                .mapToInt(OutputTable::depth)
                                .max()
                                .orElse(0);
            default -> 0;
        };
    }

    /// About how many bytes an item has, and never fewer.
    public static long bytes(Map<String, AttributeValue> item) {
        long bytes = 0;
        for (Map.Entry<String, AttributeValue> entry : item.entrySet()) {
            bytes += 3L * entry.getKey().length() + bytes(entry.getValue());
        }
        return bytes;
    }

    private static long bytes(AttributeValue value) {
        return switch (value.type()) {
            case S -> 4 + (value.s().length() < 100 ? 3L * value.s().length() : utf8(value.s()));
            case N -> 24;
            case B -> 4 + value.b().asByteArrayUnsafe().length;
            case SS ->
                value.ss().stream().mapToLong(text -> 4 + 3L * text.length()).sum();
            case L -> 4 + value.l().stream().mapToLong(each -> 1 + bytes(each)).sum();
            case M -> 4 + bytes(value.m());
            default -> 2;
        };
    }

    private static long utf8(String text) {
        return text.codePoints()
                .mapToLong(c -> c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4)
                .sum();
    }
}
