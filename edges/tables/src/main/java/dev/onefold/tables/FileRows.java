package dev.onefold.tables;

import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Limits;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/// The rows of a file: each line as it is, or each record of a CSV file as a line of JSON. Marks are bytes of the
/// decompressed content, or records of a CSV file.
public final class FileRows implements RowSource {
    private static final String PART = "0";
    private static final int BLOCK_BYTES = 1 << 20;

    private static final int HASHED_BYTES = 1 << 20;

    /// A record has fewer bytes, with all that is around it.
    private static final int ROW_BYTES_MAX = Limits.RECORD_BYTES_MAX + BLOCK_BYTES;

    private final Content content;
    private final Form form;
    private long doneBefore;

    public FileRows(Content content, Form form) {
        this.content = content;
        this.form = form;
    }

    /// A file's content.
    ///
    /// @param bytes its size when the reading began
    /// @param changed when it was changed last, by then
    /// @param read how many of these bytes are read
    public record Content(Path path, long bytes, FileTime changed, AtomicLong read, Opener opener) {
        /// The content as the file is now.
        public static Content of(Path path, AtomicLong read, Opener opener) throws IOException {
            return new Content(path, Files.size(path), Files.getLastModifiedTime(path), read, opener);
        }

        /// With a hash of its beginning: on another machine the path, the size and the time may be those of
        /// another file, and marks of that one would leave out rows of this one.
        String identity() {
            MessageDigest hash = Sha256.digest();
            try (InputStream in = Files.newInputStream(path)) {
                hash.update(in.readNBytes(HASHED_BYTES));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return "file:" + path + " " + bytes + " " + changed + " "
                    + HexFormat.of().formatHex(hash.digest());
        }

        /// Requires that the file has not been cut or rewritten since the reading began, because rows might be
        /// missing then. A file that has only grown still has all its rows.
        ///
        /// @param isOpen whether the last row has no line end, so that it may be a part of a row in a growing
        ///     file
        private void requireWhole(boolean isOpen) throws IOException {
            long now = Files.size(path);
            if (now < bytes
                    || (now == bytes || isOpen)
                            && !Files.getLastModifiedTime(path).equals(changed)) {
                throw new IOException("the file was cut, rewritten or still written while it was read: it had " + bytes
                        + " bytes and was last changed at " + changed + "; it has " + now + " of "
                        + Files.getLastModifiedTime(path));
            }
        }
    }

    /// Opens a file at its first byte, decompressed.
    @FunctionalInterface
    public interface Opener {
        InputStream open() throws IOException;
    }

    /// The form of the rows in the file, which decides how they are handed over.
    public sealed interface Form {
        /// Lines as they are.
        ///
        /// @param header whether the first record is put in front of each reading's lines, and is not a row
        /// @param ends of the records, which may await a header
        record Lines(boolean header, RecordEnds ends) implements Form {}

        /// Records of RFC 4180, of which the first has the names of the fields; each becomes a line of JSON.
        ///
        /// @param comment at the beginning of lines that are passed over; 0 if there are none
        /// @param quotes whether a value may be in quotes
        /// @param escape makes the character behind it one of the value; 0 if there is none
        record Csv(char delimiter, char comment, boolean quotes, char escape) implements Form {
            public Csv(char delimiter) {
                this(delimiter, (char) 0, true, (char) 0);
            }
        }
    }

    /// A quote is open at the end of a file.
    public static final class Unended extends IOException {
        private static final long serialVersionUID = 1;

        Unended() {
            super("a quoted field has no end");
        }
    }

    @Override
    public String identity() {
        return content.identity();
    }

    @Override
    public List<String> parts() {
        return List.of(PART);
    }

    @Override
    public Extent extent() {
        return new Extent(content.bytes(), 0, 0);
    }

    @Override
    public void read(Map<String, String> from, Taker taker) throws IOException, InterruptedException {
        String mark = from.getOrDefault(PART, BEGINNING);
        if (mark.equals(END)) {
            return;
        }
        long at = mark.isEmpty() ? 0 : Long.parseLong(mark);
        try (InputStream in = content.opener().open()) {
            switch (form) {
                case Form.Lines lines -> readLines(in, at, lines, taker);
                case Form.Csv csv -> readCsv(new CsvRecords(in, csv), csv.delimiter(), at, taker);
            }
        }
    }

