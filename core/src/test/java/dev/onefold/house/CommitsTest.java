package dev.onefold.house;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/// A commit says why. Only commits that no remote has are judged: they can still be amended, and the result does not
/// depend on how much of the history a clone has. A clone without a remote has nothing to compare with.
class CommitsTest {
    /// The day before the rule had a test.
    private static final String SINCE = "2026-11-28T23:59:59Z";

    @Test
    void each_commit_that_is_not_yet_pushed_has_a_body() throws Exception {
        Assumptions.assumeFalse(git("for-each-ref", "--count=1", "refs/remotes").isEmpty(), "no remote, or no git");
        String log =
                git("log", "--no-merges", "--since=" + SINCE, "-z", "--format=%h %B", "HEAD", "--not", "--remotes");
        assertThat(Stream.of(log.split("\0", -1))
                        .map(String::strip)
                        .filter(commit -> !commit.isEmpty() && !commit.contains("\n\n")))
                .as("Commits without a body that says why. To write it: git commit --amend, or git rebase -i")
                .isEmpty();
    }

    private static String git(String... arguments) throws InterruptedException {
        List<String> command = new ArrayList<>(List.of("git"));
        command.addAll(List.of(arguments));
        try {
            Process process = new ProcessBuilder(command)
                    .directory(SourceTree.root().toFile())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return process.waitFor() == 0 ? text : "";
        } catch (IOException noGit) {
            return "";
        }
    }
}
