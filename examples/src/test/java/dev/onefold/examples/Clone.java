package dev.onefold.examples;

import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.fixtures.SharedData;
import dev.onefold.yaml.PipelineFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/// The clone that the tests run in.
public final class Clone {
    private Clone() {}

    /// Its root.
    public static Path root() {
        return SharedData.root();
    }

    /// The text of a file, by its path from the root.
    public static String text(String path) {
        try {
            return Files.readString(root().resolve(path));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /// Names of the folders that hold an example.
    public static List<String> examples() {
        try (Stream<Path> folders = Files.list(root().resolve("examples"))) {
            return folders.filter(folder -> Files.exists(folder.resolve("pipeline.yaml")))
                    .map(folder -> folder.getFileName().toString())
                    .sorted()
                    .toList();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /// The pipeline of an example.
    public static Pipeline pipeline(String example) {
        return switch (PipelineFile.read(pipelineFile(example))) {
            case Reading.Read(Pipeline pipeline) -> pipeline;
            case Reading.Refused refused ->
                throw new IllegalStateException(
                        example + ": " + refused.problems().getFirst());
        };
    }

    /// The pipeline file of an example.
    public static Path pipelineFile(String example) {
        return root().resolve("examples").resolve(example).resolve("pipeline.yaml");
    }

    /// The sample of an example, by its path from the root.
    public static String sample(String example) {
        String path = "examples/" + example + "/sample.";
        return Files.exists(root().resolve(path + "csv")) ? path + "csv" : path + "ndjson";
    }
}
