package dev.onefold.local.gate;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/// How large items are, as DynamoDB reckons it, and what a transaction that writes them takes.
final class ItemSize {
    private static final int UNIT_BYTES = 1_024;

    /// A transaction writes each item twice: to prepare it, and to commit.
    private static final int UNITS_PER_KB = 2;

    private ItemSize() {}

    /// The write units of a transaction, by table. The size of an item that is updated is that of its key and the new
    /// values; the request does not show the rest of it.
    static Map<String, Long> units(JsonNode transaction) {
        Map<String, Long> units = new TreeMap<>();
        for (JsonNode item : transaction.path("TransactItems")) {
            for (JsonNode action : item) {
                long bytes = action.has("Item")
                        ? attributes(action.path("Item"))
                        : attributes(action.path("Key")) + attributes(action.path("ExpressionAttributeValues"));
                units.merge(
                        action.path("TableName").asText(),
                        UNITS_PER_KB * Math.max(1, Math.ceilDiv(bytes, UNIT_BYTES)),
                        Long::sum);
            }
        }
        return units;
    }

    /// Names and values.
    static long attributes(JsonNode attributes) {
        return attributes.properties().stream()
                .mapToLong(attribute -> text(attribute.getKey()) + value(attribute.getValue()))
                .sum();
    }

    private static long value(JsonNode typed) {
        long bytes = 0;
        for (Map.Entry<String, JsonNode> entry : typed.properties()) {
            JsonNode value = entry.getValue();
            bytes += switch (entry.getKey()) {
                case "S" -> text(value.asText());
                case "N" -> number(value.asText());
                case "B" -> binary(value.asText());
                case "M" -> 3 + value.size() + attributes(value);
                case "L" -> 3 + value.size() + list(value);
                case "SS", "NS", "BS" -> set(value);
                default -> 1; // A boolean or nothing.
            };
        }
        return bytes;
    }

    private static long list(JsonNode values) {
        long bytes = 0;
        for (JsonNode value : values) {
            bytes += value(value);
        }
        return bytes;
    }

    private static long set(JsonNode values) {
        long bytes = 0;
        for (JsonNode value : values) {
            bytes += text(value.asText());
        }
        return bytes;
    }

    private static long text(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    /// Two digits a byte, and one for the sign and the exponent.
    private static long number(String digits) {
        return Math.ceilDiv(digits.length(), 2) + 1L;
    }

    private static long binary(String base64) {
        return base64.length() * 3L / 4;
    }
}