    private void readLines(InputStream in, long at, Form.Lines form, Taker taker)
            throws IOException, InterruptedException {
        RecordEnds ends = form.ends();
        byte[] carry = at > 0 && form.header() ? header(ends) : new byte[0];
        int headers = form.header() ? 1 : 0;
        skip(in, at);
        long end = at - carry.length; // Of the file's bytes, behind those that are handed over.
        while (true) {
            if (carry.length > ROW_BYTES_MAX) {
                throw new IOException("a row has more than " + ROW_BYTES_MAX + " bytes");
            }
            byte[] block = Arrays.copyOf(carry, Math.max(BLOCK_BYTES, 2 * carry.length));
            int read = in.readNBytes(block, carry.length, block.length - 1 - carry.length);
            int length = carry.length + read;
            boolean last = length < block.length - 1;
            ends = ends.behind(block, Math.max(ends.end(block, 0, length), 0));
            int to = last ? length : ends.lastEnd(block, 0, length);
            if (!ends.areWhole(block, 0, length) && (last || ends.end(block, to, length) != RecordEnds.OPEN)) {
                throw new IOException("behind byte " + Math.max(end, 0) + ", counted from there, "
                        + ends.fault(block, 0, length).message(0));
            }
            boolean isOpen = last && length > 0 && block[length - 1] != '\n';
            if (isOpen) {
                block[to++] = '\n';
            }
            carry = Arrays.copyOfRange(block, Math.min(to, length), length);
            end += to;
            if (last) {
                content.requireWhole(isOpen);
            }
            int count = rows(ends, block, to) - (to > 0 ? headers : 0);
            headers = to > 0 ? 0 : headers;
            Rows rows = new Rows(PART, block, to, count, last ? END : String.valueOf(end), done());
            if ((last || to > 0) && !taker.take(rows) || last) {
                return;
            }
        }
    }

    private void skip(InputStream in, long bytes) throws IOException {
        try {
            in.skipNBytes(bytes);
        } catch (EOFException e) {
            content.requireWhole(false);
            throw e;
        }
    }

    private byte[] header(RecordEnds ends) throws IOException {
        try (InputStream in = content.opener().open()) {
            byte[] some = in.readNBytes(BLOCK_BYTES);
            return Arrays.copyOf(some, ends.endAnyhow(some, 0, some.length));
        }
    }

    private static int rows(RecordEnds ends, byte[] bytes, int to) {
        int rows = 0;
        for (int at = 0; at < to; at = ends.endAnyhow(bytes, at, to)) {
            rows++;
        }
        return rows;
    }

    private void readCsv(CsvRecords records, char delimiter, long at, Taker taker)
            throws IOException, InterruptedException {
        CsvRecords.Fields names = records.next();
        if (names == null) {
            content.requireWhole(false);
            taker.take(new Rows(PART, new byte[0], 0, 0, END, done()));
            return;
        }
        CsvJson json;
        try {
            json = new CsvJson(names, delimiter);
        } catch (IllegalArgumentException e) {
            throw new IOException("the header " + e.getMessage(), e);
        }
        long number = 0; // Of a record behind the header, whatever it is.
        LineBlock block = new LineBlock();
        try {
            for (CsvRecords.Fields record = records.next(); record != null; record = records.next()) {
                if (records.isOpen()) {
                    content.requireWhole(true);
                }
                number++;
                if (number <= at || json.isHeader(record, number)) {
                    continue;
                }
                block.add(json.of(record, number));
                if (block.isFull() && !taker.take(block.rows(PART, String.valueOf(number), done()))) {
                    return;
                }
            }
            content.requireWhole(records.isOpen());
        } catch (IOException e) {
            if (block.lines() > 0) { // The lines in front of the bad place are read.
                taker.take(block.rows(PART, String.valueOf(number), done()));
            }
            throw e;
        }
        taker.take(block.rows(PART, END, done()));
    }

    private long done() {
        long read = content.read().get();
        long done = read - doneBefore;
        doneBefore = read;
        return done;
    }

    @Override
    public void close() {}
}
