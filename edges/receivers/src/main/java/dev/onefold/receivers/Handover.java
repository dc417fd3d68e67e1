package dev.onefold.receivers;

import dev.onefold.core.EngineException;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.bytes.Sha256;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.ClosedByInterruptException;
import java.security.MessageDigest;
import java.util.HexFormat;

/// A batch, or a part of one, on its way to a receiver.
///
/// @param manifest of the content; a receiver that makes a file fills in its name
/// @param attempt number of the attempt, from 1
/// @param source of the content, exactly as it was sealed
public record Handover(Manifest manifest, int attempt, Source source) {
    /// Bytes that can be read any number of times.
    @FunctionalInterface
    public interface Source {
        /// A stream of the same bytes at each call.
        InputStream open() throws IOException;
    }

    /// Opens the content at its first byte. The bytes that are read are compared with the manifest.
    ///
    /// @return a stream that throws [EngineException] instead of its end if the content is not that of
    ///     the manifest, and wherever it cannot be read
    public InputStream open() throws ClosedByInterruptException {
        try {
            return new Compared(source.open());
        } catch (ClosedByInterruptException e) {
            throw e;
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    /// Reads all of the content, for a receiver that cannot take back bytes that were sent.
    ///
    /// @throws EngineException if it is not the one of the manifest, or cannot be read
    public void verify() throws InterruptedException {
        try (InputStream in = open()) {
            in.transferTo(OutputStream.nullOutputStream());
        } catch (ClosedByInterruptException e) {
            throw interrupted(e);
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    /// A thread was interrupted while it read or wrote a file.
    static InterruptedException interrupted(ClosedByInterruptException cause) {
        boolean _ = Thread.interrupted();
        InterruptedException interrupted = new InterruptedException("Interrupted while a batch was delivered");
        interrupted.initCause(cause);
        return interrupted;
    }

    private EngineException unreadable(IOException cause) {
        return new EngineException(
                EngineException.Kind.STORAGE_FAILED,
                "The content of batch " + manifest.id() + " cannot be read: " + cause.getMessage()
                        + ". Check the disk that holds it, then start again.",
                cause);
    }

    private final class Compared extends FilterInputStream {
        private final MessageDigest digest = Sha256.digest();
        private long bytes;

        Compared(InputStream in) {
            super(in);
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            int count;
            try {
                count = in.read(target, offset, length);
            } catch (ClosedByInterruptException e) {
                throw e;
            } catch (IOException e) {
                throw unreadable(e);
            }
            if (count < 0) {
                compare();
            } else {
                digest.update(target, offset, count);
                bytes += count;
            }
            return count;
        }

        /// Skipped bytes are compared, too.
        @Override
        public long skip(long count) throws IOException {
            byte[] skipped = new byte[Math.clamp(count, 0, 8192)];
            return skipped.length == 0 ? 0 : Math.max(0, read(skipped, 0, skipped.length));
        }

        @Override
        public boolean markSupported() {
            return false;
        }

        private void compare() {
            MessageDigest whole = digest;
            try {
                whole = (MessageDigest) digest.clone(); // The end may be read twice.
            } catch (CloneNotSupportedException e) {
                throw new IllegalStateException("Every digest of the JDK can be cloned", e);
            }
            String sha256 = HexFormat.of().formatHex(whole.digest());
            if (bytes != manifest.bytes() || !sha256.equals(manifest.sha256())) {
                throw new EngineException(
                        EngineException.Kind.CORRUPT,
                        "The content of batch " + manifest.id() + " has " + bytes + " bytes with SHA-256 " + sha256
                                + ", but " + manifest.bytes() + " bytes with SHA-256 " + manifest.sha256()
                                + " were sealed. It is not delivered. Restore the data directory from a backup.");
            }
        }
    }
}
