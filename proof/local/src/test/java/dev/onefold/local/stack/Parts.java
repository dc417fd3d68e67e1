package dev.onefold.local.stack;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/// Where the build has put what a deployment runs with.
final class Parts {
    /// Shorter than a minute, so that what no wake-up has brought on is not waited for.
    private static final Duration MINUTE = Duration.ofSeconds(5);

    private static Path archive; // Of the functions: Java keeps no cache of classes in a folder.

    private Parts() {}

    static Machine machine(int sandboxes) throws IOException {
        Path file = Path.of(System.getProperty("onefold.functions")).normalize();
        List<Path> classPath = new ArrayList<>();
        classPath.add(archive(file.resolveSibling("classes")));
        for (String path : Files.readString(file).strip().split(File.pathSeparator, -1)) {
            classPath.add(Path.of(path));
        }
        return new Machine(classPath, Path.of(System.getProperty("onefold.node")), sandboxes, MINUTE);
    }

    private static synchronized Path archive(Path classes) throws IOException {
        if (archive == null) {
            Path file = Files.createTempFile("functions", ".jar");
            file.toFile().deleteOnExit();
            try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(file));
                    Stream<Path> all = Files.walk(classes)) {
                for (Path each : all.filter(Files::isRegularFile).toList()) {
                    zip.putNextEntry(new ZipEntry(classes.relativize(each).toString()));
                    Files.copy(each, zip);
                }
            }
            archive = file;
        }
        return archive;
    }
}
