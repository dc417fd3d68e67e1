package dev.onefold.aws.event;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;

/// Real events beside the project: `../shared/data/aws-stream-events` from the root of the clone, or below the folder
/// that `-Donefold.shared=…` names. Nothing of it is in the project.
final class RealInput {
    private static final String REQUIRED = "ONEFOLD_DATA_REQUIRED";
    private static final String EVENTS = "aws-stream-events";

    private RealInput() {}

    /// A file there. Where the folder is missing, the test is skipped, or fails if the environment says so.
    static Path file(String name) {
        Path file = folder().resolve(EVENTS).resolve(name);
        if (!Files.isReadable(file)) {
            String message = "There is no real input " + file.toAbsolutePath().normalize()
                    + "; -Donefold.shared=FOLDER says where it is.";
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
            return root().resolveSibling("shared").resolve("data");
        }
        Path below = Path.of(named).resolve("data");
        return Files.isDirectory(below) ? below : Path.of(named);
    }

    private static Path root() {
        Path start = Path.of("").toAbsolutePath();
        for (Path folder = start; folder != null; folder = folder.getParent()) {
            if (Files.isRegularFile(folder.resolve("onefold"))) {
                return folder;
            }
        }
        throw new IllegalStateException("No folder above " + start + " holds the launcher 'onefold'.");
    }

    /// The lines of a compressed file.
    static List<String> lines(String name) {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(
                new GZIPInputStream(Files.newInputStream(file(name)), 1 << 16), StandardCharsets.UTF_8))) {
            return reader.readAllLines();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    static JsonNode json(byte[] text) {
        try {
            return new ObjectMapper().readTree(text);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    static byte[] bytes(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    static JsonNode oracle(String part) {
        return json(bytes(file("oracle.json"))).get(part);
    }
}
