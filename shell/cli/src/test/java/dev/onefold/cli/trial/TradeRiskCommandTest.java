package dev.onefold.cli.trial;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class TradeRiskCommandTest {
    @TempDir
    private Path folder;

    private final StringWriter errors = new StringWriter();

    @Test
    void messages_and_their_totals_go_into_files() throws IOException {
        Path messages = folder.resolve("trades.ndjson");
        Path totals = folder.resolve("totals.json");

        assertThat(generate("--events", "1000", "--output", messages.toString(), "--totals", totals.toString()))
                .isZero();

        assertThat(Files.readAllLines(messages)).hasSize(1_000);
        assertThat(Files.readString(totals)).contains("\"messages\": 1000,").contains("{\"group\": [], \"value\": ");
        assertThat(errors.toString()).startsWith("1,000 messages, 0.2 MB, in ");
    }

    @Test
    void an_option_changes_one_share_of_the_named_workload() throws IOException {
        Path totals = folder.resolve("totals.json");

        assertThat(generate(
                        "-q",
                        "--events",
                        "1000",
                        "--output",
                        folder.resolve("x").toString(),
                        "--totals",
                        totals.toString(),
                        "--workload",
                        "demo",
                        "--corrections",
                        "0",
                        "--malformed",
                        "12.5"))
                .isZero();

        assertThat(Files.readString(totals))
                .contains("\"corrections\": 0, ")
                .containsPattern("\"duplicates\": [1-9]")
                .containsPattern("\"malformed\": 1[0-9]{2}}");
        assertThat(errors.toString()).isEmpty();
    }

    @Test
    void a_rate_is_kept() throws IOException {
        long start = System.nanoTime();

        assertThat(generate(
                        "--events",
                        "60",
                        "--rate",
                        "300",
                        "--output",
                        folder.resolve("x").toString()))
                .isZero();

        assertThat(System.nanoTime() - start).isGreaterThan(200_000_000 * 9L / 10);
    }

    @Test
    void what_is_wrong_is_said_in_one_sentence() {
        assertThat(generate("--late", "101")).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(errors.toString()).startsWith("--late 101 is not a percentage from 0 to 100.");
    }

    @Test
    void without_a_subcommand_it_says_which_there_are() {
        assertThat(run()).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(errors.toString()).startsWith("What to generate is missing").contains("trade-risk");
    }

    @Test
    void help_has_examples() {
        assertThat(Cli.in(folder).run("generate", "trade-risk", "--help").out())
                .contains("Examples:")
                .contains("(20 % corrections");
    }

    private int generate(String... options) {
        String[] arguments = new String[options.length + 1];
        arguments[0] = "trade-risk";
        System.arraycopy(options, 0, arguments, 1, options.length);
        return run(arguments);
    }

    private int run(String... arguments) {
        return new CommandLine(new GenerateCommand())
                .setErr(new PrintWriter(errors, true))
                .execute(arguments);
    }
}
