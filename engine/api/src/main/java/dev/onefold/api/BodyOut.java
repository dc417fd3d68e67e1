package dev.onefold.api;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/// Writes an answer: a short one with its length, a long one chunk by chunk as it comes, to an old client up to the end
/// of the connection. Nothing is sent before the buffer is full or [#end] is called. Not thread-safe.
final class BodyOut extends OutputStream {
    private static final int BUFFER_BYTES = 32 << 10;

    private final OutputStream out;
    private final String head;
    private final boolean chunks;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int length;
    private boolean begun;

    /// @param head of the answer, without the fields for its length
    /// @param chunks whether the client understands chunks
    public BodyOut(OutputStream out, String head, boolean chunks) {
        this.out = out;
        this.head = head;
        this.chunks = chunks;
    }

    /// Whether something was sent.
    public boolean hasBegun() {
        return begun;
    }

    @Override
    public void write(int one) throws IOException {
        write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int count) throws IOException {
        for (int done = 0; done < count; ) {
            if (length == BUFFER_BYTES) {
                send();
            }
            int some = Math.min(count - done, BUFFER_BYTES - length);
            System.arraycopy(bytes, offset + done, buffer, length, some);
            length += some;
            done += some;
        }
    }

    private void begin(String framing) throws IOException {
        begun = true;
        out.write((head + framing + "\r\n").getBytes(StandardCharsets.ISO_8859_1));
    }

    private void send() throws IOException {
        if (!begun) {
            begin(chunks ? "Transfer-Encoding: chunked\r\n" : "");
        }
        if (length > 0) {
            String size = chunks ? Integer.toHexString(length) + "\r\n" : "";
            out.write(size.getBytes(StandardCharsets.ISO_8859_1));
            out.write(buffer, 0, length);
            out.write((chunks ? "\r\n" : "").getBytes(StandardCharsets.ISO_8859_1));
        }
        length = 0;
        out.flush();
    }

    /// Sends the rest.
    public void end() throws IOException {
        if (begun) {
            send();
            out.write((chunks ? "0\r\n\r\n" : "").getBytes(StandardCharsets.ISO_8859_1));
        } else {
            begin("Content-Length: " + length + "\r\n");
            out.write(buffer, 0, length);
        }
        out.flush();
    }
}
