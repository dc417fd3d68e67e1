package dev.onefold.cli.letters;

import dev.onefold.cli.call.CommandFailure;
import java.util.List;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// The letters that a verb changes: some by their numbers, or several at a time.
final class Numbered {
    @Parameters(arity = "0..*", paramLabel = "ID", description = "The letters' numbers, as 'list' shows them.")
    private List<Long> ids = List.of();

    @Option(names = "--all", description = "All letters that there are now.")
    private boolean every;

    List<Long> ids() {
        return ids;
    }

    /// Whether they are all letters, or those that were chosen, and not some by their numbers.
    boolean areSeveral(Chosen chosen, String verb) {
        boolean several = every || chosen.isSaid();
        if (several != ids.isEmpty()) {
            throw CommandFailure.usage(
                    "Say which letters to " + verb + ": their numbers, or --all, --reason or --source.");
        }
        return several;
    }
}
