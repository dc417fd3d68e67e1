package dev.onefold.examples;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import java.nio.file.Path;
import java.util.List;

/// The engine as a library. The lines between the marks are in `docs/start.md`, too.
final class EmbedInTenLines {
    private EmbedInTenLines() {}

    static List<Answer.Line> run(Path directory, String... messages) {
        // ten lines
        Pipeline pipeline = PipelineBuilder.named("trade-risk")
                .key("TradeID")
                .version("Version")
                .delete("Deleted = true")
                .rollup(rollup -> rollup.levels("Desk").sum("value", "Value", 18, 2))
                .build();
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, pipeline, Settings.defaults())) {
            engine.append("orders", List.of(messages)); // They are forced to disk and in the totals when it returns.
            return engine.query(Query.all("main")).lines();
        }
        // ten lines
    }
}
