package dev.onefold.core.pipeline;

/// `decimal(precision, scale)`: digits in all, 1 to 38, and digits behind the point, 0 to precision.
public record DecimalType(int precision, int scale) {
    public DecimalType {
        if (precision < 1 || precision > Limits.SUM_DIGITS_MAX || scale < 0 || scale > precision) {
            throw new IllegalArgumentException("decimal(" + precision + "," + scale
                    + ") is not possible: precision is 1 to 38, scale is 0 to precision");
        }
    }

    /// Digits that one value may have, behind the point included: sums of such values cannot leave 38 digits.
    public int valueDigitsMax() {
        return Math.min(precision, Limits.VALUE_DIGITS_MAX);
    }

    @Override
    public String toString() {
        return "decimal(" + precision + "," + scale + ")";
    }
}
