package dev.onefold.cli.letters;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.show.Words;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.form.EngineJson;
import dev.onefold.core.json.Json;
import java.io.IOException;
import java.io.PrintStream;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `onefold dead-letters PIPELINE list`.
@Command(
        name = "list",
        description = "Lists rejected records: number, reason, place (source and line), time and message.",
        footerHeading = "%nExample:%n",
        footer = {
            "  ${PARENT-COMMAND-FULL-NAME} trade-risk.yaml list --after 100 --limit 20",
            "  ${PARENT-COMMAND-FULL-NAME} trade-risk.yaml list --reason refused --limit 20"
        })
final class ListCommand implements Callable<Integer> {
    private final DeadLettersCommand all;

    @Option(names = "--after", paramLabel = "ID", description = "Only letters with higher numbers.")
    private long after;

    @Option(names = "--limit", paramLabel = "N", description = "At most so many. Default: ${DEFAULT-VALUE}.")
    private int limit = 50;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description = "One of ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    private ListFormat format = ListFormat.table;

    @Mixin
    private final Chosen chosen = new Chosen();

    /// How the list is written.
    enum ListFormat {
        table,
        json
    }

    ListCommand(DeadLettersCommand all) {
        this.all = all;
    }

    @Override
    public Integer call() throws IOException {
        if (limit < 1 || after < 0) {
            throw CommandFailure.usage("--limit is 1 or more, and --after 0 or more.");
        }
        chosen.check();
        return all.read(letters -> {
            if (format == ListFormat.json) {
                printJson(letters);
            } else {
                printTable(letters);
            }
            return ExitCode.DONE;
        });
    }

    /// The last letter that was printed, and how many were; one more than the limit is looked for, and not
    /// printed.
    private static final class Printed {
        private long last;
        private int count;
        private boolean more;
    }

    private interface Line {
        void print(DeadLetter letter);
    }

    private Printed each(DeadLetters letters, Line line) throws IOException {
        Printed printed = new Printed();
        chosen.forEach(letters, all, after, some -> {
            for (DeadLetter letter : some) {
                if (printed.count == limit) {
                    printed.more = true;
                    return false;
                }
                line.print(letter);
                printed.count++;
                printed.last = letter.id();
            }
            return true;
        });
        return printed;
    }

    private void printJson(DeadLetters letters) throws IOException {
        PrintStream out = all.caller().out();
        out.print("{\"size\":" + letters.size() + ",\"letters\":[");
        String[] separator = {"\n"};
        each(letters, letter -> {
            out.print(separator[0] + Json.of(EngineJson.LETTER.write(letter)));
            separator[0] = ",\n";
        });
        out.print("]}\n");
    }

    private void printTable(DeadLetters letters) throws IOException {
        Caller caller = all.caller();
        int width = caller.screen().outWidth();
        Printed printed = each(letters, letter -> {
            LetterText text = new LetterText(letter);
            String id = String.valueOf(letter.id());
            String edited = letter.edited() ? "  edited" : "";
            String head = id + "  " + text.reason() + "  " + caller.shown(letter.place()) + "  "
                    + Words.time(letter.at()) + edited;
            caller.print(Words.wrap(head, width) + "\n");
            caller.print(Words.indented(Words.visible(letter.message()), "    ", width) + "\n");
        });
        long size = letters.size();
        if (printed.count == 0) {
            String such = chosen.isSaid() ? "There are no such dead letters.\n" : "There are no dead letters.\n";
            caller.print(size == 0 || after == 0 ? such : "There are none after " + after + ".\n");
            return;
        }
        String more = printed.more ? " The next ones: --after " + printed.last + "." : "";
        caller.print("\n" + Words.count(printed.count) + " of " + Words.count(size, "dead letter") + "." + more + "\n");
    }
}
