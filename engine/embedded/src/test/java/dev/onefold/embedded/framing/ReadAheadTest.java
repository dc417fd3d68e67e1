package dev.onefold.embedded.framing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class ReadAheadTest {
    /// A stream without an end, which tells which thread reads it and when more than is read ahead was read.
    private static final class Endless extends InputStream {
        private final CountDownLatch muchIsRead = new CountDownLatch(33);
        private volatile Thread reader = Thread.currentThread();

        @Override
        public int read() {
            return 'x';
        }

        @Override
        public int read(byte[] bytes, int offset, int length) {
            reader = Thread.currentThread();
            muchIsRead.countDown();
            return length;
        }
    }

    @Test
    void the_thread_that_reads_ahead_ends_when_a_stop_is_asked_for_or_the_stream_is_closed() throws Exception {
        for (boolean closes : new boolean[] {true, false}) {
            Endless endless = new Endless();
            AtomicBoolean stop = new AtomicBoolean();
            ReadAhead ahead = new ReadAhead(endless, stop::get);
            assertThat(endless.muchIsRead.await(10, TimeUnit.SECONDS)).isTrue();
            if (closes) {
                ahead.close();
            } else {
                stop.set(true);
            }
            assertThat(endless.reader.join(Duration.ofSeconds(10)))
                    .as("closes: " + closes)
                    .isTrue();
            assertThat(ahead.read()).isEqualTo(-1);
        }
    }
}
