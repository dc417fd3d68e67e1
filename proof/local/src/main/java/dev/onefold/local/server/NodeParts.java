package dev.onefold.local.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/// What runs on Node: a folder with a script, and the packages that it needs, fetched by npm at first use. The versions
/// are those of the lock file, whose hashes npm checks.
final class NodeParts {
    static final String SCRIPT = "kinesis.js";

    private static final String LOCK = "package-lock.json";
    private static final List<String> FILES = List.of("package.json", LOCK, SCRIPT);
    private static final int VERSION_MIN = 18;

    private NodeParts() {}

    /// Makes the folder what it should be. Another process that does so at the same time is waited for.
    ///
    /// @throws IllegalStateException saying what is missing on this machine, and what to do
    static synchronized void install(Path folder) throws IOException {
        requireNode();
        Files.createDirectories(folder);
        try (FileChannel file = FileChannel.open(
                        folder.resolve("install.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock _ = file.lock()) {
            installAlone(folder);
        }
    }

    private static void installAlone(Path folder) throws IOException {
        Path done = folder.resolve("installed.json"); // Which lock file the packages are of.
        for (String name : FILES) {
            try (InputStream in = NodeParts.class.getResourceAsStream(name)) {
                byte[] content = Objects.requireNonNull(in, "The build puts it beside this class")
                        .readAllBytes();
                Path file = folder.resolve(name);
                if (!Files.exists(file) || !Arrays.equals(Files.readAllBytes(file), content)) {
                    Files.write(file, content); // A process that runs may be reading it.
                }
            }
        }
        if (!isSame(done, folder.resolve(LOCK))) {
            String said = run(
                    folder,
                    "npm is needed for the Kinesis server, and cannot be started. It comes with Node.",
                    "npm",
                    "ci",
                    "--ignore-scripts", // They would compile a store on disk, which is not used.
                    "--no-audit",
                    "--no-fund",
                    "--prefer-offline");
            if (!Files.isDirectory(folder.resolve("node_modules").resolve("kinesalite"))) {
                throw new IllegalStateException("npm could not fetch the Kinesis server into " + folder
                        + ". It needs the npm registry once. It said:\n" + said);
            }
            Files.copy(folder.resolve(LOCK), done, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private static void requireNode() throws IOException {
        String missing =
                "Node " + VERSION_MIN + " or newer is needed for the Kinesis server, and 'node' is not on the PATH.";
        String version = run(Path.of("."), missing, "node", "--version").strip();
        if (!version.matches("v[0-9]+\\..*")
                || Integer.parseInt(version.substring(1, version.indexOf('.'))) < VERSION_MIN) {
            throw new IllegalStateException("Node " + VERSION_MIN
                    + " or newer is needed for the Kinesis server, and 'node --version' says: " + version);
        }
    }

    private static boolean isSame(Path one, Path other) throws IOException {
        try {
            return Arrays.equals(Files.readAllBytes(one), Files.readAllBytes(other));
        } catch (NoSuchFileException missing) {
            return false;
        }
    }

    private static String run(Path folder, String missing, String... command) {
        try {
            Process process = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .start();
            process.getOutputStream().close();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            process.waitFor();
            return said;
        } catch (IOException e) {
            if (String.valueOf(e.getMessage()).contains("Cannot run program")) {
                throw new IllegalStateException(missing + " Install it (https://nodejs.org), and try again.", e);
            }
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for " + command[0], e);
        }
    }
}
