package dev.onefold.core.reduce;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DeltaIdTest {
    /// Deltas that wait in a table name their lane.
    @Test
    void a_key_has_the_lane_that_it_always_had() {
        assertThat(DeltaId.lane("trade-1".getBytes(StandardCharsets.UTF_8), 8)).isEqualTo(3);
    }

    @ParameterizedTest
    @CsvSource({"0, a, 0/a", "12, 0000017-ab, 12/0000017-ab", "3, a/b, 3/a/b"})
    void it_is_the_same_after_it_was_written_as_a_text(int lane, String id, String text) {
        assertThat(new DeltaId(lane, id)).hasToString(text);
        assertThat(DeltaId.parse(text)).isEqualTo(new DeltaId(lane, id));
    }
}
