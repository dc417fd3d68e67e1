package dev.onefold.core.codec;

import dev.onefold.process.Field;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/// Records of all types that can be stored, drawn at random, and their content as plain maps.
public final class Samples {
    private Samples() {}

    public enum Mode {
        WALK,
        RUN {
            @Override
            public String toString() {
                return "running";
            }
        },
        SWIM_WITH_SLEEVES
    }

    public record Nothing() {}

    public record Small(String runner, int lap, long metres, boolean done) {}

    public record Scalars(
            boolean flag,
            int whole,
            long wide,
            BigDecimal decimal,
            String text,
            Instant time,
            LocalDate date,
            Duration duration,
            Mode mode) {}

    public record Renamed(
            @Field("distance_meters") long metres,
            @Field("position.at") Instant at,
            @Field("\"a.b\".\"c \"\"d\"\"\"") int odd) {}

    public record Nested(
            Small small,
            Optional<Scalars> scalars,
            List<Small> smalls,
            Optional<List<Optional<Long>>> numbers,
            List<List<Mode>> modes,
            Nothing nothing,
            Optional<Boolean> maybe,
            List<Integer> ints) {}

    public static final List<Class<? extends Record>> ALL =
            List.of(Nothing.class, Small.class, Scalars.class, Renamed.class, Nested.class);

    public static <T extends Record> T random(Class<T> type, RandomGenerator random) {
        RecordComponent[] components = type.getRecordComponents();
        Object[] values = new Object[components.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = value(components[i].getGenericType(), random);
        }
        try {
            return type.getConstructor(
                            Stream.of(components).map(RecordComponent::getType).toArray(Class<?>[]::new))
                    .newInstance(values);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }

    private static Object value(java.lang.reflect.Type type, RandomGenerator random) {
        if (type instanceof ParameterizedType generic) {
            java.lang.reflect.Type inner = generic.getActualTypeArguments()[0];
            return generic.getRawType() == Optional.class
                    ? random.nextInt(3) == 0 ? Optional.empty() : Optional.of(value(inner, random))
                    : Stream.generate(() -> value(inner, random))
                            .limit(random.nextInt(4))
                            .toList();
        }
        Class<?> named = (Class<?>) type;
        if (named.isRecord()) {
            return random(named.asSubclass(Record.class), random);
        }
        if (named.isEnum()) {
            return named.getEnumConstants()[random.nextInt(named.getEnumConstants().length)];
        }
        return scalar(named, random);
    }

    private static Object scalar(Class<?> type, RandomGenerator random) {
        long number = random.nextLong() >> random.nextInt(64);
        return switch (type.getSimpleName()) {
            case "boolean", "Boolean" -> random.nextBoolean();
            case "int", "Integer" -> random.nextInt() >> random.nextInt(32);
            case "long", "Long" -> number;
            case "BigDecimal" -> decimal(random);
            case "String" -> text(random);
            case "Instant" -> Instant.ofEpochSecond(number % 31_556_889_864_403_199L, random.nextInt(1_000_000_000));
            case "LocalDate" -> LocalDate.ofEpochDay(number % 365_000_000_000L);
            case "Duration" -> Duration.ofSeconds(number, random.nextInt(1_000_000_000));
            default -> throw new AssertionError(type);
        };
    }

    /// Without trailing zeros, and of a scale that is not negative, as a decimal comes back.
    private static BigDecimal decimal(RandomGenerator random) {
        BigInteger unscaled = BigInteger.valueOf(random.nextLong() >> random.nextInt(64));
        BigDecimal number = new BigDecimal(unscaled, random.nextInt(100) - 20);
        BigDecimal shortest = number.signum() == 0 ? BigDecimal.ZERO : number.stripTrailingZeros();
        return shortest.scale() < 0 ? shortest.setScale(0) : shortest;
    }

    static String text(RandomGenerator random) {
        String characters = "abcXYZ019_-@.,;:()[]{}<>=!'\"\\/ \t\n\u0000äß漢\u202e";
        StringBuilder text = new StringBuilder();
        for (int left = random.nextInt(8); left > 0; left--) {
            text.append(characters.charAt(random.nextInt(characters.length())));
        }
        return random.nextInt(4) == 0 ? text + "𝄞" : text.toString();
    }

    /// The content of a record, found without any code of ours but its annotation.
    public static Map<String, Object> plain(Record some) {
        Map<String, Object> plain = new LinkedHashMap<>();
        for (RecordComponent component : some.getClass().getRecordComponents()) {
            Field field = component.getAnnotation(Field.class);
            try {
                plain.put(
                        field == null ? component.getName() : field.value(),
                        plainValue(component.getAccessor().invoke(some)));
            } catch (ReflectiveOperationException e) {
                throw new LinkageError(e.getMessage(), e);
            }
        }
        return plain;
    }

    private static Object plainValue(Object value) {
        return switch (value) {
            case Optional<?> optional -> optional.map(Samples::plainValue).orElse(null);
            case List<?> list ->
                Arrays.asList(list.stream().map(Samples::plainValue).toArray());
            case Record nested -> plain(nested);
            case Integer number -> number.longValue();
            case Enum<?> constant -> constant.name();
            case BigDecimal number -> new BigDecimal(number.toPlainString());
            case Instant _, LocalDate _, Duration _ -> value.toString();
            default -> value;
        };
    }
}
