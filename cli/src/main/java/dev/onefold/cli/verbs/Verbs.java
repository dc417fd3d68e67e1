package dev.onefold.cli.verbs;

import dev.onefold.cli.data.EngineArgument;
import dev.onefold.cli.letters.DeadLettersCommand;
import dev.onefold.cli.seed.Home;
import dev.onefold.core.Capabilities;
import dev.onefold.core.Capabilities.Capability;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.function.Function;
import java.util.function.Supplier;
import picocli.CommandLine;

/// The verbs that are the same for an engine on this machine and for one that is deployed, as far as an engine there
/// can do them.
public final class Verbs {
    private Verbs() {}

    /// The commands by their names, in the order in which a help lists them; each is made when it is asked for.
    ///
    /// @param arguments makes the argument of each command, for the place where its engine is
    /// @param home where the rows of an argument's engine are compared with their source
    public static SequencedMap<String, Supplier<CommandLine>> of(
            Supplier<EngineArgument> arguments, Function<EngineArgument, Home> home) {
        SequencedMap<String, Supplier<CommandLine>> verbs = new LinkedHashMap<>();
        verbs.put("query", () -> new CommandLine(new QueryCommand(arguments.get())));
        verbs.put("get", () -> new CommandLine(new GetCommand(arguments.get())));
        verbs.put("export", () -> new CommandLine(new ExportCommand(arguments.get())));
        verbs.put("verify", () -> {
            EngineArgument verified = arguments.get();
            return VerifyCommand.commandLine(verified, home.apply(verified));
        });
        verbs.put("rebuild", () -> RebuildCommand.commandLine(arguments.get()));
        verbs.put("dead-letters", () -> DeadLettersCommand.commandLine(arguments.get()));
        Capabilities capabilities = arguments.get().capabilities();
        if (capabilities.has(Capability.STATUS)) {
            verbs.put("status", () -> new CommandLine(new StatusCommand(arguments.get())));
        }
        if (capabilities.has(Capability.JOURNAL)) {
            verbs.put("journal", () -> JournalCommand.commandLine(arguments.get()));
        }
        return verbs;
    }
}
