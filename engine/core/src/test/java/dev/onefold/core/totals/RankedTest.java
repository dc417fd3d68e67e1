package dev.onefold.core.totals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.query.Answer;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RankedTest {
    private static Answer answer(Integer... values) {
        List<Answer.Line> lines = new ArrayList<>();
        lines.add(new Answer.Line(List.of("book"), List.of(BigDecimal.TEN)));
        for (int i = 0; i < values.length; i++) {
            Integer value = values[i];
            lines.add(new Answer.Line(
                    List.of("book", String.format("%05d", i)),
                    Arrays.asList(value == null ? null : BigDecimal.valueOf(value))));
        }
        return new Answer(
                "main", List.of("book", "desk"), List.of("n"), lines, new Answer.Cut(List.of(), Instant.EPOCH));
    }

    private static List<String> names(Ranked ranked) {
        return ranked.answer().lines().stream()
                .map(line -> line.group().getLast())
                .toList();
    }

    @Test
    void the_greatest_come_first_behind_their_parent_and_those_without_a_value_last() {
        Answer answer = answer(1, null, 3, 1, null, 2);
        assertThat(names(Ranked.of(answer, new Ranked.Part("n", 0, 9))))
                .containsExactly("book", "00002", "00005", "00000", "00003", "00001", "00004");
        assertThat(names(Ranked.of(answer, new Ranked.Part("n", 1, 2)))).containsExactly("book", "00005", "00000");
        assertThat(names(Ranked.of(answer, new Ranked.Part(null, 1, 2)))).containsExactly("book", "00001", "00002");
        assertThat(names(Ranked.of(answer, new Ranked.Part("n", 0, 0)))).containsExactly("book");
        assertThat(names(Ranked.of(answer, new Ranked.Part(null, 7, 9)))).containsExactly("book");
        assertThat(Ranked.of(answer, new Ranked.Part("n", 3, 1)).below()).isEqualTo(6);
    }

    @Test
    void pages_of_a_ranking_together_are_the_whole_of_it() {
        for (int seed = 0; seed < 100; seed++) {
            Random random = new Random(seed);
            Integer[] values = IntStream.range(0, random.nextInt(60))
                    .mapToObj(_ -> random.nextInt(9))
                    .toArray(Integer[]::new);
            int size = 1 + random.nextInt(20);
            List<String> found = new ArrayList<>();
            for (int skip = 0; skip <= values.length; skip += size) {
                List<String> page = names(Ranked.of(answer(values), new Ranked.Part("n", skip, size)));
                found.addAll(page.subList(1, page.size()));
            }
            List<String> right = IntStream.range(0, values.length)
                    .boxed()
                    .sorted(Comparator.comparingInt((Integer i) -> -values[i]))
                    .map(i -> String.format("%05d", i))
                    .toList();
            assertThat(found).as("seed " + seed).isEqualTo(right);
        }
    }

    @Test
    void a_group_that_is_not_there_and_a_part_that_cannot_be_are_said() {
        Answer nothing =
                new Answer("main", List.of("book"), List.of("n"), List.of(), new Answer.Cut(List.of(), Instant.EPOCH));
        assertThat(Ranked.of(nothing, new Ranked.Part("n", 0, 9)).answer().lines())
                .isEmpty();
        assertThat(Ranked.of(nothing, new Ranked.Part("n", 0, 9)).below()).isZero();
        assertThatThrownBy(() -> Ranked.of(nothing, new Ranked.Part("m", 0, 9)))
                .hasMessage("There is no measure 'm' in roll-up main; there is n");
        assertThatThrownBy(() -> new Ranked.Part("n", -1, 9)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Ranked.Part("n", Integer.MAX_VALUE, Integer.MAX_VALUE))
                .hasMessageStartingWith("Of a ranking the first 100000 groups can be read.");
        assertThat(new Ranked.Part(null, Integer.MAX_VALUE, Integer.MAX_VALUE).skip())
                .isEqualTo(Integer.MAX_VALUE);
    }
}
