package dev.onefold.core.totals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.Verification;
import dev.onefold.core.aggregate.Aggregate;
import dev.onefold.core.aggregate.Cells;
import dev.onefold.core.aggregate.LeafReading;
import dev.onefold.core.aggregate.Values;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.map.Amounts;
import dev.onefold.core.map.Groups;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.fixtures.Seeds;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// The fast form of totals answers as the plain one does.
class LeavesTest {
    private static final Pipeline PIPELINE = PipelineBuilder.named("p")
            .rollup(
                    "main",
                    r -> r.levels("a", "b", "c")
                            .measure("sum", "sum(n) decimal(28,2) missing ignore")
                            .measure("texts", "distinct(t) missing ignore")
                            .measure("least", "min(n) decimal(28,2) missing ignore")
                            .measure("mean", "average(n) decimal(28,2) missing ignore")
                            .count("rows")
                            .measure("most", "max(n) decimal(28,2) missing ignore")
                            .measure("spread", "most - least")
                            .measure("share", "sum / (100 * (count() + distinct(t) missing ignore)) decimal(9,4)"))
            .build();
    private static final Answer.Cut CUT = new Answer.Cut(List.of(), Instant.EPOCH);
    private static final List<String> NAMES = List.of("", "a", "a\0", "\0", "b", "ä", "😀");
    private static final Amounts NOTHING = new Amounts(1, 2);

    /// Shards with the same groups and values.
    private static final class State implements AutoCloseable {
        final Groups groups = new Groups();
        final Values values = new Values(Rollups.of(PIPELINE).named("main").measures(), 3, _ -> {});
        final Cells[] shards = {new Cells(PIPELINE, 0, values), new Cells(PIPELINE, 0, values)};
        final List<Amounts> rows = new ArrayList<>();

        Leaves leaves() {
            return new Leaves(Rollups.of(PIPELINE).named("main"), groups, shards, values, Tuple.of(List.of()));
        }

        void change(RandomGenerator random) {
            int row = random.nextInt(rows.size() + 1);
            Amounts before = row == rows.size() ? NOTHING : rows.remove(row);
            Amounts after = random.nextInt(4) == 0 ? NOTHING : amounts(random);
            shards[random.nextInt(2)].move(before, after);
            if (after != NOTHING) {
                rows.add(after);
            }
        }

        Amounts amounts(RandomGenerator random) {
            Amounts amounts = new Amounts(1, 2);
            amounts.counted = true;
            amounts.group[0] = groups.number(Tuple.of(List.of(name(random), name(random), name(random))));
            amounts.present[0] = random.nextInt(4) > 0;
            amounts.lo[0] = random.nextInt(-3, 4);
            amounts.hi[0] = amounts.lo[0] >> 63;
            amounts.present[1] = random.nextInt(4) > 0;
            amounts.text[1] = NAMES.get(random.nextInt(NAMES.size())).getBytes(StandardCharsets.UTF_8);
            return amounts;
        }

        Totals totals() {
            Totals totals = new Totals(Rollups.of(PIPELINE).named("main"));
            for (int leaf = 0; leaf < groups.size(); leaf++) {
                totals.add(groups.tuple(leaf), LeafReading.of(totals.rollup().measures(), leaf, values, shards));
            }
            return totals;
        }

        @Override
        public void close() {
            values.close();
        }
    }

    private static String name(RandomGenerator random) {
        return NAMES.get(random.nextInt(random.nextInt(1, NAMES.size() + 1))); // Some leaves have many rows.
    }

    private static Query query(RandomGenerator random) {
        List<String> group = new ArrayList<>();
        int levels = random.nextInt(4);
        for (int i = 0; i < levels; i++) {
            group.add(name(random));
        }
        List<String> measures = List.of("sum", "texts", "least", "mean", "rows", "most", "spread", "share");
        Query.@Nullable Top top = random.nextInt(3) > 0
                ? null
                : new Query.Top(1 + random.nextInt(9), measures.get(random.nextInt(measures.size())));
        return new Query("main", group, random.nextInt(4) == 0 ? Integer.MAX_VALUE : random.nextInt(5), top);
    }

    @Test
    void its_answers_are_those_of_the_plain_form_and_take_no_more_memory_than_was_foreseen() {
        Seeds.forAllSeeds(200, random -> {
            try (State state = new State()) {
                int changes = random.nextInt(120);
                for (int i = 0; i < changes; i++) {
                    state.change(random);
                }
                Totals totals = state.totals();
                for (int i = 0; i < 12; i++) {
                    Query query = query(random);
                    AtomicLong bytes = new AtomicLong();
                    try (Lines lines = state.leaves().lines(query, bytes::addAndGet)) {
                        Answer fast = new Answer(
                                "main",
                                List.of("a", "b", "c"),
                                List.of("sum", "texts", "least", "mean", "rows", "most", "spread", "share"),
                                lines,
                                CUT);
                        assertThat(fast).isEqualTo(totals.answer(query, CUT));
                        assertThat(fast.lines()).isSameAs(lines);
                        assertThat(bytes.get())
                                .isLessThanOrEqualTo(state.leaves().bytesOf(query) + (1 << 18))
                                .isGreaterThanOrEqualTo(lines.size() * Lines.bytesOfLine(state.leaves()));
                        assertThat(state.leaves().bytesOf(query))
                                .isEqualTo((1 + lines(state.groups, query)) * Lines.bytesOfLine(state.leaves()));
                    }
                }
            }
        });
    }

