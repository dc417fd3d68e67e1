package dev.onefold.yaml;

import dev.onefold.core.bytes.Utf8;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problem;
import dev.onefold.core.document.Problems;
import dev.onefold.core.document.TextPlace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A file of settings in YAML that is not a pipeline file. Its problems are shown in it.
public final class SettingsFile {
    private final String name;
    private final String text;
    private final Node root;

    private SettingsFile(String name, String text, Node root) {
        this.name = name;
        this.text = text;
        this.root = root;
    }

    /// Reads a file.
    ///
    /// @param name the file's name as the user gave it
    /// @throws IllegalArgumentException if it is not YAML, with the place of the problem
    /// @throws IOException if it cannot be read
    public static SettingsFile read(Path path, String name) throws IOException {
        if (Files.size(path) > PipelineFile.FILE_BYTES_MAX) {
            throw new IllegalArgumentException(
                    "The file " + name + " is larger than " + PipelineFile.FILE_BYTES_MAX + " bytes");
        }
        String text = Utf8.decode(Files.readAllBytes(path))
                .orElseThrow(
                        () -> new IllegalArgumentException("The file " + name + " is not UTF-8. Save it as UTF-8"));
        Problems problems = new Problems();
        @Nullable Node root = YamlNodes.read(text, problems);
        if (root == null) {
            throw refused(name, text, problems.inOrder());
        }
        return new SettingsFile(name, text, root);
    }

    /// The root of the file.
    public Node root() {
        return root;
    }

    /// The exception for a problem at a place; the arguments are those of [Problem].
    public IllegalArgumentException refused(TextPlace place, String path, String value, String wrong, String right) {
        return refused(name, text, List.of(new Problem(place, path, value, wrong, right)));
    }

    private static IllegalArgumentException refused(String name, String text, List<Problem> problems) {
        return new IllegalArgumentException(
                ProblemText.of(name, SourceLines.of(text), problems, ProblemText.COLUMNS_MAX)
                        .stripTrailing());
    }
}
