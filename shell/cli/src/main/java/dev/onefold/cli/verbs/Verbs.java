package dev.onefold.cli.verbs;

import dev.onefold.cli.batches.BatchesCommand;
import dev.onefold.cli.data.EngineArgument;
import dev.onefold.cli.data.PlaceOptions;
import dev.onefold.cli.letters.DeadLettersCommand;
import dev.onefold.cli.seed.SeedCommand;
import dev.onefold.core.Capabilities.Capability;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import picocli.CommandLine;

/// The verbs that are the same for an engine on this machine, of a service and of a deployment, as far as an engine
/// there can do them. `onefold query --at aws:NAME` and `onefold aws query` are one of them.
///
/// @param arguments makes the argument of the command of a name, for the place where its engine is
/// @param place where parts of AWS are
public record Verbs(Function<String, EngineArgument> arguments, PlaceOptions place) {
    /// Whether a verb is for pipelines that make batches, too.
    public static boolean takesBatches(String name) {
        return name.equals(DeadLettersCommand.NAME) || name.equals("batches");
    }

    /// Whether this is one of them.
    public boolean has(String name) {
        return name.equals("seed") || name.equals("batches") || names().contains(name);
    }

    /// The names of those on rows and totals, in the order in which a help lists them.
    public List<String> names() {
        List<String> names = new ArrayList<>(
                List.of("query", "get", "export", "verify", "rebuild", DeadLettersCommand.NAME, "status"));
        EngineArgument argument = arguments.apply("status");
        if (argument.mayHave(Capability.JOURNAL)) {
            names.add("journal");
        }
        return names;
    }

    /// The command of a name.
    public CommandLine command(String name) {
        EngineArgument argument = arguments.apply(name);
        return switch (name) {
            case "seed" -> new CommandLine(new SeedCommand(argument, place));
            case "query" -> new CommandLine(new QueryCommand(argument));
            case "get" -> new CommandLine(new GetCommand(argument));
            case "export" -> new CommandLine(new ExportCommand(argument));
            case "verify" -> VerifyCommand.commandLine(argument, place);
            case "rebuild" -> RebuildCommand.commandLine(argument);
            case DeadLettersCommand.NAME -> DeadLettersCommand.commandLine(argument);
            case "status" -> new CommandLine(new StatusCommand(argument));
            case "journal" -> JournalCommand.commandLine(argument);
            case "batches" -> BatchesCommand.commandLine(argument);
            default -> throw new IllegalArgumentException("There is no verb " + name);
        };
    }
}
