package dev.onefold.aws.content;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.GZIPOutputStream;

/// A stream, compressed while it is read. Not thread-safe.
final class Gzipped extends InputStream {
    private static final int BUFFER_BYTES = 1 << 16;

    private final InputStream plain;
    private final ByteArrayOutputStream packed = new ByteArrayOutputStream(BUFFER_BYTES);
    private final GZIPOutputStream gzip;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private byte[] ready = new byte[0];
    private int at;
    private boolean isEnded;

    Gzipped(InputStream plain) {
        this.plain = plain;
        try {
            gzip = new GZIPOutputStream(packed);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException("Memory takes all that is written", e);
        }
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        while (at == ready.length && !isEnded) {
            fill();
        }
        if (at == ready.length) {
            return -1;
        }
        int count = Math.min(length, ready.length - at);
        System.arraycopy(ready, at, into, offset, count);
        at += count;
        return count;
    }

    private void fill() throws IOException {
        int count = plain.read(buffer, 0, buffer.length);
        if (count < 0) {
            gzip.finish();
            isEnded = true;
        } else {
            gzip.write(buffer, 0, count);
        }
        ready = packed.toByteArray();
        packed.reset();
        at = 0;
    }

    @Override
    public void close() throws IOException {
        gzip.close(); // It holds memory outside of the heap.
        plain.close();
    }
}
