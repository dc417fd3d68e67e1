package dev.onefold.server.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.util.Callback;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Readers of answers: one takes a piece after a while, and one takes nothing.
@Timeout(30)
class AnswerContentTest {
    private static final Duration STRETCH_MAX = Duration.ofMillis(400);
    private static final byte[] PIECE = new byte[32 << 10];

    private long taken;
    private boolean isEnded;

    /// @param pause before each piece is taken
    private Content.Sink reader(Duration pause) {
        return (isLast, bytes, callback) -> Thread.startVirtualThread(() -> {
            LockSupport.parkNanos(pause.toNanos());
            taken += bytes.remaining();
            isEnded |= isLast;
            callback.succeeded();
        });
    }

    private static void nothing(boolean isLast, ByteBuffer bytes, Callback callback) {
        // Never taken.
    }

    private static void send(OutputStream out, long bytes) throws IOException {
        for (long sent = 0; sent < bytes; sent += PIECE.length) {
            out.write(PIECE);
        }
    }

    @Test
    void a_reader_who_takes_nothing_is_cut_off() {
        AnswerContent out = new AnswerContent(AnswerContentTest::nothing, STRETCH_MAX);
        assertThatThrownBy(() -> send(out, 1)).isInstanceOf(IOException.class).hasMessageContaining("too slowly");
        assertThatThrownBy(() -> send(out, 1)).isInstanceOf(IOException.class);
    }

    @Test
    void a_reader_who_takes_a_little_now_and_then_is_cut_off_before_a_stretch_has_ended() {
        AnswerContent out = new AnswerContent(reader(Duration.ofMillis(40)), STRETCH_MAX);
        assertThatThrownBy(() -> send(out, 100L * AnswerContent.STRETCH_BYTES))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("too slowly");
        assertThat(taken).isBetween(1L, (long) AnswerContent.STRETCH_BYTES);
    }

    @Test
    void what_a_reader_took_fast_gives_it_no_more_time_for_what_follows() throws IOException {
        Content.Sink[] reader = {reader(Duration.ZERO)};
        AnswerContent out =
                new AnswerContent((isLast, bytes, callback) -> reader[0].write(isLast, bytes, callback), STRETCH_MAX);
        send(out, 20L * AnswerContent.STRETCH_BYTES);
        reader[0] = AnswerContentTest::nothing;
        assertThatThrownBy(() -> send(out, AnswerContent.STRETCH_BYTES)).hasMessageContaining("too slowly");
    }

    @Test
    void a_reader_has_its_time_again_for_each_event() throws IOException {
        AnswerContent out = new AnswerContent(reader(Duration.ofMillis(40)), STRETCH_MAX);
        for (int event = 0; event < 15; event++) {
            send(out, PIECE.length);
            out.flush();
        }
        out.close();
        out.close();
        assertThat(taken).isEqualTo(15L * PIECE.length);
        assertThat(isEnded).isTrue();
    }
}
