package dev.onefold.benchmark;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/// A connection to a service that costs the client next to nothing: HTTP/1.1, one request after the other. Not
/// thread-safe.
final class Connection implements AutoCloseable {
    private static final int TIMEOUT_MS = 60_000;
    private static final String LENGTH = "content-length:";
    private static final String CHUNKED = "transfer-encoding: chunked";

    private final Socket socket;
    private final InputStream in;

    Connection(URI service) throws IOException {
        socket = new Socket();
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(TIMEOUT_MS);
        socket.connect(new InetSocketAddress(service.getHost(), service.getPort()));
        in = new BufferedInputStream(socket.getInputStream(), 64 << 10);
    }

    /// A request with a content, as it is sent.
    static byte[] post(String path, byte[] content) {
        byte[] head = ("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + content.length
                        + "\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII);
        byte[] request = new byte[head.length + content.length];
        System.arraycopy(head, 0, request, 0, head.length);
        System.arraycopy(content, 0, request, head.length, content.length);
        return request;
    }

    /// A request without content, as it is sent.
    static byte[] get(String path) {
        return ("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes(StandardCharsets.US_ASCII);
    }

    /// Sends a request and reads its answer, which is 200.
    ///
    /// @return bytes of the answer's content
    long ask(byte[] request) throws IOException {
        socket.getOutputStream().write(request);
        return answer();
    }

    /// Sends a request and reads the head of its answer, whose content does not end.
    void begin(byte[] request) throws IOException {
        socket.getOutputStream().write(request);
        head();
    }

    /// Reads what there is of a content that does not end; below 0 if it has ended.
    int more(byte[] into) throws IOException {
        return in.read(into);
    }

    private record Head(long length, boolean isChunked) {}

    private Head head() throws IOException {
        String status = line();
        if (!status.contains(" 200 ")) {
            throw new IOException("The service answers: " + status);
        }
        long length = 0;
        boolean isChunked = false;
        for (String field = line(); !field.isEmpty(); field = line()) {
            String lower = field.toLowerCase(Locale.ROOT);
            isChunked |= lower.equals(CHUNKED);
            length = lower.startsWith(LENGTH)
                    ? Long.parseLong(lower.substring(LENGTH.length()).strip())
                    : length;
        }
        return new Head(length, isChunked);
    }

    private long answer() throws IOException {
        Head head = head();
        if (!head.isChunked) {
            in.skipNBytes(head.length);
            return head.length;
        }
        long length = 0;
        for (long chunk = chunk(); chunk > 0; chunk = chunk()) {
            in.skipNBytes(chunk);
            line();
            length += chunk;
        }
        line();
        return length;
    }

    private long chunk() throws IOException {
        return Long.parseLong(line(), 16);
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int octet = in.read(); octet != '\n'; octet = in.read()) {
            if (octet < 0) {
                throw new EOFException("The service has closed the connection");
            }
            if (octet != '\r') {
                line.append((char) octet);
            }
        }
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
