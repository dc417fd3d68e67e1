package dev.onefold.api;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.ProtocolException;

/// The content of a message, by its length or chunk by chunk. A content that is cut off fails. Not thread-safe.
final class BodyIn extends InputStream {
    static final long CHUNKED = -1;

    private static final int CHUNK_LINE_BYTES_MAX = 1_000;

    private final InputStream in;
    private final boolean chunked;
    private long left; // Of the content, or of the chunk.
    private boolean ended;
    private boolean begun;

    /// @param length in bytes, or [#CHUNKED]
    BodyIn(InputStream in, long length) {
        this.in = in;
        chunked = length == CHUNKED;
        left = Math.max(length, 0);
        ended = length == 0;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        if (chunked && left == 0 && !ended) {
            nextChunk();
        }
        if (ended) {
            return -1;
        }
        int read = in.read(bytes, offset, (int) Math.min(left, length));
        if (read < 0) {
            throw new EOFException("The connection ended in the content of a message");
        }
        left -= read;
        ended = !chunked && left == 0;
        return read;
    }

    private void nextChunk() throws IOException {
        if (begun && !line().isEmpty()) {
            throw new ProtocolException("A chunk of the content has another length than it says");
        }
        begun = true;
        String size = line().replaceFirst(";.*", "").strip();
        if (!size.matches("[0-9a-fA-F]{1,8}")) {
            throw new ProtocolException("The length of a chunk of the content cannot be read");
        }
        left = Long.parseLong(size, 16);
        if (left == 0) {
            ended = true;
            while (!line().isEmpty()) {
                // Fields behind the content say nothing here.
            }
        }
    }

    private String line() throws IOException {
        String line;
        try {
            line = Head.line(in, CHUNK_LINE_BYTES_MAX);
        } catch (Request.Refused e) {
            throw new ProtocolException("A line between chunks is longer than " + CHUNK_LINE_BYTES_MAX + " bytes");
        }
        if (line == null) {
            throw new EOFException("The connection ended in the content of a message");
        }
        return line;
    }
}
