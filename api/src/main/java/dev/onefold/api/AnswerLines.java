package dev.onefold.api;

import dev.onefold.core.document.Node;
import dev.onefold.core.query.Answer;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.RandomAccess;

/// The lines of an answer that came as JSON. They are kept off the heap, and each is parsed when it is looked at. Not
/// thread-safe.
final class AnswerLines extends AbstractList<Answer.Line> implements RandomAccess, AutoCloseable {
    private static final int BLOCK_BYTES = 1 << 20;

    private final Arena arena = Arena.ofShared();
    private final List<MemorySegment> blocks = new ArrayList<>();
    private long[] places = new long[64]; // Of each line: the number of its block, and its first byte there.
    private int count;
    private int used = BLOCK_BYTES; // Of the last block.

    /// The answer that [dev.onefold.core.form.JsonForm] wrote, each group on a line of its own. Its lines are valid
    /// until this is closed.
    Answer read(InputStream json) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(json, StandardCharsets.UTF_8));
        String head = next(in);
        String line = next(in);
        for (; !line.startsWith("\"cut\":"); line = next(in)) {
            if (line.startsWith("{")) { // Behind it stand the separators of the list.
                add(line.substring(0, line.lastIndexOf('}') + 1).getBytes(StandardCharsets.UTF_8));
            }
        }
        Node answer = JsonReading.parse(head + line);
        if (in.read() >= 0) { // Also the end of the content is looked at: an answer may be cut off.
            throw new IOException("More than an answer came");
        }
        return new Answer(
                JsonReading.text(answer, "rollup"),
                JsonReading.texts(answer, "levels"),
                JsonReading.texts(answer, "measures"),
                this,
                JsonReading.cut(JsonReading.get(answer, "cut")));
    }

    private static String next(BufferedReader in) throws IOException {
        String line = in.readLine();
        if (line == null) {
            throw new EOFException("The answer ended too early");
        }
        return line;
    }

    private void add(byte[] line) {
        int bytes = Integer.BYTES + line.length;
        if (bytes > BLOCK_BYTES - used) {
            blocks.add(arena.allocate(Math.max(bytes, BLOCK_BYTES)));
            used = 0;
        }
        if (count == places.length) {
            places = Arrays.copyOf(places, 2 * count);
        }
        places[count++] = (long) (blocks.size() - 1) << 32 | used;
        MemorySegment block = blocks.getLast();
        block.set(ValueLayout.JAVA_INT_UNALIGNED, used, line.length);
        MemorySegment.copy(line, 0, block, ValueLayout.JAVA_BYTE, used + Integer.BYTES, line.length);
        used = Math.min(used + bytes, BLOCK_BYTES);
    }

    @Override
    public Answer.Line get(int index) {
        long place = places[Objects.checkIndex(index, count)];
        MemorySegment block = blocks.get((int) (place >>> 32));
        int at = (int) place;
        int length = block.get(ValueLayout.JAVA_INT_UNALIGNED, at);
        byte[] line = block.asSlice(at + Integer.BYTES, length).toArray(ValueLayout.JAVA_BYTE);
        return JsonReading.line(new String(line, StandardCharsets.UTF_8));
    }

    @Override
    public int size() {
        return count;
    }

    /// Frees the memory.
    @Override
    public void close() {
        arena.close();
    }
}
