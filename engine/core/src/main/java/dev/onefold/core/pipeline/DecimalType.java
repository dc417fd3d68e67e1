package dev.onefold.core.pipeline;

import java.math.BigDecimal;
import java.util.Optional;

/// `decimal(precision, scale)`: digits in all, 1 to 38, and digits behind the point, 0 to precision.
public record DecimalType(int precision, int scale) {
    public DecimalType {
        if (precision < 1 || precision > Limits.SUM_DIGITS_MAX || scale < 0 || scale > precision) {
            throw new IllegalArgumentException("decimal(" + precision + "," + scale
                    + ") is not possible: precision is 1 to 38, scale is 0 to precision");
        }
    }

    /// Digits that one value may have, behind the point included: sums of such values cannot exceed 38
    /// digits.
    public int valueDigitsMax() {
        return Math.min(precision, Limits.VALUE_DIGITS_MAX);
    }

    /// A value at this type's scale; empty if it does not fit. It is never rounded.
    public Optional<BigDecimal> fit(BigDecimal value) {
        BigDecimal shortest = value.signum() == 0 ? BigDecimal.ZERO : value.stripTrailingZeros();
        long wholeDigits = (long) shortest.precision() - shortest.scale();
        boolean fits = value.signum() == 0 || shortest.scale() <= scale && wholeDigits + scale <= valueDigitsMax();
        return fits ? Optional.of(shortest.setScale(scale)) : Optional.empty();
    }

    /// Whether all values of another type fit this one.
    public boolean holds(DecimalType other) {
        return scale >= other.scale && valueDigitsMax() - scale >= other.valueDigitsMax() - other.scale;
    }

    @Override
    public String toString() {
        return "decimal(" + precision + "," + scale + ")";
    }
}
