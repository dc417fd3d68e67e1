package dev.onefold.simulator.embedded;

import dev.onefold.core.document.Node;
import dev.onefold.core.grammar.PipelineReader;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.schema.FailsafeSchema;

/// Pipelines from the text of a pipeline file.
public final class PipelineYaml {
    private PipelineYaml() {}

    /// The pipeline that a text says.
    ///
    /// @throws IllegalArgumentException if it is none
    public static Pipeline read(String yaml) {
        LoadSettings settings = LoadSettings.builder()
                .setSchema(new FailsafeSchema())
                .setBufferSize(yaml.length() + 2) // A buffer that ends within a surrogate pair fails.
                .build();
        Node node = Node.of(new Load(settings).loadFromString(yaml));
        return switch (PipelineReader.read(node)) {
            case Reading.Read(var pipeline) -> pipeline;
            case Reading.Refused(var problems) ->
                throw new IllegalArgumentException("No pipeline: " + problems + "\n" + yaml);
        };
    }
}
