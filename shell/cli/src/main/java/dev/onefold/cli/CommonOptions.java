package dev.onefold.cli;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/// The options of every command, and the layout of its help.
final class CommonOptions {
    public static final String DEBUG = "--debug";

    private CommonOptions() {}

    /// Adds these options to a command, behind its own, and to all its subcommands.
    public static void addTo(CommandSpec command) {
        UsageMessageSpec usage = command.usageMessage().sortOptions(false);
        if (usage.footerHeading().isEmpty() && usage.footer().length > 0) {
            usage.footerHeading("%nExamples:%n");
        }
        if (command.findOption("--help") == null) {
            command.addOption(OptionSpec.builder("-h", "--help")
                    .usageHelp(true)
                    .description("Shows this help.")
                    .build());
        }
        command.addOption(OptionSpec.builder(DEBUG)
                .description("Shows where in the program an error happened.")
                .build());
        command.subcommands().values().stream().distinct().forEach(each -> addTo(each.getCommandSpec()));
    }
}
