package dev.onefold.cli;

import dev.onefold.cli.call.Caller;
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
        description = "Writes a script for a shell, which then completes commands and options once it has read it.",
        footer = {
            "  For this shell only:",
            "    source <(onefold completion bash)",
            "  For every bash from now on:",
            "    onefold completion bash > ~/.local/share/bash-completion/completions/onefold",
            "  For every zsh from now on:",
            "    echo 'source <(onefold completion zsh)' >> ~/.zshrc"
        })
final class CompletionCommand implements Callable<Integer> {
    private final Caller caller;

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

    CompletionCommand(Caller caller) {
        this.caller = caller;
    }

    @Override
    public Integer call() {
        String script = AutoComplete.bash("onefold", spec.root().commandLine());
        if (shell == Shell.zsh) {
            // Zsh reads completions of bash once it is told to; the script itself finds out which shell it is in.
            caller.print("autoload -Uz compinit bashcompinit && compinit && bashcompinit\n");
        }
        caller.print(script);
        return ExitCode.DONE.code();
    }
}
