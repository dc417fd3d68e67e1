package dev.onefold.aws.event;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onefold.fixtures.SharedData;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// Real events beside the project.
final class RealInput {
    private static final String EVENTS = "aws-stream-events/";

    private RealInput() {}

    /// A file there; without it the test is skipped, or fails if the environment says so.
    static Path file(String name) {
        return SharedData.file(EVENTS + name);
    }

    /// The lines of a compressed file.
    static List<String> lines(String name) {
        return SharedData.lines(EVENTS + name);
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
