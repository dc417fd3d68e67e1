package dev.onefold.core.totals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.aggregate.Aggregate;
import dev.onefold.core.aggregate.Cells;
import dev.onefold.core.aggregate.LeafReading;
import dev.onefold.core.aggregate.Values;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.map.Amounts;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.fixtures.Seeds;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Answers: which groups, in which order, and that every parent is the sum of its children (hazard 39).
class TotalsTest {
    private static final Pipeline PIPELINE = PipelineBuilder.named("p")
            .rollup(r -> r.levels("a", "b")
                    .measure("sum", "sum(n) decimal(18,0) missing ignore")
                    .measure("most", "max(n) decimal(18,0) missing ignore")
                    .count("rows"))
            .build();
    private static final Answer.Cut CUT = new Answer.Cut(List.of(new Answer.Progress("orders", 7, 700)), Instant.EPOCH);

    private final Totals totals = new Totals(Rollups.of(PIPELINE).named("main"));

    private static Aggregate rows(@Nullable Long... values) {
        Values kept = new Values(Rollups.of(PIPELINE).named("main").measures(), 1, _ -> {});
        Cells cells = new Cells(PIPELINE, 0, kept);
        for (Long value : values) {
            Amounts amounts = new Amounts(1, 1);
            amounts.counted = true;
            amounts.present[0] = value != null;
            amounts.lo[0] = value == null ? 0 : value;
            amounts.hi[0] = amounts.lo[0] >> 63;
            cells.move(new Amounts(1, 1), amounts);
        }
        Aggregate aggregate = LeafReading.of(Rollups.of(PIPELINE).named("main").measures(), 0, kept, cells);
        kept.close();
        return aggregate;
    }

    private void add(String a, String b, @Nullable Long... values) {
        totals.add(Tuple.of(List.of(a, b)), rows(values));
    }

    private List<String> answer(List<String> group, int depth, Query.@Nullable Top top) {
        return totals.answer(new Query("main", group, depth, top), CUT).lines().stream()
                .map(line ->
                        String.join("/", line.group()) + "=" + line.values().getFirst())
                .toList();
    }

    @Test
    void groups_stand_parents_first_in_the_order_of_their_utf_8_bytes() {
        add("b", "x", 1L);
        add("a", "😀", 2L);
        add("a", "\uffff", 3L);
        add("a\0", "x", 4L);
        add("B", "", 5L);
        add("ab", "x", 6L);
        assertThat(answer(List.of(), 9, null))
                .containsExactly(
                        "=21",
                        "B=5",
                        "B/=5",
                        "a=5",
                        "a/\uffff=3",
                        "a/😀=2",
                        "a\0=4",
                        "a\0/x=4",
                        "ab=6",
                        "ab/x=6",
                        "b=1",
                        "b/x=1");
    }

    @Test
    void depth_says_how_many_levels_are_shown_and_a_group_where_the_answer_begins() {
        add("a", "x", 1L);
        add("a", "y", 2L);
        add("b", "x", 4L);
        assertThat(answer(List.of(), 0, null)).containsExactly("=7");
        assertThat(answer(List.of(), 1, null)).containsExactly("=7", "a=3", "b=4");
        assertThat(answer(List.of("a"), 0, null)).containsExactly("a=3");
        assertThat(answer(List.of("a"), 1, null)).containsExactly("a=3", "a/x=1", "a/y=2");
        assertThat(answer(List.of("a"), Integer.MAX_VALUE, null)).containsExactly("a=3", "a/x=1", "a/y=2");
        assertThat(answer(List.of("a", "y"), 5, null)).containsExactly("a/y=2");
        assertThat(answer(List.of("a", "z"), 5, null)).isEmpty();
        assertThat(answer(List.of("c"), 5, null)).isEmpty();
        assertThat(answer(List.of(""), 5, null)).isEmpty();
    }

    @Test
    void a_group_is_not_mistaken_for_one_that_begins_like_it() {
        add("a", "x", 1L);
        add("a\0", "x", 2L);
        add("aa", "x", 4L);
        add("a\0\1", "x", 8L);
        assertThat(answer(List.of("a"), 9, null)).containsExactly("a=1", "a/x=1");
        assertThat(answer(List.of("a\0"), 0, null)).containsExactly("a\0=2");
    }

    @Test
    void an_empty_group_does_not_appear_and_comes_back_with_its_next_row() {
        add("a", "x", 1L);
        add("b", "x");
        assertThat(answer(List.of(), 9, null)).containsExactly("=1", "a=1", "a/x=1");
        add("b", "x", 5L);
        assertThat(answer(List.of(), 9, null)).containsExactly("=6", "a=1", "a/x=1", "b=5", "b/x=5");
        assertThat(totals.leaves()).hasSize(2);
    }

