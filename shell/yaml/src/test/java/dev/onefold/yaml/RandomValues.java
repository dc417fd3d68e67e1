package dev.onefold.yaml;

import dev.onefold.core.json.Json;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Objects with a value of each type, as JSON; many of them are at the edges of their types.
final class RandomValues {
    private static final List<String> TEXTS =
            List.of("", "ann", "\"\\/", "\n\t\u0000\u007f", "ÄÖÜ €", "𝄞 🏃", "\u2028", "null", "1e5", " ");

    private RandomValues() {}

    static String object(RandomGenerator random) {
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        all.put("user", "u" + text(random));
        all.put("b", random.nextBoolean());
        all.put("i", random.nextInt(4) == 0 ? Integer.MIN_VALUE : random.nextInt());
        all.put("n", whole(random));
        all.put("d", decimal(random));
        all.put("t", time(random));
        all.put("day", LocalDate.ofEpochDay(random.nextInt(-700_000, 2_900_000)).toString());
        all.put("s", duration(random));
        all.put("kind", random.nextBoolean() ? "WALK" : "RUN");
        all.put("maybe", random.nextBoolean() ? null : whole(random));
        all.put("texts", list(random, () -> text(random)));
        all.put("inner", random.nextBoolean() ? null : inner(random));
        all.put("inners", list(random, () -> inner(random)));
        return Json.of(all);
    }

    private static <T> List<T> list(RandomGenerator random, java.util.function.Supplier<T> item) {
        List<T> items = new ArrayList<>();
        IntStream.range(0, random.nextInt(4)).forEach(_ -> items.add(item.get()));
        return items;
    }

    private static Map<String, @Nullable Object> inner(RandomGenerator random) {
        Map<String, @Nullable Object> inner = new LinkedHashMap<>();
        inner.put("d", decimal(random));
        inner.put("t", random.nextBoolean() ? null : time(random));
        return inner;
    }

    private static String text(RandomGenerator random) {
        return TEXTS.get(random.nextInt(TEXTS.size()));
    }

    private static long whole(RandomGenerator random) {
        return switch (random.nextInt(5)) {
            case 0 -> Long.MIN_VALUE + random.nextInt(2);
            case 1 -> Long.MAX_VALUE;
            case 2 -> (1L << 53) + random.nextInt(-3, 4);
            case 3 -> random.nextLong();
            default -> random.nextInt(-10, 10);
        };
    }

    private static BigDecimal decimal(RandomGenerator random) {
        BigInteger digits = new BigInteger(random.nextInt(1, 127), new java.util.Random(random.nextLong()));
        BigDecimal number = new BigDecimal(random.nextBoolean() ? digits : digits.negate(), random.nextInt(-20, 60));
        return number.precision() > 38 ? BigDecimal.ONE.negate() : number;
    }

    private static String time(RandomGenerator random) {
        long micros = random.nextLong(-62_135_596_800_000_000L, 253_402_300_800_000_000L);
        long unit = List.of(1L, 1_000L, 1_000_000L, 60_000_000L).get(random.nextInt(4));
        return Instant.EPOCH
                .plus(micros / unit * unit, java.time.temporal.ChronoUnit.MICROS)
                .toString();
    }

    private static String duration(RandomGenerator random) {
        long bound = List.of(10L, 5_000_000L, 100_000_000_000_000L).get(random.nextInt(3));
        return Duration.of(random.nextLong(-bound, bound), java.time.temporal.ChronoUnit.MICROS)
                .toString();
    }
}
