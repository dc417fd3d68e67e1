package dev.onefold.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The launcher itself, which builds what it needs. In the campaign, because that takes a while.
@Tag("campaign")
class LauncherTest {
    private static final String RUN = "./onefold run examples/trade-risk/pipeline.yaml --data \"$0\" --input ";

    @TempDir
    private Path data;

    private record Said(int code, String text) {}

    private Said shell(String line) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        "bash", "-c", line, data.resolve("data").toString())
                .directory(Clone.root().toFile())
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Said(process.waitFor(), text);
    }

    @Test
    void standard_streams_that_are_closed_are_no_files_of_the_jvm() throws Exception {
        Said nothing = shell(RUN + "- <&-");
        assertThat(nothing.text()).contains("Folded 0 records");
        assertThat(nothing.code()).isZero();
        assertThat(shell(RUN + "examples/trade-risk/sample.ndjson >&-").code()).isEqualTo(1);
        assertThat(shell(RUN + "examples/trade-risk/sample.ndjson 2>&-").code()).isZero();
        Said verified = shell("./onefold verify examples/trade-risk/pipeline.yaml --data \"$0\"");
        assertThat(verified.text()).contains("93 rows");
        assertThat(verified.code()).isZero();
    }
}
