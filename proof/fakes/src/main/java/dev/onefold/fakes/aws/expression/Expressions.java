package dev.onefold.fakes.aws.expression;

import static dev.onefold.fakes.aws.item.Refusal.invalid;

import dev.onefold.fakes.aws.item.Schema;
import org.jspecify.annotations.Nullable;

/// The expressions of one request: each text is parsed once, and all of them share the placeholders.
public final class Expressions {
    private final Placeholders placeholders;

    public Expressions(Placeholders placeholders) {
        this.placeholders = placeholders;
    }

    /// A condition, or null where the request has none.
    public @Nullable Condition condition(@Nullable String text) {
        return text == null ? null : new Parser("ConditionExpression", text, placeholders).condition();
    }

    /// A filter of what a query or scan finds. A query's must not speak of the key.
    public @Nullable Condition filter(@Nullable String text, @Nullable Schema queried) {
        if (text == null) {
            return null;
        }
        Parser parser = new Parser("FilterExpression", text, placeholders);
        Condition filter = parser.condition();
        if (queried != null && parser.attributes.stream().anyMatch(queried.names()::contains)) {
            throw invalid(
                    "Filter Expression can only contain non-primary key attributes: %s".formatted(parser.attributes));
        }
        return filter;
    }

    /// What is asked for, or null for all.
    public @Nullable Projection projection(@Nullable String text) {
        return text == null ? null : Projection.parse(new Parser("ProjectionExpression", text, placeholders));
    }

    /// An update, or null where the request has none.
    public @Nullable Update update(@Nullable String text) {
        return text == null ? null : UpdateParser.parse(new Parser("UpdateExpression", text, placeholders));
    }

    /// Which items of which partition are asked for.
    public KeyCondition key(@Nullable String text, Schema schema) {
        if (text == null) {
            throw invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the"
                    + " request.");
        }
        return KeyCondition.of(new Parser("KeyConditionExpression", text, placeholders).condition(), schema);
    }

    /// To be called when all were parsed.
    public void requireAllUsed() {
        placeholders.requireAllUsed();
    }
}
