package dev.onefold.api.body;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import java.util.zip.ZipException;

/// Decompresses gzip (RFC 1952) that is whole in memory: each of its members, to the last byte. The stream of the JDK
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
    private static final int TRAILER_BYTES = 8;

    private final byte[] gzip;
    private final ByteBuffer at;
    private final Inflater inflater = new Inflater(true);
    private final CRC32 check = new CRC32();

    /// Of the whole content.
    ///
    /// @throws IOException if it does not begin as gzip does
    public Gzip(byte[] gzip) throws IOException {
        this.gzip = gzip;
        at = ByteBuffer.wrap(gzip).order(ByteOrder.LITTLE_ENDIAN);
        begin();
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        while (true) {
            int read;
            try {
                read = inflater.inflate(into, offset, length);
            } catch (DataFormatException e) {
                throw new ZipException("Damaged: " + e.getMessage());
            }
            if (read > 0 || length == 0) {
                check.update(into, offset, read);
                return read;
            }
            if (!inflater.finished()) {
                throw new EOFException("It ends in the middle, or needs a dictionary");
            }
            at.position(gzip.length - inflater.getRemaining());
            end();
            if (!at.hasRemaining()) {
                return -1;
            }
            begin();
        }
    }

    /// Begins a member.
    private void begin() throws IOException {
        require(2 + 2 + HEADER_REST_BYTES);
        boolean isGzip = (at.getShort() & 0xffff) == MAGIC && at.get() == DEFLATE;
        int flags = at.get();
        if (!isGzip || (flags & RESERVED) != 0) {
            throw new ZipException("No header of gzip");
        }
        skip(HEADER_REST_BYTES);
        if ((flags & EXTRA) != 0) {
            require(2);
            skip(at.getShort() & 0xffff);
        }
        skipText((flags & NAME) != 0);
        skipText((flags & COMMENT) != 0);
        skip((flags & HEADER_CHECK) != 0 ? 2 : 0);
        inflater.reset();
        inflater.setInput(gzip, at.position(), at.remaining());
        check.reset();
    }

    /// Ends a member.
    private void end() throws IOException {
        require(TRAILER_BYTES);
        if (at.getInt() != (int) check.getValue() || at.getInt() != (int) inflater.getBytesWritten()) {
            throw new ZipException("Damaged: its check does not fit");
        }
    }

    private void skipText(boolean isThere) throws IOException {
        while (isThere) {
            require(1);
            if (at.get() == 0) {
                return;
            }
        }
    }

    private void skip(int bytes) throws IOException {
        require(bytes);
        at.position(at.position() + bytes);
    }

    private void require(int bytes) throws IOException {
        if (at.remaining() < bytes) {
            throw new EOFException("It ends in the middle");
        }
    }

    @Override
    public void close() {
        inflater.end();
    }
}
