package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.batch.Outcome;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.Stage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Behind each stage the data directory is as the stage says: a copy of it, taken at that moment, is opened as
/// after a crash.
@Timeout(60)
class StagesTest {
    private static final Pipeline TOTALS = PipelineBuilder.named("p")
            .key("k")
            .version("v")
            .rollup(rollup -> rollup.count("n"))
            .build();
    private static final List<String> LINES =
            List.of("{\"k\":\"a\",\"v\":1}", "{\"k\":\"b\",\"v\":1}", "{\"k\":\"c\",\"v\":1}");

    @TempDir
    private Path folder;

    private final Map<Stage, Path> images = new EnumMap<>(Stage.class); // The first passage of each stage.
    private boolean isWatching;

    private Path data() {
        return folder.resolve("data");
    }

    private Settings settings() {
        return Settings.defaults().withCheckpointInterval(Duration.ofDays(1)).withPassed(this::passed);
    }

    private synchronized void passed(Stage stage) {
        if (isWatching && !images.containsKey(stage)) {
            Path image = folder.resolve(stage.name());
            images.put(stage, image);
            try (Stream<Path> files = Files.walk(data())) {
                for (Path file : files.toList()) {
                    Path copy = image.resolve(data().relativize(file));
                    if (Files.isDirectory(file)) {
                        Files.createDirectories(copy);
                    } else if (Files.isRegularFile(file)) {
                        Files.copy(file, copy);
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private synchronized void watch() {
        isWatching = true;
    }

    private EmbeddedEngine image(Stage stage, Pipeline pipeline) {
        assertThat(images).containsKey(stage);
        return EmbeddedEngine.open(images.get(stage), pipeline, Settings.defaults());
    }

    private static byte[] lines() {
        return (String.join("\n", LINES) + "\n").getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void a_request_is_on_disk_behind_the_journal_and_counts_once_whatever_stage_was_the_last() {
        try (EmbeddedEngine engine = EmbeddedEngine.open(data(), TOTALS, settings())) {
            watch();
            engine.append("s", 1, lines(), lines().length);
            assertThat(images.keySet()).containsExactly(Stage.READ, Stage.JOURNAL, Stage.FOLD);
            engine.checkpointNow();
        }
        Map<Stage, Long> known =
                Map.of(Stage.READ, 0L, Stage.JOURNAL, 3L, Stage.FOLD, 3L, Stage.WRITE, 3L, Stage.CHECKPOINT, 3L);
        assertThat(images.keySet()).isEqualTo(known.keySet());
        Map<Stage, Long> checkpoints = new EnumMap<>(Stage.class);
        for (Stage stage : images.keySet()) {
            try (EmbeddedEngine again = image(stage, TOTALS)) {
                assertThat(again.counts().accepted()).as(stage.name()).isEqualTo(known.get(stage));
                checkpoints.put(stage, again.status().checkpoint());
                again.append("s", 1, lines(), lines().length);
                assertThat(again.counts().accepted()).as(stage.name()).isEqualTo(3);
                assertThat(again.counts().records()).as(stage.name()).isEqualTo(3);
            }
        }
        assertThat(checkpoints.get(Stage.CHECKPOINT)).isGreaterThan(checkpoints.get(Stage.WRITE));
    }

    @Test
    void a_file_is_folded_again_unless_a_checkpoint_names_it() throws Exception {
        Path file = Files.write(folder.resolve("f.ndjson"), lines());
        try (EmbeddedEngine engine = EmbeddedEngine.open(data(), TOTALS, settings())) {
            watch();
            engine.fold(FileSource.of(file), FoldListener.silent());
        }
        assertThat(images.keySet()).containsExactly(Stage.READ, Stage.FOLD, Stage.WRITE, Stage.CHECKPOINT);
        for (Stage stage : images.keySet()) {
            try (EmbeddedEngine again = image(stage, TOTALS)) {
                assertThat(again.counts().accepted()).as(stage.name()).isEqualTo(stage == Stage.CHECKPOINT ? 3 : 0);
                again.fold(FileSource.of(file), FoldListener.silent());
                assertThat(again.counts().records()).as(stage.name()).isEqualTo(3);
            }
        }
    }

    @Test
    void a_delivery_that_may_not_be_repeated_is_in_doubt_behind_its_begin_and_behind_its_effect() {
        Pipeline batches = ((Reading.Read) PipelineText.read("{\"pipeline\":\"q\",\"input\":{\"id\":\"k\"},\"batch\":"
                        + "{\"size\":3,\"wait\":\"1s\",\"deliver\":{\"http\":\"http://h/\"},\"receiver\":\"once\"}}"))
                .pipeline();
        try (EmbeddedEngine engine = EmbeddedEngine.open(data(), batches, settings())) {
            engine.append("s", LINES);
            engine.checkpointNow();
            watch();
            engine.deliver((_, _, _) -> {
                assertThat(images.keySet()).contains(Stage.BEGIN).doesNotContain(Stage.DELIVERY);
                return new Outcome.Done();
            });
            while (engine.batches().summary().done() == 0) {
                Thread.onSpinWait();
            }
        }
        for (Stage stage : List.of(Stage.BEGIN, Stage.DELIVERY)) {
            try (EmbeddedEngine again = image(stage, batches)) {
                assertThat(again.batches().summary().inDoubt()).as(stage.name()).isEqualTo(1);
            }
        }
    }
}
