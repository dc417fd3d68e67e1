package dev.onefold.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.SealedBatches.Line;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.event.Reason;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/// The contract of batches, for every runtime.
public interface BatchContract {
    /// Opens a pipeline's engine with nothing in it.
    ///
    /// @param receiver gets each attempt with its records
    Running open(Pipeline pipeline, BiFunction<Manifest, List<String>, Outcome> receiver);

    /// An engine with a clock of its own.
    interface Running extends AutoCloseable {
        Engine engine();

        /// Feeds records; when it returns, they are collected.
        void feed(List<String> records);

        /// Lets time pass, in which all is done that becomes due.
        void passed(Duration time);

        @Override
        void close();
    }

    /// The batches that a receiver got, and its answers.
    final class Taken {
        final List<Manifest> manifests = new ArrayList<>();
        final List<String> in = new ArrayList<>();
        private final List<Outcome> answers = new ArrayList<>();

        /// Answers by these first, and takes everything afterwards.
        Taken(Outcome... answers) {
            Collections.addAll(this.answers, answers);
        }

        Outcome take(Manifest manifest, List<String> records) {
            assertThat(records).hasSize((int) manifest.records());
            manifests.add(manifest);
            Outcome answer = answers.isEmpty() ? new Outcome.Done() : answers.removeFirst();
            switch (answer) {
                case Outcome.Done _ -> in.addAll(records);
                case Outcome.Partial(var failed) -> {
                    List<String> good = new ArrayList<>(records);
                    failed.stream()
                            .map(Outcome.Failed::record)
                            .sorted(Collections.reverseOrder())
                            .forEach(place -> good.remove((int) place));
                    in.addAll(good);
                }
                case Outcome.NotNow _, Outcome.Unknown _, Outcome.Refused _, Outcome.Conflict _ -> {}
            }
            return answer;
        }

        private List<String> ids() {
            return manifests.stream().map(Manifest::id).toList();
        }
    }

