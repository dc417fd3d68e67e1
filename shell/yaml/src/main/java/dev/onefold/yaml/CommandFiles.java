package dev.onefold.yaml;

import dev.onefold.core.bytes.Sha256;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;

/// The files of a command: the words that name a file in the folder of the pipeline file, or below it.
final class CommandFiles {
    private CommandFiles() {}

    /// The hash of the one file; of several, the hash of the lines that `sha256sum` prints of them; empty if there are
    /// none.
    static String sha256(List<String> words, Path folder) {
        List<String> files =
                words.stream().distinct().filter(word -> isFile(word, folder)).toList();
        if (files.size() == 1) {
            return hash(folder.resolve(files.getFirst()));
        }
        StringBuilder lines = new StringBuilder();
        files.forEach(file -> lines.append(hash(folder.resolve(file)))
                .append("  ")
                .append(file)
                .append('\n'));
        return files.isEmpty() ? "" : Sha256.hex(lines.toString().getBytes(StandardCharsets.UTF_8));
    }

    private static boolean isFile(String word, Path folder) {
        try {
            Path file = folder.resolve(word).normalize();
            return file.startsWith(folder.normalize()) && Files.isRegularFile(file);
        } catch (InvalidPathException e) {
            return false;
        }
    }

    private static String hash(Path file) {
        try {
            return Sha256.hex(Files.readAllBytes(file));
        } catch (IOException e) {
            throw new UncheckedIOException("The file " + file + " of the function's command cannot be read", e);
        }
    }
}
