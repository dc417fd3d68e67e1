package dev.onefold.cli.batches;

import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.show.Table;
import dev.onefold.cli.show.Words;
import dev.onefold.core.SealedBatches.Line;
import dev.onefold.core.SealedBatches.Summary;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.form.EngineJson;
import dev.onefold.core.json.Json;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `onefold batches PIPELINE list`.
@Command(
        name = "list",
        description =
                "Lists batches that are not delivered, with their reasons, and how it is with all of them. Works beside"
                        + " a running engine.",
        footer = {"  Delivered ones, too, from the 100th on:", "    onefold batches quakes.yaml list --all --from 100"})
final class ListCommand implements Callable<Integer> {
    private static final int LIMIT_MAX = 1_000;

    private final BatchesCommand all;

    @Option(names = "--all", description = "Lists delivered batches, too, as far back as they are known.")
    private boolean every;

    @Option(names = "--from", paramLabel = "NUMBER", description = "First number. Default: 1.")
    private String from = "1";

    @Option(
            names = "--limit",
            paramLabel = "COUNT",
            description = "Lines at most, 1 to " + LIMIT_MAX + ". Default: ${DEFAULT-VALUE}.")
    private int limit = 50;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description = "One of ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    private Format format = Format.table;

    /// How the list is written.
    enum Format {
        table,
        json
    }

    ListCommand(BatchesCommand all) {
        this.all = all;
    }

    @Override
    public Integer call() throws IOException {
        BatchNumber first = BatchesCommand.number(from);
        if (limit < 1 || limit > LIMIT_MAX) {
            throw CommandFailure.usage("--limit is 1 to " + Words.count(LIMIT_MAX) + ", and not " + limit + ".");
        }
        return all.read(batches -> {
            Summary summary = batches.summary();
            List<Line> lines = batches.list(first, limit, !every);
            all.caller().print(format == Format.json ? json(summary, lines) : text(summary, lines));
            return ExitCode.DONE;
        });
    }

    private static String json(Summary summary, List<Line> lines) {
        Map<String, @Nullable Object> json = EngineJson.BATCHES.write(summary);
        json.put("batches", lines.stream().map(EngineJson.BATCH::write).toList());
        return Json.of(json) + "\n";
    }

    private String text(Summary summary, List<Line> lines) {
        int width = all.caller().screen().outWidth();
        StringBuilder text = new StringBuilder(Words.wrap(sentence(summary), width));
        if (lines.isEmpty()) {
            return text.toString();
        }
        Table table = new Table(List.of("BATCH", "STATE", "RECORDS", "SEALED", "ATTEMPTS"))
                .left(1)
                .left(3);
        for (Line line : lines) {
            table.add(List.of(
                    line.number().toString(),
                    line.state(),
                    Words.count(line.records()),
                    Words.time(line.sealed()),
                    Words.count(line.attempts())));
        }
        text.append('\n').append(table.text(width, false));
        for (Line line : lines) {
            if (!line.reason().isEmpty()) {
                text.append(Words.wrap("\n" + line.number() + ": " + Words.visible(line.reason()) + "\n", width));
            }
        }
        return text.toString();
    }

    /// How it is with all batches.
    static String sentence(Summary summary) {
        StringBuilder text = new StringBuilder();
        text.append(Words.count(summary.sealed(), "sealed batch").replace("batchs", "batches"));
        text.append(", ").append(Words.undelivered(summary, "of them "));
        if (summary.inDoubt() > 0) {
            text.append(", ").append(Words.count(summary.inDoubt())).append(" in doubt");
        }
        if (summary.aside() > 0) {
            text.append(", ").append(Words.count(summary.aside())).append(" put aside");
        }
        if (summary.decided().discarded() > 0) {
            text.append(", ").append(Words.count(summary.decided().discarded())).append(" discarded with ");
            text.append(Words.count(summary.decided().discardedRecords(), "record"));
        }
        text.append("; ").append(Words.count(summary.openRecords(), "record")).append(" in the open batch");
        if (summary.openSince() != null) {
            text.append(", since ").append(Words.time(summary.openSince()));
        }
        text.append(".\n");
        if (summary.intakeWaitsSince() != null) {
            text.append("Intake waits for the receiver since ")
                    .append(Words.time(summary.intakeWaitsSince()))
                    .append(": ")
                    .append(Words.bytes(summary.bytes()))
                    .append(" are not delivered.\n");
        }
        if (summary.heldUpBy() != null) {
            text.append("Batch ")
                    .append(summary.heldUpBy())
                    .append(" and what waits for a person hold up later ones. Decide about them with 'release'.\n");
        }
        return text.toString();
    }
}
