package dev.onefold.embedded.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.EngineException;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileNamesTest {
    @TempDir
    Path folder;

    @Test
    void a_file_in_place_of_the_data_directory_is_refused_and_stays_as_it_is() throws Exception {
        Path file = Files.writeString(folder.resolve("trades.yaml"), "pipeline: trades\n");
        var pipeline = PipelineBuilder.named("trades").rollup(r -> r.count("n")).build();
        assertThatThrownBy(() -> EmbeddedEngine.open(file, pipeline, Settings.defaults()))
                .isInstanceOf(EngineException.class)
                .hasMessageContaining(file + " is a file. Name the data directory");
        assertThatThrownBy(() -> EmbeddedEngine.open(file, Settings.defaults()))
                .isInstanceOf(EngineException.class)
                .hasMessageContaining(file + " is a file. Name the data directory");
        assertThat(file).hasContent("pipeline: trades\n");
    }
}
