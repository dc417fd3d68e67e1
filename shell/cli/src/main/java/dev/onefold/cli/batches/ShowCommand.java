package dev.onefold.cli.batches;

import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.show.Words;
import dev.onefold.core.SealedBatches.Line;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.form.EngineJson;
import dev.onefold.core.json.Json;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `onefold batches PIPELINE show NUMBER`.
@Command(
        name = "show",
        description = "Shows one batch: its state, its attempts and the reason why it is not delivered.",
        footer = {"    onefold batches quakes.yaml show 42"})
final class ShowCommand implements Callable<Integer> {
    private final BatchesCommand all;

    @Parameters(paramLabel = "NUMBER", description = "Number of the batch, like 42, or of a part of one, like 42.1.")
    private String number = "";

    @Option(names = "--json", description = "Writes one JSON object.")
    private boolean json;

    ShowCommand(BatchesCommand all) {
        this.all = all;
    }

    @Override
    public Integer call() throws IOException {
        BatchNumber wanted = BatchesCommand.number(number);
        return all.read(batches -> {
            Line line = BatchesCommand.line(batches, wanted);
            all.caller().print(json ? Json.of(EngineJson.BATCH.write(line)) + "\n" : text(line));
            return ExitCode.DONE;
        });
    }

    private String text(Line line) {
        StringBuilder text = new StringBuilder(line.id())
                .append(": ")
                .append(line.state())
                .append(".\n")
                .append(Words.line("records", line.records()))
                .append(Words.line("bytes", line.bytes()))
                .append(Words.line("attempts", line.attempts()))
                .append("Sealed ")
                .append(Words.time(line.sealed()))
                .append(".\n");
        if (line.next() != null) {
            text.append("Tried again at ").append(Words.time(line.next())).append(" or later.\n");
        }
        if (!line.reason().isEmpty()) {
            text.append(Words.wrap(
                    Words.visible(line.reason()) + "\n", all.caller().screen().outWidth()));
        }
        return text.toString();
    }
}
