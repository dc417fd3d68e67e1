package dev.onefold.api;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// The socket file of a data directory, by a path that is short enough: the path of a socket has few bytes on
/// every system. If the directory's own path is too long, a link to the directory in a private folder
/// replaces it until this is closed. So each process finds the socket, by whichever path it comes.
final class Address implements AutoCloseable {
    private static final String SOCKET = "engine.socket";
    private static final int PATH_BYTES_MAX = 100;

    private final UnixDomainSocketAddress socket;
    private final @Nullable Path link;

    private Address(UnixDomainSocketAddress socket, @Nullable Path link) {
        this.socket = socket;
        this.link = link;
    }

    /// The file in the directory.
    static Path file(Path directory) {
        return directory.resolve(SOCKET);
    }

    static Address of(Path directory) throws IOException {
        Path file = file(directory);
        if (file.toString().getBytes(StandardCharsets.UTF_8).length <= PATH_BYTES_MAX) {
            return new Address(UnixDomainSocketAddress.of(file), null);
        }
        Path folder = Files.createTempDirectory("onefold"); // Its permissions are the user's only.
        Path link = Files.createSymbolicLink(folder.resolve("d"), directory.toAbsolutePath());
        return new Address(UnixDomainSocketAddress.of(link.resolve(SOCKET)), link);
    }

    UnixDomainSocketAddress socket() {
        return socket;
    }

    @Override
    public void close() throws IOException {
        if (link != null) {
            Files.deleteIfExists(link);
            Files.deleteIfExists(link.getParent());
        }
    }
}
