package dev.onefold.cli;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/// What every command understands.
final class CommonOptions {
    public static final String DEBUG = "--debug";

    private CommonOptions() {}

    /// Adds these options to a command, behind its own, and to all its subcommands.
    public static void addTo(CommandSpec command) {
        if (command.findOption("--help") == null) {
            command.addOption(OptionSpec.builder("-h", "--help")
                    .usageHelp(true)
                    .description("Shows this help.")
                    .build());
        }
        command.addOption(OptionSpec.builder(DEBUG)
                .description("Shows where in the program an error happened.")
                .build());
        command.subcommands().values().forEach(each -> addTo(each.getCommandSpec()));
    }
}
