package dev.onefold.simulator.embedded;

import static dev.onefold.simulator.embedded.Trades.open;
import static dev.onefold.simulator.embedded.Trades.totals;
import static dev.onefold.simulator.embedded.Trades.trade;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.event.Reason;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.FoldReport;
import dev.onefold.fakes.disk.SimulatedDisk;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Input that no healthy producer sends. It is kept whole, and what stands around it counts.
class StrangeInputTest {
    private static final long LINE_BYTES = 1L << 30;
    private static final String GOOD = trade("good", 1, "FX", "1");

    private final SimulatedDisk disk = SimulatedDisk.empty();

    /// The record between two good ones, of which only these count; it is a dead letter, whole.
    private void requireDeadLetter(byte[] record) {
        byte[] good = (GOOD + "\n").getBytes(StandardCharsets.UTF_8);
        byte[] other = ("\n" + trade("other", 1, "FX", "1") + "\n").getBytes(StandardCharsets.UTF_8);
        byte[] lines = new byte[good.length + record.length + other.length];
        System.arraycopy(good, 0, lines, 0, good.length);
        System.arraycopy(record, 0, lines, good.length, record.length);
        System.arraycopy(other, 0, lines, good.length + record.length, other.length);
        try (EmbeddedEngine engine = open(disk)) {
            engine.append("s", 1, lines, lines.length);
        }
        try (EmbeddedEngine engine = open(disk)) {
            assertThat(totals(engine)).isEqualTo(Map.of("", "2.00 2 1.00", "FX", "2.00 2 1.00"));
            List<DeadLetter> letters = engine.deadLetters().list(0, 9);
            assertThat(letters).hasSize(1);
            assertThat(letters.getFirst().place().line()).isEqualTo(2);
            assertThat(engine.deadLetters().record(letters.getFirst().id())).isEqualTo(record);
        }
    }

    private void requireDeadLetter(String record) {
        requireDeadLetter(record.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void a_malformed_record_is_a_dead_letter() {
        requireDeadLetter("{\"id\":\"x\" \"v\":1}");
    }

    @Test
    void a_truncated_record_is_a_dead_letter() {
        requireDeadLetter(GOOD.substring(0, GOOD.length() - 5));
    }

    @Test
    void a_record_that_is_not_utf_8_is_a_dead_letter() {
        byte[] record = trade("x", 1, "?", "1").getBytes(StandardCharsets.UTF_8);
        record[new String(record, StandardCharsets.UTF_8).indexOf('?')] = (byte) 0xff;
        requireDeadLetter(record);
    }

    @Test
    void a_number_of_a_billion_digits_is_a_dead_letter_at_once() {
        requireDeadLetter(trade("x", 1, "FX", "1e999999999"));
    }

    @Test
    void what_is_not_a_number_is_a_dead_letter() {
        requireDeadLetter(trade("x", 1, "FX", "NaN"));
    }

    @Test
    void a_field_that_comes_twice_is_a_dead_letter() {
        requireDeadLetter("{\"id\":\"x\",\"v\":1,\"desk\":\"FX\",\"value\":1,\"value\":2}");
    }

    @Test
    void a_deeply_nested_record_is_a_dead_letter() {
        requireDeadLetter("{\"id\":\"x\",\"v\":1,\"desk\":\"FX\",\"value\":1,\"deep\":" + "[".repeat(100_000)
                + "]".repeat(100_000) + "}");
    }

    @Test
    void an_empty_line_is_a_dead_letter() {
        requireDeadLetter("");
    }

    @Test
    void empty_input_is_folded_and_nothing_comes_of_it() {
        try (EmbeddedEngine engine = open(disk)) {
            assertThat(Trades.fold(engine, Trades.file("empty", ""))).isEqualTo(new FoldReport.Folded(0, 0));
            assertThat(totals(engine)).isEqualTo(Map.of("", "0.00 0 -"));
            assertThat(engine.deadLetters().size()).isZero();
        }
    }

    @Test
    @Tag("campaign")
    void a_line_of_a_gigabyte_is_kept_by_place_length_and_hash() throws Exception {
        byte[] before = (GOOD + "\n").getBytes(StandardCharsets.UTF_8);
        byte[] after = ("\n" + trade("other", 1, "FX", "1") + "\n").getBytes(StandardCharsets.UTF_8);
        FileSource huge = new FileSource("huge", () -> new Line(before, after), false);
        MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
        byte[] block = new byte[1 << 20];
        Arrays.fill(block, (byte) 'x');
        for (long done = 0; done < LINE_BYTES; done += block.length) {
            sha256.update(block);
        }
        try (EmbeddedEngine engine = open(disk)) {
            engine.fold(huge, FoldListener.silent());
            assertThat(totals(engine)).isEqualTo(Map.of("", "2.00 2 1.00", "FX", "2.00 2 1.00"));
            DeadLetter letter = engine.deadLetters().list(0, 9).getFirst();
            assertThat(letter.reason()).isEqualTo(Reason.TOO_LARGE);
            assertThat(letter.kept()).isFalse();
            assertThat(letter.bytes()).isEqualTo(LINE_BYTES);
            assertThat(letter.place().line()).isEqualTo(2);
            assertThat(letter.place().offset()).isEqualTo(before.length);
            assertThat(letter.sha256()).isEqualTo(HexFormat.of().formatHex(sha256.digest()));
        }
    }

    /// Some bytes, a gigabyte of one letter, some bytes; never in memory.
    private static final class Line extends InputStream {
        private final byte[] before;
        private final byte[] after;
        private long at;

        Line(byte[] before, byte[] after) {
            this.before = before;
            this.after = after;
        }

        @Override
        public int read() {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0];
        }

        @Override
        public int read(byte[] target, int from, int length) {
            long end = before.length + LINE_BYTES;
            int count;
            if (at < before.length) {
                count = (int) Math.min(length, before.length - at);
                System.arraycopy(before, (int) at, target, from, count);
            } else if (at < end) {
                count = (int) Math.min(length, end - at);
                Arrays.fill(target, from, from + count, (byte) 'x');
            } else {
                count = (int) Math.min(length, end + after.length - at);
                System.arraycopy(after, (int) (at - end), target, from, count);
            }
            at += count;
            return count == 0 && length > 0 ? -1 : count;
        }
    }
}
