package dev.onefold.api.body;

import dev.onefold.core.bytes.Utf8;
import java.util.AbstractList;
import java.util.Objects;

/// The records of a content, each ended by a line end; the last one may lack it. Each is decoded when it is
/// read, and none is kept: a content of many short lines takes no more of the heap than its bytes. Fast only
/// if the lines are read in their order. Not thread-safe.
public final class BodyLines extends AbstractList<String> {
    private final byte[] body;
    private final int size;
    private int number; // Of the line that begins at:
    private int at;

    public BodyLines(byte[] body) {
        this.body = body;
        int lines = 0;
        for (int from = 0; from < body.length; from = end(from) + 1) {
            lines++;
        }
        size = lines;
    }

    private int end(int from) {
        int end = from;
        while (end < body.length && body[end] != '\n') {
            end++;
        }
        return end;
    }

    @Override
    public String get(int index) {
        Objects.checkIndex(index, size);
        if (index < number) {
            number = 0;
            at = 0;
        }
        for (; number < index; number++) {
            at = end(at) + 1;
        }
        return Utf8.decode(body, at, end(at) - at)
                .orElseThrow(() -> new IllegalArgumentException(
                        "The records are not UTF-8 text. With 'from', the number of the first line, each line is taken,"
                                + " and one that cannot be read becomes a dead letter."));
    }

    @Override
    public int size() {
        return size;
    }
}
