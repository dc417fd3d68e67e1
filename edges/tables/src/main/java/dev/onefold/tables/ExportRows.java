package dev.onefold.tables;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.GZIPInputStream;

/// The items of an export. Each file is a part, which is read as a whole: its checksum and its number of items are
/// known at its end.
public final class ExportRows implements RowSource {
    private static final int BUFFER_BYTES = 1 << 18;

    private final Export export;
    private final int threads;

    public ExportRows(Export export, int threads) {
        this.export = export;
        this.threads = threads;
    }

    @Override
    public String identity() {
        return "export:" + export.folder().name() + " of " + export.tableArn() + " " + export.tableId() + " at "
                + export.at();
    }

    @Override
    public Optional<Instant> asOf() {
        return Optional.of(export.at());
    }

    @Override
    public List<String> parts() {
        return export.files().stream().map(Export.DataFile::path).toList();
    }

    @Override
    public Extent extent() {
        return new Extent(export.items(), export.items(), 0);
    }

    @Override
    public void read(Map<String, String> from, Taker taker) throws IOException, InterruptedException {
        List<Beside.Work> files = new ArrayList<>();
        for (Export.DataFile file : export.files()) {
            if (!from.getOrDefault(file.path(), BEGINNING).equals(END)) {
                files.add(going -> read(file, taker, going));
            }
        }
        Beside.run(files, threads);
    }

    private boolean read(Export.DataFile file, Taker taker, Beside.Going going)
            throws IOException, InterruptedException {
        LineBlock block = new LineBlock();
        long items = 0;
        MessageDigest digest = md5();
        try (InputStream raw = new DigestInputStream(export.folder().open(file.path()), digest);
                BufferedReader lines = new BufferedReader(
                        new InputStreamReader(new GZIPInputStream(raw, BUFFER_BYTES), StandardCharsets.UTF_8),
                        BUFFER_BYTES)) {
            for (String line = lines.readLine(); line != null && going.isOn(); line = lines.readLine()) {
                ItemJson.copyExported(line, block);
                block.endLine();
                items++;
                if (block.isFull()) {
                    int count = block.lines();
                    if (!taker.take(block.rows(file.path(), BEGINNING, count))) {
                        return false;
                    }
                }
            }
            raw.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            throw new IOException(where(file) + ": " + e.getMessage(), e);
        }
        if (!going.isOn()) {
            return false;
        }
        if (items != file.items()) {
            throw new IOException(where(file) + " has " + items + " items, and its manifest says " + file.items());
        }
        String found = Base64.getEncoder().encodeToString(digest.digest());
        if (file.md5() != null && !file.md5().equals(found)) {
            throw new IOException(where(file) + " has the MD5 " + found + ", and its manifest says " + file.md5());
        }
        int count = block.lines();
        return taker.take(block.rows(file.path(), END, count));
    }

    private String where(Export.DataFile file) {
        return "file " + file.path() + " of " + export.folder().name();
    }

    private static MessageDigest md5() {
        try {
            return MessageDigest.getInstance("MD5"); // The manifest of an export has this hash.
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("The JDK has MD5", e);
        }
    }

    @Override
    public void close() {}
}
