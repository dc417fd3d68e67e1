package dev.onefold.cli.letters;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.EngineArgument;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.Engine;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// `onefold dead-letters`: the rejected records.
@Command(
        name = DeadLettersCommand.NAME,
        description = {
            "Lists, shows, redrives, purges, exports and imports rejected records.",
            "Each is kept whole with its reason, place and time, and is never in the way of healthy ones. The pipeline comes"
                    + " first, the verb behind it; without a verb it is list."
        },
        footer = {
            "  What was rejected:",
            "    ${COMMAND-FULL-NAME} trade-risk.yaml list",
            "  Correct one and send it through again:",
            "    ${COMMAND-FULL-NAME} trade-risk.yaml show 12 --raw > 12.json",
            "    vi 12.json",
            "    ${COMMAND-FULL-NAME} trade-risk.yaml redrive 12 --file 12.json",
            "  Send all through again, as they are:",
            "    ${COMMAND-FULL-NAME} trade-risk.yaml redrive --all",
            "  Correct many:",
            "    ${COMMAND-FULL-NAME} trade-risk.yaml export -o letters.ndjson",
            "    vi letters.ndjson",
            "    ${COMMAND-FULL-NAME} trade-risk.yaml import letters.ndjson"
        })
public final class DeadLettersCommand implements Callable<Integer> {
    /// Its name.
    public static final String NAME = "dead-letters";

    @Mixin
    private final EngineArgument pipeline;

    private DeadLettersCommand(EngineArgument pipeline) {
        this.pipeline = pipeline;
    }

    /// The command with its verbs.
    public static CommandLine commandLine(EngineArgument pipeline) {
        DeadLettersCommand all = new DeadLettersCommand(pipeline);
        return new CommandLine(all)
                .addSubcommand(new ListCommand(all))
                .addSubcommand(new ShowCommand(all))
                .addSubcommand(new RedriveCommand(all))
                .addSubcommand(new PurgeCommand(all))
                .addSubcommand(new ExportCommand(all))
                .addSubcommand(new ImportCommand(all));
    }

    @Override
    public Integer call() throws IOException {
        return new ListCommand(this).call();
    }

    Caller caller() {
        return pipeline.caller();
    }

    /// The action of a verb on the dead letters.
    interface Verb {
        ExitCode on(DeadLetters letters) throws IOException;
    }

    int read(Verb verb) throws IOException {
        return pipeline.read(engine -> verb.on(engine.deadLetters())).code();
    }

    /// @param question asks a person, and returns what is to be done
    int ask(Question question) throws IOException {
        return pipeline.ask(asked -> {
                    Verb verb = question.on(asked.deadLetters());
                    return engine -> verb.on(engine.deadLetters());
                })
                .code();
    }

    /// The question of a verb to a person about the dead letters; it returns the action.
    interface Question {
        Verb on(DeadLetters letters) throws IOException;
    }

    int use(Verb verb) throws IOException {
        return useEngine(engine -> verb.on(engine.deadLetters()));
    }

    /// The action of a verb on an engine and its dead letters.
    interface EngineVerb {
        ExitCode on(Engine engine) throws IOException;
    }

    int useEngine(EngineVerb verb) throws IOException {
        return pipeline.use(verb::on).code();
    }

    /// Asks the owner something. Only a verb that has heard nothing yet is begun again with the owner's successor.
    static void settle(DeadLetters letters) {
        var _ = letters.list(0, 1);
    }

    static DeadLetter letter(DeadLetters letters, long id) {
        Optional<DeadLetter> letter =
                letters.list(id - 1, 1).stream().filter(each -> each.id() == id).findFirst();
        return letter.orElseThrow(() -> new CommandFailure(
                ExitCode.DIFFERENT, "There is no dead letter " + id + "; perhaps it was redriven or purged."));
    }
}
