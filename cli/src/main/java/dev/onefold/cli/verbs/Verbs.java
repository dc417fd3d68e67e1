package dev.onefold.cli.verbs;

import dev.onefold.cli.call.Call;
import dev.onefold.cli.data.EngineArgument;
import dev.onefold.cli.letters.DeadLettersCommand;
import dev.onefold.core.Capabilities.Capability;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine;

/// The verbs that are the same for an engine on this machine and for one that is deployed, as far as an engine there
/// can do them.
public final class Verbs {
    private Verbs() {}

    /// The commands.
    ///
    /// @param arguments makes the argument of each command, for the place where its engine is
    public static List<CommandLine> of(Call call, Supplier<EngineArgument> arguments) {
        List<CommandLine> verbs = new ArrayList<>(List.of(
                new CommandLine(new QueryCommand(call, arguments.get())),
                new CommandLine(new GetCommand(call, arguments.get())),
                VerifyCommand.commandLine(call, arguments.get()),
                RebuildCommand.commandLine(call, arguments.get()),
                DeadLettersCommand.commandLine(call, arguments.get())));
        if (arguments.get().capabilities().has(Capability.STATUS)) {
            verbs.add(new CommandLine(new StatusCommand(call, arguments.get())));
        }
        if (arguments.get().capabilities().has(Capability.JOURNAL)) {
            verbs.add(JournalCommand.commandLine(call, arguments.get()));
        }
        return verbs;
    }
}
