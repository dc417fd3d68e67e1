package dev.onefold.server;

import com.github.luben.zstd.ZstdInputStream;
import dev.onefold.api.Failure;
import dev.onefold.api.body.Gzip;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Semaphore;
import org.eclipse.jetty.io.Content;

/// Reads the contents of requests into memory that is counted, so that all together never take more than a
/// bound. A content that is too large, cut off or damaged is refused before anything is parsed. Any thread
/// may call.
final class Contents {
    private static final int PIECE_BYTES = 64 << 10;
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    /// The window size that each decoder should support by RFC 8878, as a logarithm: 8 MB.
    private static final int WINDOW_LOG_MAX = 23;

    private static final Set<String> PLAIN = Set.of("", "identity");
    private static final Set<String> CODINGS = Set.of("", "identity", "gzip", "x-gzip", "zstd");

    private final int bytesMax;
    private final int bytesPerSecond;
    private final long graceNanos;
    private final Semaphore memory;

    Contents(Settings.Limits limits) {
        bytesMax = limits.bodyBytes();
        bytesPerSecond = limits.bytesPerSecond();
        graceNanos = limits.silence().toNanos();
        memory = new Semaphore(limits.memoryBytes() / PIECE_BYTES);
    }

    /// A content, and the memory that it takes until this is closed. Not thread-safe.
    final class Held implements AutoCloseable {
        private byte[] bytes = {};
        private int pieces;
        private boolean isBegun;

        byte[] bytes() {
            return bytes;
        }

        /// Whether a part of the content was asked for.
        boolean isBegun() {
            return isBegun;
        }

        /// @param announced length of the content as it is sent; below 0 if it is not said
        /// @param encoding the field Content-Encoding
        /// @throws Refusal if it is not taken
        /// @throws IOException if the connection fails before its end
        void read(InputStream content, long announced, String encoding) throws Refusal, IOException {
            if (announced > bytesMax) {
                throw tooLarge();
            }
            String coding = encoding.toLowerCase(Locale.ROOT);
            if (!CODINGS.contains(coding)) {
                throw new Refusal(
                        415,
                        Failure.REQUEST,
                        "The content has an encoding that is not known. It is gzip, zstd or none.");
            }
            isBegun = true;
            try {
                readAll(new Sent(content, bytesPerSecond, graceNanos), announced);
            } catch (TooSlow e) {
                throw new Refusal(
                        408,
                        Failure.REQUEST,
                        "The content comes more slowly than " + bytesPerSecond + " bytes a second. Nothing was taken.");
            }
            if (!PLAIN.contains(coding)) {
                decode(coding);
            }
        }

        /// Decompresses the content when the whole of it is there. So missing bytes are never taken for the
        /// end of the compressed content, and a slow sender holds no decompressor.
        private void decode(String coding) throws Refusal {
            int sentPieces = pieces;
            byte[] sent = bytes;
            bytes = new byte[0];
            pieces = 0;
            try (InputStream decoded = coding.equals("zstd") ? zstd(sent) : new Gzip(sent)) {
                readAll(decoded, -1);
            } catch (IOException e) {
                throw new Refusal(
                        400,
                        Failure.REQUEST,
                        "The content is not " + coding
                                + ": it cannot be decompressed. A window of zstd is at most 8 MB.");
            } finally {
                memory.release(sentPieces);
            }
        }

        /// @param expected how many bytes it has; below 0 if that is not known
        private void readAll(InputStream in, long expected) throws Refusal, IOException {
            int length = 0;
            grow(expected > 0 ? Math.min(expected, PIECE_BYTES) : PIECE_BYTES);
            for (int read = in.read(bytes, 0, bytes.length); read >= 0; ) {
                length += read;
                if (length == bytes.length) {
                    int next = in.read();
                    if (next < 0) {
                        break;
                    }
                    grow(expected > length ? Math.min(expected, 2L * length) : 2L * length);
                    bytes[length++] = (byte) next;
                }
                read = in.read(bytes, length, bytes.length - length);
            }
            bytes = length == bytes.length ? bytes : Arrays.copyOf(bytes, length);
        }

        private void grow(long wanted) throws Refusal {
            if (bytes.length >= bytesMax && wanted > bytesMax) {
                throw tooLarge();
            }
            int size = (int) Math.min(wanted, bytesMax);
            int more = (size + PIECE_BYTES - 1) / PIECE_BYTES - pieces;
            if (more > 0) {
                if (!memory.tryAcquire(more)) {
                    throw new Refusal(
                            429, Failure.BUSY, "Too many large requests are under way. Try again in a moment.");
                }
                pieces += more;
            }
            bytes = Arrays.copyOf(bytes, size);
        }

        @Override
        public void close() {
            bytes = new byte[0];
            memory.release(pieces);
            pieces = 0;
        }
    }

    /// Takes the rest of a content that is not wanted: a client that still sends would not see the answer. If
    /// the content is far too large, the connection ends.
    void drain(Content.Source content) {
        byte[] piece = new byte[PIECE_BYTES];
        try (InputStream in = Content.Source.asInputStream(content)) {
            long drained = 0;
            long began = System.nanoTime();
            for (int read = 0;
                    read >= 0 && drained <= 2L * bytesMax && System.nanoTime() - began < graceNanos;
                    read = in.read(piece)) {
                drained += read;
            }
        } catch (IOException gone) {
            // Nobody waits for the answer.
        }
    }

    private Refusal tooLarge() {
        return new Refusal(
                413,
                Failure.REQUEST,
                "The content of the request is more than " + bytesMax + " bytes. Send it in several requests.");
    }

    /// The last byte comes by itself. The decompressor takes the end of the content for the end of a frame if
    /// it has read nothing since the frame before has ended: a cut frame would be passed over without a
    /// message.
    private static InputStream zstd(byte[] sent) throws IOException {
        if (sent.length == 0) {
            throw new EOFException("The content is empty");
        }
        ZstdInputStream zstd = new ZstdInputStream(new SequenceInputStream(
                new ByteArrayInputStream(sent, 0, sent.length - 1),
                new ByteArrayInputStream(sent, sent.length - 1, 1)));
        zstd.setLongMax(WINDOW_LOG_MAX);
        return zstd;
    }

    /// The sender is not worth the memory.
    private static final class TooSlow extends IOException {
        private static final long serialVersionUID = 1;
    }

    /// The content as it is sent. It comes at a rate, measured from its beginning, or it fails.
    private static final class Sent extends InputStream {
        private final InputStream in;
        private final int bytesPerSecond;
        private final long graceNanos;
        private final long beganNanos = System.nanoTime();
        private long bytes;

        Sent(InputStream in, int bytesPerSecond, long graceNanos) {
            this.in = in;
            this.bytesPerSecond = bytesPerSecond;
            this.graceNanos = graceNanos;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            int read = in.read(into, offset, length);
            bytes += Math.max(read, 0);
            long nanos = System.nanoTime() - beganNanos;
            if (read >= 0 && nanos > graceNanos && bytes < bytesPerSecond * (nanos / NANOS_PER_SECOND)) {
                throw new TooSlow();
            }
            return read;
        }
    }
}
