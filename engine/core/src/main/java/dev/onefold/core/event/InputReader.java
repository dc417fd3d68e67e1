package dev.onefold.core.event;

import dev.onefold.core.pipeline.DecimalType;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.TimeType;
import java.math.BigDecimal;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Reads the contributions of a record to the inputs of the measures, in their order. Not thread-safe.
final class InputReader {
    private static final int NANO_DIGITS = 9;

    private final Measure.Input[] inputs;
    private final int[][] slots;
    private final @Nullable CompiledCondition[] conditions;
    private final Fields fields;
    private final Scalars scalars;
    private final Decimals decimals = new Decimals();
    private final Times times;

    InputReader(Measure.Input[] inputs, Fields fields, Scalars scalars, Times times) {
        this.times = times;
        this.inputs = inputs;
        this.fields = fields;
        this.scalars = scalars;
        slots = Arrays.stream(inputs)
                .map(input -> input.fields().stream().mapToInt(fields::slot).toArray())
                .toArray(int[][]::new);
        conditions = new CompiledCondition[inputs.length];
        for (int i = 0; i < inputs.length; i++) {
            if (inputs[i].where() != null) {
                conditions[i] = CompiledCondition.of(inputs[i].where(), fields, scalars.spellings);
            }
        }
    }

    /// Sets the inputs of the event from the record in the fields; `null`, or the problem.
    @Nullable
    Malformed append(Event event) throws CompiledCondition.Unanswerable {
        for (int input = 0; input < inputs.length; input++) {
            CompiledCondition where = conditions[input];
            event.present[input] = where == null || where.holds(fields, scalars);
            Malformed malformed = !event.present[input]
                    ? null
                    : switch (inputs[input]) {
                        case Measure.Input.Decimal decimal -> decimal(decimal, input, event);
                        case Measure.Input.Text text -> text(text, input, event);
                    };
            if (malformed != null) {
                return malformed;
            }
        }
        return null;
    }

    /// The first of the fields of an input that is missing, by its place among them; -1 if all are there.
    private int missing(int input) {
        for (int i = 0; i < slots[input].length; i++) {
            if (fields.isMissing(slots[input][i])) {
                return i;
            }
        }
        return -1;
    }

    private @Nullable Malformed decimal(Measure.Input.Decimal input, int index, Event event) {
        int missing = missing(index);
        Malformed malformed;
        if (missing < 0) {
            malformed = switch (input.source()) {
                case Measure.Source.Time time -> time(slots[index][0], time.type(), input.type());
                case Measure.Source.Product _ ->
                    slots[index].length == 1 ? number(slots[index][0], input.type()) : product(input, slots[index]);
            };
        } else {
            BigDecimal instead = input.missing().value();
            if (instead == null) {
                event.present[index] = false;
                return input.missing().refused()
                        ? Malformed.field(input.fields().get(missing), "is missing; it is summed up")
                        : null;
            }
            malformed = fit(instead, input.type(), input.value());
        }
        event.hi[index] = decimals.hi;
        event.lo[index] = decimals.lo;
        return malformed;
    }

    private @Nullable Malformed number(int slot, DecimalType type) {
        byte kind = fields.kind[slot];
        String wrong;
        if (kind == Fields.NUMBER || kind == Fields.TEXT) {
            wrong = decimals.read(fields.bytes, fields.from[slot], fields.to[slot], type);
        } else if (scalars.isEscaped(fields, slot)) {
            wrong = decimals.read(scalars.bytes, 0, scalars.textLength, type);
            wrong = wrong == null ? null : scalars.asSent(wrong, fields, slot);
        } else {
            wrong = "is not a number";
        }
        if (wrong != null && fields.isCsv && kind == Fields.TEXT) {
            wrong += LocalNumbers.advice(fields.numbers, fields.bytes, fields.from[slot], fields.to[slot]);
        }
        return wrong == null ? null : Malformed.number(fields, slot, wrong);
    }

    private @Nullable Malformed product(Measure.Input.Decimal input, int[] factors) {
        BigDecimal product = BigDecimal.ONE;
        for (int slot : factors) {
            BigDecimal factor = scalars.number(fields, slot);
            if (factor == null || !isFactor(factor)) {
                return Malformed.number(
                        fields,
                        slot,
                        "is " + Malformed.excerpt(fields.bytes, fields.from[slot], fields.to[slot])
                                + ", which is not a number of at most " + Limits.FACTOR_DIGITS_MAX
                                + " digits before the point and as many behind it; it is a factor");
            }
            product = product.multiply(factor);
        }
        return fit(product, input.type(), input.value());
    }

    /// Whether it has few enough digits for a factor.
    static boolean isFactor(BigDecimal number) {
        BigDecimal shortest = number.signum() == 0 ? BigDecimal.ZERO : number.stripTrailingZeros();
        return shortest.scale() <= Limits.FACTOR_DIGITS_MAX
                && (long) shortest.precision() - shortest.scale() <= Limits.FACTOR_DIGITS_MAX;
    }

    private @Nullable Malformed time(int slot, TimeType timeType, DecimalType type) {
        Object path = fields.paths.get(slot);
        String wrong = times.read(fields, slot, scalars, timeType);
        wrong = wrong == null ? times.unlikely(timeType) : wrong;
        return wrong != null
                ? Malformed.field(path, wrong)
                : fit(BigDecimal.valueOf(times.seconds).add(BigDecimal.valueOf(times.nanos, NANO_DIGITS)), type, path);
    }

    private @Nullable Malformed fit(BigDecimal value, DecimalType type, Object of) {
        String wrong = decimals.fit(value, type);
        return wrong == null ? null : Malformed.field(of, wrong);
    }

    private @Nullable Malformed text(Measure.Input.Text input, int index, Event event) {
        int slot = slots[index][0];
        String instead = input.missing().value();
        int length;
        if (!fields.isMissing(slot)) {
            length = scalars.normalText(fields, slot);
            if (length < 0) {
                return Malformed.field(input.field(), "is not text or a number; its texts are counted");
            }
        } else if (instead != null) {
            length = scalars.put(instead, 0);
        } else {
            event.present[index] = false;
            return input.missing().refused()
                    ? Malformed.field(input.field(), "is missing; its texts are counted")
                    : null;
        }
        event.textFrom[index] = event.length;
        event.append(scalars.bytes, 0, length);
        event.textTo[index] = event.length;
        return null;
    }
}
