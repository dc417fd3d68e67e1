package dev.onefold.embedded.framing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.embedded.source.LogBatch;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RecordsTest {
    private static List<String> walk(Records records) {
        List<String> walked = new ArrayList<>();
        while (records.next()) {
            walked.add(records.place() + "=" + new String(records.copy(), StandardCharsets.UTF_8));
        }
        return walked;
    }

    @Test
    void a_line_is_a_record_at_its_byte_without_its_end() {
        byte[] bytes = "a\nbc\r\n\nd".getBytes(StandardCharsets.UTF_8);
        assertThat(walk(new Records(Framing.LINES, bytes, 0, bytes.length, 100)))
                .containsExactly("100=a", "102=bc", "106=", "107=d");
        assertThat(walk(new Records(Framing.LINES, bytes, 2, bytes.length, 100)))
                .containsExactly("102=bc", "106=", "107=d");
    }

    @Test
    void a_record_with_its_length_holds_any_byte_at_the_place_that_is_stated() {
        List<LogBatch.Entry> entries = List.of(
                new LogBatch.Entry(7, "a\nb\r".getBytes(StandardCharsets.UTF_8)),
                new LogBatch.Entry(9, new byte[0]),
                new LogBatch.Entry(1L << 40, "c".getBytes(StandardCharsets.UTF_8)));
        assertThat(walk(new Records(Framing.LENGTHS, Framing.encode(entries), 0, Framing.bytes(entries), 0)))
                .containsExactly("7=a\nb\r", "9=", (1L << 40) + "=c");
    }

    @Test
    void an_edit_stands_in_the_place_of_its_record() {
        byte[] bytes = "a\nbc\nd".getBytes(StandardCharsets.UTF_8);
        Records records = new Records(Framing.LINES, bytes, 0, bytes.length, 100)
                .edited(record -> record.place() == 102 ? "edited\r".getBytes(StandardCharsets.UTF_8) : null);
        assertThat(walk(records)).containsExactly("100=a", "102=edited", "105=d");
    }
}
