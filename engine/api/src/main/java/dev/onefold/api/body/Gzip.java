package dev.onefold.api.body;

import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import java.util.zip.ZipException;

/// Decompresses gzip (RFC 1952): each of its members, however many they are, to the last byte. The stream of the JDK
/// passes over a damaged member behind a good one, and here each lost line would be one that was acknowledged. Not
/// thread-safe.
public final class Gzip extends InputStream {
    private static final int MAGIC = 0x8b1f;
    private static final int DEFLATE = 8;
    private static final int HEADER_REST_BYTES = 6; // Time, level and system.
    private static final int HEADER_CHECK = 2;
    private static final int EXTRA = 4;
    private static final int NAME = 8;
    private static final int COMMENT = 16;
    private static final int RESERVED = 0xe0;
    private static final int IN_MEMORY_BUFFER_BYTES = 1 << 13;

    private final InputStream gzip;
    private final byte[] buffer;
    private final Inflater inflater = new Inflater(true);
    private final CRC32 check = new CRC32();
    private int at; // The next byte in the buffer that belongs to no read member.
    private int to;
    private boolean isOver;

    /// Of a whole content in memory.
    ///
    /// @throws IOException if it does not begin as gzip does
    public Gzip(byte[] gzip) throws IOException {
        this(new ByteArrayInputStream(gzip), IN_MEMORY_BUFFER_BYTES);
    }

    /// Of a stream at its first byte, which is read to its end and closed with this one.
    ///
    /// @param bufferBytes bytes that are read at once, 1 or more
    /// @throws IOException if it does not begin as gzip does
    public Gzip(InputStream gzip, int bufferBytes) throws IOException {
        this.gzip = gzip;
        buffer = new byte[bufferBytes];
        begin();
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        while (!isOver) {
            int read = inflate(into, offset, length);
            if (read > 0 || length == 0) {
                check.update(into, offset, read);
                return read;
            }
            if (inflater.finished()) {
                at = to - inflater.getRemaining();
                end();
                isOver = isAtEnd();
                if (!isOver) {
                    begin();
                }
            } else if (inflater.needsInput()) {
                at = to;
                require();
                inflater.setInput(buffer, at, to - at);
            } else {
                throw new ZipException("It needs a dictionary");
            }
        }
        return -1;
    }

    private int inflate(byte[] into, int offset, int length) throws ZipException {
        try {
            return inflater.inflate(into, offset, length);
        } catch (DataFormatException e) {
            throw new ZipException("Damaged: " + e.getMessage());
        }
    }

    /// Begins a member.
    private void begin() throws IOException {
        boolean isGzip = nextShort() == MAGIC && next() == DEFLATE;
        int flags = next();
        if (!isGzip || (flags & RESERVED) != 0) {
            throw new ZipException(
                    "No header of gzip where a member should begin: it is damaged, or is still being written");
        }
        skip(HEADER_REST_BYTES);
        if ((flags & EXTRA) != 0) {
            skip(nextShort());
        }
        skipText((flags & NAME) != 0);
        skipText((flags & COMMENT) != 0);
        skip((flags & HEADER_CHECK) != 0 ? 2 : 0);
        inflater.reset();
        inflater.setInput(buffer, at, to - at);
        check.reset();
    }

    /// Ends a member.
    private void end() throws IOException {
        if (nextInt() != (int) check.getValue() || nextInt() != (int) inflater.getBytesWritten()) {
            throw new ZipException("Damaged: its check does not fit");
        }
    }

    /// Whether there is no other member. Writers of whole blocks pad the last one with zeros.
    private boolean isAtEnd() throws IOException {
        boolean isPadded = false;
        while (hasNext() && buffer[at] == 0) {
            at++;
            isPadded = true;
        }
        if (isPadded && hasNext()) {
            throw new ZipException("Damaged: something stands behind zeros at the end of a member");
        }
        return !hasNext();
    }

    private void skipText(boolean isThere) throws IOException {
        while (isThere) {
            if (next() == 0) {
                return;
            }
        }
    }

    private void skip(int bytes) throws IOException {
        for (int i = 0; i < bytes; i++) {
            next();
        }
    }

    private int nextInt() throws IOException {
        return nextShort() | nextShort() << 16;
    }

    private int nextShort() throws IOException {
        return next() | next() << 8;
    }

    private int next() throws IOException {
        require();
        return buffer[at++] & 0xff;
    }

    private void require() throws IOException {
        if (!hasNext()) {
            throw new EOFException("It ends in the middle");
        }
    }

    private boolean hasNext() throws IOException {
        if (at == to) {
            at = 0;
            to = Math.max(0, gzip.read(buffer, 0, buffer.length));
        }
        return at < to;
    }

    @Override
    public void close() throws IOException {
        inflater.end();
        gzip.close();
    }
}