    /// How many lines an answer has before a top list is cut, if all groups have rows.
    private static long lines(Groups groups, Query query) {
        Tuple root = Tuple.of(query.group());
        int first = query.group().size();
        int last = (int) Math.min((long) first + query.depth(), 3);
        return IntStream.range(0, groups.size())
                .mapToObj(groups::tuple)
                .filter(leaf -> leaf.startsWith(root))
                .flatMap(leaf -> IntStream.rangeClosed(query.top() == null ? first : last, last)
                        .mapToObj(leaf::prefix))
                .distinct()
                .count();
    }

    @Test
    void a_leaf_has_the_values_of_the_plain_form() {
        Seeds.forAllSeeds(100, random -> {
            try (State state = new State()) {
                for (int i = random.nextInt(60); i > 0; i--) {
                    state.change(random);
                }
                Totals totals = state.totals();
                for (int leaf = 0; leaf < state.groups.size(); leaf++) {
                    Aggregate plain = Objects.requireNonNull(totals.leaves().get(state.groups.tuple(leaf)));
                    assertThat(state.leaves().answers(leaf)).isEqualTo(totals.figures(plain));
                    assertThat(state.leaves().isNothing(leaf)).isEqualTo(plain.isSame(totals.empty()));
                }
            }
        });
    }

    @Test
    void an_answer_of_thousands_of_lines_is_that_of_the_plain_form_and_its_memory_is_stated_as_it_is_taken() {
        try (State state = new State()) {
            for (int i = 0; i < 5_000; i++) {
                Amounts row = new Amounts(1, 2);
                row.counted = true;
                row.group[0] = state.groups.number(Tuple.of(List.of("a" + i % 7, "b" + i % 500, "c" + i)));
                row.present[0] = true;
                row.lo[0] = i;
                state.shards[i & 1].move(NOTHING, row);
            }
            List<Long> taken = new ArrayList<>();
            try (Lines lines = state.leaves().lines(Query.all("main"), taken::add)) {
                assertThat(List.copyOf(lines))
                        .isEqualTo(state.totals().answer(Query.all("main"), CUT).lines());
                long needed = lines.size() * Lines.bytesOfLine(state.leaves());
                assertThat(taken).hasSize((int) (needed >> 18) + 1).allMatch(bytes -> bytes <= 1 << 18);
                assertThat(taken.stream().mapToLong(Long::longValue).sum()).isBetween(needed, needed + (1 << 18));
            }
        }
    }

    @Test
    void lines_that_were_closed_are_gone_and_may_be_closed_again() {
        try (State state = new State()) {
            Lines lines = state.leaves().lines(Query.all("main"), _ -> {});
            assertThat(lines).hasSize(1);
            lines.close();
            assertThatThrownBy(lines::getFirst).isInstanceOf(IllegalStateException.class);
            lines.close();
        }
    }

    @Test
    void the_total_of_nothing_is_an_answer_but_no_top_list() {
        try (State state = new State()) {
            for (String measure : List.of("sum", "texts", "least")) {
                Query query = new Query("main", List.of(), 0, new Query.Top(1, measure));
                try (Lines lines = state.leaves().lines(query, _ -> {})) {
                    assertThat(lines).isEmpty();
                }
            }
            try (Lines lines = state.leaves().lines(Query.all("main"), _ -> {})) {
                assertThat(List.copyOf(lines))
                        .isEqualTo(state.totals().answer(Query.all("main"), CUT).lines());
            }
        }
    }

    @Test
    void what_cannot_be_asked_is_refused_as_by_the_plain_form() {
        try (State state = new State()) {
            for (Query query : List.of(
                    new Query("main", List.of("a", "b", "c", "d"), 0, null),
                    new Query("main", List.of(), 1, new Query.Top(1, "none")))) {
                for (Runnable asked : List.<Runnable>of(
                        () -> state.leaves().lines(query, _ -> {}),
                        () -> state.leaves().bytesOf(query),
                        () -> state.totals().answer(query, CUT))) {
                    assertThatThrownBy(asked::run)
                            .isInstanceOf(IllegalArgumentException.class)
                            .hasMessageMatching("Group .* has 4 levels; .*|There is no measure 'none' .*");
                }
            }
        }
    }

    @Test
    void states_of_the_same_rows_are_equal_however_their_groups_are_numbered() {
        Seeds.forAllSeeds(100, random -> {
            try (State one = new State();
                    State other = new State()) {
                for (String name : random.nextBoolean() ? NAMES : NAMES.reversed()) {
                    other.groups.number(Tuple.of(List.of(name, "a", "b")));
                }
                for (int i = 0; i < 40; i++) {
                    one.change(random);
                }
                for (Amounts row : one.rows) {
                    Amounts same = new Amounts(1, 2);
                    same.counted = true;
                    same.group[0] = other.groups.number(one.groups.tuple(row.group[0]));
                    same.present[0] = row.present[0];
                    same.lo[0] = row.lo[0];
                    same.hi[0] = row.hi[0];
                    same.present[1] = row.present[1];
                    same.text[1] = row.text[1];
                    other.shards[0].move(NOTHING, same);
                }
                List<Verification.Difference> differences = new ArrayList<>();
                long groups = Verification.compare(one.leaves(), other.leaves(), differences);
                assertThat(differences).isEmpty();
                assertThat(groups)
                        .isEqualTo(one.rows.stream()
                                .map(row -> row.group[0])
                                .distinct()
                                .count());
                Amounts more = other.amounts(random);
                other.shards[1].move(NOTHING, more);
                Verification.compare(one.leaves(), other.leaves(), differences);
                assertThat(differences)
                        .extracting(Verification.Difference::group)
                        .containsExactly(other.groups.tuple(more.group[0]).parts());
                assertThat(Verification.of(List.of(one.totals()), List.of(other.totals()), "rows")
                                .differences())
                        .isEqualTo(differences);
            }
        });
    }
}
