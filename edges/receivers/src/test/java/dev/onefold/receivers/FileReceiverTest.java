package dev.onefold.receivers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.EngineException;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.pipeline.Batching.Destination;
import dev.onefold.core.pipeline.Batching.Kind;
import dev.onefold.fixtures.Seeds;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileReceiverTest {
    private static final Destination OUT =
            Sample.destination(Kind.FILE, List.of("out/quakes-{number}.ndjson"), Map.of("manifest", "true"));
    private static final String CONTENT = "{\"id\":1}\n{\"id\":2}\n";
    private static final Handover BATCH = Sample.handover(42, CONTENT);

    @TempDir
    private Path folder;

    private Path out() throws IOException {
        return Files.createDirectories(folder.resolve("out"));
    }

    private Outcome deliver(Handover handover) throws InterruptedException {
        try (Receiver receiver = Sample.open(OUT, folder, Map.of())) {
            return receiver.deliver(handover);
        }
    }

    private static List<String> names(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private void assertDelivered() throws IOException {
        assertThat(names(out())).containsExactly("quakes-000042.json", "quakes-000042.ndjson");
        assertThat(out().resolve("quakes-000042.ndjson")).hasContent(CONTENT);
        assertThat(Manifest.read(Files.readString(out().resolve("quakes-000042.json"))))
                .contains(BATCH.manifest().in("quakes-000042.ndjson"));
    }

    @Test
    void a_batch_becomes_a_file_and_a_manifest_beside_it() throws Exception {
        out();
        assertThat(deliver(BATCH)).isEqualTo(new Outcome.Done());
        assertDelivered();
    }

    @Test
    void a_batch_that_is_there_already_is_done() throws Exception {
        out();
        deliver(BATCH);
        assertThat(deliver(BATCH)).isEqualTo(new Outcome.Done());
        assertDelivered();
    }

    @Test
    void another_content_under_the_name_is_a_conflict_and_stays() throws Exception {
        for (String other : List.of("", CONTENT + "\n", CONTENT.replace('1', '3'))) {
            Files.writeString(out().resolve("quakes-000042.ndjson"), other);
            assertThat(deliver(BATCH)).isInstanceOf(Outcome.Conflict.class);
            assertThat(names(out())).containsExactly("quakes-000042.ndjson");
            assertThat(out().resolve("quakes-000042.ndjson")).hasContent(other);
        }
    }

    @Test
    void another_manifest_under_the_name_is_a_conflict_and_stays() throws Exception {
        Files.writeString(out().resolve("quakes-000042.json"), "{}");
        assertThat(deliver(BATCH)).isInstanceOf(Outcome.Conflict.class);
        assertThat(out().resolve("quakes-000042.json")).hasContent("{}");
    }

    @Test
    void an_attempt_completes_what_a_crash_left_after_any_step() throws Exception {
        Path part = out().resolve(".quakes-000042.ndjson.0123456789abcdef.part");
        Path file = out().resolve("quakes-000042.ndjson");
        Files.writeString(part, "half"); // Written in part.
        assertThat(deliver(BATCH)).isEqualTo(new Outcome.Done());
        assertDelivered();

        Files.delete(file);
        Files.delete(out().resolve("quakes-000042.json"));
        Files.writeString(part, CONTENT); // Written whole.
        assertThat(deliver(BATCH)).isEqualTo(new Outcome.Done());
        assertDelivered();

        Files.delete(out().resolve("quakes-000042.json"));
        Files.createLink(part, file); // Linked, and the part not deleted.
        assertThat(deliver(BATCH)).isEqualTo(new Outcome.Done());
        assertDelivered();

        Files.delete(out().resolve("quakes-000042.json"));
        Files.writeString(
                out().resolve(".quakes-000042.json.0123456789abcdef.part"), "{"); // The manifest written in part.
        assertThat(deliver(BATCH)).isEqualTo(new Outcome.Done());
        assertDelivered();
    }

    @Test
    void of_two_processes_that_make_one_name_neither_publishes_what_the_other_has_half_written() throws Exception {
        out();
        String other = CONTENT.repeat(20_000);
        byte[] bytes = other.getBytes(StandardCharsets.UTF_8);
        List<Path> linkOfFirst = new ArrayList<>();
        List<Outcome> second = new ArrayList<>();
        Handover slow = new Handover(Sample.handover(42, other).manifest(), 1, () -> new ByteArrayInputStream(bytes) {
            @Override
            public synchronized int read(byte[] buffer, int offset, int length) {
                if (available() < bytes.length / 2 && Files.notExists(linkOfFirst.getFirst())) {
                    link(linkOfFirst.getFirst(), linkOfFirst.getLast());
                }
                return super.read(buffer, offset, length);
            }
        });
        NewFile.Link interrupted = (name, file) -> {
            if (linkOfFirst.isEmpty()) {
                linkOfFirst.addAll(List.of(name, file));
                try {
                    second.add(new FileReceiver(OUT, folder).deliver(slow));
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            } else {
                Files.createLink(name, file);
            }
        };
        assertThat(new FileReceiver(OUT, folder, interrupted).deliver(BATCH)).isEqualTo(new Outcome.Done());
        assertDelivered();
        assertThat(second).first().isInstanceOf(Outcome.Conflict.class);
    }

    private static void link(Path name, Path file) {
        try {
            Files.createLink(name, file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void a_link_that_waits_under_the_name_of_the_part_is_not_followed() throws Exception {
        Path victim = Files.writeString(folder.resolve("victim"), "precious");
        Files.createSymbolicLink(out().resolve(".quakes-000042.ndjson.0123456789abcdef.part"), victim);
        assertThat(deliver(BATCH)).isEqualTo(new Outcome.Done());
        assertThat(victim).hasContent("precious");
        Files.delete(out().resolve(".quakes-000042.ndjson.0123456789abcdef.part"));
        assertDelivered();
    }

    @Test
    void without_a_folder_nothing_happens_now() throws Exception {
        assertThat(deliver(BATCH))
                .isEqualTo(new Outcome.NotNow(
                        "There is no folder " + folder.resolve("out")
                                + ". Create it, or correct the path of the receiver",
                        null));
    }

    @Test
    void a_failure_after_the_content_has_its_name_is_unknown_and_the_next_attempt_looks() throws Exception {
        NewFile.Link answerIsLost = (name, file) -> {
            Files.createLink(name, file);
            throw new IOException("Stale file handle");
        };
        NewFile.Link manifestFails = (name, file) -> {
            if (name.toString().endsWith(".json")) {
                throw new IOException("No space left on device");
            }
            Files.createLink(name, file);
        };
        for (NewFile.Link link : List.of(answerIsLost, manifestFails)) {
            assertThat(new FileReceiver(OUT, out().getParent(), link).deliver(BATCH))
                    .isInstanceOf(Outcome.Unknown.class);
            assertThat(names(out())).containsExactly("quakes-000042.ndjson");
            assertThat(deliver(BATCH)).isEqualTo(new Outcome.Done());
            assertDelivered();
            Files.delete(out().resolve("quakes-000042.ndjson"));
            Files.delete(out().resolve("quakes-000042.json"));
        }
        NewFile.Link fails = (name, file) -> {
            throw new IOException("No space left on device");
        };
        assertThat(new FileReceiver(OUT, folder, fails).deliver(BATCH)).isInstanceOf(Outcome.NotNow.class);
        assertThat(names(out())).isEmpty();
    }

    @Test
    void a_content_that_is_not_the_sealed_one_is_never_published() throws Exception {
        for (String other : List.of("{\"id\":1}\n", CONTENT + "x", CONTENT.replace('1', '3'))) {
            Handover damaged = new Handover(
                    BATCH.manifest(), 1, () -> new ByteArrayInputStream(other.getBytes(StandardCharsets.UTF_8)));
            out();
            assertThatThrownBy(() -> deliver(damaged))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("is not delivered");
            assertThat(names(out())).isEmpty();
        }
    }

    @Test
    void an_unreadable_content_is_never_published() throws Exception {
        out();
        Handover broken = new Handover(BATCH.manifest(), 1, () -> {
            throw new IOException("bad sector");
        });
        assertThatThrownBy(() -> deliver(broken))
                .isInstanceOf(EngineException.class)
                .hasMessageContaining("bad sector");
        assertThat(names(out())).isEmpty();
    }

    @Test
    void an_interrupted_attempt_publishes_nothing() throws Exception {
        out();
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> deliver(BATCH)).isInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).isFalse();
        assertThat(names(out())).doesNotContain("quakes-000042.ndjson");
        assertThat(deliver(BATCH)).isEqualTo(new Outcome.Done());
        assertDelivered();
    }

    /// The message of FAT on Linux.
    private static void noLink(Path name, Path file) throws IOException {
        if (Files.exists(name)) {
            throw new FileAlreadyExistsException(name.toString());
        }
        throw new FileSystemException(name.toString(), file.toString(), "Operation not permitted");
    }

    @Test
    void a_file_system_without_links_gets_the_same_files_and_none_is_replaced() throws Exception {
        Receiver receiver = new FileReceiver(OUT, folder, FileReceiverTest::noLink);
        out();
        assertThat(receiver.deliver(BATCH)).isEqualTo(new Outcome.Done());
        assertDelivered();
        assertThat(receiver.deliver(BATCH)).isEqualTo(new Outcome.Done());
        assertDelivered();
        assertThat(receiver.deliver(Sample.handover(42, "other\n"))).isInstanceOf(Outcome.Conflict.class);
        assertDelivered();

        Files.delete(out().resolve("quakes-000042.ndjson"));
        Files.createFile(out().resolve("quakes-000042.ndjson")); // A crash between the two steps leaves it empty.
        assertThat(receiver.deliver(BATCH)).isEqualTo(new Outcome.Done());
        assertDelivered();
    }

    @Test
    void the_first_content_under_a_name_is_the_only_one_whatever_is_tried() {
        Seeds.forAllSeeds(50, random -> {
            try {
                Path home = Files.createTempDirectory(folder, "home");
                Path out = Files.createDirectories(home.resolve("out"));
                boolean links = random.nextBoolean();
                Receiver receiver =
                        links ? new FileReceiver(OUT, home) : new FileReceiver(OUT, home, FileReceiverTest::noLink);
                String first = null;
                for (int attempt = 0; attempt < 8; attempt++) {
                    String content = "content " + random.nextInt(2) + "\n";
                    if (random.nextInt(3) == 0) {
                        Files.writeString(out.resolve(".quakes-000042.ndjson.0123456789abcdef.part"), "torn");
                    }
                    if (first != null && random.nextInt(3) == 0) {
                        Files.deleteIfExists(out.resolve("quakes-000042.json"));
                    }
                    Outcome outcome = receiver.deliver(Sample.handover(42, content));
                    first = first == null ? content : first;
                    assertThat(outcome instanceof Outcome.Done).isEqualTo(first.equals(content));
                    assertThat(out.resolve("quakes-000042.ndjson")).hasContent(first);
                }
            } catch (IOException | InterruptedException e) {
                throw new AssertionError(e);
            }
        });
    }

    @Test
    void a_manifest_is_named_like_its_content() {
        assertThat(Receivers.manifestName("q-000042.1.ndjson.gz")).isEqualTo("q-000042.1.json");
        assertThat(Receivers.manifestName("q-000042.csv.zst")).isEqualTo("q-000042.json");
        assertThat(Receivers.manifestName("q-000042")).isEqualTo("q-000042.json");
        assertThat(Receivers.manifestName("q-000042.json")).isEqualTo("q-000042.json.manifest.json");
    }
}
