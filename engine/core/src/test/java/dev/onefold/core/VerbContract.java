package dev.onefold.core;

import static dev.onefold.core.Trades.TRADES;
import static dev.onefold.core.Trades.trade;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.onefold.core.Capabilities.Capability;
import dev.onefold.core.Engine.Appended;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/// The reports of an engine, and operations of some runtimes only: each runtime does them, or refuses them
/// with its reason.
public interface VerbContract extends MeasureContract {
    private static String value(Engine engine, String rollup) {
        return engine.query(Query.all(rollup)).lines().getFirst().values().toString();
    }

    /// Whether the engine can do it; if it cannot, the call must say so.
    private static boolean can(Engine engine, Capability capability, Callable<?> call) {
        engine.capabilities()
                .reason(capability)
                .ifPresent(reason -> assertThatThrownBy(call::call)
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessage(reason));
        return engine.capabilities().has(capability);
    }

    @Test
    default void records_are_appended_by_number_or_behind_one_another_or_refused_with_the_reason() {
        String first = trade("a", 1, "FX", "EMEA", "1");
        byte[] lines = (first + "\nbad\n").getBytes(StandardCharsets.UTF_8);
        try (Engine engine = open("appended", TRADES)) {
            if (!can(engine, Capability.APPEND, () -> engine.append("one", List.of(first)))) {
                assertThat(can(engine, Capability.APPEND, () -> engine.append("one", 1, lines, lines.length)))
                        .isFalse();
                return;
            }
            assertThat(engine.append("one", 1, lines, lines.length))
                    .isEqualTo(new Appended(2, new Counts(1, 0, 0, 0, 1), List.of(1L)));
            assertThat(engine.append("one", 1, lines, lines.length)).isEqualTo(Appended.none(2));
            assertThat(engine.append("one", 3, lines, 0)).isEqualTo(Appended.none(2));
            Appended appended = engine.append("one", List.of(first, trade("b", 1, "FX", "EMEA", "2"), "worse"));
            assertThat(appended).isEqualTo(new Appended(5, new Counts(1, 1, 0, 0, 1), List.of(2L)));
            assertThat(engine.append("one", List.of()).acknowledged()).isEqualTo(5);
            assertThat(engine.acknowledged("one")).isEqualTo(5);
            assertThat(engine.acknowledged("two é/?&")).isZero();
            assertThat(engine.append("two é/?&", List.of(first)).acknowledged()).isEqualTo(1);
            assertThat(engine.acknowledged("two é/?&")).isEqualTo(1);
            assertThat(value(engine, "main")).isEqualTo("[3.00, 2]");
            assertThatThrownBy(() -> engine.append("one", List.of("two\nlines")))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> engine.append("", List.of(first))).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> engine.append("one", 9, lines, lines.length))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("missing");
        }
    }

    @Test
    default void totals_are_verified_and_rebuilt_from_each_truth_that_there_is() {
        try (Engine engine = open("truths", TRADES)) {
            feed(engine, "one", List.of(trade("a", 1, "FX", "EMEA", "1"), trade("b", 1, "FX", "APAC", "2")));
            assertThat(engine.verify(Truth.ROWS).isEqual()).isTrue();
            assertThat(engine.rebuild(Truth.ROWS).isEqual()).isTrue();
            if (can(engine, Capability.SAMPLE, () -> engine.verify(new Truth.Rows(2)))) {
                assertThat(engine.verify(new Truth.Rows(2)).isEqual()).isTrue();
            }
            if (can(engine, Capability.SOURCES, () -> engine.verify(new Truth.Sources()))) {
                assertThatThrownBy(() -> engine.verify(new Truth.Sources()))
                        .isInstanceOf(EngineException.class)
                        .hasMessageContaining("was not kept");
            }
            can(engine, Capability.SOURCES, () -> engine.rebuild(new Truth.Sources()));
            assertThat(value(engine, "main")).isEqualTo("[3.00, 2]");
        }
    }

    @Test
    default void an_engine_says_how_it_is() {
        try (Engine engine = open("status", TRADES)) {
            feed(engine, "one", List.of(trade("a", 1, "FX", "EMEA", "1"), "bad", "worse"));
            feed(engine, "two", List.of(trade("b", 1, "FX", "EMEA", "\"1,00\"")));
            assertThat(engine.deadLetters().byReason(1_000))
                    .isEqualTo(Map.of(Reason.MALFORMED, 2L, Reason.REFUSED, 1L));
            can(engine, Capability.CHECKPOINT, () -> {
                engine.checkpointNow();
                return true;
            });
            if (can(engine, Capability.STATUS, engine::status)) {
                engine.checkpointNow();
                Status status = engine.status();
                assertThat(status.counts()).isEqualTo(engine.counts()).isEqualTo(new Counts(1, 0, 0, 0, 3));
                assertThat(status.deadLetters()).isEqualTo(3).isEqualTo(status.deadLettersCounted());
                assertThat(status.deadLettersByReason())
                        .isEqualTo(engine.deadLetters().byReason(1_000));
                assertThat(status.rows()).isEqualTo(1);
                assertThat(status.definitionPending()).isFalse();
                assertThat(status.waitingForSpaceSince()).isEmpty();
                assertThat(status.sources())
                        .extracting(Answer.Progress::source, Answer.Progress::records)
                        .contains(tuple("one", 3L), tuple("two", 1L));
            }
        }
    }

    @Test
    default void what_another_definition_costs_and_whether_the_journal_is_kept_is_said_or_refused_with_the_reason() {
        Pipeline other = PipelineBuilder.named(TRADES.name())
                .key("id")
                .version("v")
                .delete("deleted = true")
                .filter("not status = \"TEST\"")
                .rollup(r -> r.levels("desk").count("rows"))
                .build();
        try (Engine engine = open("change", TRADES)) {
            feed(engine, "one", List.of(trade("a", 1, "FX", "EMEA", "1")));
            if (can(engine, Capability.DEFINITION_CHANGE, () -> engine.change(other))) {
                assertThat(engine.change(TRADES)).isEqualTo(new DefinitionChange.None());
                assertThat(engine.change(other))
                        .isInstanceOfSatisfying(
                                DefinitionChange.FromRows.class,
                                change -> assertThat(change.lost()).isNotEmpty());
                assertThatThrownBy(() -> engine.change(PipelineBuilder.named("another")
                                .key("id")
                                .version("v")
                                .rollup(r -> r.count("rows"))
                                .build()))
                        .isInstanceOf(EngineException.class);
            }
            if (can(engine, Capability.JOURNAL, engine::journal)) {
                assertThat(engine.journal().isKept()).isFalse();
            }
        }
    }
}
