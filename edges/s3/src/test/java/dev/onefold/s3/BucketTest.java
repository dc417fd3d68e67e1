package dev.onefold.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.bytes.Sha256;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Reading an object that is there already.
@Timeout(60)
class BucketTest {
    private static long in(Duration time) {
        return System.nanoTime() + time.toNanos();
    }

    @Test
    void an_object_that_goes_on_coming_is_not_read_beyond_the_time_of_the_attempt() {
        InputStream endless = new InputStream() {
            @Override
            public int read() {
                return 'x';
            }

            @Override
            public int read(byte[] into, int from, int length) {
                into[from] = 'x';
                return 1;
            }
        };
        assertThatThrownBy(() -> Bucket.hash(endless, in(Duration.ofMillis(50))))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("in time");
    }

    @Test
    void an_object_that_comes_in_time_has_the_hash_of_its_bytes() throws IOException {
        byte[] bytes = new byte[200_000];
        assertThat(Bucket.hash(new ByteArrayInputStream(bytes), in(Duration.ofMinutes(1))))
                .isEqualTo(Sha256.hex(bytes));
    }
}
