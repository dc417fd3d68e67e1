package dev.onefold.examples.real;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.fixtures.SharedData;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPInputStream;

/// Real input beside the project, as the engine takes it.
final class RealInput {
    private RealInput() {}

    /// What an oracle says.
    static JsonNode oracle(String name) {
        try {
            return new ObjectMapper()
                    .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                    .readTree(SharedData.file(name).toFile());
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /// A compressed file as the engine takes it.
    static FileSource source(String name) {
        Path file = SharedData.file(name);
        return new FileSource(name, () -> new GZIPInputStream(Files.newInputStream(file), 1 << 16), false);
    }

    /// The same lines in another order, as the engine takes them.
    static FileSource shuffled(String name, long seed) {
        List<String> lines = new ArrayList<>(SharedData.lines(name));
        Collections.shuffle(lines, new Random(seed));
        return source(name + ", shuffled with seed " + seed, lines);
    }

    /// Some lines as the engine takes them.
    static FileSource source(String name, List<String> lines) {
        byte[] bytes = (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8);
        return new FileSource(name, () -> new ByteArrayInputStream(bytes), false);
    }
}
