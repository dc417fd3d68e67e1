package dev.onefold.core.state;

import dev.onefold.core.event.Event;
import dev.onefold.core.pipeline.Measure;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// The value of an event for one input of the measures. Ordered: nothing first, numbers by value, texts by their
/// UTF-8 bytes.
public sealed interface Amount extends Comparable<Amount> {
    /// No value.
    record None() implements Amount {}

    /// A number, at the scale of its declared type.
    record Number(BigDecimal value) implements Amount {}

    /// A text.
    record Text(String value) implements Amount {}

    /// The amount of an event for an input.
    static Amount of(Measure.Input input, Event event, int index) {
        if (!event.present[index]) {
            return new None();
        }
        return switch (input) {
            case Measure.Input.Decimal decimal -> {
                BigDecimal number = event.number(index, decimal.type().scale());
                yield number == null ? new None() : new Number(number);
            }
            case Measure.Input.Text _ ->
                new Text(new String(
                        event.data,
                        event.textFrom[index],
                        event.textTo[index] - event.textFrom[index],
                        StandardCharsets.UTF_8));
        };
    }

    @Override
    default int compareTo(Amount other) {
        return switch (this) {
            case None _ -> other instanceof None ? 0 : -1;
            case Number(var value) ->
                switch (other) {
                    case None _ -> 1;
                    case Number(var otherValue) -> value.compareTo(otherValue);
                    case Text _ -> -1; // Of one input never both; but an order has no exceptions.
                };
            case Text(var value) ->
                other instanceof Text(var otherValue)
                        ? Arrays.compareUnsigned(
                                value.getBytes(StandardCharsets.UTF_8), otherValue.getBytes(StandardCharsets.UTF_8))
                        : 1;
        };
    }
}
