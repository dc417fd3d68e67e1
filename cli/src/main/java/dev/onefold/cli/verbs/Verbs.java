package dev.onefold.cli.verbs;

import dev.onefold.cli.data.EngineArgument;
import dev.onefold.cli.letters.DeadLettersCommand;
import dev.onefold.cli.seed.Home;
import dev.onefold.core.Capabilities.Capability;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import picocli.CommandLine;

/// The verbs that are the same for an engine on this machine and for one that is deployed, as far as an engine there
/// can do them.
public final class Verbs {
    private Verbs() {}

    /// The commands.
    ///
    /// @param arguments makes the argument of each command, for the place where its engine is
    /// @param home where the rows of an argument's engine are compared with their source
    public static List<CommandLine> of(Supplier<EngineArgument> arguments, Function<EngineArgument, Home> home) {
        EngineArgument verified = arguments.get();
        List<CommandLine> verbs = new ArrayList<>(List.of(
                new CommandLine(new QueryCommand(arguments.get())),
                new CommandLine(new GetCommand(arguments.get())),
                new CommandLine(new ExportCommand(arguments.get())),
                VerifyCommand.commandLine(verified, home.apply(verified)),
                RebuildCommand.commandLine(arguments.get()),
                DeadLettersCommand.commandLine(arguments.get())));
        if (arguments.get().capabilities().has(Capability.STATUS)) {
            verbs.add(new CommandLine(new StatusCommand(arguments.get())));
        }
        if (arguments.get().capabilities().has(Capability.JOURNAL)) {
            verbs.add(JournalCommand.commandLine(arguments.get()));
        }
        return verbs;
    }
}
