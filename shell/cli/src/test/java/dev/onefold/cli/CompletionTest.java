package dev.onefold.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompletionTest {
    @TempDir
    Path folder;

    @Test
    void bash_completes_commands() throws Exception {
        assertThat(complete("onefold", "que")).contains("query");
        assertThat(complete("onefold", "res")).contains("reset");
        assertThat(complete("onefold", "de")).contains("demo", "dead-letters");
    }

    @Test
    void bash_completes_options_and_their_values() throws Exception {
        assertThat(complete("onefold", "query", "--gr")).contains("--group", "--group-json");
        assertThat(complete("onefold", "query", "--format", "")).contains("table", "json", "csv");
        assertThat(complete("onefold", "dead-letters", "redrive", "--")).contains("--all", "--file");
    }

    @Test
    void zsh_is_told_to_read_completions_of_bash() {
        String script = Cli.in(folder).run("completion", "zsh").out();
        assertThat(script).startsWith("autoload -Uz compinit bashcompinit").contains("complete -F _complete_onefold");
    }

    @Test
    void another_shell_is_refused_with_those_there_are() {
        Cli.Result result = Cli.in(folder).run("completion", "fish");
        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).contains("fish").contains("bash").contains("zsh");
    }

    private List<String> complete(String... words) throws IOException, InterruptedException {
        Cli cli = Cli.in(folder);
        cli.write("completion.sh", cli.run("completion", "bash").out());
        String array = "("
                + String.join(
                        " ", Arrays.stream(words).map(word -> "'" + word + "'").toList()) + ")";
        cli.write("try.sh", """
                set -eu
                source completion.sh
                COMP_WORDS=%s
                COMP_CWORD=%d
                COMP_LINE="${COMP_WORDS[*]}"
                _complete_onefold || true
                printf '%%s\\n' "${COMPREPLY[@]}"
                """.formatted(array, words.length - 1));
        Process bash = new ProcessBuilder("bash", "try.sh")
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        String out = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(bash.waitFor()).as(out).isZero();
        return out.lines().map(String::strip).toList();
    }
}
