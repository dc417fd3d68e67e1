package dev.onefold.api.body;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class GzipTest {
    private static final int[] BUFFERS = {1, 2, 7, 30, 1_000};

    private static byte[] packed(String text) throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        }
        return packed.toByteArray();
    }

    /// A member whose header has all that a header may have.
    private static byte[] named(String text) throws IOException {
        byte[] plain = packed(text);
        ByteArrayOutputStream named = new ByteArrayOutputStream();
        plain[3] = 0x1f; // All flags.
        named.write(plain, 0, 10);
        named.writeBytes(new byte[] {3, 0, 'e', 'x', 't'});
        named.writeBytes("name\0comment\0".getBytes(StandardCharsets.UTF_8));
        named.writeBytes(new byte[] {1, 2}); // A check of the header.
        named.write(plain, 10, plain.length - 10);
        return named.toByteArray();
    }

    private static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    /// The content; `null` if it is refused.
    private static @Nullable String read(byte[] gzip, int buffer) {
        try (InputStream in = new Gzip(new ByteArrayInputStream(gzip), buffer)) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            assertThat(in.read()).as("behind the end").isEqualTo(-1);
            return text;
        } catch (IOException refused) {
            return null;
        }
    }

    @Test
    void members_are_read_to_the_last_byte_wherever_a_buffer_ends_and_a_cut_one_is_refused() throws IOException {
        byte[] first = joined(packed(""), named("one "));
        byte[] whole = joined(first, packed("two"), named(" three"));
        for (int buffer : BUFFERS) {
            assertThat(read(whole, buffer)).isEqualTo("one two three");
            for (int end = 0; end < whole.length; end++) {
                String expected = end == packed("").length
                        ? ""
                        : end == first.length ? "one " : end == first.length + packed("two").length ? "one two" : null;
                assertThat(read(Arrays.copyOf(whole, end), buffer))
                        .as("%d of %d bytes", end, whole.length)
                        .isEqualTo(expected);
            }
        }
    }

    @Test
    void zeros_at_the_end_are_passed_over_and_nothing_else_may_stand_behind_them() throws IOException {
        byte[] members = joined(packed("one "), packed("two"));
        for (int zeros : new int[] {1, 7, 512}) {
            byte[] padded = joined(members, new byte[zeros]);
            for (int buffer : BUFFERS) {
                assertThat(read(padded, buffer)).isEqualTo("one two");
                assertThat(read(joined(padded, packed("three")), buffer)).isNull();
                assertThat(read(joined(padded, new byte[] {1}), buffer)).isNull();
            }
        }
    }

    @Test
    void a_damaged_check_and_bytes_behind_the_last_member_are_refused() throws IOException {
        byte[] good = packed("text");
        for (int buffer : BUFFERS) {
            for (int i = good.length - 8; i < good.length; i++) {
                byte[] damaged = good.clone();
                damaged[i] ^= 1;
                assertThat(read(damaged, buffer)).isNull();
            }
            assertThat(read(joined(good, new byte[] {1}), buffer)).isNull();
            assertThat(read(joined(good, "something else".getBytes(StandardCharsets.UTF_8)), buffer))
                    .isNull();
        }
    }
}
