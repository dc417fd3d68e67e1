package dev.onefold.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.server.Remembered.Known;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RememberedTest {
    private static final byte[] REQUEST = {1, 2, 3};
    private static final byte[] ANSWER = "{}\n".getBytes(StandardCharsets.UTF_8);

    @TempDir
    Path directory;

    private Path file;
    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));

    @BeforeEach
    void name() {
        file = directory.resolve("requests/answers");
    }

    private Remembered open() throws IOException {
        return Remembered.open(file, now::get);
    }

    private static void answer(Remembered memory, String key) {
        assertThat(memory.begin(key, REQUEST)).isEqualTo(new Known.Nothing());
        memory.end(key, REQUEST, ANSWER);
    }

    @Test
    void an_answer_is_known_for_a_day_also_by_another_process() throws IOException {
        Remembered memory = open();
        answer(memory, "k");
        for (Remembered each : new Remembered[] {memory, open()}) {
            assertThat(each.begin("k", REQUEST))
                    .isInstanceOfSatisfying(
                            Known.Same.class, same -> assertThat(same.answer()).isEqualTo(ANSWER));
            assertThat(each.begin("k", new byte[] {4})).isEqualTo(new Known.Other());
        }
        now.set(now.get().plus(Remembered.AGE_MAX).minus(Duration.ofSeconds(1)));
        assertThat(open().begin("k", REQUEST)).isInstanceOf(Known.Same.class);
        now.set(now.get().plusSeconds(1));
        assertThat(memory.begin("k", REQUEST)).isEqualTo(new Known.Nothing());
        assertThat(open().begin("k", REQUEST)).isEqualTo(new Known.Nothing());
    }

    @Test
    void only_the_owner_may_read_remembered_answers_also_those_of_before() throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, "");
        answer(open(), "k");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent())))
                .isEqualTo("rwx------");
    }

    @Test
    void a_request_under_way_is_known_and_one_that_came_to_nothing_may_come_again() throws IOException {
        Remembered memory = open();
        assertThat(memory.begin("k", REQUEST)).isEqualTo(new Known.Nothing());
        assertThat(memory.begin("k", REQUEST)).isEqualTo(new Known.UnderWay());
        memory.end("k");
        answer(memory, "k");
    }

    @Test
    void a_line_that_was_cut_off_is_left_out_and_the_others_stay() throws IOException {
        answer(open(), "a");
        answer(open(), "b");
        long whole = Files.size(file);
        answer(open(), "c");
        for (long length = Files.size(file) - 2; length >= whole; length -= 7) {
            Files.write(
                    directory.resolve("cut"),
                    java.util.Arrays.copyOf(Files.readAllBytes(file), Math.toIntExact(length)));
            Remembered memory = Remembered.open(directory.resolve("cut"), now::get);
            assertThat(memory.begin("a", REQUEST)).isInstanceOf(Known.Same.class);
            assertThat(memory.begin("b", REQUEST)).isInstanceOf(Known.Same.class);
            assertThat(memory.begin("c", REQUEST)).isEqualTo(new Known.Nothing());
        }
    }

    @Test
    void what_cannot_be_written_is_remembered_by_this_process_and_written_later() throws IOException {
        Remembered memory = open();
        answer(memory, "a");
        Files.delete(file);
        Files.createDirectory(file); // Nothing can be written there.
        Files.writeString(file.resolve("x"), "x", StandardOpenOption.CREATE);
        answer(memory, "b");
        assertThat(memory.begin("b", REQUEST)).isInstanceOf(Known.Same.class);
        assertThat(file.resolveSibling(file.getFileName() + ".next"))
                .as("it holds no space that others wait for")
                .doesNotExist();
        Files.delete(file.resolve("x"));
        Files.delete(file);
        now.set(now.get().plusSeconds(61));
        answer(memory, "c");
        for (String key : new String[] {"a", "b", "c"}) {
            assertThat(open().begin(key, REQUEST)).as(key).isInstanceOf(Known.Same.class);
        }
    }

    @Test
    void the_file_does_not_grow_for_ever() throws IOException {
        Remembered memory = open();
        for (int day = 0; day < 4; day++) {
            now.set(now.get().plus(Remembered.AGE_MAX));
            for (int i = 0; i < 1_500; i++) {
                answer(memory, day + "-" + i);
            }
        }
        assertThat(Files.readAllLines(file)).hasSizeLessThan(4_500);
    }
}
