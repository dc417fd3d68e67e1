package dev.onefold.tables;

import java.io.ByteArrayOutputStream;

/// Lines that are collected until they are worth handing over. Not thread-safe.
final class LineBlock extends ByteArrayOutputStream {
    /// Bytes that are worth handing over: enough for a taker that waits for its force.
    static final int BYTES = 1 << 20;

    private int lines;

    LineBlock() {
        super(BYTES + (1 << 16));
    }

    void add(byte[] line) {
        write(line, 0, line.length);
        endLine();
    }

    void endLine() {
        write('\n');
        lines++;
    }

    boolean isFull() {
        return count >= BYTES;
    }

    /// How many lines there are.
    int lines() {
        return lines;
    }

    /// The lines, and the mark to continue at; the block is empty then.
    RowSource.Rows rows(String part, String mark, long done) {
        RowSource.Rows rows = new RowSource.Rows(part, toByteArray(), count, lines, mark, done);
        reset();
        lines = 0;
        return rows;
    }
}
