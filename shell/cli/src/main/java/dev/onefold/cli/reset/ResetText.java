package dev.onefold.cli.reset;

import dev.onefold.cli.show.Words;
import dev.onefold.core.SealedBatches.Summary;
import dev.onefold.core.Status;
import dev.onefold.core.pipeline.Batching.Kind;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Publishing;
import dev.onefold.embedded.DataFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The data that a reset deletes, and the consequences.
record ResetText(Pipeline pipeline, Status status, Path data) {
    /// The first line names the deleted data; each other line is a consequence.
    String announcement(String shown) {
        List<String> lines = new ArrayList<>();
        lines.add("Deletes the data of pipeline " + pipeline.name() + " in " + shown + ": "
                + Words.count(status.counts().records(), "record") + " of "
                + Words.count(status.sources().size(), "source") + ", " + Words.count(status.rows(), "row") + ", "
                + Words.count(status.deadLetters(), "dead letter")
                + status.batches().map(ResetText::batches).orElse("") + "; " + Words.bytes(status.diskBytes()) + ".");
        lines.add("- How far the sources were read is forgotten. The next run reads its files from their beginning, and"
                + " takes lines of standard input from the first one on. Records that came from a queue, by HTTP or by a"
                + " seeding come again only if somebody sends or seeds them again.");
        if (status.deadLetters() > 0) {
            lines.add("- The dead letters are deleted, too. 'onefold dead-letters " + pipeline.name()
                    + " export' keeps a copy of them.");
        }
        if (Files.exists(data.resolve("requests").resolve("answers"))) {
            lines.add(
                    "- The answers to requests with an idempotency key are forgotten: the records of a request that is"
                            + " repeated count.");
        }
        status.batches().ifPresent(batches -> follows(batches, lines));
        Publishing publishing = pipeline.publishing();
        if (publishing != null && !(publishing instanceof Publishing.Items)) {
            lines.add("- The published " + (publishing instanceof Publishing.Topic ? "topic " : "table ")
                    + publishing.table()
                    + " keeps the totals of before until the next run: at its start that replaces them by its own.");
        }
        if (DataFolder.isJournalKept(data)) {
            lines.add("- The directory forgets that its journal is to be kept: say --keep-journal again.");
        }
        return String.join("\n", lines);
    }

    private static String batches(Summary batches) {
        return ", " + Words.count(batches.sealed()) + " sealed " + (batches.sealed() == 1 ? "batch" : "batches");
    }

    private static void follows(Summary batches, List<String> lines) {
        if (batches.undelivered() > 0 || batches.openRecords() > 0) {
            lines.add(
                    "- " + Words.count(batches.undelivered()) + " of the batches are not delivered, and the batch that"
                            + " is being collected has " + Words.count(batches.openRecords(), "record")
                            + ": the receiver does not get them.");
        }
        if (batches.sealed() > 0) {
            lines.add("- The next run numbers its batches from 1 again.");
        }
    }

    /// The reaction of a receiver to another batch under a number that it knows.
    static String ofReceiver(Kind kind) {
        return switch (kind) {
            case FILE, S3, SFTP, JDBC, KAFKA ->
                "Where the receiver has another content under a number, the batch would be put aside.";
            case HTTP, COMMAND, JAVA, LAMBDA ->
                "A receiver that leaves out the numbers that it knows would lose their records.";
        };
    }
}
