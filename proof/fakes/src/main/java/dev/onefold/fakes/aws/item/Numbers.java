package dev.onefold.fakes.aws.item;

import static dev.onefold.fakes.aws.item.Refusal.invalid;

import java.math.BigDecimal;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Numbers as DynamoDB holds them: up to 38 significant digits, from 1E-130 to 9.99…E125.
public final class Numbers {
    private static final int DIGITS_MAX = 38;
    private static final int EXPONENT_MAX = 125;
    private static final int EXPONENT_MIN = -130;
    private static final int TEXT_LENGTH_MAX = 1_000;

    private Numbers() {}

    /// The number that a text says, without trailing zeros.
    public static BigDecimal parse(String text) {
        BigDecimal number;
        try {
            if (text.length() > TEXT_LENGTH_MAX || !text.equals(text.strip())) {
                throw new NumberFormatException();
            }
            number = new BigDecimal(text);
        } catch (NumberFormatException _) {
            throw invalid("The parameter cannot be converted to a numeric value: %s".formatted(text));
        }
        return checked(number);
    }

    /// The value that holds a number.
    public static AttributeValue value(BigDecimal number) {
        return AttributeValue.fromN(checked(number).toPlainString());
    }

    private static BigDecimal checked(BigDecimal number) {
        BigDecimal stripped = number.signum() == 0 ? BigDecimal.ZERO : number.stripTrailingZeros();
        int exponent = stripped.precision() - stripped.scale() - 1;
        if (exponent > EXPONENT_MAX) {
            throw invalid("Number overflow. Attempting to store a number with magnitude larger than supported range");
        }
        if (exponent < EXPONENT_MIN) {
            throw invalid("Number underflow. Attempting to store a number with magnitude smaller than supported range");
        }
        if (stripped.precision() > DIGITS_MAX) {
            throw invalid("Attempting to store more than 38 significant digits in a Number");
        }
        return stripped;
    }
}
