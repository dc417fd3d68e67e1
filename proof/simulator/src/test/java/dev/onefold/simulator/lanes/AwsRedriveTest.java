package dev.onefold.simulator.lanes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.AwsBatchEngine;
import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.DeadLetters.Keys;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.event.Reason;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Dead letters of a batch pipeline on AWS are redriven through the same claim as a message that arrives.
class AwsRedriveTest {
    private final DeliveriesAtWork life = new DeliveriesAtWork("\"receiver\":\"idempotent\"");

    private <T> T letters(Function<DeadLetters, T> verb) {
        return life.in(store -> {
            BatchDefinition.openOrCreate(store, life.pipeline, DeliveriesAtWork.LANES);
            try (AwsBatchEngine engine = AwsBatchEngine.deployed(store)) {
                return verb.apply(engine.deadLetters());
            }
        });
    }

    private List<DeadLetter> list() {
        return letters(box -> box.list(0, 10));
    }

    private Redriven redrive(long id, @Nullable String edit, Keys keys) {
        return letters(box -> box.redrive(id, edit == null ? null : bytes(edit), keys));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private List<String> delivered() {
        life.passed(Duration.ofMinutes(5));
        life.cut();
        life.passed(Duration.ofSeconds(10));
        life.deliver();
        return life.lines;
    }

    @Test
    void an_edit_of_a_bad_record_is_collected_and_its_letter_goes() {
        life.collect("{\"id\":1,\"v\":", "{\"id\":2}");
        long id = list().getFirst().id();
        assertThat(redrive(id, "{\"id\":1,", Keys.SAME)).isEqualTo(Redriven.REJECTED);
        Optional<byte[]> edited = letters(box -> box.edited(id));
        assertThat(edited).hasValue(bytes("{\"id\":1,"));
        assertThat(redrive(id, "{\"id\":1,\"v\":7}", Keys.SAME)).isEqualTo(Redriven.ACCEPTED);
        assertThat(list()).isEmpty();
        assertThat(redrive(id, null, Keys.SAME)).isEqualTo(Redriven.GONE);
        life.collect("{\"id\":1,\"v\":", "{\"id\":1,\"v\":7}");
        assertThat(list()).as("the queue gives the bad record again").isEmpty();
        assertThat(delivered()).containsExactlyInAnyOrder("{\"id\":2}", "{\"id\":1,\"v\":7}");
        assertThat(life.attempts).as("both are there before the wait ends").hasSize(1);
    }

    @Test
    void a_record_that_came_meanwhile_is_a_duplicate_or_a_conflict_under_the_same_letter() {
        life.collect("{\"id\":1,", "{\"id\":2,");
        List<Long> ids = list().stream().map(DeadLetter::id).toList();
        life.collect("{\"id\":1,\"v\":1}", "{\"id\":2,\"v\":1}");
        assertThat(redrive(ids.getFirst(), "{\"id\":1,\"v\":1}", Keys.ANY)).isEqualTo(Redriven.DUPLICATE);
        assertThat(redrive(ids.getLast(), "{\"id\":2,\"v\":2}", Keys.ANY)).isEqualTo(Redriven.CONFLICTING);
        assertThat(list()).singleElement().satisfies(letter -> {
            assertThat(letter.id()).isEqualTo(ids.getLast());
            assertThat(letter.reason()).isEqualTo(Reason.CONFLICT);
        });
        life.collect("{\"id\":2,\"v\":2}");
        assertThat(list()).as("the loser is kept once").hasSize(1);
        assertThat(redrive(ids.getLast(), null, Keys.SAME)).isEqualTo(Redriven.REJECTED);
        assertThat(delivered()).containsExactlyInAnyOrder("{\"id\":1,\"v\":1}", "{\"id\":2,\"v\":1}");
    }

    @Test
    void the_loser_of_a_conflict_stays_under_its_letter_when_it_is_redriven() {
        life.collect("{\"id\":1,\"v\":1}");
        life.collect("{\"id\":1,\"v\":2}");
        DeadLetter loser = list().getFirst();
        assertThat(redrive(loser.id(), null, Keys.SAME)).isEqualTo(Redriven.CONFLICTING);
        assertThat(list()).singleElement().extracting(DeadLetter::id).isEqualTo(loser.id());
        assertThatThrownBy(() -> redrive(loser.id(), "{\"id\":2,\"v\":2}", Keys.SAME))
                .hasMessageContaining("the key '2'");
        assertThat(redrive(loser.id(), "{\"id\":2,\"v\":2}", Keys.ANY)).isEqualTo(Redriven.ACCEPTED);
        assertThat(list()).isEmpty();
        assertThat(delivered()).containsExactlyInAnyOrder("{\"id\":1,\"v\":1}", "{\"id\":2,\"v\":2}");
    }
}
