package dev.onefold.yaml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// A language that functions are written in here. Without its program a test says that it was skipped, and
/// `ONEFOLD_PYTHON_REQUIRED=true`, or `ONEFOLD_NODE_REQUIRED=true`, makes that a failure.
enum Language {
    PYTHON("python3", "ONEFOLD_PYTHON_REQUIRED", "onefold.py", "function.py"),
    NODE("node", "ONEFOLD_NODE_REQUIRED", "onefold.mjs", "function.mjs");

    private static final Path CLIENTS = Path.of("../../clients").toAbsolutePath();

    final String program;
    private final String required;
    private final String module;
    private final String file;

    Language(String program, String required, String module, String file) {
        this.program = program;
        this.required = required;
        this.module = module;
        this.file = file;
    }

    /// Writes a function beside its module, and a pipeline file that names it.
    Path pipeline(Path folder, String text, String function) {
        boolean isThere = List.of(System.getenv("PATH").split(":")).stream()
                .anyMatch(each -> Files.isExecutable(Path.of(each, program)));
        if (Boolean.parseBoolean(System.getenv(required))) {
            assertThat(isThere).as("there is a program " + program).isTrue();
        }
        assumeTrue(isThere, program + " is not installed");
        try {
            Files.writeString(folder.resolve(module), Files.readString(CLIENTS.resolve(module)));
            Files.writeString(folder.resolve(file), function);
            return Files.writeString(
                    folder.resolve("pipeline.yaml"), text.formatted("[" + program + ", " + file + "]"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
