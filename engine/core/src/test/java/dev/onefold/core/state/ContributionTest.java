package dev.onefold.core.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Tuple;
import dev.onefold.fixtures.Seeds;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// One version, two contents: which contribution is the greater (hazard 12).
class ContributionTest {
    private static final Contribution DELETE = new Contribution(Event.Kind.DELETE, List.of(), List.of());
    private static final Contribution FILTERED = new Contribution(Event.Kind.FILTERED, List.of(), List.of());

    private static Contribution counted(List<Tuple> groups, Amount... amounts) {
        return new Contribution(Event.Kind.COUNTED, groups, List.of(amounts));
    }

    private static Tuple group(String... parts) {
        return Tuple.of(List.of(parts));
    }

    private static Amount number(String value) {
        return new Amount.Number(new BigDecimal(value));
    }

    @Test
    void what_a_record_contributes_is_known_by_hand() {
        Decoder decoder = new Decoder(PipelineBuilder.named("t")
                .key("id")
                .version("v")
                .delete("op = \"d\"")
                .rollup(
                        "desks",
                        r -> r.levels("desk", "region missing \"-\"")
                                .measure("sum", "sum(n) decimal(9,2) missing ignore")
                                .measure("texts", "distinct(t) missing ignore"))
                .rollup("all", r -> r.measure("most", "max(m) decimal(9,1)"))
                .build());
        assertThat(of(decoder, "{'id': 'a', 'v': 1, 'desk': 'FX', 'region': 'é', 'n': 1.5, 't': 'tä', 'm': -7}"))
                .isEqualTo(counted(
                        List.of(group("FX", "é"), group()), number("1.50"), new Amount.Text("tä"), number("-7.0")));
        assertThat(of(decoder, "{'id': 'b', 'v': 1, 'desk': '', 'm': 0}"))
                .isEqualTo(
                        counted(List.of(group("", "-"), group()), new Amount.None(), new Amount.None(), number("0.0")));
        assertThat(of(decoder, "{'id': 'b', 'v': 2, 'op': 'd'}")).isEqualTo(DELETE);
    }

    private static Contribution of(Decoder decoder, String record) {
        byte[] bytes = record.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
        assertThat(decoder.decode(Arrays.copyOf(bytes, bytes.length + Decoder.PADDING), 0, bytes.length))
                .isNull();
        return Contribution.of(decoder.pipeline(), decoder.event());
    }

    @Test
    void a_delete_is_above_all_then_what_counts_and_a_filtered_one_is_least() {
        Contribution counted = counted(List.of(group("\uffff")), number("9"));
        assertThat(List.of(FILTERED, counted, DELETE)).isSorted();
        assertThat(counted.compareTo(DELETE)).isNegative();
        assertThat(counted.compareTo(FILTERED)).isPositive();
        assertThat(DELETE.compareTo(new Contribution(Event.Kind.DELETE, List.of(), List.of())))
                .isZero();
    }

    @Test
    void groups_are_compared_before_amounts_roll_up_by_roll_up_and_level_by_level() {
        assertThat(List.of(
                        counted(List.of(group("a", "b"), group("x")), number("9")),
                        counted(List.of(group("a", "b"), group("y")), number("1")),
                        counted(List.of(group("a", "c"), group("a")), number("1")),
                        counted(List.of(group("ab", "a"), group("a")), number("1")),
                        counted(List.of(group("\uffff", "a"), group("a")), number("1")),
                        counted(List.of(group("😀", "a"), group("a")), number("1"))))
                .isSorted();
    }

    @Test
    void amounts_are_compared_in_their_order_a_missing_one_first_numbers_by_value_texts_by_bytes() {
        List<Amount> rising =
                List.of(new Amount.None(), number("-10"), number("-9.5"), number("0"), number("9"), number("10"));
        List<Amount> texts = List.of(
                new Amount.None(),
                new Amount.Text(""),
                new Amount.Text("10"),
                new Amount.Text("9"),
                new Amount.Text("\uffff"),
                new Amount.Text("😀"));
        for (List<Amount> each : List.of(rising, texts)) {
            for (int i = 0; i < each.size(); i++) {
                for (int j = 0; j < each.size(); j++) {
                    assertThat(Integer.signum(each.get(i).compareTo(each.get(j))))
                            .isEqualTo(Integer.compare(i, j));
                    Contribution one = counted(List.of(), number("1"), each.get(i), number("1"));
                    Contribution other = counted(List.of(), number("1"), each.get(j), number("2"));
                    assertThat(Integer.signum(one.compareTo(other))).isEqualTo(i == j ? -1 : Integer.compare(i, j));
                }
            }
        }
    }

    @Test
    void a_shorter_list_is_less_where_it_ends() {
        assertThat(counted(List.of(), number("1"))).isLessThan(counted(List.of(), number("1"), number("1")));
        assertThat(counted(List.of(), number("1"), number("1"))).isGreaterThan(counted(List.of(), number("1")));
    }

    @Test
    void the_order_is_total_so_that_the_greatest_of_many_is_the_same_whoever_comes_first() {
        Seeds.forAllSeeds(500, random -> {
            List<Contribution> many = new ArrayList<>();
            IntStream.range(0, 6).forEach(_ -> many.add(any(random)));
            Contribution greatest = Collections.max(many);
            for (Contribution one : many) {
                for (Contribution other : many) {
                    assertThat(Integer.signum(one.compareTo(other))).isEqualTo(-Integer.signum(other.compareTo(one)));
                    assertThat(one.compareTo(other) == 0).isEqualTo(one.equals(other));
                    for (Contribution third : many) {
                        assertThat(one.compareTo(other) <= 0 && other.compareTo(third) <= 0 && one.compareTo(third) > 0)
                                .isFalse();
                    }
                }
            }
            Collections.shuffle(many, java.util.Random.from(random));
            assertThat(many.stream().reduce((a, b) -> b.compareTo(a) > 0 ? b : a))
                    .contains(greatest);
        });
    }

    private static Contribution any(RandomGenerator random) {
        return switch (random.nextInt(6)) {
            case 0 -> DELETE;
            case 1 -> FILTERED;
            default ->
                counted(
                        List.of(group("" + random.nextInt(2), "\0".repeat(random.nextInt(2))), group("x")),
                        amount(random),
                        amount(random));
        };
    }

    private static Amount amount(RandomGenerator random) {
        return switch (random.nextInt(5)) {
            case 0 -> new Amount.None();
            case 1 -> new Amount.Text("" + random.nextInt(2));
            default -> number("" + random.nextInt(-1, 2));
        };
    }
}
