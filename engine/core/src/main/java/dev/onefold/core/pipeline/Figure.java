package dev.onefold.core.pipeline;

import org.jspecify.annotations.Nullable;

/// One column of the answers of a roll-up.
public sealed interface Figure {
    /// Its name in answers.
    String name();

    /// The same as editions before the third read it: see [Condition#inTexts].
    default Figure inTexts() {
        return switch (this) {
            case Stored stored -> new Stored(stored.measure.inTexts());
            case Derived derived -> new Derived(derived.name, derived.formula.inTexts(), derived.type);
        };
    }

    /// A measure as it is.
    record Stored(Measure measure) implements Figure {
        @Override
        public String name() {
            return measure.name();
        }
    }

    /// A figure that is calculated from measures when they are read. Nothing is stored for it.
    ///
    /// @param type the type whose scale answers have; `null` for the scale of the formula's result, if the
    ///     formula does not divide
    record Derived(String name, Formula formula, @Nullable DecimalType type) implements Figure {
        public Derived {
            if (type == null && formula.divides()) {
                throw new IllegalArgumentException("The formula " + name + " divides and has no type");
            }
        }
    }
}
