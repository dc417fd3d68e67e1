package dev.onefold.examples.real;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.examples.Clone;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;

/// Real input beside the project: `../shared/data` from the root of the clone, or the folder that
/// `-Donefold.shared=…` names, or `shared/data` below it. Nothing of it is in the project.
final class RealInput {
    private static final String REQUIRED = "ONEFOLD_DATA_REQUIRED";

    private RealInput() {}

    /// A file there. Where the folder is missing, the test is skipped, or fails if the environment says so.
    static Path file(String name) {
        Path folder = folder();
        Path file = folder.resolve(name);
        if (!Files.isRegularFile(file)) {
            String message = "There is no real input " + name + " in "
                    + folder.toAbsolutePath().normalize() + "; -Donefold.shared=FOLDER says where it is.";
            if ("true".equals(System.getenv(REQUIRED))) {
                Assertions.fail(message + " " + REQUIRED + "=true, so this is a failure.");
            }
            Assumptions.abort("Skipped: " + message);
        }
        return file;
    }

    private static Path folder() {
        String named = System.getProperty("onefold.shared");
        if (named == null) {
            return Clone.root().resolveSibling("shared").resolve("data");
        }
        Path below = Path.of(named).resolve("data");
        return Files.isDirectory(below) ? below : Path.of(named);
    }

    /// What an oracle says.
    static JsonNode oracle(String name) {
        try {
            return new ObjectMapper()
                    .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                    .readTree(file(name).toFile());
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /// A compressed file as the engine takes it.
    static FileSource source(String name) {
        Path file = file(name);
        return new FileSource(name, () -> new GZIPInputStream(Files.newInputStream(file), 1 << 16), false);
    }

    /// Its lines.
    static List<String> lines(String name) {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(
                        new GZIPInputStream(Files.newInputStream(file(name)), 1 << 16), StandardCharsets.UTF_8));
                Stream<String> lines = reader.lines()) {
            return lines.toList();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /// The same lines in another order, as the engine takes them.
    static FileSource shuffled(String name, long seed) {
        List<String> lines = new ArrayList<>(lines(name));
        Collections.shuffle(lines, new Random(seed));
        return source(name + ", shuffled with seed " + seed, lines);
    }

    /// Some lines as the engine takes them.
    static FileSource source(String name, List<String> lines) {
        byte[] bytes = (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8);
        return new FileSource(name, () -> new ByteArrayInputStream(bytes), false);
    }
}
