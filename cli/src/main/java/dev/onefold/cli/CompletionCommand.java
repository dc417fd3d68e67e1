package dev.onefold.cli;

import dev.onefold.cli.call.Call;
import dev.onefold.cli.call.ExitCode;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `onefold completion`: makes the shell complete commands and options.
@Command(
        name = "completion",
        sortOptions = false,
        description = "Writes a script for a shell, which then completes commands and options once it has read it.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  For this shell only:",
            "    source <(onefold completion bash)",
            "  For every bash from now on:",
            "    onefold completion bash > ~/.local/share/bash-completion/completions/onefold",
            "  For every zsh from now on:",
            "    echo 'source <(onefold completion zsh)' >> ~/.zshrc"
        })
final class CompletionCommand implements Callable<Integer> {
    private final Call call;

    @Spec
    @SuppressWarnings("NullAway.Init") // Picocli sets it before it runs the command.
    private CommandSpec spec;

    @Parameters(paramLabel = "SHELL", description = "One of ${COMPLETION-CANDIDATES}.")
    private Shell shell = Shell.bash;

    /// Shells that can be served; the names are those of the argument, hence in small letters.
    enum Shell {
        bash,
        zsh
    }

    CompletionCommand(Call call) {
        this.call = call;
    }

    @Override
    public Integer call() {
        String script = AutoComplete.bash("onefold", spec.root().commandLine());
        if (shell == Shell.zsh) {
            // Zsh reads completions of bash once it is told to; the script itself finds out which shell it is in.
            call.caller().out().print("autoload -Uz compinit bashcompinit && compinit && bashcompinit\n");
        }
        call.caller().out().print(script);
        return ExitCode.DONE.code();
    }
}
