package dev.onefold.api.body;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.json.JsonText;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Input.Records;
import dev.onefold.core.pipeline.Pipeline;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The JSON records of a file that holds them in arrays, side by side or over several lines, as one a line. A
/// line break inside of a record becomes a space, and whatever is between records is left out. So these lines,
/// and not the bytes of the file, are what is numbered, hashed and kept, as those of a compressed file are.
///
/// Brackets and quotes are all that is looked at. A record in which they do not fit has no end that can be
/// known, so the stream ends there, with [Broken]; any other damage is left to the decoder. Not thread-safe.
public final class JsonRecords extends InputStream {
    private static final int BUFFER_BYTES = 1 << 16;
    private static final int FIRST_BYTES = 1 << 12;
    private static final byte SEPARATOR = 0x1e; // In front of each text of a sequence (RFC 7464).
    private static final byte[] MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

    private final InputStream in;
    private final boolean areElements;
    private final byte[] read;
    private final byte[] ready; // Behind each byte may be the end of a record.
    private int at;
    private int end;
    private long bytes;
    private long line = 1;
    private long arrayLine; // In which the array begins; 0 outside of one.
    private long recordLine; // 0 outside of a record.
    private int depth;
    private boolean isText;
    private boolean isEscaped;
    private boolean isBehindElement;
    private @Nullable Broken broken;

    private JsonRecords(InputStream in, Records records, int bufferBytes) {
        this.in = in;
        read = new byte[bufferBytes];
        ready = new byte[2 * bufferBytes];
        areElements = records == Records.ARRAY;
    }

    /// The records of a file, as lines.
    public static InputStream of(RecordEnds ends, InputStream file) {
        return of(ends.ofFiles(), file);
    }

    /// The same.
    public static InputStream of(Records records, InputStream file) {
        return records == Records.LINES ? file : new JsonRecords(file, records, BUFFER_BYTES);
    }

    /// The end of a record, or of an array, cannot be known.
    public static final class Broken extends IOException {
        private static final long serialVersionUID = 1;

        private final String advice;

        private Broken(String message) {
            this(message, "");
        }

        /// @param advice of a file, behind the message
        private Broken(String message, String advice) {
            super(message);
            this.advice = advice;
        }

        @Override
        public String getMessage() {
            return reason() + advice;
        }

        /// The message without what to write for a file.
        String reason() {
            return String.valueOf(super.getMessage());
        }
    }

    /// The way in which bytes that are read as lines seem to hold their records: the first record is a whole
    /// object, but is not one line, and the second line is none either. A first line that is only damaged
    /// shows nothing.
    public static Records seen(byte[] bytes, int length) {
        int from = begin(bytes, length);
        if (from > 0 && bytes[from - 1] == SEPARATOR) {
            return Records.OBJECTS;
        }
        Records records = from < length && bytes[from] == '[' ? Records.ARRAY : Records.OBJECTS;
        String first = firstOf(bytes, from, length, records);
        String line = text(bytes, from, lineEnd(bytes, from, length));
        if (first == null || records == Records.OBJECTS && line.equals(first) || !isObject(first)) {
            return Records.LINES;
        }
        boolean isWhole = records == Records.ARRAY ? line.endsWith("]") : line.startsWith(first);
        String rest = isWhole
                ? line.substring(Math.min(first.length(), line.length())).strip()
                : "";
        if (records == Records.OBJECTS && rest.equals(",")) {
            return records;
        }
        boolean isMore = records == Records.ARRAY
                || !isWhole
                || rest.replace(',', ' ').stripLeading().startsWith("{");
        return isMore && !(isWhole && isObject(secondLine(bytes, from, length))) ? records : Records.LINES;
    }

    /// The same of a whole content that is said to be JSON: it may be an array of anything, and objects that
    /// are not lines are read as such, also if one has no end.
    static Records seenAsJson(byte[] bytes) {
        int from = begin(bytes, bytes.length);
        if (from < bytes.length && bytes[from] == '[') {
            return Records.ARRAY;
        }
        boolean areLines = true;
        boolean isOpen = false;
        for (int end; from < bytes.length; from = end + 1) {
            end = lineEnd(bytes, from, bytes.length);
            String line = text(bytes, from, end);
            areLines &= line.isEmpty() || isObject(line);
            isOpen |= end < bytes.length
                    && line.startsWith("{")
                    && firstOf(bytes, from, end, Records.OBJECTS) == null
                    && goesOn(line, text(bytes, end + 1, lineEnd(bytes, end + 1, bytes.length)));
        }
        return areLines || !isOpen && !areObjects(bytes) ? Records.LINES : Records.OBJECTS;
    }

    /// Whether a line that has no end is continued in the next one, and is not a record that was cut.
    private static boolean goesOn(String line, String next) {
        return "{[,:".indexOf(line.charAt(line.length() - 1)) >= 0 || !isObject(next);
    }

    /// Whether brackets and quotes fit, and all between them are objects.
    private static boolean areObjects(byte[] bytes) {
        try (InputStream objects = new JsonRecords(new ByteArrayInputStream(bytes), Records.OBJECTS, FIRST_BYTES)) {
            objects.transferTo(OutputStream.nullOutputStream());
            return true;
        } catch (IOException broken) {
            return false;
        }
    }

    private static boolean isObject(String text) {
        return JsonText.read(text, new Problems()) instanceof Node.Mapping;
    }

    private static String secondLine(byte[] bytes, int from, int length) {
        int second = Math.min(lineEnd(bytes, from, length) + 1, length);
        return text(bytes, second, lineEnd(bytes, second, length));
    }

    private static int lineEnd(byte[] bytes, int from, int length) {
        int to = from;
        while (to < length && bytes[to] != '\n') {
            to++;
        }
        return to;
    }

