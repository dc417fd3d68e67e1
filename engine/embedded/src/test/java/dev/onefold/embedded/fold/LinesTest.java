package dev.onefold.embedded.fold;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.event.RecordEnds;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class LinesTest {
    /// Two thousand million arrays would be made before the sum of their lengths is too large.
    @Test
    void more_records_than_the_heap_allows_are_refused_before_any_is_encoded() {
        List<String> records = Collections.nCopies(Integer.MAX_VALUE, "r");
        assertThatThrownBy(() -> Lines.of(RecordEnds.LINES, records, Integer.MAX_VALUE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("are more than this heap allows for one call");
    }
}
