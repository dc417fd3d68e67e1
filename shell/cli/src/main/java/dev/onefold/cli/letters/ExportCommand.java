package dev.onefold.cli.letters;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.show.Words;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.form.EngineJson;
import dev.onefold.core.json.Json;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `onefold dead-letters PIPELINE export`.
@Command(
        name = "export",
        description = {
            "Writes all rejected records, one JSON object a line: what is known about each, and the record itself as base64"
                    + " and, when it is UTF-8, as text. Removes nothing. 'import' takes the file back, edited."
        },
        footerHeading = "%nExample:%n",
        footer = {"  ${PARENT-COMMAND-FULL-NAME} trade-risk.yaml export --output letters.ndjson"})
final class ExportCommand implements Callable<Integer> {
    private final DeadLettersCommand all;

    @Option(
            names = {"-o", "--output"},
            required = true,
            paramLabel = "FILE",
            description = "Where they go: a new file, or - for standard output.")
    private String output = "-";

    @Mixin
    private final Chosen chosen = new Chosen();

    ExportCommand(DeadLettersCommand all) {
        this.all = all;
    }

    @Override
    public Integer call() throws IOException {
        chosen.check();
        return all.read(letters -> {
            Caller caller = all.caller();
            if (output.equals("-")) {
                write(letters, caller.out(), caller.screen().outIsTerminal());
                return ExitCode.DONE;
            }
            Path path = caller.path(output);
            DeadLettersCommand.settle(letters); // The file is made once.
            long count;
            try (OutputStream file = new BufferedOutputStream(
                    Files.newOutputStream(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE))) {
                count = write(letters, file, false);
            } catch (FileAlreadyExistsException e) {
                throw CommandFailure.usage("There is a file " + caller.shown(path)
                        + " already, perhaps with edits. Choose another name, or remove it first.");
            }
            caller.print("Wrote " + Words.count(count, "dead letter") + " to " + caller.shown(path) + ".\n");
            return ExitCode.DONE;
        });
    }

    private long write(DeadLetters letters, OutputStream out, boolean visible) throws IOException {
        long[] count = new long[1];
        chosen.forEach(letters, all, 0, some -> {
            for (DeadLetter letter : some) {
                String line = Json.of(json(letters, letter));
                out.write(((visible ? Words.visible(line) : line) + "\n").getBytes(StandardCharsets.UTF_8));
                count[0]++;
            }
            return true;
        });
        return count[0];
    }

    private static Map<String, @Nullable Object> json(DeadLetters letters, DeadLetter letter) {
        try {
            return letter.kept()
                    ? EngineJson.letter(letter, letters.record(letter.id()))
                    : EngineJson.LETTER.write(letter);
        } catch (IllegalArgumentException gone) {
            Map<String, @Nullable Object> json = EngineJson.LETTER.write(letter);
            json.put("gone", true); // Somebody redrove or purged it since it was listed.
            return json;
        }
    }
}
