package dev.onefold.receivers;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.luben.zstd.Zstd;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.pipeline.Batching.Destination;
import dev.onefold.core.pipeline.Batching.Kind;
import dev.onefold.fixtures.Seeds;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VerificationTest {
    @TempDir
    private Path folder;

    private String previous = "";

    /// Delivers whole batches, each of as many records as its number.
    private void deliver(Path out, String end, int count) throws IOException, InterruptedException {
        Destination files =
                Sample.destination(Kind.FILE, List.of("quakes-{number}.ndjson" + end), Map.of("manifest", "true"));
        previous = "";
        for (int number = 1; number <= count; number++) {
            byte[] content = compressed(end, "{\"id\":1}\n".repeat(number));
            deliver(
                    out,
                    files,
                    chained(Sample.manifest(BatchNumber.of(number), content, number), previous, ""),
                    content);
            previous = Sha256.hex(content);
        }
    }

    private static void deliver(Path out, Destination files, Manifest manifest, byte[] content)
            throws InterruptedException {
        new FileReceiver(files, out).deliver(new Handover(manifest, 1, () -> new ByteArrayInputStream(content)));
    }

    private static Manifest chained(Manifest m, String previous, String of) {
        return new Manifest(
                m.id(),
                m.number(),
                m.file(),
                m.records(),
                m.bytes(),
                m.sha256(),
                previous,
                of,
                m.first(),
                m.last(),
                m.sealed());
    }

    private static byte[] compressed(String end, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return switch (end) {
            case ".gz" -> {
                ByteArrayOutputStream compressed = new ByteArrayOutputStream();
                try (GZIPOutputStream gzip = new GZIPOutputStream(compressed)) {
                    gzip.write(bytes);
                }
                yield compressed.toByteArray();
            }
            case ".zst" -> Zstd.compress(bytes);
            default -> bytes;
        };
    }

    private List<String> findings() {
        return Verification.of(folder, 1).findings();
    }

    private Path file(String name) {
        return folder.resolve(name);
    }

    @Test
    void whole_batches_are_proven_plain_and_compressed() throws Exception {
        for (String end : List.of("", ".gz", ".zst")) {
            Path out = Files.createDirectories(folder.resolve("out" + end));
            deliver(out, end, 12);
            Files.writeString(out.resolve("README.txt"), "what these files are");
            Verification verification = Verification.of(out, 1);
            assertThat(verification.findings()).isEmpty();
            assertThat(verification.pipelines()).singleElement().satisfies(numbers -> {
                assertThat(numbers.pipeline()).isEqualTo("quakes");
                assertThat(numbers.last()).isEqualTo(12);
                assertThat(numbers.contents()).isEqualTo(12);
                assertThat(numbers.records()).isEqualTo(78);
            });
        }
    }

    @Test
    void a_folder_without_manifests_proves_nothing() {
        assertThat(findings()).singleElement().asString().startsWith("There is no manifest.");
    }

    @Test
    void missing_batches_are_named() throws Exception {
        deliver(folder, "", 9);
        for (int number : List.of(1, 2, 3, 6)) {
            Files.delete(file("quakes-00000" + number + ".ndjson"));
            Files.delete(file("quakes-00000" + number + ".json"));
        }
        assertThat(findings())
                .containsExactly("Batches quakes-000001 to 000003 are missing.", "Batch quakes-000006 is missing.");
        assertThat(Verification.of(folder, 4).findings()).containsExactly("Batch quakes-000006 is missing.");
        assertThat(Verification.of(folder, 7).findings()).isEmpty();
    }

    @Test
    void a_content_without_its_manifest_and_a_manifest_without_its_content_are_named() throws Exception {
        deliver(folder, ".gz", 3);
        Files.delete(file("quakes-000001.ndjson.gz"));
        Files.delete(file("quakes-000003.json"));
        assertThat(findings())
                .containsExactly(
                        "Batch quakes-000001 has a manifest, but its content quakes-000001.ndjson.gz is missing.",
                        "quakes-000003.ndjson.gz has no manifest. Its delivery may be under way, or was interrupted.");
    }

    @Test
    void a_manifest_that_cannot_be_read_is_named_with_its_content_and_without() throws Exception {
        deliver(folder, ".gz", 4);
        for (String damaged : List.of("", "{\"batch\":", "{\"number\":\"000004\",\"number\":\"000004\"}")) {
            Files.writeString(file("quakes-000002.json"), damaged);
            Files.writeString(file("quakes-000004.json"), damaged);
            Files.deleteIfExists(file("quakes-000004.ndjson.gz"));
            assertThat(findings())
                    .contains(
                            "quakes-000002.json cannot be read as a manifest: it is damaged, or was changed.",
                            "quakes-000004.json cannot be read as a manifest: it is damaged, or was changed.");
        }
    }

    @Test
    void a_manifest_that_names_an_impossible_file_is_a_finding() throws Exception {
        deliver(folder, "", 1);
        String manifest = Files.readString(file("quakes-000001.json"));
        Files.writeString(file("quakes-000001.json"), manifest.replace("000001.ndjson", "000001\\u0000.ndjson"));
        assertThat(findings()).contains("quakes-000001.json: it names no file beside it.");
    }

    @Test
    void a_content_that_is_a_link_is_not_followed() throws Exception {
        deliver(folder, "", 1);
        Path elsewhere = Files.move(file("quakes-000001.ndjson"), folder.resolve(".elsewhere"));
        Files.createSymbolicLink(file("quakes-000001.ndjson"), elsewhere);
        assertThat(findings()).singleElement().asString().contains("is no regular file; a link is not followed");
    }

    @Test
    void a_second_copy_under_any_name_or_in_another_form_is_named() throws Exception {
        deliver(folder, "", 3);
        Files.copy(file("quakes-000002.ndjson"), file("quakes-000002 (1).ndjson"));
        Files.copy(file("quakes-000002.ndjson"), file("other.txt"));
        Files.write(file("quakes-000003.ndjson.gz"), compressed(".gz", "{\"id\":1}\n".repeat(3)));
        Files.writeString(file("README"), "{\"id\":7}\n");
        assertThat(findings())
                .containsExactly(
                        "other.txt is another copy of batch quakes-000002: whoever reads all files counts it twice.",
                        "quakes-000002 (1).ndjson is another copy of batch quakes-000002: whoever reads all files counts it twice.",
                        "quakes-000003.ndjson.gz is another copy of batch quakes-000003: whoever reads all files counts it twice.");
    }

    @Test
    void a_batch_of_another_chain_is_named() throws Exception {
        deliver(folder, "", 3);
        byte[] other = "{\"id\":7}\n".getBytes(StandardCharsets.UTF_8);
        Files.delete(file("quakes-000002.ndjson"));
        Files.delete(file("quakes-000002.json"));
        Destination files =
                Sample.destination(Kind.FILE, List.of("quakes-{number}.ndjson"), Map.of("manifest", "true"));
        String first = Sha256.hex(Files.readAllBytes(file("quakes-000001.ndjson")));
        deliver(folder, files, chained(Sample.manifest(BatchNumber.of(2), other, 1), first, ""), other);
        assertThat(findings())
                .singleElement()
                .asString()
                .startsWith("Batch quakes-000003 follows another batch 2 than the one that is there");
    }

    @Test
    void a_batch_that_is_there_under_two_names_is_named() throws Exception {
        deliver(folder, "", 2);
        String text = Files.readString(file("quakes-000002.json"));
        Files.writeString(file("copy-000002.json"), text.replace("\"quakes-000002.ndjson", "\"copy-000002.ndjson"));
        Files.copy(file("quakes-000002.ndjson"), file("copy-000002.ndjson"));
        assertThat(findings())
                .containsExactly("Batch quakes-000002 is there twice: copy-000002.ndjson and quakes-000002.ndjson.");
    }

    @Test
    void a_manifest_cannot_lead_out_of_the_folder() throws Exception {
        deliver(folder, "", 1);
        String text = Files.readString(file("quakes-000001.json"));
        Files.writeString(file("quakes-000001.json"), text.replace("\"quakes-000001.ndjson", "\"../quakes-000001.nd"));
        assertThat(findings()).contains("quakes-000001.json: it names no file beside it.");
    }

    private void part(String number, String content, String of, String end) throws IOException, InterruptedException {
        part(number, content, of, end, "");
    }

    private void part(String number, String content, String of, String end, String before)
            throws IOException, InterruptedException {
        Destination files =
                Sample.destination(Kind.FILE, List.of("quakes-{number}.ndjson" + end), Map.of("manifest", "true"));
        byte[] bytes = compressed(end, content);
        BatchNumber part = BatchNumber.read(number).orElseThrow();
        deliver(
                folder,
                files,
                chained(Sample.manifest(part, bytes, content.lines().count()), before, of),
                bytes);
    }

    @Test
    void the_parts_of_a_divided_batch_stand_for_it() throws Exception {
        deliver(folder, "", 1);
        String whole = "a\nb\nc\nd\n";
        String of = Sha256.hex(whole.getBytes(StandardCharsets.UTF_8));
        part("2.1.1", "a\n", of, "");
        part("2.1.2", "b\n", of, "");
        part("2.2", "c\nd\n", of, "");
        byte[] next = "e\n".getBytes(StandardCharsets.UTF_8);
        Destination files =
                Sample.destination(Kind.FILE, List.of("quakes-{number}.ndjson"), Map.of("manifest", "true"));
        deliver(folder, files, chained(Sample.manifest(BatchNumber.of(3), next, 1), of, ""), next);
        assertThat(findings()).isEmpty();

        Files.delete(file("quakes-000002.1.2.ndjson"));
        Files.delete(file("quakes-000002.1.2.json"));
        assertThat(findings()).containsExactly("Part quakes-000002.1.2 is missing.");
        part("2.1.2", "x\n", of, "");
        assertThat(findings())
                .singleElement()
                .asString()
                .startsWith("The parts of batch quakes-000002 are together not the whole batch");
    }

    @Test
    void a_batch_before_a_divided_one_that_was_replaced_is_found() throws Exception {
        String whole = "a\nb\n";
        String of = Sha256.hex(whole.getBytes(StandardCharsets.UTF_8));
        deliver(folder, "", 1);
        part("2.1", "a\n", of, "", previous);
        part("2.2", "b\n", of, "", previous);
        assertThat(findings()).isEmpty();
        byte[] other = "{\"id\":2}\n".getBytes(StandardCharsets.UTF_8);
        Files.delete(file("quakes-000001.ndjson"));
        Files.delete(file("quakes-000001.json"));
        Destination files =
                Sample.destination(Kind.FILE, List.of("quakes-{number}.ndjson"), Map.of("manifest", "true"));
        deliver(folder, files, chained(Sample.manifest(BatchNumber.of(1), other, 1), "", ""), other);
        assertThat(findings())
                .hasSize(2)
                .allMatch(finding -> finding.contains("follows another batch 1 than the one that is there"));
    }

    @Test
    void a_batch_that_is_there_whole_and_in_parts_is_doubled() throws Exception {
        deliver(folder, ".gz", 2);
        String of = Sha256.hex(Files.readAllBytes(file("quakes-000002.ndjson.gz")));
        part("2.1", "a\n", of, ".gz");
        part("2.2", "b\n", of, ".gz");
        assertThat(findings())
                .containsExactly("Batch quakes-000002 is there as one, and in parts: its records are doubled.");
    }

    @Test
    void whatever_is_done_to_one_byte_or_one_file_is_found() {
        Seeds.forAllSeeds(40, random -> {
            try {
                Path out = Files.createTempDirectory(folder, "out");
                String end = List.of("", ".gz", ".zst").get(random.nextInt(3));
                deliver(out, end, 4);
                List<Path> files;
                try (Stream<Path> found = Files.list(out)) {
                    files = found.sorted(Comparator.naturalOrder()).toList();
                }
                Path file = files.get(random.nextInt(files.size()));
                boolean isManifest = file.toString().endsWith(".json");
                byte[] bytes = Files.readAllBytes(file);
                switch (isManifest ? 0 : random.nextInt(4)) {
                    case 0 -> Files.delete(file);
                    case 1 -> Files.write(file, Arrays.copyOf(bytes, random.nextInt(bytes.length)));
                    case 2 -> Files.write(file, Arrays.copyOf(bytes, bytes.length + 1));
                    default -> {
                        bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
                        Files.write(file, bytes);
                    }
                }
                assertThat(Verification.of(out, 1).findings()).isNotEmpty();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
    }
}
