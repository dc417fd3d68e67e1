package dev.onefold.local.cloud;

import dev.onefold.core.bytes.Sha256;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/// The functions' archive, unpacked: as in Lambda, its class path is its root and the jars in `lib`.
/// @param digest of its bytes
record Archive(Path folder, List<Path> classPath, String digest) implements AutoCloseable {
    /// Unpacks an archive into a folder of its own.
    ///
    /// @throws IOException if it is none, or if an entry leads out of the folder
    static Archive unpack(byte[] zip) throws IOException {
        Path folder = Files.createTempDirectory("onefold-functions-");
        String digest = Sha256.hex(zip);
        Archive archive = new Archive(folder, List.of(folder), digest);
        List<Path> classPath = new ArrayList<>(archive.classPath());
        try (ZipInputStream in = new ZipInputStream(new ByteArrayInputStream(zip))) {
            for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
                Path file = folder.resolve(entry.getName()).normalize();
                if (!file.startsWith(folder)) {
                    throw new IOException("The archive's entry " + entry.getName() + " leads out of it");
                }
                if (entry.isDirectory()) {
                    Files.createDirectories(file);
                } else {
                    Path parent = Objects.requireNonNull(file.getParent(), "It is in the folder");
                    Files.createDirectories(parent);
                    Files.copy(in, file);
                    if (parent.equals(folder.resolve("lib"))) {
                        classPath.add(file);
                    }
                }
            }
        } catch (IOException e) {
            archive.close();
            throw e;
        }
        if (classPath.size() == 1 && isEmpty(folder)) {
            archive.close();
            throw new IOException("Could not unzip uploaded file. Please check your file, then try to upload again.");
        }
        return new Archive(folder, List.copyOf(classPath), digest);
    }

    private static boolean isEmpty(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.findAny().isEmpty();
        }
    }

    @Override
    public void close() throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        List<Path> files;
        try (Stream<Path> walk = Files.walk(folder)) {
            files = walk.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path file : files) {
            Files.delete(file);
        }
    }
}
