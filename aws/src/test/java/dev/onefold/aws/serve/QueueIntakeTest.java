package dev.onefold.aws.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.Connection;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class QueueIntakeTest {
    private static final Pipeline PIPELINE = ((Reading.Read)
                    PipelineText.read("{\"pipeline\":\"orders\",\"input\":{\"id\":\"id\"},\"batch\":{\"size\":10,"
                            + "\"wait\":\"1h\",\"deliver\":{\"file\":\"out/{number}.ndjson\"}}}"))
            .pipeline();

    private final Sends queue = new Sends();

    private Intake.Outcome put(String address, List<String> lines, Duration most) {
        return new QueueIntake(() -> queue, address, Connection.THREADS, new SecureRandom()).put(PIPELINE, lines, most);
    }

    private Intake.Outcome put(List<String> lines) {
        return put(Sends.URL, lines, Duration.ofSeconds(20));
    }

    private static List<String> lines(int count) {
        return IntStream.rangeClosed(1, count)
                .mapToObj(i -> "{\"id\":" + i + "}")
                .toList();
    }

    @Test
    void each_line_is_one_message_and_large_ones_go_in_requests_of_their_own() {
        List<String> lines = new ArrayList<>(lines(1_234));
        for (int i = 0; i < 5; i++) {
            lines.add(100 * i, "{\"id\":\"large" + i + "\",\"x\":\"" + "a".repeat(700_000) + "\"}");
        }
        Intake.Outcome outcome = put(lines);
        assertThat(outcome.put()).isEqualTo(lines.size());
        assertThat(outcome.notPut()).isEmpty();
        assertThat(queue.taken).containsExactlyInAnyOrderElementsOf(lines);
    }

    @Test
    void a_queue_that_is_known_by_its_name_is_found() {
        Intake.Outcome outcome = put("arn:aws:sqs:eu-central-1:1:orders", lines(3), Duration.ofSeconds(20));
        assertThat(outcome.put()).isEqualTo(3);
    }

    @Test
    void the_address_of_a_queue_is_asked_for_once_and_not_with_each_ten_lines() {
        QueueIntake intake = new QueueIntake(
                () -> queue, "arn:aws:sqs:eu-central-1:1:orders", Connection.THREADS, new SecureRandom());
        for (int i = 0; i < 3; i++) {
            assertThat(intake.put(PIPELINE, lines(300), Duration.ofSeconds(20)).put())
                    .isEqualTo(300);
        }
        assertThat(queue.addresses).hasValue(1);
    }

    @Test
    void a_queue_that_slows_its_senders_down_or_may_not_use_its_key_refuses_no_line_for_ever() {
        queue.isSendersFault = true;
        queue.refusedWord = "{\"id\":7}";
        for (String code : List.of("RequestThrottled", "KMS.ThrottlingException", "KMS.AccessDeniedException")) {
            queue.code = code;
            Intake.Outcome outcome = put(Sends.URL, lines(10), Duration.ofMillis(200));
            assertThat(outcome.refused()).as(code).isEmpty();
            assertThat(outcome.notPut()).as(code).containsExactly(7L);
        }
    }

    @Test
    void a_line_that_the_queue_itself_finds_wrong_is_refused() {
        queue.isSendersFault = true;
        queue.refusedWord = "{\"id\":7}";
        for (String code : List.of(
                "InvalidMessageContents", "AWS.SimpleQueueService.InvalidMessageContents", "InvalidParameterValue")) {
            queue.code = code;
            Intake.Outcome outcome = put(lines(10));
            assertThat(outcome.refused()).as(code).containsExactly(7L);
            assertThat(outcome.notPut()).as(code).isEmpty();
        }
    }

    @Test
    void nothing_is_sent_where_there_is_nothing() {
        assertThat(put(List.of()).put()).isZero();
    }

    @Test
    void what_the_queue_does_not_take_in_time_is_named_and_all_else_is_in() {
        queue.refusedWord = "{\"id\":7}";
        Intake.Outcome outcome = put(Sends.URL, lines(300), Duration.ofMillis(300));
        assertThat(outcome.notPut()).contains(7L);
        assertThat(outcome.failure()).hasMessageContaining("in time");
        assertThat(outcome.put() + outcome.notPut().size()).isEqualTo(300);
        assertThat(queue.taken).hasSize((int) outcome.put()).doesNotContain("{\"id\":7}");
    }

    @Test
    void lines_of_a_request_that_nobody_answered_are_not_known_to_be_in() {
        queue.isLostOnce = true;
        Intake.Outcome outcome = put(lines(10));
        assertThat(outcome.put()).isZero();
        assertThat(outcome.notPut()).hasSize(10);
        assertThat(outcome.failure()).hasMessageContaining("503");
        assertThat(put(lines(10)).put()).isEqualTo(10);
        assertThat(queue.taken).hasSize(20); // Twice: each counts once by its identity.
    }

    @Test
    void what_no_message_can_be_is_named_and_nothing_else_waits_for_it() {
        List<String> lines = List.of("{\"id\":1}", "", "\u0001", "\uffff", "\ud83d\ude00\t", "a".repeat((1 << 20) + 1));
        Intake.Outcome outcome = put(lines);
        assertThat(outcome.refused()).containsExactly(2L, 3L, 4L, 6L);
        assertThat(outcome.put()).isEqualTo(2);
        assertThat(outcome.notPut()).isEmpty();
    }
}
