package dev.onefold.cli.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Arguments of `aws deploy` that are refused before any service is called.
class DeployRefusalsTest {
    private Cli cli;

    @BeforeEach
    void begin(@TempDir Path folder) {
        cli = Cli.in(folder);
        cli.write("trades.yaml", Cli.TRADES);
    }

    private String refusal(String... arguments) {
        List<String> all = new ArrayList<>(List.of("aws", "deploy", "trades.yaml", "--region", "eu-central-1"));
        all.addAll(List.of(arguments));
        Result result = cli.run(all.toArray(String[]::new));
        assertThat(result.exitCode()).as(result.err()).isEqualTo(2);
        return result.err();
    }

    @Test
    void a_bucket_that_can_have_no_such_name_is_refused() {
        for (String bucket : List.of("Bad_Bucket", "ab", "192.168.1.1", "a..b", "-ab", "", "x".repeat(64))) {
            assertThat(refusal("--bucket", bucket)).contains("The name of a bucket is 3 to 63 small letters");
        }
    }

    @Test
    void a_parameter_that_is_unknown_ours_malformed_or_given_twice_is_refused() {
        assertThat(refusal("--parameter", "StateMemori=1")).contains("Did you mean StateMemory?");
        assertThat(refusal("--parameter", "CodeKey=x")).contains("sets the parameter CodeKey itself");
        assertThat(refusal("--parameter", "StateMemory")).contains("is not of the form NAME=VALUE");
        assertThat(refusal("--parameter", "StateMemory=512", "--parameter", "StateMemory=1769"))
                .contains("The parameter StateMemory is given twice.");
    }

    @Test
    void a_name_that_is_too_long_for_a_stack_is_refused_by_its_length() {
        assertThat(refusal("--deployment", "a".repeat(140))).contains("at most 128 in all");
    }

    @Test
    void a_file_that_is_no_archive_is_refused() {
        assertThat(refusal("--archive", "trades.yaml")).contains("trades.yaml is not an archive of functions");
    }
}
