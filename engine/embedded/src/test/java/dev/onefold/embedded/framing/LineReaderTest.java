package dev.onefold.embedded.framing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.fixtures.Seeds;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class LineReaderTest {
    /// A stream that gives as many bytes at once as it likes.
    private static InputStream stream(byte[] bytes, RandomGenerator random) {
        return new ByteArrayInputStream(bytes) {
            @Override
            public synchronized int read(byte[] target, int from, int length) {
                return super.read(target, from, Math.min(length, random.nextInt(1, 5_000)));
            }
        };
    }

    private static String text(LineReader.Lines lines) {
        return new String(lines.bytes(), 0, lines.length(), StandardCharsets.UTF_8);
    }

    private static List<LineReader.Lines> all(LineReader reader) throws IOException {
        List<LineReader.Lines> all = new ArrayList<>();
        for (LineReader.Lines lines = reader.next(); lines != null; lines = reader.next()) {
            all.add(lines);
        }
        return all;
    }

    @Test
    void however_a_stream_gives_its_bytes_whole_lines_come_out_and_the_hash_is_that_of_the_bytes() {
        Seeds.forAllSeeds(100, random -> {
            StringBuilder lines = new StringBuilder();
            for (int i = random.nextInt(200); i > 0; i--) {
                lines.append("x".repeat(random.nextInt(4_000))).append('\n');
            }
            byte[] whole = lines.toString().getBytes(StandardCharsets.UTF_8);
            byte[] bytes = (lines + "rest").getBytes(StandardCharsets.UTF_8);
            boolean hashing = random.nextBoolean();
            LineReader reader = hashing
                    ? LineReader.hashing(RecordEnds.LINES, stream(bytes, random), Sha256.digest(), true)
                    : LineReader.eager(RecordEnds.LINES, stream(bytes, random), true);
            try {
                List<LineReader.Lines> all = all(reader);
                assertThat(String.join(
                                "", all.stream().map(LineReaderTest::text).toList()))
                        .isEqualTo(lines.toString());
                assertThat(all).allMatch(some -> text(some).endsWith("\n"));
                assertThat(text(reader.rest())).isEqualTo("rest");
                if (hashing && !all.isEmpty()) {
                    assertThat(LineReader.copy(all.getLast().digest()).digest())
                            .isEqualTo(Sha256.digest().digest(whole));
                }
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }

    @Test
    void a_line_over_the_limit_is_its_length_and_hash_wherever_it_stands_among_the_lines() throws IOException {
        byte[] large = new byte[Limits.RECORD_BYTES_MAX + 1];
        Arrays.fill(large, (byte) 'x');
        byte[] bytes = ("a\n" + new String(large, StandardCharsets.UTF_8) + "\nb\n").getBytes(StandardCharsets.UTF_8);
        for (LineReader reader : List.of(
                LineReader.hashing(RecordEnds.LINES, new ByteArrayInputStream(bytes), Sha256.digest(), false),
                LineReader.eager(RecordEnds.LINES, new ByteArrayInputStream(bytes), false))) {
            List<LineReader.Lines> all = all(reader);
            assertThat(all).extracting(LineReader.Lines::oversized).containsExactly(-1L, (long) large.length, -1L);
            assertThat(all).extracting(LineReaderTest::text).containsExactly("a\n", "", "b\n");
            assertThat(all.get(1).oversizedHash()).isEqualTo(Sha256.digest().digest(large));
        }
    }

    private static RecordEnds csv() {
        return RecordEnds.of(PipelineBuilder.named("p")
                .csv("a", "b", "c")
                .rollup(r -> r.count("n"))
                .build());
    }

    @Test
    void a_record_of_several_lines_that_is_over_the_limit_is_never_cut_at_a_line_end_in_its_quotes()
            throws IOException {
        for (int more : List.of(-3, 2, LineReader.CHUNK_BYTES, Limits.RECORD_BYTES_MAX)) {
            byte[] bytes = ("0,a,b\n1,\"a\n2,b\n\"," + "x".repeat(Limits.RECORD_BYTES_MAX + more) + "\n3,c,d\n")
                    .getBytes(StandardCharsets.UTF_8);
            for (LineReader reader : List.of(
                    LineReader.hashing(csv(), new ByteArrayInputStream(bytes), Sha256.digest(), false),
                    LineReader.eager(csv(), new ByteArrayInputStream(bytes), true))) {
                assertThat(all(reader)).extracting(LineReaderTest::text).containsExactly("0,a,b\n");
                assertThat(reader.fault()).isNotNull();
                assertThat(reader.fault().message(1))
                        .startsWith(
                                "the record that begins in line 2 has quotes or escapes and more than 10485760 bytes: '1,");
            }
        }
    }

    @Test
    void a_quote_over_the_limit_is_never_cut_at_its_first_line_end_either() throws IOException {
        byte[] bytes = ("0,a,b\n1,\"" + "x".repeat(2 * Limits.RECORD_BYTES_MAX) + "\n2,b,c\n\",c\n3,c,d\n")
                .getBytes(StandardCharsets.UTF_8);
        LineReader reader = LineReader.hashing(csv(), new ByteArrayInputStream(bytes), Sha256.digest(), false);
        assertThat(all(reader)).extracting(LineReaderTest::text).containsExactly("0,a,b\n");
        assertThat(reader.fault()).isNotNull();
    }

    /// A pipe whose writer waits once these were read, each by one read or more.
    private static InputStream pipe(String... writes) {
        Iterator<String> next = List.of(writes).iterator();
        return new InputStream() {
            private byte[] write = new byte[0];

            @Override
            public int read() {
                throw new IllegalStateException("Bytes are read many at once");
            }

            @Override
            public int read(byte[] target, int from, int length) {
                if (write.length == 0) {
                    assertThat(next).as("the reader waits for more").hasNext();
                    write = next.next().getBytes(StandardCharsets.UTF_8);
                }
                int read = Math.min(length, write.length);
                System.arraycopy(write, 0, target, from, read);
                write = Arrays.copyOfRange(write, read, write.length);
                return read;
            }
        };
    }

    @Test
    void an_eager_reader_does_not_wait_for_the_end_of_a_record_whose_end_cannot_be_known() throws IOException {
        for (String wrong : List.of("1,\"x\" y,z\n", "1,\"a\nb\"c\n2", "1,\"" + "\n".repeat(10_001))) {
            LineReader reader = LineReader.eager(csv(), pipe("a,b,c\n", wrong), true);
            assertThat(all(reader)).extracting(LineReaderTest::text).containsExactly("a,b,c\n");
            assertThat(reader.fault()).isNotNull();
            LineReader behind =
                    LineReader.eager(csv(), pipe("a,b,c\n" + wrong.substring(0, 5), wrong.substring(5)), true);
            assertThat(all(behind)).extracting(LineReaderTest::text).containsExactly("a,b,c\n");
            assertThat(behind.fault()).isNotNull();
        }
    }

    @Test
    void an_eager_reader_hands_out_a_record_of_several_lines_as_soon_as_its_end_is_read() throws IOException {
        LineReader reader = LineReader.eager(csv(), pipe("1,\"a", "\n", "b\n", "\",c", "\n"), true);
        assertThat(text(reader.next())).isEqualTo("1,\"a\nb\n\",c\n");
        LineReader next = LineReader.eager(csv(), pipe("1,a,b\n2,\"a\n", "b\n\"\n3"), true);
        assertThat(text(next.next())).isEqualTo("1,a,b\n");
        assertThat(text(next.next())).isEqualTo("2,\"a\nb\n\"\n");
    }

    @Test
    void lines_that_are_given_back_are_overwritten_and_their_bytes_serve_lines_to_come() throws IOException {
        int count = 20 * LineReader.CHUNK_BYTES / 10;
        byte[] bytes = "123456789\n".repeat(count).getBytes(StandardCharsets.UTF_8);
        LineReader reader =
                LineReader.hashing(RecordEnds.LINES, new ByteArrayInputStream(bytes), Sha256.digest(), false);
        Set<byte[]> blocks = Collections.newSetFromMap(new IdentityHashMap<>());
        int lineCount = 0;
        for (LineReader.Lines lines = reader.next(); lines != null; lines = reader.next()) {
            assertThat(text(lines)).isEqualTo("123456789\n".repeat(lines.length() / 10));
            lineCount += lines.length() / 10;
            blocks.add(lines.bytes());
            reader.giveBack(lines);
            assertThat(text(lines)).doesNotContain("1");
        }
        assertThat(lineCount).isEqualTo(count);
        assertThat(blocks).hasSize(1);
    }

    @Test
    void lines_are_given_back_once() throws IOException {
        LineReader reader = LineReader.hashing(
                RecordEnds.LINES,
                new ByteArrayInputStream("a\n".getBytes(StandardCharsets.UTF_8)),
                Sha256.digest(),
                false);
        LineReader.Lines lines = reader.next();
        reader.giveBack(lines);
        assertThatThrownBy(() -> reader.giveBack(lines)).hasMessageContaining("given back twice");
    }

    @Test
    void a_line_of_the_limit_is_a_line_also_with_a_carriage_return() throws IOException {
        byte[] bytes = ("x".repeat(Limits.RECORD_BYTES_MAX) + "\r\n").getBytes(StandardCharsets.UTF_8);
        assertThat(all(LineReader.eager(RecordEnds.LINES, new ByteArrayInputStream(bytes), true)))
                .singleElement()
                .satisfies(lines -> assertThat(lines.length()).isEqualTo(bytes.length));
    }
}
