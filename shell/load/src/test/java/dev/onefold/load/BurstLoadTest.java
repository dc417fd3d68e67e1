package dev.onefold.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BurstLoadTest {
    @Test
    void the_answer_is_that_of_a_reader_who_keeps_the_first_message_of_each_id() throws Exception {
        BurstLoad load = new BurstLoad(20_000, 50_000, 7);
        List<String> lines = lines(load, 20_000);
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        Map<String, String> first = new HashMap<>();
        int again = 0;
        int changed = 0;
        for (String line : lines) {
            String id = line.substring(7, 43);
            String known = first.putIfAbsent(id, line);
            if (known == null) {
                digest.update((line + "\n").getBytes(StandardCharsets.US_ASCII));
                assertThat(line).contains("\"attempt\":1,");
            } else {
                again++;
                changed += known.equals(line) ? 0 : 1;
                assertThat(line.replace("\"attempt\":2", "\"attempt\":1")).isEqualTo(known);
            }
        }
        assertThat(load.distinct()).isEqualTo(first.size());
        assertThat(load.sha256()).isEqualTo(HexFormat.of().formatHex(digest.digest()));
        assertThat(again).isBetween(850, 1_150);
        assertThat(changed).isBetween(again / 3, again * 2 / 3);
    }

    @Test
    void the_messages_are_the_same_however_they_are_fetched() throws IOException {
        BurstLoad load = new BurstLoad(3_000, 100_000, 1);
        List<String> pieces = lines(load, 7);
        assertThat(pieces).isEqualTo(lines(new BurstLoad(3_000, 100_000, 1), 5_000));
        assertThat(load.remaining()).isZero();
        assertThat(load.bytes())
                .isEqualTo(pieces.stream().mapToLong(line -> line.length() + 1L).sum());
        assertThat(load.bytes() / 3_000).isBetween(295L, 305L);
    }

    @Test
    void a_burst_without_duplicates_has_none() throws IOException {
        BurstLoad load = new BurstLoad(1_000, 0, 1);
        assertThat(lines(load, 1_000)).doesNotHaveDuplicates();
        assertThat(load.distinct()).isEqualTo(1_000);
    }

    @Test
    void more_messages_than_can_be_made_are_refused() {
        assertThatThrownBy(() -> new BurstLoad(-1, 0, 1))
                .hasMessage("-1 messages are asked for; from 0 to 1,000,000,000 can be made.");
    }

    private static List<String> lines(BurstLoad load, long piece) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        while (load.write(out, piece) > 0) {
            assertThat(load.remaining()).isNotNegative();
        }
        return out.toString(StandardCharsets.US_ASCII).lines().toList();
    }
}
