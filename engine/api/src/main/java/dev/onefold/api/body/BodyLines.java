package dev.onefold.api.body;

import dev.onefold.core.bytes.Utf8;
import dev.onefold.core.event.RecordEnds;
import java.util.AbstractList;
import java.util.Objects;

/// The records of a content, each ended by a line end; the last one may lack it. A record of CSV may have several
/// lines. Each is decoded when it is
/// read, and none is kept: a content of many short lines takes no more of the heap than its bytes. Fast only
/// if the lines are read in their order. Not thread-safe.
public final class BodyLines extends AbstractList<String> {
    private final RecordEnds ends;
    private final byte[] body;
    private final int size;
    private int number; // Of the line that begins at:
    private int at;

    /// @throws IllegalArgumentException if the end of a record is not known
    public BodyLines(RecordEnds ends, byte[] body) {
        this.ends = ends;
        this.body = body;
        if (!ends.areWhole(body, 0, body.length)) {
            throw new IllegalArgumentException("Nothing of this was taken: "
                    + ends.fault(body, 0, body.length).message(0) + ".");
        }
        int records = 0;
        for (int from = 0; from < body.length; from = ends.endAnyhow(body, from, body.length)) {
            records++;
        }
        size = records;
    }

    @Override
    public String get(int index) {
        Objects.checkIndex(index, size);
        if (index < number) {
            number = 0;
            at = 0;
        }
        for (; number < index; number++) {
            at = ends.endAnyhow(body, at, body.length);
        }
        int end = ends.endAnyhow(body, at, body.length);
        return Utf8.decode(body, at, (body[end - 1] == '\n' ? end - 1 : end) - at)
                .orElseThrow(() -> new IllegalArgumentException(
                        "The records are not UTF-8 text. With 'from', the number of the first line, each line is taken,"
                                + " and one that cannot be read becomes a dead letter."));
    }

    @Override
    public int size() {
        return size;
    }
}
