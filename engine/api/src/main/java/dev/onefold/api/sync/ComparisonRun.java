package dev.onefold.api.sync;

import dev.onefold.core.Engine.Appended;
import dev.onefold.core.Sync;
import java.util.Map;

/// A comparison that changes nothing.
///
/// @param end checks at its end that what was compared is what there is
public record ComparisonRun(Runnable end) implements Sync.Run {
    @Override
    public long number() {
        return Long.MAX_VALUE;
    }

    @Override
    public Appended append(byte[] lines, int length) {
        throw new IllegalStateException("A comparison brings no rows");
    }

    @Override
    public Appended appendRows(byte[] lines, int length) {
        return append(lines, length);
    }

    @Override
    public void save(Map<String, String> marks) {
        throw new IllegalStateException("A comparison has no marks");
    }

    @Override
    public void finish() {
        end.run();
    }

    @Override
    public void close() {
        // It holds nothing.
    }
}
