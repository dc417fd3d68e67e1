package dev.onefold.core;

import static dev.onefold.core.Trades.TRADES;
import static dev.onefold.core.Trades.deleted;
import static dev.onefold.core.Trades.trade;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.DeadLetters.Keys;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Reason;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.event.Version;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.core.state.Row;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/// The rules for rows, and for dead letters that are edited and redriven, for every runtime.
public interface LetterContract extends EngineContract {
    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static DeadLetter only(Engine engine) {
        List<DeadLetter> letters = engine.deadLetters().list(0, 10);
        assertThat(letters).hasSize(1);
        return letters.getFirst();
    }

    @Test
    default void the_row_of_a_key_says_what_it_contributes_and_a_tombstone_is_a_row() {
        try (Engine engine = open("data", TRADES)) {
            feed(engine, "one", List.of(trade("a", 7, "d", "r", "1.5"), deleted("b", 9)));
            Row row = engine.get(List.of("a")).orElseThrow();
            assertThat(row.key()).containsExactly("a");
            assertThat(row.version()).hasToString("7");
            assertThat(row.source()).startsWith("one");
            assertThat(row.payload().kind()).isEqualTo(Event.Kind.COUNTED);
            assertThat(row.payload().groups()).containsExactly(Tuple.of(List.of("d", "r")), Tuple.of(List.of()));
            Row tombstone = engine.get(List.of("b")).orElseThrow();
            assertThat(tombstone.payload().kind()).isEqualTo(Event.Kind.DELETE);
            assertThat(tombstone.version()).hasToString("9");
            assertThat(engine.get(List.of("c"))).isEmpty();
            assertThatThrownBy(() -> engine.get(List.of("a", "b")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageEndingWith(" 1 part, not 2");
            assertThatThrownBy(() -> engine.query(Query.all("other"))).isInstanceOf(IllegalArgumentException.class);
            assertThat(EngineContract.totals(engine))
                    .as("after mistakes of the caller")
                    .isNotEmpty();
        }
    }

    @Test
    default void letters_are_listed_from_any_number() {
        try (Engine engine = open("data", TRADES)) {
            feed(engine, "one", List.of("no json"));
            for (long after : new long[] {Long.MIN_VALUE, -1, 0}) {
                assertThat(engine.deadLetters().list(after, 10))
                        .as("after %d", after)
                        .hasSize(1);
            }
            assertThat(engine.deadLetters().list(Long.MAX_VALUE, 10)).isEmpty();
        }
    }

    @Test
    default void an_edit_that_is_rejected_too_stays_beside_the_record_and_never_takes_its_place() {
        String record = trade("a", 1, "FX", "EMEA", "\"1,00\"");
        String edit = trade("a", 1, "FX", "EMEA", "\"1;00\"");
        try (Engine engine = open("edited", TRADES)) {
            feed(engine, "one", List.of(record));
            DeadLetters box = engine.deadLetters();
            DeadLetter before = only(engine);
            assertThat(box.edited(before.id())).isEmpty();
            assertThat(box.redrive(before.id(), bytes(edit))).isEqualTo(Redriven.REJECTED);
            assertThat(box.redrive(before.id(), bytes("not a record"))).isEqualTo(Redriven.REJECTED);
        }
        try (Engine engine = open("edited", TRADES)) {
            DeadLetters box = engine.deadLetters();
            DeadLetter after = only(engine);
            assertThat(after.edited()).isTrue();
            assertThat(after.reason()).isEqualTo(Reason.MALFORMED);
            assertThat(after.bytes()).isEqualTo(record.length());
            assertThat(box.record(after.id())).isEqualTo(bytes(record));
            assertThat(box.edited(after.id())).hasValue(bytes("not a record"));
            assertThat(box.redrive(after.id(), null)).isEqualTo(Redriven.REJECTED);
            assertThat(only(engine).reason()).isEqualTo(Reason.REFUSED);
            assertThat(box.edited(after.id())).hasValue(bytes("not a record"));
            assertThat(box.redrive(after.id(), bytes(trade("a", 1, "FX", "EMEA", "1"))))
                    .isEqualTo(Redriven.ACCEPTED);
            assertThat(box.size()).isZero();
            assertThat(box.edited(after.id())).isEmpty();
            assertThat(engine.counts().records())
                    .as("a redriven record is no further one")
                    .isEqualTo(1);
        }
    }

    @Test
    default void an_edit_that_is_empty_or_of_another_key_is_refused_and_changes_nothing() {
        String record = trade("a", 1, "FX", "EMEA", "\"1,00\"");
        byte[] other = bytes(trade("b", 1, "FX", "EMEA", "1"));
        try (Engine engine = open("refused", TRADES)) {
            feed(engine, "one", List.of(record));
            DeadLetters box = engine.deadLetters();
            DeadLetter before = only(engine);
            for (String empty : List.of("", " \t", "\r")) {
                assertThatThrownBy(() -> box.redrive(before.id(), bytes(empty)))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("is empty");
            }
            assertThatThrownBy(() -> box.redrive(before.id(), other))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("the key 'b', the letter's record the key 'a'");
            assertThat(only(engine)).isEqualTo(before);
            assertThat(box.redrive(before.id(), other, Keys.ANY)).isEqualTo(Redriven.ACCEPTED);
            assertThat(box.size()).isZero();
        }
    }

    @Test
    default void an_edit_of_another_id_is_refused_too() {
        Pipeline byId = PipelineBuilder.named("by-id")
                .id("id")
                .rollup(r -> r.sum("value", "value", 10, 2))
                .build();
        try (Engine engine = open("by-id", byId)) {
            feed(engine, "one", List.of("{\"id\":1,\"value\":\"x\"}"));
            long id = only(engine).id();
            assertThatThrownBy(() -> engine.deadLetters().redrive(id, bytes("{\"id\":2,\"value\":1}")))
                    .hasMessageContaining("the key '2'");
            assertThat(engine.deadLetters().redrive(id, bytes("{\"id\":1,\"value\":1}")))
                    .isEqualTo(Redriven.ACCEPTED);
        }
    }

    @Test
    default void what_is_known_of_a_loser_is_no_record_and_is_not_sent_as_one() {
        try (Engine engine = open("known", TRADES)) {
            feed(engine, "one", List.of(trade("a", 1, "d", "r", "1")));
            feed(engine, "one", List.of(trade("a", 1, "d", "r", "2")));
            DeadLetter loser = only(engine);
            assertThat(loser.content()).isEqualTo(DeadLetter.Content.SUMMARY);
            assertThat(loser.message()).startsWith("Version 1 of this key came with two contents");
            DeadLetters box = engine.deadLetters();
            assertThat(box.redrive(loser.id(), null)).isEqualTo(Redriven.NO_RECORD);
            assertThat(only(engine)).isEqualTo(loser);
            assertThatThrownBy(() -> box.redrive(loser.id(), bytes(trade("b", 2, "d", "r", "1"))))
                    .hasMessageContaining("the key 'b'");
            assertThat(box.redrive(loser.id(), bytes(trade("a", 2, "d", "r", "1"))))
                    .isEqualTo(Redriven.ACCEPTED);
            assertThat(box.size()).isZero();
        }
    }

    @Test
    default void an_edit_that_loses_a_conflict_stays_beside_the_record_and_is_kept_once() {
        String loser = trade("a", 1, "d", "r", "1");
        try (Engine engine = open("lost", TRADES)) {
            feed(engine, "one", List.of("poison", trade("a", 1, "d", "r", "2")));
            DeadLetters box = engine.deadLetters();
            long id = only(engine).id();
            assertThat(box.redrive(id, bytes(loser))).isEqualTo(Redriven.CONFLICTING);
            assertThat(only(engine).reason()).isEqualTo(Reason.CONFLICT);
            assertThat(box.record(id)).isEqualTo(bytes("poison"));
            assertThat(box.edited(id)).hasValue(bytes(loser));
            feed(engine, "one", List.of(loser));
            assertThat(only(engine).id()).isEqualTo(id);
            assertThat(engine.verify().isEqual()).isTrue();
        }
    }

    @Test
    default void a_newer_version_that_was_refused_is_found_by_its_key_until_it_is_in() {
        try (Engine engine = open("newer", TRADES)) {
            String refused = trade("a", 3, "d", "r", "\"1,00\"");
            feed(engine, "one", List.of(trade("a", 2, "d", "r", "1"), refused, "poison", trade("b", 1, "d", "r", "1")));
            DeadLetters box = engine.deadLetters();
            assertThat(box.ofKey(List.of("b"), 9)).isEmpty();
            assertThat(box.ofKey(List.of("a"), 9)).singleElement().satisfies(waiting -> {
                assertThat(waiting.version()).hasToString("3");
                assertThat(box.record(waiting.letter().id())).isEqualTo(bytes(refused));
                Row row = engine.get(List.of("a")).orElseThrow();
                assertThat(row.version()).hasToString("2");
                assertThat(row.isOlderThan(Version.parse(TRADES, "3"))).isTrue();
                assertThat(row.isOlderThan(Version.parse(TRADES, "2"))).isFalse();
            });
            long id = box.ofKey(List.of("a"), 9).getFirst().letter().id();
            assertThat(box.redrive(id, bytes(trade("a", 3, "d", "r", "1")))).isEqualTo(Redriven.ACCEPTED);
            assertThat(box.ofKey(List.of("a"), 9)).isEmpty();
            for (List<String> key : List.of(List.<String>of(), List.of("a", "b"))) {
                assertThatThrownBy(() -> box.ofKey(key, 9)).hasMessageContaining("has 1 part, not " + key.size());
                assertThatThrownBy(() -> engine.get(key)).hasMessageContaining("has 1 part, not " + key.size());
            }
            assertThat(box.ofKey(List.of(""), DeadLetters.PAGE)).isEmpty();
            for (int limit : List.of(-1, DeadLetters.PAGE + 1)) {
                assertThatThrownBy(() -> box.ofKey(List.of("a"), limit))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessage("The limit is " + limit + "; it is 0 to 1000");
            }
        }
    }

    @Test
    default void a_conflict_of_an_id_says_so() {
        Pipeline byId = PipelineBuilder.named("by-id")
                .id("id")
                .rollup(r -> r.sum("value", "value", 10, 2))
                .build();
        try (Engine engine = open("conflict", byId)) {
            feed(engine, "one", List.of("{\"id\":1,\"value\":2}", "{\"id\":1,\"value\":1}"));
            assertThat(only(engine).message()).startsWith("This id came with two contents");
        }
    }
}
