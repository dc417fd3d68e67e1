package dev.onefold.cli.run;

import dev.onefold.cli.show.Words;
import dev.onefold.core.event.Event.Silence;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.TableName;
import dev.onefold.embedded.EmbeddedEngine;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/// How many records were silent, by cause.
record Silences(Map<Silence, Long> counts) {
    /// Since an engine was opened.
    static Silences of(EmbeddedEngine engine) {
        return new Silences(engine.silences());
    }

    Silences minus(Silences before) {
        Map<Silence, Long> more = new TreeMap<>(
                Comparator.comparing(Silence::isOfOtherTable).reversed().thenComparing(Silence::what));
        counts.forEach((cause, count) -> {
            long since = count - before.counts.getOrDefault(cause, 0L);
            if (since > 0) {
                more.put(cause, since);
            }
        });
        return new Silences(more);
    }

    long ofOtherTables() {
        return counts.entrySet().stream()
                .filter(each -> each.getKey().isOfOtherTable())
                .mapToLong(Map.Entry::getValue)
                .sum();
    }

    /// That there is no change of the pipeline's table, but of which others, as the end of a sentence.
    String noChange(Pipeline pipeline) {
        String others = counts.keySet().stream()
                .filter(Silence::isOfOtherTable)
                .map(Silence::what)
                .collect(Collectors.joining(", "));
        String wanted = pipeline.input().format() instanceof Format.Debezium format
                ? format.tables().stream().map(TableName::toString).collect(Collectors.joining(", "))
                : "";
        return Words.visible(
                "no change of the table that the pipeline file names (table: " + wanted + "), but changes " + others);
    }

    /// A line of a summary for each cause.
    String lines() {
        return counts.entrySet().stream()
                .map(each -> Words.line("  " + Words.visible(each.getKey().what()), each.getValue()))
                .collect(Collectors.joining());
    }
}
