package dev.onefold.fakes.aws.item;

import static dev.onefold.fakes.aws.item.Refusal.invalid;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Attribute values in canonical form: a number has one spelling, a set one order, so that equal means equal.
public final class Values {
    public static final int ITEM_BYTES_MAX = 400 * 1024;

    private static final int DEPTH_MAX = 32;
    private static final int CONTAINER_BYTES = 3;

    private Values() {}

    /// An item in canonical form.
    public static Map<String, AttributeValue> canonical(Map<String, AttributeValue> item) {
        return canonical(item, 0);
    }

    /// A value in canonical form.
    public static AttributeValue canonical(AttributeValue value) {
        return canonical(value, 0);
    }

    private static Map<String, AttributeValue> canonical(Map<String, AttributeValue> item, int depth) {
        if (depth == 0 && item.containsKey("")) {
            throw invalid("One or more parameter values were invalid: Supplied attribute name is empty");
        }
        Map<String, AttributeValue> canonical = new TreeMap<>();
        item.forEach((name, value) -> canonical.put(name, canonical(value, depth)));
        return Collections.unmodifiableMap(canonical);
    }

    private static AttributeValue canonical(AttributeValue value, int depth) {
        if (depth >= DEPTH_MAX) {
            throw invalid("Nesting Levels have exceeded supported limits");
        }
        return switch (value.type()) {
            case S, B, BOOL -> value;
            case NUL -> {
                if (!Boolean.TRUE.equals(value.nul())) {
                    throw invalid("One or more parameter values were invalid: Null attribute value types must have"
                            + " the value of true");
                }
                yield value;
            }
            case N -> Numbers.value(Numbers.parse(value.n()));
            case SS -> AttributeValue.fromSs(set(value.ss(), Comparator.comparing(Values::utf8, Values::compare)));
            case NS ->
                AttributeValue.fromNs(
                        set(value.ns().stream().map(Numbers::parse).toList(), Comparator.<BigDecimal>naturalOrder())
                                .stream()
                                .map(BigDecimal::toPlainString)
                                .toList());
            case BS -> AttributeValue.fromBs(set(value.bs(), Comparator.comparing(Values::bytes, Values::compare)));
            case L ->
                AttributeValue.fromL(value.l().stream()
                        .map(element -> canonical(element, depth + 1))
                        .toList());
            case M -> AttributeValue.fromM(canonical(value.m(), depth + 1));
            case UNKNOWN_TO_SDK_VERSION ->
                throw invalid("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
        };
    }

    private static <T> List<T> set(List<T> elements, Comparator<T> comparator) {
        List<T> sorted = new ArrayList<>(elements);
        sorted.sort(comparator);
        for (int i = 1; i < sorted.size(); i++) {
            if (comparator.compare(sorted.get(i - 1), sorted.get(i)) == 0) {
                throw invalid("One or more parameter values were invalid: Input collection contains duplicates.");
            }
        }
        if (sorted.isEmpty()) {
            throw invalid("One or more parameter values were invalid: An set may not be empty");
        }
        return sorted;
    }

    /// The order of two values, if they are texts, numbers or bytes of one type.
    public static OptionalInt order(AttributeValue a, AttributeValue b) {
        if (a.type() != b.type()) {
            return OptionalInt.empty();
        }
        return switch (a.type()) {
            case S -> OptionalInt.of(compare(utf8(a.s()), utf8(b.s())));
            case N -> OptionalInt.of(new BigDecimal(a.n()).compareTo(new BigDecimal(b.n())));
            case B -> OptionalInt.of(compare(bytes(a.b()), bytes(b.b())));
            case SS, NS, BS, L, M, BOOL, NUL, UNKNOWN_TO_SDK_VERSION -> OptionalInt.empty();
        };
    }

    /// The elements of a set, each as a value, or nothing if it is none.
    public static @Nullable List<AttributeValue> elements(AttributeValue value) {
        return switch (value.type()) {
            case SS -> value.ss().stream().map(AttributeValue::fromS).toList();
            case NS -> value.ns().stream().map(AttributeValue::fromN).toList();
            case BS -> value.bs().stream().map(AttributeValue::fromB).toList();
            case S, N, B, L, M, BOOL, NUL, UNKNOWN_TO_SDK_VERSION -> null;
        };
    }

    /// A set of the type of `like`, which is a set.
    public static AttributeValue setOf(AttributeValue like, List<AttributeValue> elements) {
        AttributeValue set = switch (like.type()) {
            case SS ->
                AttributeValue.fromSs(elements.stream().map(AttributeValue::s).toList());
            case NS ->
                AttributeValue.fromNs(elements.stream().map(AttributeValue::n).toList());
            case BS ->
                AttributeValue.fromBs(elements.stream().map(AttributeValue::b).toList());
            case S, N, B, L, M, BOOL, NUL, UNKNOWN_TO_SDK_VERSION ->
                throw new IllegalArgumentException("Not a set: " + like.type());
        };
        return canonical(set);
    }

    /// What an item counts against every limit.
    public static int sizeBytes(Map<String, AttributeValue> item) {
        int bytes = 0;
        for (Map.Entry<String, AttributeValue> attribute : item.entrySet()) {
            bytes += utf8(attribute.getKey()).length + sizeBytes(attribute.getValue());
        }
        return bytes;
    }

    private static int sizeBytes(AttributeValue value) {
        return switch (value.type()) {
            case S -> utf8(value.s()).length;
            case B -> bytes(value.b()).length;
            case N -> numberBytes(value.n());
            case BOOL, NUL -> 1;
            case SS -> value.ss().stream().mapToInt(text -> utf8(text).length).sum();
            case NS -> value.ns().stream().mapToInt(Values::numberBytes).sum();
            case BS -> value.bs().stream().mapToInt(blob -> bytes(blob).length).sum();
            case L ->
                CONTAINER_BYTES
                        + value.l().stream()
                                .mapToInt(element -> 1 + sizeBytes(element))
                                .sum();
            case M -> CONTAINER_BYTES + value.m().size() + sizeBytes(value.m());
            case UNKNOWN_TO_SDK_VERSION -> throw new IllegalArgumentException("An empty value has no size.");
        };
    }

    private static int numberBytes(String text) {
        BigDecimal number = new BigDecimal(text).stripTrailingZeros();
        int digits = number.precision() + (number.scale() % 2 != 0 ? 1 : 0);
        return 1 + (digits + 1) / 2 + (number.signum() < 0 ? 1 : 0);
    }

    /// The bytes of a text, by which texts are ordered and measured.
    public static byte[] utf8(String text) {
        return text.getBytes(UTF_8);
    }

    static byte[] bytes(SdkBytes blob) {
        return blob.asByteArrayUnsafe();
    }

    static int compare(byte[] a, byte[] b) {
        return Arrays.compareUnsigned(a, b);
    }
}
