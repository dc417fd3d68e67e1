package dev.onefold.cli.batches;

import dev.onefold.cli.call.Caller;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/// `onefold batches`: what was sealed and delivered.
@Command(
        name = "batches",
        synopsisSubcommandLabel = "COMMAND",
        description = "Proves a folder of batches.",
        footer = {"  ${COMMAND-FULL-NAME} verify out"})
public final class BatchesCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // Picocli sets it before it runs the command.
    private CommandSpec spec;

    private BatchesCommand() {}

    /// The command with its verbs.
    public static CommandLine commandLine(Caller caller) {
        return new CommandLine(new BatchesCommand()).addSubcommand(new VerifyCommand(caller));
    }

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }
}
