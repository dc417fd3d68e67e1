package dev.onefold.embedded.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.EngineException;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.batch.Members;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.embedded.batches.Batches;
import dev.onefold.embedded.guard.Space;
import dev.onefold.embedded.source.SpaceListener;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LedgerTest {
    private static final Delivery DONE = new Delivery.Done(Delivery.Tries.NONE, 5, Delivery.How.DELIVERED);
    private static final Delivery ASIDE = new Delivery.Aside(Delivery.Tries.NONE, 5, "no", false);

    @TempDir
    Path directory;

    private Ledger open() {
        Space space = new Space(() -> {}, InstantSource.system(), SpaceListener.silent());
        return new Ledger(directory, 42, space, new Batches(batching(), directory, 42), true);
    }

    private static Batching batching() {
        Reading read = PipelineText.read("{\"pipeline\":\"q\",\"input\":{\"id\":\"id\"},\"batch\":{\"size\":1,"
                + "\"deliver\":{\"http\":\"http://h/\"},\"receiver\":\"once\"}}");
        return (Batching) ((Reading.Read) read).pipeline().fold();
    }

    private static Handled handled(long number, Delivery delivery) {
        return new Handled(BatchNumber.of(number), null, delivery, "ab".repeat(32), 7, "");
    }

    @Test
    void a_batch_that_was_begun_beside_others_and_said_nothing_is_not_lost() {
        try (Ledger ledger = open()) {
            for (int i = 0; i < 3; i++) {
                ledger.begin(1);
            }
            ledger.put(handled(3, DONE));
            ledger.force();
        }
        try (Ledger ledger = open()) {
            assertThat(ledger.next()).isEqualTo(4);
            assertThat(ledger.begun().keySet()).containsExactly(BatchNumber.of(1), BatchNumber.of(2));
            assertThat(ledger.hash(3)).isEqualTo("ab".repeat(32));
        }
    }

    @Test
    void what_a_person_has_ended_is_known_when_the_log_was_rewritten() throws IOException {
        Delivery discarded = new Delivery.Done(Delivery.Tries.NONE, 5, Delivery.How.DISCARDED);
        Decision decision = new Decision(handled(1, discarded), 10, 200, 77);
        try (Ledger ledger = open()) {
            ledger.begin(1);
            ledger.put(handled(1, ASIDE));
            ledger.put(decision);
            ledger.begin(1);
            Delivery retried = new Delivery.Waiting(Delivery.Tries.NONE, 1, "x".repeat(8_000));
            for (int i = 0; i < 2_200; i++) { // More than 16 MB: so the log is rewritten.
                ledger.put(handled(2, retried));
            }
            ledger.force();
            assertThat(Files.size(directory.resolve("deliveries"))).isLessThan(100_000);
        }
        try (Ledger ledger = open()) {
            assertThat(ledger.decisions().values()).containsExactly(decision);
            assertThat(ledger.begun().keySet()).containsExactly(BatchNumber.of(2));
            assertThat(Decision.count(ledger.decisions().values()).discardedRecords())
                    .isEqualTo(10);
        }
    }

    @Test
    void a_divided_batch_has_ended_with_its_last_part() {
        try (Ledger ledger = open()) {
            ledger.begin(1);
            BatchNumber number = BatchNumber.of(1);
            Members members = Members.all(4);
            List<Members> halves = members.halves();
            Delivery waiting = new Delivery.Waiting(Delivery.Tries.NONE, 1, "");
            ledger.put(handled(
                    1,
                    new Delivery.Divided(
                            Delivery.Tries.NONE,
                            List.of(
                                    new Delivery.Part(number.part(1), halves.get(0), waiting),
                                    new Delivery.Part(number.part(2), halves.get(1), waiting)))));
            Handled first = ledger.begun().get(number.part(1));
            assertThat(first.previous()).isEqualTo("ab".repeat(32));
            ledger.put(first.with(DONE));
            assertThat(ledger.begun()).hasSize(2);
            ledger.force();
        }
        try (Ledger ledger = open()) {
            Handled second = ledger.begun().get(BatchNumber.of(1).part(2));
            assertThat(second.members()).isEqualTo(Members.all(4).halves().get(1));
            ledger.put(second.with(DONE));
            assertThat(ledger.begun()).isEmpty();
        }
    }

    @Test
    void what_a_crash_has_cut_off_is_left_out_and_what_was_durable_is_not() throws IOException {
        Path mark = directory.resolve("deliveries-mark");
        byte[] before;
        byte[] after;
        try (Ledger ledger = open()) {
            ledger.begin(1);
            ledger.put(handled(1, ASIDE));
            ledger.force();
            before = Files.readAllBytes(mark);
            ledger.begin(1);
            ledger.put(handled(2, ASIDE));
            ledger.force();
            after = Files.readAllBytes(mark);
        }
        Path file = directory.resolve("deliveries");
        byte[] whole = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(whole, whole.length - 3));
        assertThatThrownBy(this::open).isInstanceOf(EngineException.class).hasMessageContaining("were durable");
        Files.write(mark, before); // The power went before the second force.
        try (Ledger ledger = open()) {
            assertThat(ledger.begun().keySet()).containsExactly(BatchNumber.of(1));
        }
        whole[60] ^= 1; // In the first entry, behind which another one says that the log was forced.
        Files.write(file, whole);
        Files.write(mark, after);
        assertThatThrownBy(this::open).isInstanceOf(EngineException.class).hasMessageContaining("it was durable");
    }

    @Test
    void a_log_that_was_rewritten_brings_back_no_part_that_has_ended() {
        BatchNumber number = BatchNumber.of(1);
        List<Members> halves = Members.all(4).halves();
        Delivery waiting = new Delivery.Waiting(Delivery.Tries.NONE, 1, "");
        List<BatchNumber> before;
        try (Ledger ledger = open()) {
            ledger.begin(1);
            ledger.put(handled(
                    1,
                    new Delivery.Divided(
                            Delivery.Tries.NONE,
                            List.of(
                                    new Delivery.Part(number.part(1), halves.get(0), waiting),
                                    new Delivery.Part(number.part(2), halves.get(1), waiting)))));
            ledger.put(ledger.begun().get(number.part(1)).with(DONE));
            Handled second = ledger.begun().get(number.part(2));
            Delivery retried = new Delivery.Waiting(Delivery.Tries.NONE, 1, "x".repeat(8_000));
            for (int i = 0; i < 2_200; i++) { // More than 16 MB: so the log is rewritten.
                ledger.put(second.with(retried));
            }
            ledger.force();
            before = List.copyOf(ledger.begun().keySet());
        }
        try (Ledger ledger = open()) {
            assertThat(ledger.begun().keySet())
                    .containsExactlyElementsOf(before)
                    .doesNotContain(number.part(1));
        }
    }

    @Test
    void what_stands_behind_a_torn_frame_does_not_come_back_behind_a_later_one() throws IOException {
        Path mark = directory.resolve("deliveries-mark");
        byte[] before;
        try (Ledger ledger = open()) {
            before = Files.readAllBytes(mark);
            ledger.begin(1);
            ledger.begin(2);
            ledger.put(handled(1, DONE));
            ledger.put(handled(2, ASIDE));
            ledger.force();
        }
        Path log = directory.resolve("deliveries");
        byte[] torn = Files.readAllBytes(log);
        torn[32 + 16] ^= 1; // In the first payload.
        Files.write(log, torn); // The first frame is lost, the second one is whole.
        Files.write(mark, before);
        try (Ledger ledger = open()) {
            ledger.begin(1);
            ledger.put(handled(1, DONE));
            ledger.force();
        }
        try (Ledger ledger = open()) {
            assertThat(ledger.begun()).isEmpty();
        }
    }
}
