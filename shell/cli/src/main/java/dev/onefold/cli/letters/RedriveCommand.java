package dev.onefold.cli.letters;

import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.Engine;
import dev.onefold.core.pipeline.Limits;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `onefold dead-letters PIPELINE redrive`.
@Command(
        name = "redrive",
        description = {
            "Sends rejected records through again, as they arrived or as an edit. Each counts once, however often it is redriven.",
            "A letter whose edit is rejected, too, keeps its record; 'show --edited' shows the last edit. Exit code 1 when one"
                    + " was rejected again; it stays, with its new reason."
        },
        footer = {
            "  ${PARENT-COMMAND-FULL-NAME} trade-risk.yaml redrive 12 13",
            "  ${PARENT-COMMAND-FULL-NAME} trade-risk.yaml redrive 12 --file 12.json",
            "  ${PARENT-COMMAND-FULL-NAME} trade-risk.yaml redrive --all",
            "  ${PARENT-COMMAND-FULL-NAME} trade-risk.yaml redrive --reason refused"
        })
final class RedriveCommand implements Callable<Integer> {
    private static final String STANDARD_INPUT = "-";

    private final DeadLettersCommand all;

    @Mixin
    private final Numbered numbered = new Numbered();

    @Option(
            names = "--file",
            paramLabel = "FILE",
            description = "The edited record, to be taken in place of the letter's; - is standard input. For one ID.")
    private @Nullable String file;

    @Option(
            names = "--other-key",
            description =
                    "Takes an edit that has another key than the letter's record: that was sent under a wrong one.")
    private boolean otherKey;

    @Mixin
    private final Chosen chosen = new Chosen();

    RedriveCommand(DeadLettersCommand all) {
        this.all = all;
    }

    @Override
    public Integer call() throws IOException {
        boolean several = numbered.areSeveral(chosen, "redrive");
        if (file != null && numbered.ids().size() != 1) {
            throw CommandFailure.usage("--file holds the edited record of one letter: give one number with it.");
        }
        chosen.check();
        DeadLetters.Keys keys = otherKey ? DeadLetters.Keys.ANY : DeadLetters.Keys.SAME;
        if (STANDARD_INPUT.equals(file)) { // Nobody owns the directory while a person types.
            return all.ask(_ -> {
                byte[] edited = record(STANDARD_INPUT);
                return letters -> redriveNumbered(letters, edited, keys);
            });
        }
        return several
                ? all.useEngine(engine -> redriveChosen(engine, keys))
                : all.use(letters -> redriveNumbered(letters, file == null ? null : record(file), keys));
    }

    private ExitCode redriveNumbered(DeadLetters letters, byte @Nullable [] edited, DeadLetters.Keys keys) {
        try (Outcomes outcomes = Outcomes.ofEach(letters, all.caller())) {
            numbered.ids().forEach(id -> outcomes.redrive(id, edited, keys));
            return outcomes.end();
        }
    }

    private ExitCode redriveChosen(Engine engine, DeadLetters.Keys keys) throws IOException {
        DeadLetters letters = engine.deadLetters();
        try (Outcomes outcomes = Outcomes.summary(letters, all.caller(), chosen.count(letters, all))) {
            if (RedriveOrder.isOf(engine)) {
                RedriveOrder ascending = new RedriveOrder(engine);
                chosen.forEach(letters, all, 0, some -> {
                    ascending.add(some);
                    return true;
                });
                ascending.ids().forEach(id -> outcomes.redrive(id, null, keys));
            } else {
                chosen.forEach(letters, all, 0, some -> {
                    some.forEach(letter -> outcomes.redrive(letter.id(), null, keys));
                    return true;
                });
            }
            return outcomes.end();
        }
    }

    /// A line end, which an editor leaves at the end of a file, is no part of the record.
    private byte[] record(String from) throws IOException {
        byte[] bytes;
        if (from.equals(STANDARD_INPUT)) {
            bytes = all.caller().in().readNBytes(Limits.RECORD_BYTES_MAX + 2);
        } else {
            Path path = all.caller().path(from);
            if (!Files.isRegularFile(path)) {
                throw CommandFailure.usage("There is no file " + all.caller().shown(path) + ".");
            }
            try (InputStream in = Files.newInputStream(path)) {
                bytes = in.readNBytes(Limits.RECORD_BYTES_MAX + 2);
            }
        }
        int length = bytes.length;
        if (length > 0 && bytes[length - 1] == '\n') {
            length -= length > 1 && bytes[length - 2] == '\r' ? 2 : 1;
        }
        return Arrays.copyOf(bytes, length);
    }
}
