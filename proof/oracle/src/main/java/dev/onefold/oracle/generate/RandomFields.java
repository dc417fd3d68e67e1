package dev.onefold.oracle.generate;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/// Makes fields with names and pools of values. No two have the same path, and no path leads through another's
/// end.
final class RandomFields {
    private static final List<String> TIME_FORMS =
            List.of("iso", "iso", "epoch-seconds", "epoch-millis", "epoch-micros", "epoch-nanos", "epoch-days");
    private static final List<String> ID_FORMS = List.of("uuid7", "ulid");
    private static final List<String> VERSIONS =
            List.of("0", "1", "2", "3", "4", "-1", "10", "9", "0012", "9".repeat(64), "1" + "0".repeat(55));

    /// A text that means true in some pipelines.
    static final String TRUTH = "yes";

    private final Chance chance;
    private final boolean csv;
    private final Instant firstTime;
    private final List<String> names;
    private final List<String> containers = new ArrayList<>();

    RandomFields(Chance chance, boolean csv, Instant firstTime) {
        this.firstTime = firstTime;
        this.chance = chance;
        this.csv = csv;
        names = new ArrayList<>(Nasty.NAMES);
    }

    Field text(int values) {
        return new Field(path(), Field.Kind.TEXT, "", texts(values));
    }

    Field text(List<String> values) {
        return new Field(
                path(),
                Field.Kind.TEXT,
                "",
                values.stream().<Value>map(Value.Text::new).toList());
    }

    Field number() {
        int scale = chance.between(0, 3);
        boolean large = chance.percent(15);
        List<Value> pool = new ArrayList<>();
        for (int count = chance.between(1, 6); count > 0; count--) {
            BigDecimal number = BigDecimal.valueOf(chance.between(-2_000, 2_000), scale);
            if (large) {
                number = number.add(
                        new BigDecimal("99999999999999999999").multiply(BigDecimal.valueOf(number.signum())));
            }
            pool.add(new Value.Decimal(number));
        }
        if (chance.percent(30)) {
            pool.add(new Value.Decimal(BigDecimal.ZERO));
        }
        return new Field(path(), Field.Kind.NUMBER, String.valueOf(scale), pool);
    }

    Field time() {
        boolean isId = firstTime.getEpochSecond() >= 0 && chance.percent(15);
        List<Value> pool = new ArrayList<>();
        for (int count = chance.between(2, 6); count > 0; count--) {
            Instant instant = firstTime.plusSeconds(chance.between(0, (int) RandomCase.TIMES.toSeconds()));
            pool.add(new Value.Time(chance.percent(30) ? instant.plusNanos(chance.between(0, 999_999_999)) : instant));
        }
        return new Field(path(), Field.Kind.TIME, chance.of(isId ? ID_FORMS : TIME_FORMS), pool);
    }

    Field flag() {
        return new Field(
                path(),
                Field.Kind.FLAG,
                "",
                chance.percent(80)
                        ? List.of(new Value.Flag(true), new Value.Flag(false), new Value.Flag(false))
                        : List.of(new Value.Flag(true), new Value.Flag(false), new Value.Text(TRUTH)));
    }

    Field integerVersion() {
        List<Value> pool = new ArrayList<>();
        for (int count = chance.between(1, 5); count > 0; count--) {
            pool.add(new Value.Digits(chance.of(VERSIONS)));
        }
        return new Field(path(), Field.Kind.NUMBER, "0", pool);
    }

    Field any() {
        return switch (chance.between(0, 5)) {
            case 0, 1 -> text(chance.between(1, 5));
            case 2, 3 -> number();
            case 4 -> time();
            default -> flag();
        };
    }

    private List<Value> texts(int count) {
        List<Value> pool = new ArrayList<>();
        for (int index = 0; index < count; index++) {
            boolean strange = !csv && chance.percent(10);
            pool.add(new Value.Text(chance.of(strange ? Nasty.TEXTS_OF_RECORDS : Nasty.TEXTS)));
        }
        return pool;
    }

    private List<String> path() {
        List<String> path = new ArrayList<>();
        if (!csv && chance.percent(35)) {
            if (containers.isEmpty() || chance.percent(40)) {
                containers.add(chance.take(names));
            }
            path.add(chance.of(containers));
            if (chance.percent(20)) {
                path.add("deeper");
            }
        }
        path.add(chance.take(names));
        return List.copyOf(path);
    }
}
