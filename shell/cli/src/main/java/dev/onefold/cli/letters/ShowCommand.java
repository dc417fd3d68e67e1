package dev.onefold.cli.letters;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.show.Words;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.bytes.Utf8;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `onefold dead-letters PIPELINE show`.
@Command(
        name = "show",
        description = "Shows one rejected record, whole.",
        footer = {
            "  ${PARENT-COMMAND-FULL-NAME} trade-risk.yaml show 12",
            "  ${PARENT-COMMAND-FULL-NAME} trade-risk.yaml show 12 --raw > 12.json",
            "  ${PARENT-COMMAND-FULL-NAME} trade-risk.yaml show 12 --edited --raw > 12.json"
        })
final class ShowCommand implements Callable<Integer> {
    private final DeadLettersCommand all;

    @Parameters(paramLabel = "ID", description = "The letter's number, as 'list' shows it.")
    private long id;

    @Option(names = "--raw", description = "Nothing but the bytes of the record, as they arrived.")
    private boolean raw;

    @Option(
            names = "--edited",
            description = "The last edit that was redriven and rejected, not the record as it arrived.")
    private boolean edited;

    ShowCommand(DeadLettersCommand all) {
        this.all = all;
    }

    @Override
    public Integer call() throws IOException {
        return all.read(letters -> {
            DeadLetter letter = DeadLettersCommand.letter(letters, id);
            if (edited) {
                byte[] edit = letters.edited(id)
                        .orElseThrow(() -> new CommandFailure(
                                ExitCode.DIFFERENT,
                                "No edit of dead letter " + id
                                        + " was rejected; without --edited its record is shown."));
                if (raw) {
                    all.caller().out().write(edit);
                } else {
                    print(letter, edit);
                }
                return ExitCode.DONE;
            }
            if (raw && !letter.kept()) {
                throw new CommandFailure(
                        ExitCode.DIFFERENT,
                        "The record of dead letter " + id + " is not kept, because it is over the limit: its "
                                + Words.count(letter.bytes(), "byte") + " are at "
                                + all.caller().shown(letter.place())
                                + ".");
            }
            if (raw) {
                all.caller().out().write(letters.record(id));
            } else {
                print(letter, letter.kept() ? letters.record(id) : new byte[0]);
            }
            return ExitCode.DONE;
        });
    }

    /// Where no line is known, the place itself has the offset.
    private static String offset(DeadLetter letter) {
        return letter.place().line() == 0
                ? ""
                : ", offset " + Words.count(letter.place().offset());
    }

    private void print(DeadLetter letter, byte[] record) {
        LetterText text = new LetterText(letter);
        Caller caller = all.caller();
        int width = caller.screen().outWidth();
        String message = Words.indented(Words.visible(letter.message()), " ".repeat(9), width)
                .strip();
        caller.print("letter   " + letter.id() + "\nreason   " + text.reason() + "\nmessage  " + message
                + "\nplace    "
                + caller.shown(letter.place()) + offset(letter) + "\ntime     "
                + Words.time(letter.at()) + "\nsize     " + Words.count(letter.bytes(), "byte") + "\nsha256   "
                + letter.sha256() + "\n\n");
        Optional<String> content = Utf8.decode(record);
        if (edited) {
            caller.print("The last edit, which was rejected for this reason:\n");
        } else if (letter.content() == DeadLetter.Content.SUMMARY) {
            caller.print("The record itself is not kept; this is what is known of it:\n");
        } else if (letter.edited()) {
            caller.print("The record as it arrived; the last edit, to which the reason may belong, is shown by"
                    + " --edited:\n");
        }
        if (!letter.kept() && !edited) {
            caller.print("The record is over the limit and not kept; it is at its place.\n");
        } else if (content.isPresent()) {
            caller.print(Words.visible(content.get()) + "\n");
        } else {
            caller.print("The record is not UTF-8 text; --raw gives its bytes.\n");
        }
    }
}