    @Test
    void the_total_of_nothing_is_an_answer_but_no_group_is() {
        assertThat(totals.answer(Query.all("main"), CUT).lines())
                .containsExactly(new Answer.Line(
                        List.of(), java.util.Arrays.asList(new BigDecimal("0"), null, new BigDecimal("0"))));
        assertThat(answer(List.of("a"), 1, null)).isEmpty();
        assertThat(answer(List.of(), 1, new Query.Top(3, "sum"))).isEmpty();
    }

    @Test
    void a_leaf_in_parts_is_their_sum() {
        add("a", "x", 1L, 9L);
        add("a", "x", 3L);
        assertThat(totals.answer(Query.all("main"), CUT).lines().getLast())
                .isEqualTo(new Answer.Line(
                        List.of("a", "x"), List.of(new BigDecimal("13"), new BigDecimal("9"), new BigDecimal("3"))));
    }

    @Test
    void a_top_list_has_the_greatest_first_equal_ones_by_their_bytes_and_those_without_a_value_last() {
        add("d", "x", 5L);
        add("c", "x", 7L);
        add("b", "x", 5L);
        add("e", "x", -1L);
        add("a", "x", new Long[] {null});
        add("é", "x", 5L);
        add("B", "x", new Long[] {null});
        assertThat(answer(List.of(), 1, new Query.Top(99, "most")))
                .containsExactly("c=7", "b=5", "d=5", "é=5", "e=-1", "B=0", "a=0");
        assertThat(answer(List.of(), 1, new Query.Top(99, "sum")))
                .containsExactly("c=7", "b=5", "d=5", "é=5", "B=0", "a=0", "e=-1");
        assertThat(answer(List.of(), 1, new Query.Top(2, "most"))).containsExactly("c=7", "b=5");
        assertThat(answer(List.of(), 2, new Query.Top(1, "most"))).containsExactly("c/x=7");
        assertThat(answer(List.of(), 9, new Query.Top(1, "most"))).containsExactly("c/x=7");
        assertThat(answer(List.of(), 0, new Query.Top(1, "most"))).containsExactly("=21");
        assertThat(answer(List.of("b"), 1, new Query.Top(5, "rows"))).containsExactly("b/x=5");
    }

    @Test
    void what_cannot_be_asked_is_refused_naming_what_there_is() {
        assertThatThrownBy(() -> answer(List.of("a", "b", "c"), 1, null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Group [a, b, c] has 3 levels; roll-up main has 2");
        assertThatThrownBy(() -> answer(List.of(), 1, new Query.Top(1, "value")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("There is no measure 'value' in roll-up main; there is sum, most, rows");
        assertThatThrownBy(() -> new Query("main", List.of(), -1, null)).hasMessage("Depth is -1; it is 0 or more");
        assertThatThrownBy(() -> new Query("main", List.of("a", "\ud800"), 0, null))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Query.Top(0, "sum")).hasMessage("Top is 0; it is 1 or more");
        assertThatThrownBy(() -> Rollups.of(PIPELINE).named("other")).hasMessageContaining("there is main");
    }

    @Test
    void an_answer_says_its_names_and_its_cut() {
        Answer answer = totals.answer(new Query("main", List.of(), 0, null), CUT);
        assertThat(answer.rollup()).isEqualTo("main");
        assertThat(answer.levels()).containsExactly("a", "b");
        assertThat(answer.measures()).containsExactly("sum", "most", "rows");
        assertThat(answer.cut()).isEqualTo(CUT);
        List<Answer.Line> lines = new ArrayList<>(answer.lines());
        Answer copy = new Answer(answer.rollup(), answer.levels(), answer.measures(), lines, CUT);
        lines.clear();
        assertThat(copy).isEqualTo(answer);
        assertThat(Query.all("main")).isEqualTo(new Query("main", List.of(), Integer.MAX_VALUE, null));
    }

    @Test
    void every_parent_is_the_sum_of_its_children() {
        Seeds.forAllSeeds(200, random -> {
            Totals many = new Totals(Rollups.of(PIPELINE).named("main"));
            for (int i = random.nextInt(20); i > 0; i--) {
                many.add(Tuple.of(List.of("a" + random.nextInt(4), "b" + random.nextInt(4))), rows((long)
                        random.nextInt(-9, 10)));
            }
            Map<List<String>, List<BigDecimal>> lines = new TreeMap<>(java.util.Comparator.comparing(Object::toString));
            Map<List<String>, BigDecimal> sums = new TreeMap<>(java.util.Comparator.comparing(Object::toString));
            for (Answer.Line line : many.answer(Query.all("main"), CUT).lines()) {
                List<BigDecimal> values = new ArrayList<>();
                line.values().forEach(value -> values.add(value == null ? BigDecimal.ZERO : value));
                lines.put(line.group(), values);
                if (!line.group().isEmpty()) {
                    sums.merge(line.group().subList(0, line.group().size() - 1), values.getFirst(), BigDecimal::add);
                }
            }
            sums.forEach((group, sum) -> assertThat(lines.get(group).getFirst()).isEqualTo(sum));
        });
    }
}
