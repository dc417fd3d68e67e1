package dev.onefold.server.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SpoolTest {
    private final ByteArrayOutputStream sent = new ByteArrayOutputStream();

    private Spool spool(Spool.Memory memory) {
        return new Spool(memory, () -> sent);
    }

    @Test
    void whatever_its_size_an_answer_arrives_as_it_was_written() throws IOException {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 40; i++) {
            sent.reset();
            int length = random.nextInt(3) * (Spool.SMALL_BYTES_MAX / 2) + random.nextInt(100);
            ByteArrayOutputStream expected = new ByteArrayOutputStream();
            Spool spool = spool(new Spool.Memory(1 << 22));
            try (OutputStream out = spool) {
                while (expected.size() < length) {
                    byte[] piece = new byte[1 + random.nextInt(100_000)];
                    random.nextBytes(piece);
                    out.write(piece);
                    expected.write(piece);
                }
                boolean isSmall = expected.size() <= Spool.SMALL_BYTES_MAX;
                assertThat(spool.length().isPresent()).isEqualTo(isSmall);
                assertThat(isSmall && sent.size() > 0)
                        .as("sent before it is whole")
                        .isFalse();
            }
            assertThat(sent.toByteArray()).isEqualTo(expected.toByteArray());
        }
    }

    @Test
    void without_memory_an_answer_is_sent_as_it_is_made_and_memory_comes_back_once() throws IOException {
        Spool.Memory memory = new Spool.Memory(1);
        byte[] whole = new byte[Spool.SMALL_BYTES_MAX];
        Spool first = spool(memory);
        Spool second = spool(memory);
        first.write(whole);
        second.write(1);
        assertThat(first.length()).hasValue(whole.length);
        assertThat(second.length()).isEmpty();
        first.release();
        first.release();
        second.release();
        Spool third = spool(memory);
        third.write(whole);
        assertThat(third.length()).hasValue(whole.length);
        assertThat(spool(memory)).satisfies(fourth -> {
            fourth.write(4);
            assertThat(fourth.length()).isEmpty();
        });
    }

    @Test
    void an_answer_that_flows_leaves_the_memory_to_one_that_can_be_kept() throws IOException {
        Spool.Memory memory = new Spool.Memory(1);
        Spool flowing = spool(memory);
        flowing.write(new byte[Spool.SMALL_BYTES_MAX + 1]);
        Spool small = spool(memory);
        small.write(1);
        assertThat(small.length()).hasValue(1);
        flowing.release();
        assertThat(spool(memory)).satisfies(third -> {
            third.write(new byte[Spool.SMALL_BYTES_MAX]);
            assertThat(third.length()).isEmpty();
        });
    }

    @Test
    void large_answers_that_are_kept_leave_the_memory_of_small_ones_and_are_read_by_many() throws IOException {
        Spool.Memory memory = new Spool.Memory(64 << 20);
        byte[] large = new byte[8 << 20];
        new SplittableRandom(2).nextBytes(large);
        List<Spool> kept = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            kept.add(spool(memory));
            kept.getLast().write(large);
            assertThat(kept.getLast().length()).hasValue(large.length);
        }
        assertThat(spool(memory)).satisfies(fifth -> {
            fifth.write(large);
            assertThat(fifth.length()).as("no memory for large ones").isEmpty();
        });
        List<Spool> small = new ArrayList<>();
        for (int i = 0; i < 32; i++) {
            small.add(spool(memory));
            small.getLast().write(large, 0, Spool.SMALL_BYTES_MAX);
            assertThat(small.getLast().length()).hasValue(Spool.SMALL_BYTES_MAX);
        }
        small.forEach(Spool::release);
        for (int i = 0; i < 3; i++) {
            ByteArrayOutputStream reader = new ByteArrayOutputStream();
            kept.getFirst().writeTo(reader);
            assertThat(reader.toByteArray()).isEqualTo(large);
        }
        kept.getFirst().release();
        Spool again = spool(memory);
        again.write(large);
        assertThat(again.length()).hasValue(large.length);
    }

    @Test
    void few_answers_flow_at_a_time_and_what_is_whole_is_sent_in_any_case() throws IOException {
        Spool.Memory memory = new Spool.Memory(1 << 22);
        byte[] large = new byte[Spool.SMALL_BYTES_MAX + 1];
        List<Spool> flowing = new ArrayList<>();
        for (int i = 0; i < Spool.FLOWS_MAX; i++) {
            flowing.add(spool(memory));
            flowing.getLast().write(large);
        }
        sent.reset();
        Spool crowded = spool(memory);
        assertThatThrownBy(() -> crowded.write(large)).isInstanceOf(Spool.Crowded.class);
        assertThat(sent.size()).isZero();
        Spool small = spool(memory);
        small.write(large, 0, 10);
        small.close();
        assertThat(sent.size()).isEqualTo(10);
        flowing.getFirst().close();
        flowing.getFirst().release();
        flowing.getFirst().release();
        spool(memory).write(large);
        assertThatThrownBy(() -> spool(memory).write(large)).isInstanceOf(Spool.Crowded.class);
    }
}
