package dev.onefold.fakes.aws.table;

import static dev.onefold.fakes.aws.item.Refusal.filled;
import static dev.onefold.fakes.aws.item.Refusal.invalid;

import dev.onefold.fakes.aws.expression.Condition;
import dev.onefold.fakes.aws.expression.Expressions;
import dev.onefold.fakes.aws.expression.Update;
import dev.onefold.fakes.aws.item.Key;
import dev.onefold.fakes.aws.item.Values;
import java.util.Collections;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;

/// What a request wants of one item. Everything about it that does not depend on the item was checked.
///
/// @param attributes the whole item, or its key alone
/// @param onFailure whether a failed condition shows the item
record ItemWrite(
        Verb verb,
        Table table,
        Key key,
        Map<String, AttributeValue> attributes,
        @Nullable Condition condition,
        @Nullable Update update,
        @Nullable ReturnValuesOnConditionCheckFailure onFailure) {
    /// What is wanted.
    enum Verb {
        PUT,
        UPDATE,
        DELETE,
        CHECK
    }

    static ItemWrite put(Table table, Map<String, AttributeValue> item) {
        Map<String, AttributeValue> canonical = Values.canonical(item);
        requireSize(canonical, "Item size has exceeded the maximum allowed size");
        return of(Verb.PUT, table, table.schema().keyOf(canonical), canonical);
    }

    static ItemWrite ofKey(Verb verb, Table table, Map<String, AttributeValue> key) {
        Map<String, AttributeValue> canonical = Values.canonical(key);
        return of(verb, table, table.schema().keyIn(canonical), canonical);
    }

    private static ItemWrite of(Verb verb, Table table, Key key, Map<String, AttributeValue> attributes) {
        return new ItemWrite(verb, table, key, attributes, null, null, null);
    }

    ItemWrite onCondition(
            Expressions expressions, @Nullable String text, @Nullable ReturnValuesOnConditionCheckFailure wanted) {
        return new ItemWrite(verb, table, key, attributes, expressions.condition(text), update, wanted);
    }

    ItemWrite updating(Expressions expressions, @Nullable String text) {
        Update parsed = expressions.update(text);
        if (parsed != null) {
            for (String name : table.schema().names()) {
                if (parsed.attributes().contains(name)) {
                    throw invalid(
                            ("One or more parameter values were invalid: Cannot update attribute %s. This attribute is"
                                            + " part of the key")
                                    .formatted(name));
                }
            }
        }
        return new ItemWrite(verb, table, key, attributes, condition, parsed, onFailure);
    }

    private static void requireSize(Map<String, AttributeValue> item, String message) {
        if (Values.sizeBytes(item) > Values.ITEM_BYTES_MAX) {
            throw invalid(message);
        }
    }

    @Nullable
    Map<String, AttributeValue> before() {
        return table.read(key);
    }

    /// The item as it is afterwards, or null if there is none.
    ///
    /// @throws ConditionalCheckFailedException if the condition does not hold
    @Nullable
    Map<String, AttributeValue> after() {
        Map<String, AttributeValue> before = before();
        if (condition != null && !condition.holds(before == null ? Map.of() : before)) {
            boolean shows = onFailure == ReturnValuesOnConditionCheckFailure.ALL_OLD;
            throw filled(
                            ConditionalCheckFailedException.builder(),
                            "ConditionalCheckFailedException",
                            "The conditional request failed")
                    .item(shows ? before : null)
                    .build();
        }
        return switch (verb) {
            case PUT -> attributes;
            case DELETE -> null;
            case CHECK -> before;
            case UPDATE -> updated(before == null ? attributes : before);
        };
    }

    private Map<String, AttributeValue> updated(Map<String, AttributeValue> base) {
        Map<String, AttributeValue> after = update == null ? base : update.apply(base);
        requireSize(after, "Item size to update has exceeded the maximum allowed size");
        return Collections.unmodifiableMap(after);
    }

    /// What it counts: the larger of the item before and after.
    static long bytes(@Nullable Map<String, AttributeValue> before, @Nullable Map<String, AttributeValue> after) {
        return Math.max(before == null ? 0 : Values.sizeBytes(before), after == null ? 0 : Values.sizeBytes(after));
    }
}
