package dev.onefold.fakes.aws.item;

import static dev.onefold.fakes.aws.item.Refusal.invalid;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.CreateTableRequest;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;

/// The key of a table: one or two attributes, each of type S, N or B.
///
/// @param sort the name of the sort key, or null where each partition holds one item
/// @param types of the one or two attributes, by name
public record Schema(String partition, @Nullable String sort, Map<String, AttributeValue.Type> types) {
    private static final int PARTITION_BYTES_MAX = 2_048;
    private static final int SORT_BYTES_MAX = 1_024;

    /// The schema that a table is created with.
    public static Schema of(CreateTableRequest request) {
        List<KeySchemaElement> keys = request.keySchema();
        if (keys.isEmpty()
                || keys.size() > 2
                || keys.getFirst().keyType() != KeyType.HASH
                || (keys.size() == 2 && keys.get(1).keyType() != KeyType.RANGE)) {
            throw invalid("Invalid KeySchema: the first element must be HASH, and a second one RANGE");
        }
        Map<String, AttributeValue.Type> types = new TreeMap<>();
        for (AttributeDefinition definition : request.attributeDefinitions()) {
            types.put(definition.attributeName(), AttributeValue.Type.valueOf(definition.attributeTypeAsString()));
        }
        List<String> names = keys.stream().map(KeySchemaElement::attributeName).toList();
        if (!types.keySet().equals(new TreeSet<>(names)) || types.size() != names.size()) {
            throw invalid("The number of attributes in key schema must match the number of attributes defined in"
                    + " attribute definitions.");
        }
        return new Schema(names.getFirst(), names.size() == 2 ? names.get(1) : null, types);
    }

    /// The names of the key's attributes.
    public List<String> names() {
        return sort == null ? List.of(partition) : List.of(partition, sort);
    }

    /// The key of an item, which may have other attributes, too.
    public Key keyOf(Map<String, AttributeValue> item) {
        List<AttributeValue> values = new ArrayList<>();
        for (String name : names()) {
            AttributeValue value = item.get(name);
            if (value == null) {
                throw invalid(
                        "One or more parameter values were invalid: Missing the key %s in the item".formatted(name));
            }
            values.add(value);
        }
        return keyOf(values);
    }

    /// The key that a request says, which must be nothing else.
    public Key keyIn(Map<String, AttributeValue> key) {
        if (!key.keySet().equals(types.keySet())) {
            throw invalid("The provided key element does not match the schema");
        }
        return keyOf(key);
    }

    /// The key's attributes of an item.
    public Map<String, AttributeValue> keyAttributes(Map<String, AttributeValue> item) {
        Map<String, AttributeValue> key = new TreeMap<>(item);
        key.keySet().retainAll(types.keySet());
        return key;
    }

    /// The place in a partition, and its limits.
    public Key keyOf(List<AttributeValue> values) {
        for (int i = 0; i < values.size(); i++) {
            check(names().get(i), values.get(i), i == 0 ? PARTITION_BYTES_MAX : SORT_BYTES_MAX);
        }
        return new Key(values.getFirst(), values.size() == 2 ? values.get(1) : null);
    }

    private void check(String name, AttributeValue value, int bytesMax) {
        if (value.type() != types.get(name)) {
            throw invalid("One or more parameter values were invalid: Type mismatch for key %s expected: %s actual: %s"
                    .formatted(name, types.get(name), value.type()));
        }
        if (value.n() != null) {
            return;
        }
        int bytes = value.s() != null ? Values.utf8(value.s()).length : Values.bytes(value.b()).length;
        if (bytes == 0) {
            throw invalid(
                    ("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain"
                                    + " an empty value. Key: %s")
                            .formatted(name));
        }
        if (bytes > bytesMax) {
            throw invalid(
                    ("One or more parameter values were invalid: Size of key %s has exceeded the maximum size limit of"
                                    + " %d bytes")
                            .formatted(name, bytesMax));
        }
    }
}
