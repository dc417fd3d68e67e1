package dev.onefold.embedded.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.ZstdOutputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Files of several members or frames, as `cat a.gz b.gz` and loggers make them: whole, or refused.
class DecompressionTest {
    @TempDir
    Path directory;

    private static final List<String> ENDINGS = List.of(".gz", ".zst");

    private static byte[] lines(int count, long seed) {
        Random random = new Random(seed);
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < count; i++) {
            lines.append("{\"k\":").append(random.nextLong()).append("}\n");
        }
        return lines.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] packed(String ending, byte[] plain) throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (OutputStream out = ending.equals(".gz") ? new GZIPOutputStream(packed) : zstd(packed)) {
            out.write(plain);
        }
        return packed.toByteArray();
    }

    private static ZstdOutputStream zstd(OutputStream packed) throws IOException {
        return new ZstdOutputStream(packed).setChecksum(true);
    }

    private static byte[] joined(byte[] one, byte[] other) {
        byte[] both = Arrays.copyOf(one, one.length + other.length);
        System.arraycopy(other, 0, both, one.length, other.length);
        return both;
    }

    /// The content; `null` if the file is refused.
    private static byte @Nullable [] read(String ending, byte[] file) {
        try (InputStream in = Decompression.open(Path.of("x" + ending), new ByteArrayInputStream(file))) {
            return in.readAllBytes();
        } catch (IOException refused) {
            return null;
        }
    }

    @Test
    void a_file_of_two_members_that_is_cut_anywhere_in_the_second_one_is_refused() throws IOException {
        for (String ending : ENDINGS) {
            for (int count : new int[] {1, 20, 30_000}) {
                byte[] first = packed(ending, lines(count, 1));
                byte[] whole = joined(first, packed(ending, lines(count, 2)));
                assertThat(read(ending, whole)).isEqualTo(joined(lines(count, 1), lines(count, 2)));
                assertThat(read(ending, first)).isEqualTo(lines(count, 1));
                int step = 1 + (whole.length - first.length) / 200;
                for (int end = first.length + 1; end < whole.length; end += end < first.length + 40 ? 1 : step) {
                    assertThat(read(ending, Arrays.copyOf(whole, end)))
                            .as("%s of %d lines, cut at %d of %d", ending, count, end, whole.length)
                            .isNull();
                }
                assertThat(read(ending, Arrays.copyOf(whole, whole.length - 1))).isNull();
            }
        }
    }

    @Test
    void a_flipped_bit_in_the_second_of_two_members_leaves_the_content_or_is_refused() throws IOException {
        for (String ending : ENDINGS) {
            byte[] first = packed(ending, lines(9, 1));
            byte[] whole = joined(first, packed(ending, lines(9, 2)));
            for (int bit = 8 * first.length; bit < 8 * whole.length; bit++) {
                byte[] flipped = whole.clone();
                flipped[bit / 8] ^= (byte) (1 << bit % 8);
                byte[] content = read(ending, flipped);
                assertThat(content == null || Arrays.equals(content, joined(lines(9, 1), lines(9, 2))))
                        .as("%s with bit %d of byte %d", ending, bit % 8, bit / 8)
                        .isTrue();
            }
        }
    }

    @Test
    void any_number_of_empty_members_is_read() throws IOException {
        byte[] empty = packed(".gz", new byte[0]);
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        file.writeBytes(packed(".gz", lines(2, 1)));
        for (int i = 0; i < 100_000; i++) {
            file.writeBytes(empty);
        }
        file.writeBytes(packed(".gz", lines(2, 2)));
        assertThat(read(".gz", file.toByteArray())).isEqualTo(joined(lines(2, 1), lines(2, 2)));
        assertThat(read(".gz", Arrays.copyOf(file.toByteArray(), file.size() - 1)))
                .isNull();
    }

    @Test
    void bytes_behind_the_last_member_are_refused() throws IOException {
        for (String ending : ENDINGS) {
            for (String behind : List.of("x", "garbage", "no member begins like this")) {
                assertThat(read(ending, joined(packed(ending, lines(3, 3)), behind.getBytes(StandardCharsets.UTF_8))))
                        .as("%s with '%s' behind", ending, behind)
                        .isNull();
            }
        }
    }

    @Test
    void a_window_over_the_limit_is_named_with_the_way_out() throws IOException {
        byte exponent = 21; // Of 2 GiB, above the least one of 1 KiB (RFC 8878, 3.1.1.1.2).
        byte[] frame = {0x28, (byte) 0xb5, 0x2f, (byte) 0xfd, 0, (byte) (exponent << 3), 1, 0, 0};
        Path file = Files.write(directory.resolve("x.zst"), frame);
        assertThatThrownBy(() -> {
                    try (InputStream in = Decompression.open(file, new AtomicLong())) {
                        in.readAllBytes();
                    }
                })
                .isInstanceOfSatisfying(
                        IOException.class,
                        e -> assertThat(Decompression.reason(file.toString(), e))
                                .contains("128 MiB", "zstd -dc --long=31"));
    }
}
