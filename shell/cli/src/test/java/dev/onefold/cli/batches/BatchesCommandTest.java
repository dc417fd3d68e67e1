package dev.onefold.cli.batches;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.bytes.Sha256;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BatchesCommandTest {
    private static final Instant SEALED = Instant.parse("2026-02-03T04:05:06Z");

    @TempDir
    private Path folder;

    @BeforeEach
    void deliver() throws IOException {
        Path out = Files.createDirectories(folder.resolve("out"));
        String previous = "";
        for (int i = 1; i <= 3; i++) {
            BatchNumber number = BatchNumber.of(i);
            byte[] content = ("{\"id\":" + i + "}\n").getBytes(StandardCharsets.UTF_8);
            String id = Manifest.id("quakes", number);
            String sha256 = Sha256.hex(content);
            Manifest manifest = new Manifest(
                    id, number, id + ".ndjson", 1, content.length, sha256, previous, "", SEALED, SEALED, SEALED);
            Files.write(out.resolve(id + ".ndjson"), content);
            Files.writeString(out.resolve(id + ".json"), manifest.toJson() + "\n");
            previous = sha256;
        }
    }

    private Cli.Result run(String... arguments) {
        return Cli.in(folder).run(arguments);
    }

    @Test
    void a_folder_in_which_nothing_is_wrong_is_proven() {
        assertThat(run("batches", "verify", "out"))
                .returns(0, Cli.Result::exitCode)
                .returns("""
                        quakes: batches 000001 to 000003, 3 files, 3 records, 27 bytes
                        Proven: up to the last one, nothing is missing or doubled.
                        """, Cli.Result::out)
                .returns("", Cli.Result::err);
    }

    @Test
    void each_finding_is_one_line_and_the_exit_code_says_that_there_are_some() throws IOException {
        Files.delete(folder.resolve("out/quakes-000001.ndjson"));
        Files.delete(folder.resolve("out/quakes-000001.json"));
        Files.writeString(folder.resolve("out/quakes-000003.ndjson"), "{\"id\":4}\n");
        Cli.Result result = run("batches", "verify", "out");
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.lines()).hasSize(4);
        assertThat(result.out())
                .contains("Batch quakes-000001 is missing.", "quakes-000003.ndjson: its SHA-256 is ", "2 findings");
        assertThat(run("batches", "verify", "out", "--from", "2").out()).contains("1 finding.");
    }

    @Test
    void a_first_batch_that_is_beyond_the_last_one_is_missing() {
        assertThat(run("batches", "verify", "out", "--from", "4"))
                .returns(1, Cli.Result::exitCode)
                .extracting(Cli.Result::out)
                .asString()
                .contains("Batch quakes-000004 is missing, and there is none after it.");
    }

    @Test
    void a_folder_that_is_not_there_is_a_usage_error() {
        assertThat(run("batches", "verify", "in"))
                .returns(2, Cli.Result::exitCode)
                .returns(
                        "onefold: There is no folder in.\n",
                        result -> result.err().lines().findFirst().orElse("") + "\n");
        assertThat(run("batches", "verify", "out", "--from", "0").exitCode()).isEqualTo(2);
    }
}
