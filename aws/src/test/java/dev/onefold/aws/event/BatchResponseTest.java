package dev.onefold.aws.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class BatchResponseTest {
    private static String text(BatchResponse response) {
        return new String(response.json(), StandardCharsets.UTF_8);
    }

    @Test
    void a_batch_that_is_done_has_no_failures() {
        assertThat(text(BatchResponse.DONE)).isEqualTo("{\"batchItemFailures\":[]}");
    }

    @Test
    void failures_are_named_by_their_identifiers() {
        assertThat(text(new BatchResponse(List.of("4954", "a\"b"))))
                .isEqualTo("{\"batchItemFailures\":[{\"itemIdentifier\":\"4954\"},{\"itemIdentifier\":\"a\\\"b\"}]}");
    }

    @Test
    void a_failure_without_identifier_is_refused_because_the_service_would_take_it_for_the_whole_batch() {
        assertThatThrownBy(() -> new BatchResponse(List.of("1", ""))).isInstanceOf(IllegalArgumentException.class);
    }
}
