package dev.onefold.embedded.delivery;

import dev.onefold.core.EngineException;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Members;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.pipeline.Batching.Compression;
import dev.onefold.embedded.batches.Batches;
import dev.onefold.embedded.batches.Sealed;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.disk.FileNames;
import dev.onefold.embedded.disk.OutOfSpaceException;
import dev.onefold.embedded.guard.Space;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.Collection;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.zip.CRC32C;
import java.util.zip.CheckedInputStream;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/// The content of batches as it is delivered. A whole batch that is not compressed is a range of the tape, or
/// a copy of it; see [HeldRecords]. Any other content is made once, into a file `content-NUMBER` of its own,
/// with `.gz` or `.zst` behind it or the number of a part. The file is forced before the first attempt, so
/// that each attempt delivers the same bytes even if a later version of a compressor makes others.
final class Contents {
    private static final int BUFFER_BYTES = 1 << 16;
    private static final int GZIP_BUFFER_BYTES = 1 << 16;

    private final Path directory;
    private final Batches batches;
    private final Compression compression;
    private final Space space;
    private final HeldRecords held;

    Contents(Path directory, Batches batches, Compression compression, Space space) {
        this.directory = directory;
        this.batches = batches;
        this.compression = compression;
        this.space = space;
        held = new HeldRecords(directory);
    }

    Batches batches() {
        return batches;
    }

    /// Copies the records of batches whose delivery takes long, so that the tape need not keep them.
    HeldRecords held() {
        return held;
    }

    /// Copies the records of a batch from the tape; see [HeldRecords#hold].
    boolean hold(Sealed sealed, BooleanSupplier isWanted) {
        return held.hold(
                sealed.number(),
                sealed.to() - sealed.from(),
                () -> check(sealed),
                () -> isWanted.getAsBoolean() && !space.isClosing());
    }

    /// A content that is ready to be delivered.
    ///
    /// @param fileBytes of its own file; 0 if it has none
    record Prepared(Sealed sealed, String sha256, long bytes, long fileBytes, Carrier.Content content) {}

    /// Makes the content, unless it was made before.
    Prepared prepare(BatchNumber number, @Nullable Members members) {
        Sealed sealed = batches.sealed(number.number());
        if (compression == Compression.NONE && members == null) {
            Hashed hashed = hash(check(sealed));
            return new Prepared(sealed, hashed.sha256, hashed.bytes, 0, () -> open(sealed));
        }
        Path file = file(number);
        Hashed hashed = Files.exists(file) ? hash(input(file)) : space.await(() -> make(file, sealed, members));
        return new Prepared(sealed, hashed.sha256, hashed.bytes, hashed.bytes, () -> input(file));
    }

    /// Deletes the files that were made for a batch or a part.
    void delete(BatchNumber number) {
        Path file = file(number);
        if (Files.exists(file)) {
            Disk.delete(file);
        }
    }

    private Path file(BatchNumber number) {
        return directory.resolve("content-" + number
                + switch (compression) {
                    case NONE -> "";
                    case GZIP -> ".gz";
                    case ZSTD -> ".zst";
                });
    }

    /// Deletes the files that earlier processes made, except the delivered contents of these batches and the
    /// copies of their records.
    void deleteAllBut(Collection<Handled> kept) {
        Set<String> names = new HashSet<>();
        for (Handled handled : kept) {
            if (!handled.sha256().isEmpty()) {
                names.add(String.valueOf(file(handled.number()).getFileName()));
            }
        }
        FileNames.list(
                        directory,
                        file -> FileNames.isContent(file) && !names.contains(String.valueOf(file.getFileName())))
                .forEach(Disk::delete);
        held.keepOnly(kept.stream().map(handled -> handled.number().number()).collect(Collectors.toSet()));
    }

    private static InputStream input(Path file) {
        try {
            return Files.newInputStream(file);
        } catch (IOException e) {
            throw Disk.failed("opening", file, e);
        }
    }

    private InputStream open(Sealed sealed) {
        return held.has(sealed.number()) ? held.open(sealed.number()) : batches.open(sealed);
    }

    /// The content of a batch before compression; its end throws if it is not the content that was sealed.
    private InputStream check(Sealed sealed) {
        return new CheckedInputStream(open(sealed), new CRC32C()) {
            @Override
            public int read(byte[] target, int from, int length) throws IOException {
                int read = super.read(target, from, length);
                if (read < 0 && (int) getChecksum().getValue() != sealed.crc()) {
                    throw new EngineException(
                            EngineException.Kind.CORRUPT,
                            "The content of batch " + BatchNumber.of(sealed.number()) + " in " + directory
                                    + " is not what was sealed. It is not delivered. Restore the data directory from a"
                                    + " backup.");
                }
                return read;
            }
        };
    }

    /// The hash is that of the bytes on their way to the file: so it need not be read for it.
    private Hashed make(Path file, Sealed sealed, @Nullable Members members) throws OutOfSpaceException {
        MessageDigest digest = Sha256.digest();
        Disk.produce(file, channel -> {
            OutputStream hashed = new DigestOutputStream(channel, digest);
            OutputStream out = compressed(new BufferedOutputStream(hashed, BUFFER_BYTES));
            try (InputStream in = records(sealed, members)) {
                in.transferTo(out);
            }
            if (out instanceof DeflaterOutputStream gzip) {
                gzip.finish();
            }
            out.flush();
        });
        return new Hashed(HexFormat.of().formatHex(digest.digest()), Disk.bytes(file));
    }

    /// The records of a batch, or of a part of one, each with its line end.
    InputStream records(Sealed sealed, @Nullable Members members) {
        InputStream whole = new BufferedInputStream(check(sealed), BUFFER_BYTES);
        return members == null ? whole : new SomeLines(whole, members);
    }

    private OutputStream compressed(OutputStream file) throws IOException {
        return switch (compression) {
            case NONE -> file;
            case GZIP -> new GZIPOutputStream(file, GZIP_BUFFER_BYTES);
            case ZSTD -> Zstandard.compressed(file);
        };
    }

    private record Hashed(String sha256, long bytes) {}

    private static Hashed hash(InputStream content) {
        MessageDigest digest = Sha256.digest();
        byte[] buffer = new byte[BUFFER_BYTES];
        long bytes = 0;
        try (InputStream in = new DigestInputStream(content, digest)) {
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                bytes += read;
            }
        } catch (IOException e) {
            throw new EngineException(
                    EngineException.Kind.STORAGE_FAILED, "A batch cannot be read: " + e.getMessage(), e);
        }
        return new Hashed(HexFormat.of().formatHex(digest.digest()), bytes);
    }

    /// A class of its own, so that the library is needed for contents that end in .zst alone.
    private static final class Zstandard {
        static OutputStream compressed(OutputStream file) throws IOException {
            return new com.github.luben.zstd.ZstdOutputStream(file).setCloseFrameOnFlush(true);
        }
    }
}
