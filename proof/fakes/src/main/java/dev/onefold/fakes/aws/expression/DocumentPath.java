package dev.onefold.fakes.aws.expression;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// A way into an item: an attribute, then fields of maps and indices of lists.
///
/// @param steps the first is a field
public record DocumentPath(List<Step> steps) {
    /// One step down.
    public sealed interface Step {}

    /// Into a map.
    public record Field(String name) implements Step {}

    /// Into a list.
    public record Index(int index) implements Step {}

    /// The attribute that the way begins with.
    public String attribute() {
        return ((Field) steps.getFirst()).name();
    }

    /// Whether it goes into an attribute.
    boolean isNested() {
        return steps.size() > 1;
    }

    @Nullable
    AttributeValue in(Map<String, AttributeValue> item) {
        AttributeValue value = item.get(attribute());
        for (Step step : steps.subList(1, steps.size())) {
            value = value == null ? null : into(value, step);
        }
        return value;
    }

    static @Nullable AttributeValue into(AttributeValue value, Step step) {
        return switch (step) {
            case Field(String name) -> value.hasM() ? value.m().get(name) : null;
            case Index(int index) ->
                value.hasL() && index < value.l().size() ? value.l().get(index) : null;
        };
    }

    /// Whether one lies in the other, or one takes for a list what the other takes for a map.
    boolean clashesWith(DocumentPath other) {
        int common = Math.min(steps.size(), other.steps.size());
        for (int i = 0; i < common; i++) {
            Step mine = steps.get(i);
            Step theirs = other.steps.get(i);
            if (!mine.equals(theirs)) {
                return mine instanceof Field != theirs instanceof Field;
            }
        }
        return true;
    }
}
