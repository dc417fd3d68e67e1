package dev.onefold.cli.verbs;

import dev.onefold.cli.call.Call;
import dev.onefold.cli.letters.DeadLettersCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/// The verbs that are the same for an engine on this machine and for one that is deployed; each place has only the
/// options that mean something there, and shows itself in its examples.
public final class Verbs {
    private static final Set<String> HERE_ONLY = Set.of("--data", "--from-sources");
    private static final Set<String> DEPLOYED_ONLY = Set.of("--sample");

    private Verbs() {}

    /// For the data directories of this machine.
    public static List<CommandLine> here(Call call) {
        List<CommandLine> verbs = new ArrayList<>(of(call));
        verbs.add(new CommandLine(new StatusCommand(call)));
        verbs.forEach(verb -> without(DEPLOYED_ONLY, verb));
        return verbs;
    }

    /// For what is deployed on AWS.
    public static List<CommandLine> deployed(Call call) {
        List<CommandLine> verbs = of(call);
        verbs.forEach(verb -> {
            without(HERE_ONLY, verb);
            onAws(verb);
        });
        return verbs;
    }

    private static List<CommandLine> of(Call call) {
        return List.of(
                new CommandLine(new QueryCommand(call)),
                new CommandLine(new GetCommand(call)),
                new CommandLine(new VerifyCommand(call)),
                new CommandLine(new RebuildCommand(call)),
                DeadLettersCommand.commandLine(call));
    }

    private static void without(Set<String> names, CommandLine command) {
        CommandSpec spec = command.getCommandSpec();
        for (String name : names) {
            OptionSpec option = spec.findOption(name);
            if (option != null) {
                spec.remove(option);
            }
        }
        command.getSubcommands().values().forEach(below -> without(names, below));
    }

    private static void onAws(CommandLine command) {
        var usage = command.getCommandSpec().usageMessage();
        usage.footer(onAws(usage.footer()));
        usage.description(onAws(usage.description()));
        CommandSpec spec = command.getCommandSpec();
        spec.positionalParameters().stream()
                .filter(parameter -> parameter.paramLabel().equals("PIPELINE"))
                .findFirst()
                .ifPresent(pipeline -> {
                    spec.remove(pipeline);
                    spec.addPositional(PositionalParamSpec.builder(pipeline)
                            .description("The pipeline file, or the name of the pipeline.")
                            .build());
                });
        command.getSubcommands().values().forEach(Verbs::onAws);
    }

    private static String[] onAws(String[] lines) {
        return Stream.of(lines)
                .map(line -> line.replace("onefold ", "onefold aws "))
                .toArray(String[]::new);
    }
}
