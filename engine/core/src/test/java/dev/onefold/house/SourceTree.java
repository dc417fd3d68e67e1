package dev.onefold.house;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// The files of the repository, as they were written: without the files of a build or an editor.
final class SourceTree {
    private static final Set<String> FOLDERS_SKIPPED = Set.of(".git", ".idea", ".vscode", "target", "node_modules");
    private static final Set<String> ENDINGS = Set.of(
            "config", "css", "html", "java", "js", "json", "md", "properties", "sh", "toml", "xml", "yaml", "yml");

    private SourceTree() {}

    /// One text file: its path from the root, with `/`, and its content.
    record Source(String path, String text) {
        boolean isJava() {
            return path.endsWith(".java");
        }

        boolean isMain() {
            return isJava() && path.contains("/src/main/");
        }

        /// Whether it says what a module exports; it is in no package.
        boolean isModuleInfo() {
            return fileName().equals("module-info.java");
        }

        String fileName() {
            return path.substring(path.lastIndexOf('/') + 1);
        }

        /// The name of its module: `core` for `engine/core/pom.xml`. Empty for a file of no module.
        String module() {
            String folder = path.contains("/src/") ? path.substring(0, path.indexOf("/src/")) : folder();
            return folder.substring(folder.lastIndexOf('/') + 1);
        }

        String folder() {
            return path.substring(0, Math.max(0, path.lastIndexOf('/')));
        }
    }

    static List<Source> read() {
        Path root = root();
        List<Source> sources = new ArrayList<>();
        try {
            Files.walkFileTree(root, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                    boolean skipped =
                            FOLDERS_SKIPPED.contains(folder.getFileName().toString());
                    return skipped && !folder.equals(root) ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    if (attributes.isRegularFile() && isText(file)) {
                        sources.add(new Source(pathFrom(root, file), Files.readString(file)));
                    }
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException unreadable) {
            throw new UncheckedIOException("A source file cannot be read below " + root + ".", unreadable);
        }
        return List.copyOf(sources);
    }

    private static boolean isText(Path file) {
        String name = file.getFileName().toString();
        int dot = name.lastIndexOf('.');
        return dot < 0 ? isScript(file) : ENDINGS.contains(name.substring(dot + 1));
    }

    private static boolean isScript(Path file) {
        try (var in = Files.newInputStream(file)) {
            return in.read() == '#' && in.read() == '!';
        } catch (IOException unreadable) {
            throw new UncheckedIOException("The file cannot be read: " + file + ".", unreadable);
        }
    }

    private static String pathFrom(Path root, Path file) {
        return root.relativize(file).toString().replace('\\', '/');
    }

    /// A test may be started in the root or in any module: the root is the nearest folder that holds the settings of
    /// Maven.
    static Path root() {
        Path start = Path.of("").toAbsolutePath();
        for (Path folder = start; folder != null; folder = folder.getParent()) {
            if (Files.isDirectory(folder.resolve(".mvn"))) {
                return folder;
            }
        }
        throw new IllegalStateException("No folder above " + start + " holds .mvn, the mark of the repository's root."
                + " Start the tests inside the repository.");
    }
}
