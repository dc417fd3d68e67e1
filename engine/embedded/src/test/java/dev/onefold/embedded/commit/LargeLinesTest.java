package dev.onefold.embedded.commit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.Engine;
import dev.onefold.core.EngineException;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Lines of some MiB beside a small memory for rows.
class LargeLinesTest {
    private static final Pipeline PIPELINE = PipelineBuilder.named("p")
            .key("id")
            .version("v")
            .rollup(rollup -> rollup.levels("desk").count("n"))
            .build();

    @TempDir
    private Path directory;

    private Engine open() {
        return EmbeddedEngine.open(
                directory, PIPELINE, Settings.defaults().withShards(2).withStateBytesMax(64 << 20));
    }

    private static String line(int bytes) {
        return "{\"id\":1,\"v\":1,\"desk\":\"a\",\"text\":\"" + "x".repeat(bytes) + "\"}";
    }

    @Test
    void a_line_over_the_limit_is_a_letter_however_small_the_memory_for_rows_is() {
        try (Engine engine = open()) {
            Engine.Appended appended = engine.append("s", List.of(line(11 << 20), line(10)));
            assertThat(appended.counts().accepted()).isEqualTo(1);
            assertThat(appended.counts().rejected()).isEqualTo(1);
            assertThat(engine.deadLetters().list(0, 1).getFirst().reason()).isEqualTo(Reason.TOO_LARGE);
        }
    }

    @Test
    void a_line_that_could_need_more_than_the_memory_for_rows_is_refused_with_what_it_needs() {
        try (Engine engine = open()) {
            assertThatThrownBy(() -> engine.append("s", List.of(line(9 << 20))))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("the 1 records that are committed now, of 94")
                    .hasMessageMatching(".* may need [0-9]{8,} more, and 67108864 are allowed.*");
            assertThat(engine.counts().records()).isZero();
        }
    }
}
