package dev.onefold.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/// A real file system of 64 MiB, which becomes full. Mounting one needs root; without it, the test is skipped and says
/// so.
public final class SmallDisk implements AutoCloseable {
    private static final int FILLED_MAX = 200;
    private static final int UNMOUNTS_MAX = 50;

    private final Path folder;
    private final Path filler;

    private SmallDisk(Path folder) {
        this.folder = folder;
        filler = folder.resolve("filler");
    }

    /// Mounts it.
    ///
    /// @param folder where; it is made
    public static SmallDisk mount(Path folder) throws IOException {
        Files.createDirectory(folder);
        assumeTrue(
                succeeds("mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", folder.toString()),
                "No tmpfs can be mounted by this user: a real full disk is not tested");
        return new SmallDisk(folder);
    }

    private static boolean succeeds(String... command) throws IOException {
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            return process.waitFor(20, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /// Takes all its space.
    public void fill() throws IOException {
        Files.createDirectory(filler);
        byte[] bytes = new byte[1 << 20];
        for (int i = 0; i < FILLED_MAX; i++) {
            try {
                Files.write(filler.resolve(String.valueOf(i)), bytes);
            } catch (IOException full) {
                return;
            }
        }
        throw new IllegalStateException("The file system is not full after " + FILLED_MAX + " MiB");
    }

    /// Gives back what [#fill] took.
    public void empty() throws IOException {
        try (Stream<Path> files = Files.list(filler)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
    }

    @Override
    public void close() throws IOException {
        boolean isGone = succeeds("umount", folder.toString());
        for (int i = 1; i < UNMOUNTS_MAX && !isGone; i++) { // A process that another test has just started may hold it.
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
            isGone = succeeds("umount", folder.toString());
        }
        assertThat(isGone).as("unmounted " + folder).isTrue();
    }
}
