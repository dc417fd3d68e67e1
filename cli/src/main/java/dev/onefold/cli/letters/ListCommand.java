package dev.onefold.cli.letters;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.show.Json;
import dev.onefold.cli.show.Words;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `onefold dead-letters PIPELINE list`.
@Command(
        name = "list",
        sortOptions = false,
        description = "Lists rejected records: number, reason, place (source and line), time and message.",
        footerHeading = "%nExample:%n",
        footer = {"  onefold dead-letters trade-risk.yaml list --after 100 --limit 20"})
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
        return all.read(letters -> {
            List<DeadLetter> page = letters.list(after, limit);
            if (format == ListFormat.json) {
                printJson(letters, page);
            } else {
                printTable(letters, page);
            }
            return ExitCode.DONE;
        });
    }

    private void printJson(DeadLetters letters, List<DeadLetter> page) {
        PrintStream out = all.caller().caller().out();
        out.print("{\"size\":" + letters.size() + ",\"letters\":[");
        String separator = "\n";
        for (DeadLetter letter : page) {
            out.print(separator + Json.of(new LetterText(letter).json()));
            separator = ",\n";
        }
        out.print("]}\n");
    }

    private void printTable(DeadLetters letters, List<DeadLetter> page) {
        Caller caller = all.caller().caller();
        long size = letters.size();
        if (page.isEmpty()) {
            caller.out().print(size == 0 ? "There are no dead letters.\n" : "There are none after " + after + ".\n");
            return;
        }
        for (DeadLetter letter : page) {
            LetterText text = new LetterText(letter);
            String id = String.valueOf(letter.id());
            String head = id + "  " + text.reason() + "  " + text.place(caller) + "  " + Words.time(letter.at());
            caller.out().print(Words.wrap(head, caller.screen().outWidth()) + "\n");
            caller.out()
                    .print(Words.indented(
                                    Words.visible(letter.message()),
                                    "    ",
                                    caller.screen().outWidth()) + "\n");
        }
        long last = page.getLast().id();
        String more = letters.list(last, 1).isEmpty() ? "" : " The next ones: --after " + last + ".";
        caller.out()
                .print("\n" + Words.count(page.size()) + " of " + Words.count(size, "dead letter") + "." + more + "\n");
    }
}
