package dev.onefold.tables;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The rows that a taker got, up to a number of takes.
final class Taken {
    final List<String> lines = new ArrayList<>();
    final Map<String, String> marks = new HashMap<>();
    private int left;

    private Taken(int takes) {
        left = takes;
    }

    static Taken all(RowSource source) throws IOException, InterruptedException {
        return some(source, Map.of(), Integer.MAX_VALUE);
    }

    /// Takes rows this many times.
    static Taken some(RowSource source, Map<String, String> from, int takes) throws IOException, InterruptedException {
        Taken taken = new Taken(takes);
        taken.marks.putAll(from);
        source.read(from, taken::take);
        return taken;
    }

    private synchronized boolean take(RowSource.Rows rows) {
        if (left == 0) {
            return false;
        }
        new String(rows.lines(), 0, rows.length(), StandardCharsets.UTF_8)
                .lines()
                .forEach(lines::add);
        marks.put(rows.part(), rows.mark());
        return --left > 0;
    }
}
