package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.Engine.Appended;
import dev.onefold.core.EngineException;
import dev.onefold.core.aggregate.Cells;
import dev.onefold.core.aggregate.Values;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.map.Amounts;
import dev.onefold.core.map.Groups;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.core.totals.Leaves;
import dev.onefold.embedded.guard.Answers;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Answers under way are bounded, and hold up nobody.
class AnswersTest {
    private static final Pipeline PIPELINE = PipelineBuilder.named("p")
            .json()
            .id("id")
            .rollup("main", r -> r.levels("g").sum("sum", "n", 18, 0).measure("most", "max(n) decimal(18,0)"))
            .build();
    private static final long BYTES_MAX = 4 << 20;

    private final Groups groups = new Groups();
    private final Values values = new Values(Rollups.of(PIPELINE).named("main").measures(), 1, _ -> {});
    private final Cells cells = new Cells(PIPELINE, 0, values);

    private final Answers answers = new Answers(BYTES_MAX, Duration.ZERO, new Answers.Locked() {
        @Override
        public <T> T run(Supplier<T> action) {
            return action.get();
        }
    });

    private void add(int groupCount) {
        for (int i = 0; i < groupCount; i++) {
            Amounts amounts = new Amounts(1, 1);
            amounts.counted = true;
            amounts.group[0] = groups.number(Tuple.of(List.of("group " + i)));
            amounts.present[0] = true;
            amounts.lo[0] = i;
            cells.move(new Amounts(1, 1), amounts);
        }
    }

    private Answers.Cut cut() {
        return new Answers.Cut(
                new Leaves(
                        Rollups.of(PIPELINE).named("main"), groups, new Cells[] {cells}, values, Tuple.of(List.of())),
                new Answer.Cut(List.of(), Instant.EPOCH));
    }

    private <T> T ask(java.util.function.Function<Answer, T> reader) {
        return answers.answer(Query.all("main"), this::cut, reader);
    }

    @Test
    void an_answer_that_comes_when_others_take_the_memory_is_refused_and_answered_when_they_are_read() {
        add(10_000);
        int size = ask(one -> ask(two -> {
            assertThatThrownBy(() ->
                            ask(three -> ask(four -> ask(five -> five.lines().size()))))
                    .isInstanceOfSatisfying(
                            EngineException.class,
                            refused -> assertThat(refused.kind()).isEqualTo(EngineException.Kind.ANSWER_REFUSED))
                    .hasMessageContaining("Other answers are being read");
            return one.lines().size() + two.lines().size();
        }));
        assertThat(size).isEqualTo(20_002);
        int lines = ask(answer -> answer.lines().size());
        assertThat(lines).isEqualTo(10_001);
    }

    @Test
    void an_answer_that_is_larger_than_all_may_be_is_refused_and_a_part_of_it_is_answered() {
        add(80_000);
        assertThatThrownBy(() -> ask(answer -> answer.lines().size()))
                .isInstanceOf(EngineException.class)
                .hasMessageContaining("The answer would take");
        assertThat(answers.answer(new Query("main", List.of(), 0, null), this::cut, Answers::onHeap)
                        .lines())
                .extracting(Answer.Line::values)
                .containsExactly(List.of(new BigDecimal(80_000L * 79_999 / 2), new BigDecimal(79_999)));
    }

    @Test
    void a_reader_that_fails_gives_the_memory_back() {
        add(10_000);
        for (int i = 0; i < 20; i++) {
            assertThatThrownBy(() -> ask(_ -> {
                        throw new IllegalArgumentException("gone");
                    }))
                    .hasMessage("gone");
        }
        int lines = ask(answer -> answer.lines().size());
        assertThat(lines).isEqualTo(10_001);
    }

    @Test
    void records_are_taken_while_an_answer_is_being_read_which_stays_what_it_was(@TempDir Path folder) {
        try (EmbeddedEngine engine =
                EmbeddedEngine.open(folder, PIPELINE, Settings.defaults().withShards(2))) {
            engine.append("s", List.of("{\"id\":\"1\",\"g\":\"a\",\"n\":1}"));
            List<Answer.Line> before = engine.query(Query.all("main")).lines();
            engine.query(Query.all("main"), answer -> {
                CompletableFuture<Appended> appended = CompletableFuture.supplyAsync(
                        () -> engine.append("s", List.of("{\"id\":\"2\",\"g\":\"b\",\"n\":5}")));
                assertThat(appended.orTimeout(60, TimeUnit.SECONDS).join().acknowledged())
                        .isEqualTo(2);
                assertThat(answer.lines()).isEqualTo(before);
                return before;
            });
            assertThat(engine.query(Query.all("main")).lines()).hasSize(3);
        }
    }
}