    private static String text(byte[] bytes, int from, int to) {
        return new String(bytes, from, to - from, StandardCharsets.UTF_8)
                .replace('\r', ' ') // As in a record.
                .strip();
    }

    /// Behind a byte order mark and blanks.
    private static int begin(byte[] bytes, int length) {
        int at = length >= MARK.length && Arrays.equals(bytes, 0, MARK.length, MARK, 0, MARK.length) ? MARK.length : 0;
        while (at < length
                && (bytes[at] == ' '
                        || bytes[at] == '\t'
                        || bytes[at] == '\n'
                        || bytes[at] == '\r'
                        || bytes[at] == SEPARATOR)) {
            at++;
        }
        return at;
    }

    private static @Nullable String firstOf(byte[] bytes, int from, int length, Records records) {
        InputStream begin = new ByteArrayInputStream(bytes, from, length - from);
        try (InputStream lines = new JsonRecords(begin, records, FIRST_BYTES)) {
            ByteArrayOutputStream first = new ByteArrayOutputStream();
            for (int b = lines.read(); b != '\n'; b = lines.read()) {
                if (b < 0) {
                    return null;
                }
                first.write(b);
            }
            return first.toString(StandardCharsets.UTF_8);
        } catch (IOException broken) {
            return null;
        }
    }

    /// Why a source that is read as lines is refused at its first record; `null` if it is not.
    public static @Nullable String refusal(Pipeline pipeline, byte[] begin, int length) {
        Format format = pipeline.input().format();
        boolean asksForLines = format instanceof Format.Json json && json.records() == Records.LINES
                || format instanceof Format.Changes;
        Records seen = asksForLines && pipeline.input().readsBy(3) ? seen(begin, length) : Records.LINES;
        if (seen == Records.LINES) {
            return null;
        }
        String way = format instanceof Format.Changes
                ? "Convert the file: jq -c '" + (seen == Records.ARRAY ? ".[]" : ".") + "' FILE > NEW"
                : "Write 'records: " + seen.word() + "' under input";
        return "holds " + described(seen) + ", and the pipeline reads one object a line. " + way;
    }

    /// The name of such a content, as a part of a sentence.
    public static String described(Records seen) {
        return seen == Records.ARRAY ? "an array of JSON objects" : "JSON objects side by side or over several lines";
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        while (at == end) {
            if (broken != null) {
                throw broken;
            }
            int count = in.read(read, 0, read.length);
            at = 0;
            end = 0;
            try {
                if (count < 0) {
                    requireEnd();
                    return -1;
                }
                for (int i = 0; i < count; i++) {
                    take(read[i]);
                }
            } catch (Broken e) {
                broken = e; // Behind the records that are ready.
            }
        }
        int count = Math.min(length, end - at);
        System.arraycopy(ready, at, into, offset, count);
        at += count;
        return count;
    }

    private void take(byte b) throws Broken {
        boolean isLineEnd = b == '\n' || b == '\r';
        boolean isSpace = isLineEnd || b == ' ' || b == '\t';
        line += b == '\n' ? 1 : 0;
        bytes++;
        if (isText && isLineEnd) {
            throw new Broken("the record that begins in line " + recordLine + " has a line break inside of quotes");
        }
        if (areElements && recordLine > 0 && depth == 0 && !isText && (b == ',' || b == ']')) {
            end();
        }
        if (recordLine == 0 && !isSpace && b != ',' && b != SEPARATOR && !isMark(b)) {
            between(b);
        }
        if (recordLine > 0 && areElements && depth == 0 && !isText && isSpace) {
            isBehindElement = true; // Blanks are a part of an element only if more of it follows.
        } else if (recordLine > 0) {
            if (isBehindElement) {
                ready[end++] = ' ';
                isBehindElement = false;
            }
            ready[end++] = isLineEnd ? (byte) ' ' : b;
            inside(b);
        }
    }

    private boolean isMark(byte b) {
        return bytes <= MARK.length && b == MARK[(int) bytes - 1];
    }

    private void between(byte b) throws Broken {
        if (areElements && arrayLine == 0) {
            if (b != '[') {
                throw new Broken(
                        "an array is expected in line " + line + ", and it has '" + (char) (b & 0xff) + "'",
                        ". If the file has objects without an array around them, write 'records: objects' under input");
            }
            arrayLine = line;
        } else if (areElements && b == ']') {
            arrayLine = 0;
        } else if (areElements || b == '{') {
            recordLine = line;
        } else {
            throw new Broken(
                    "an object is expected in line " + line + ", and it has '" + (char) (b & 0xff) + "'",
                    b == '[' ? ". If the file has arrays of objects, write 'records: array' under input" : "");
        }
    }

    private void inside(byte b) {
        if (isText) {
            isText = isEscaped || b != '"';
            isEscaped = !isEscaped && b == '\\';
        } else if (b == '"') {
            isText = true;
        } else if (b == '{' || b == '[') {
            depth++;
        } else if (b == '}' || b == ']') {
            depth = Math.max(0, depth - 1);
            if (depth == 0 && !areElements) {
                end();
            }
        }
    }

    private void end() {
        isBehindElement = false;
        ready[end++] = '\n';
        recordLine = 0;
    }

    private void requireEnd() throws Broken {
        if (recordLine > 0) {
            throw new Broken("the record that begins in line " + recordLine
                    + " has no end: the input was cut, or a bracket or a quote of the record is missing");
        }
        if (arrayLine > 0) {
            throw new Broken("the array that begins in line " + arrayLine
                    + " has no end: the input was cut, or is still being written");
        }
    }

    /// The reader of lines asks how much room it needs.
    @Override
    public int available() throws IOException {
        return end - at + in.available();
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
