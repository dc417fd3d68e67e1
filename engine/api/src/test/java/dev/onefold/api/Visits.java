package dev.onefold.api;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Visits to the socket of a data directory, byte by byte.
record Visits(Path directory) {
    /// Several visitors that leave together.
    static final class Crowd implements AutoCloseable {
        final List<SocketChannel> visitors = new ArrayList<>();

        SocketChannel add(SocketChannel visitor) {
            visitors.add(visitor);
            return visitor;
        }

        @Override
        public void close() throws IOException {
            for (SocketChannel visitor : visitors) {
                visitor.close();
            }
        }
    }

    SocketChannel connect() throws IOException {
        return SocketChannel.open(UnixDomainSocketAddress.of(directory.resolve("engine.socket")));
    }

    static void send(SocketChannel visitor, String text) throws IOException {
        visitor.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

    /// Sends a byte, if the other side still takes it.
    static void drip(SocketChannel visitor) {
        try {
            send(visitor, "x");
        } catch (IOException gone) {
            // It has been sent away.
        }
    }

    String answer(String request) throws IOException {
        try (SocketChannel visitor = connect()) {
            send(visitor, request);
            return new String(Channels.newInputStream(visitor).readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    static boolean isClosed(SocketChannel visitor) {
        try {
            return visitor.read(ByteBuffer.allocate(1)) == -1;
        } catch (IOException reset) {
            return true;
        }
    }
}
