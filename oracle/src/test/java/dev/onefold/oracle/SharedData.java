package dev.onefold.oracle;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;

/// Real input beside the project: `../shared/data`, or the folder that `-Donefold.shared` names.
final class SharedData {
    private static final ObjectMapper MAPPER =
            new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

    private SharedData() {}

    /// A file of the folder. Skips the test where there is no such folder.
    static Path file(String name) {
        Path folder = folder();
        if (!Files.isDirectory(folder)) {
            String message = "Skipped: the real input is not at "
                    + folder.toAbsolutePath().normalize() + "; -Donefold.shared=FOLDER says where it is.";
            if (Boolean.parseBoolean(System.getenv("ONEFOLD_DATA_REQUIRED"))) {
                Assertions.fail(message);
            }
            Assumptions.abort(message);
        }
        return folder.resolve(name);
    }

    static JsonNode json(String name) throws IOException {
        return MAPPER.readTree(file(name).toFile());
    }

    static ObjectMapper mapper() {
        return MAPPER;
    }

    private static Path folder() {
        String named = System.getProperty("onefold.shared");
        if (named != null) {
            return Path.of(named);
        }
        Path root = Path.of("").toAbsolutePath();
        while (root.getParent() != null && !Files.exists(root.resolve("docs").resolve("pipelines.md"))) {
            root = root.getParent();
        }
        return root.resolveSibling("shared").resolve("data");
    }
}
