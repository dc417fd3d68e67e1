package dev.onefold.cli.trial;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `onefold generate`: load for trying a pipeline.
@Command(
        name = "generate",
        subcommands = {TradeRiskCommand.class, BurstCommand.class},
        description = "Makes load for trying a pipeline: seeded messages, and the answer that is right for them.")
public final class GenerateCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // Picocli sets it before it runs the command.
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(
                spec.commandLine(),
                "What to generate is missing: say 'onefold generate trade-risk' or 'onefold generate burst'.");
    }
}
