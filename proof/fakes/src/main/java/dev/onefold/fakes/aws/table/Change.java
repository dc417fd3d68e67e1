package dev.onefold.fakes.aws.table;

import dev.onefold.fakes.aws.item.Key;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// A write that changed an item. Of one item they are told in order.
///
/// @param number counts the changes of all tables
/// @param place by which streams part items
/// @param before null if the item is new
/// @param after null if it is gone
public record Change(
        String table,
        long number,
        Instant at,
        Key place,
        Map<String, AttributeValue> key,
        @Nullable Map<String, AttributeValue> before,
        @Nullable Map<String, AttributeValue> after) {}
