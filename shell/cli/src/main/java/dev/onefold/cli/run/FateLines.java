package dev.onefold.cli.run;

import dev.onefold.cli.show.Words;
import dev.onefold.core.Causes;
import dev.onefold.core.Counts;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.TableName;
import java.util.stream.Collectors;

/// The lines of a summary for the fates of records, and for the causes that have names.
record FateLines(Counts counts, Causes causes) {
    /// Whether there were changes of other tables than the pipeline's, and nothing else but silent records.
    boolean hasOtherTablesAlone() {
        return counts.records() == counts.silent()
                && !causes.counts().containsKey(Causes.BEYOND_KEEP)
                && !causes.ofOtherTables().isEmpty();
    }

    /// That there is no change of the pipeline's table, but of which others, as the end of a sentence.
    String noChange(Pipeline pipeline) {
        String others = String.join(
                ", ", new Causes(causes.ofOtherTables()).of("silent").keySet());
        String wanted = pipeline.input().format() instanceof Format.Debezium format
                ? format.tables().stream().map(TableName::toString).collect(Collectors.joining(", "))
                : "";
        return Words.visible(
                "no change of the table that the pipeline file names (table: " + wanted + "), but changes " + others);
    }

    String text() {
        StringBuilder text = new StringBuilder();
        append(text, "accepted", counts.accepted());
        append(text, "duplicate", counts.duplicate());
        append(text, "stale", counts.stale());
        append(text, "conflicting", counts.conflicting());
        append(text, "rejected", counts.rejected());
        if (counts.silent() > 0) {
            append(text, "silent", counts.silent());
        }
        return text.toString();
    }

    private void append(StringBuilder text, String fate, long count) {
        text.append(Words.line(fate, count));
        causes.of(fate).forEach((cause, some) -> text.append(Words.line("  " + Words.visible(cause), some)));
    }
}
