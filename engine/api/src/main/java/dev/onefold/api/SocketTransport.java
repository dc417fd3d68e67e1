package dev.onefold.api;

import dev.onefold.core.EngineException;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/// Asks the process that owns a data directory, each request on a connection of its own. Any thread may call.
///
/// @param directory the data directory
record SocketTransport(Path directory) implements Transport {
    /// A connection to the socket.
    ///
    /// @throws IOException if nobody listens
    static SocketChannel connect(Path directory) throws IOException {
        try (Address address = Address.of(directory)) {
            return SocketChannel.open(address.socket());
        }
    }

    @Override
    public <T> T exchange(Asked asked, Reader<T> reader) throws IOException {
        try (SocketChannel channel = reached()) {
            InputStream in = new BufferedInputStream(Channels.newInputStream(channel));
            try {
                send(channel, asked);
            } catch (IOException refused) {
                // The answer may be there although the content was not wanted.
            }
            Head head = Head.read(in);
            if (head == null) {
                throw new IOException("The connection was closed before the answer");
            }
            int status = Integer.parseInt(head.start().split(" ", 3)[1]);
            return reader.read(new Answered(status, head::field, head.body(in, true)));
        }
    }

    private SocketChannel reached() throws Unreached {
        try {
            return connect(directory);
        } catch (IOException e) {
            throw new Unreached(e);
        }
    }

    private static void send(SocketChannel channel, Asked asked) throws IOException {
        OutputStream out = new BufferedOutputStream(Channels.newOutputStream(channel));
        StringBuilder head =
                new StringBuilder(asked.method() + " " + asked.target() + " HTTP/1.1\r\nHost: onefold\r\n");
        asked.fields()
                .forEach((name, value) ->
                        head.append(name).append(": ").append(value).append("\r\n"));
        byte[] content = asked.content();
        head.append("Connection: close\r\n")
                .append(content == null ? "" : "Content-Length: " + content.length + "\r\n")
                .append("\r\n");
        out.write(head.toString().getBytes(StandardCharsets.ISO_8859_1));
        if (content != null) {
            out.write(content);
        }
        out.flush();
    }

    @Override
    public String place() {
        return "the process that owns data directory " + directory;
    }

    @Override
    public EngineException unanswered(IOException cause, String outcome) {
        return new EngineException(
                EngineException.Kind.STOPPED,
                "The process that owns data directory " + directory + " ended before it had answered, or it had"
                        + " waited for this command for more than "
                        + EngineSocket.Limits.USUAL.stall().toMinutes() + " minutes." + outcome,
                cause);
    }

    @Override
    public EngineException notOffered(String version, String detail) {
        return new EngineException(
                EngineException.Kind.FORMAT,
                "Data directory " + directory + " is in use by Onefold " + version + ", which cannot do this; Onefold "
                        + Api.version() + " asked for it. Restart that process with this version. (" + detail + ")");
    }

    @Override
    public EngineException notAllowed(int status, String detail) {
        return new EngineException(EngineException.Kind.INACCESSIBLE, detail);
    }

    /// Holds nothing: each request has a connection of its own.
    @Override
    public void close() {}
}
