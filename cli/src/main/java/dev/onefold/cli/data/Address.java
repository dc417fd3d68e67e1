package dev.onefold.cli.data;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/// Where the owner of a data directory listens: a socket file in it, or, as the path of a socket has few bytes on
/// every system, one in a short private folder whose path stands in a file of the directory.
final class Address {
    private static final String SOCKET = "engine.socket";
    private static final String ELSEWHERE = "engine.address";
    private static final int PATH_BYTES_MAX = 100;

    private Address() {}

    /// Where somebody may be listening.
    static Optional<UnixDomainSocketAddress> find(Path directory) throws IOException {
        Path socket = directory.resolve(SOCKET);
        if (Files.exists(socket)) {
            return Optional.of(UnixDomainSocketAddress.of(socket));
        }
        try {
            return Optional.of(UnixDomainSocketAddress.of(
                    Files.readString(directory.resolve(ELSEWHERE)).strip()));
        } catch (NoSuchFileException nobody) {
            return Optional.empty();
        }
    }

    /// Where to listen; what a dead owner left is removed. Only the holder of the directory's lock may call this.
    static UnixDomainSocketAddress take(Path directory) throws IOException {
        release(directory);
        Path socket = directory.resolve(SOCKET);
        if (socket.toString().getBytes(StandardCharsets.UTF_8).length <= PATH_BYTES_MAX) {
            return UnixDomainSocketAddress.of(socket);
        }
        Path elsewhere = Files.createTempDirectory("onefold").resolve("s"); // Its permissions are the owner's only.
        Files.writeString(directory.resolve(ELSEWHERE), elsewhere.toString());
        return UnixDomainSocketAddress.of(elsewhere);
    }

    /// Removes what [#take] made, here or in a process that is dead.
    static void release(Path directory) throws IOException {
        Files.deleteIfExists(directory.resolve(SOCKET));
        Path pointer = directory.resolve(ELSEWHERE);
        if (Files.exists(pointer)) {
            Path elsewhere = Path.of(Files.readString(pointer).strip());
            if (elsewhere.endsWith("s") && elsewhere.toString().contains("onefold")) {
                Files.deleteIfExists(elsewhere);
                Files.deleteIfExists(elsewhere.getParent());
            }
            Files.delete(pointer);
        }
    }
}