    private static Pipeline pipeline(String receiver, String more) {
        String text = "{\"pipeline\":\"orders\",\"input\":{\"format\":\"json\",\"id\":\"id\"},\"batch\":{\"size\":5,"
                + "\"wait\":\"5m\",\"deliver\":{\"http\":\"http://host/x\"},\"receiver\":\"" + receiver + "\""
                + ",\"retry\":{\"delays\":[\"1m\"],\"for\":\"1d\"}" + more + "}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var read) -> read;
            case Reading.Refused(var problems) -> throw new IllegalArgumentException(problems.toString());
        };
    }

    private static List<String> records(int from, int to) {
        return IntStream.range(from, to).mapToObj(id -> "{\"id\":" + id + "}").toList();
    }

    private static List<String> states(Running running) {
        return running.engine().batches().list(BatchNumber.of(1), 100, true).stream()
                .map(Line::state)
                .toList();
    }

    @Test
    default void a_burst_makes_as_few_batches_as_can_be_and_each_record_is_in_one_of_them() {
        for (int distinct : List.of(1, 5, 6, 23)) {
            Taken taken = new Taken();
            try (Running running = open(pipeline("idempotent", ""), taken::take)) {
                List<String> burst = new ArrayList<>(records(0, distinct));
                burst.addAll(records(0, (distinct + 1) / 2));
                Collections.shuffle(burst, new Random(distinct));
                running.feed(burst);
                running.feed(burst);
                running.passed(Duration.ofMinutes(10));
                assertThat(taken.in).containsExactlyInAnyOrderElementsOf(records(0, distinct));
                assertThat(taken.manifests).hasSize(Math.ceilDiv(distinct, 5));
                running.feed(burst);
                running.passed(Duration.ofMinutes(10));
                assertThat(taken.manifests).hasSize(Math.ceilDiv(distinct, 5));
                assertThat(running.engine().batches().summary().isQuiet()).isTrue();
            }
        }
    }

    @Test
    default void numbers_are_dense_and_each_batch_names_the_one_before() {
        Taken taken = new Taken();
        try (Running running = open(pipeline("idempotent", ",\"order\":\"strict\""), taken::take)) {
            for (int i = 0; i < 6; i++) {
                running.feed(records(i * 4, i * 4 + 4));
                running.passed(Duration.ofMinutes(2));
            }
            running.passed(Duration.ofMinutes(10));
            assertThat(taken.manifests)
                    .extracting(manifest -> manifest.number().number())
                    .containsExactlyElementsOf(LongStream.rangeClosed(1, taken.manifests.size())
                            .boxed()
                            .toList());
            String previous = "";
            for (Manifest manifest : taken.manifests) {
                assertThat(manifest.previous()).isEqualTo(previous);
                previous = manifest.sha256();
            }
            assertThat(taken.in).containsExactlyInAnyOrderElementsOf(records(0, 24));
        }
    }

    @Test
    default void a_batch_is_sealed_when_its_wait_has_passed_and_no_record_comes() {
        Taken taken = new Taken();
        try (Running running = open(pipeline("idempotent", ""), taken::take)) {
            running.feed(records(0, 3));
            running.passed(Duration.ofMinutes(4));
            assertThat(taken.manifests).isEmpty();
            assertThat(running.engine().batches().summary().openRecords()).isEqualTo(3);
            running.passed(Duration.ofMinutes(3));
            assertThat(taken.in).containsExactlyInAnyOrderElementsOf(records(0, 3));
            running.feed(records(3, 4));
            assertThat(running.engine().batches().seal()).isTrue();
            assertThat(running.engine().batches().seal()).as("nothing is left").isFalse();
            running.passed(Duration.ofMinutes(1));
            assertThat(taken.in).containsExactlyInAnyOrderElementsOf(records(0, 4));
        }
    }

    @Test
    default void a_batch_whose_answer_is_lost_comes_again_under_the_same_id_with_the_same_content() {
        Taken taken = new Taken(new Outcome.Unknown("no answer"), new Outcome.NotNow("busy", null));
        try (Running running = open(pipeline("idempotent", ""), taken::take)) {
            running.feed(records(0, 5));
            running.passed(Duration.ofMinutes(10));
            assertThat(taken.ids()).containsExactly("orders-000001", "orders-000001", "orders-000001");
            assertThat(taken.manifests).containsOnly(taken.manifests.getFirst());
        }
    }

    @Test
    default void a_batch_that_waits_for_its_next_try_is_tried_at_once_when_a_person_releases_it() {
        Taken taken = new Taken(new Outcome.NotNow("closed", Duration.ofHours(20)));
        try (Running running = open(pipeline("once", ""), taken::take)) {
            running.feed(records(0, 5));
            running.passed(Duration.ofMinutes(5));
            assertThat(taken.ids()).containsExactly("orders-000001");
            Line line = running.engine().batches().release(BatchNumber.of(1));
            assertThat(line.state()).isEqualTo("waiting");
            assertThat(line.reason()).as("why it waited").isEqualTo("closed");
            assertThat(line.attempts()).isEqualTo(1);
            running.passed(Duration.ofMinutes(5));
            assertThat(taken.ids()).containsExactly("orders-000001", "orders-000001");
            assertThat(states(running)).isEmpty();
        }
    }

    @Test
    default void hazard_74_a_once_receiver_without_an_answer_is_in_doubt_until_a_person_decides() {
        Taken taken = new Taken(new Outcome.Unknown("no answer"));
        try (Running running = open(pipeline("once", ""), taken::take)) {
            running.feed(records(0, 5));
            running.passed(Duration.ofHours(2));
            assertThat(taken.manifests).hasSize(1);
            assertThat(states(running)).containsExactly("in doubt");
            assertThat(running.engine().batches().summary().inDoubt()).isOne();
            running.engine().batches().release(BatchNumber.of(1));
            running.passed(Duration.ofMinutes(5));
            assertThat(taken.ids()).containsExactly("orders-000001", "orders-000001");
            assertThat(states(running)).isEmpty();
            assertThatThrownBy(() -> running.engine().batches().release(BatchNumber.of(1)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    default void a_batch_that_is_refused_is_put_aside_and_holds_up_others_only_in_strict_order() {
        for (String order : List.of("any", "strict")) {
            Taken taken = new Taken(new Outcome.Refused("never"));
            try (Running running = open(pipeline("idempotent", ",\"order\":\"" + order + "\""), taken::take)) {
                running.feed(records(0, 5));
                running.passed(Duration.ofMinutes(2));
                running.feed(records(5, 10));
                running.passed(Duration.ofMinutes(10));
                boolean isStrict = order.equals("strict");
                assertThat(taken.in).hasSize(isStrict ? 0 : 5);
                SealedBatches batches = running.engine().batches();
                assertThat(batches.summary().heldUpBy()).isEqualTo(isStrict ? BatchNumber.of(1) : null);
                Line aside = batches.find(BatchNumber.of(1)).orElseThrow();
                assertThat(aside.state()).isEqualTo("put aside");
                assertThat(aside.reason()).isEqualTo("never");
                batches.settle(BatchNumber.of(1), Delivery.How.DISCARDED);
                running.passed(Duration.ofMinutes(10));
                assertThat(taken.in).containsExactlyInAnyOrderElementsOf(records(5, 10));
                assertThat(batches.summary().decided()).isEqualTo(new SealedBatches.Decided(0, 1, 5));
                assertThat(batches.find(BatchNumber.of(1)).orElseThrow().state())
                        .isEqualTo("discarded");
            }
        }
    }

    @Test
    default void records_that_failed_alone_are_delivered_again_alone() {
        Taken taken =
                new Taken(new Outcome.Partial(List.of(new Outcome.Failed(1, "full"), new Outcome.Failed(3, "full"))));
        try (Running running = open(pipeline("idempotent", ""), taken::take)) {
            running.feed(records(0, 5));
            running.passed(Duration.ofMinutes(10));
            assertThat(taken.ids()).containsExactly("orders-000001", "orders-000001.1");
            assertThat(taken.manifests.getLast().of())
                    .isEqualTo(taken.manifests.getFirst().sha256());
            assertThat(taken.in).containsExactlyInAnyOrderElementsOf(records(0, 5));
            assertThat(running.engine().batches().summary().undelivered()).isZero();
        }
    }

    @Test
    default void hazard_46_a_poison_record_is_put_aside_alone() {
        Taken taken = new Taken();
        BiFunction<Manifest, List<String>, Outcome> poisoned = (manifest, records) ->
                records.contains("{\"id\":3}") ? new Outcome.Refused("poison") : taken.take(manifest, records);
        try (Running running = open(pipeline("idempotent", ",\"bisect\":true"), poisoned)) {
            running.feed(records(0, 5));
            running.passed(Duration.ofMinutes(10));
            assertThat(taken.in).hasSize(4).doesNotContain("{\"id\":3}");
            assertThat(running.engine().batches().list(BatchNumber.of(1), 9, true).stream()
                            .filter(line -> line.state().equals("put aside")))
                    .singleElement()
                    .extracting(Line::records)
                    .isEqualTo(1);
        }
    }

    @Test
    default void a_bad_record_is_a_letter_that_can_be_redriven_and_a_second_content_is_a_conflict() {
        Taken taken = new Taken();
        try (Running running = open(pipeline("idempotent", ""), taken::take)) {
            running.feed(List.of("{\"id\":1}", "{\"id\":2,", "{\"id\":1,\"v\":2}"));
            DeadLetters letters = running.engine().deadLetters();
            assertThat(letters.list(0, 10))
                    .extracting(DeadLetter::reason)
                    .containsExactlyInAnyOrder(Reason.MALFORMED, Reason.CONFLICT);
            long bad = letters.list(0, 10).stream()
                    .filter(letter -> letter.reason() == Reason.MALFORMED)
                    .findFirst()
                    .orElseThrow()
                    .id();
            assertThat(letters.redrive(bad, "{\"id\":2}".getBytes(StandardCharsets.UTF_8)))
                    .isEqualTo(Redriven.ACCEPTED);
            assertThat(letters.redrive(bad, null)).isEqualTo(Redriven.GONE);
            running.passed(Duration.ofMinutes(10));
            assertThat(taken.in).containsExactlyInAnyOrder("{\"id\":1}", "{\"id\":2}");
            assertThat(taken.manifests).hasSize(1);
            DeadLetter conflict = letters.list(0, 10).getFirst();
            assertThat(letters.redrive(conflict.id(), null)).isEqualTo(Redriven.CONFLICTING);
            assertThat(letters.list(0, 10))
                    .singleElement()
                    .extracting(DeadLetter::id)
                    .isEqualTo(conflict.id());
        }
    }
}
