package dev.onefold.cli.trial;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/// The records that a trial puts, and what is right for them. Is not thread-safe.
record TrialLoad(Lines lines, Oracle oracle) implements AutoCloseable {
    /// The next records, at most `most`; empty at the end.
    List<byte[]> next(int most) throws IOException {
        List<byte[]> some = new ArrayList<>();
        while (some.size() < most) {
            byte[] record = lines.next();
            if (record == null) {
                break;
            }
            some.add(record);
        }
        oracle.note(some);
        return some;
    }

    @Override
    public void close() {
        try (oracle) {
            lines.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
