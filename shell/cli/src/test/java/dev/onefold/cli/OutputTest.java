package dev.onefold.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.call.Caller;
import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What a caller learns when standard output takes nothing.
class OutputTest {
    @TempDir
    Path folder;

    private Cli cli;

    @BeforeEach
    void foldSome() {
        cli = Cli.in(folder);
        cli.write("trades.yaml", Cli.TRADES);
        cli.write("in", Cli.trade("1", 1, "FX", "EMEA", "1") + "{}\n");
        assertThat(cli.run("run", "trades.yaml", "-i", "in").exitCode()).isZero();
    }

    private Cli.Result runInto(OutputStream full, String... arguments) {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Caller plain = cli.caller(InputStream.nullInputStream(), new ByteArrayOutputStream(), err);
        Caller caller = new Caller(
                plain.in(),
                new PrintStream(full, false, StandardCharsets.UTF_8),
                plain.err(),
                folder,
                plain.environment(),
                plain.screen());
        int exitCode = Onefold.execute(caller, List.of(arguments));
        return new Cli.Result(exitCode, "", err.toString(StandardCharsets.UTF_8));
    }

    @Test
    void every_verb_fails_when_standard_output_takes_nothing() throws IOException {
        for (String line : List.of(
                "run trades.yaml -i in",
                "query trades.yaml",
                "query trades.yaml --format csv",
                "get trades.yaml 1",
                "verify trades.yaml",
                "rebuild trades.yaml",
                "dead-letters trades.yaml list",
                "dead-letters trades.yaml show 1 --raw",
                "dead-letters trades.yaml export -o -",
                "check trades.yaml",
                "completion bash",
                "aws template trades.yaml",
                "--version",
                "--help",
                "query --help")) {
            try (OutputStream full = new FileOutputStream("/dev/full")) {
                Cli.Result result = runInto(full, line.split(" "));
                assertThat(result.exitCode()).as(line).isEqualTo(1);
                assertThat(result.err()).as(line).contains("onefold: ");
            }
        }
    }

    @Test
    void a_process_whose_standard_output_is_full_says_so() throws Exception {
        for (String line : List.of("--version", "query trades.yaml", "generate trade-risk --events 10 -q")) {
            try (OnefoldProcess process = OnefoldProcess.startInto(Path.of("/dev/full"), folder, line.split(" "))) {
                assertThat(process.exitCode()).as(line).isEqualTo(1);
                assertThat(process.err()).as(line).contains("onefold: ");
            }
        }
    }
}
