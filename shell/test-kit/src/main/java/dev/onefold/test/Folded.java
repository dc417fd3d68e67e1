package dev.onefold.test;

import dev.onefold.core.keyed.Arrival;
import dev.onefold.core.keyed.RowId;
import dev.onefold.core.keyed.StepFunction;
import dev.onefold.core.keyed.StepFunction.Result;
import dev.onefold.core.state.Key;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The result of the events of one key.
///
/// @param context of the key, as it is stored
/// @param rows of all tables, as they are stored
record Folded(byte[] context, SortedMap<RowId, byte[]> rows) {
    /// No older version of the function has seen the key.
    static final int NEVER = -1;

    /// Folds events one after the other, from the beginning: a loop, and nothing of what an engine does.
    ///
    /// @param byOlder how many of the events the older version of the function folds, or [#NEVER]
    static Folded inOrder(Subject subject, byte[] owner, List<byte[]> contents, int byOlder) {
        StepFunction now = subject.now();
        List<String> key = Key.parts(subject.pipeline(), owner);
        if (byOlder == NEVER) {
            return new Folded(now.start(), new TreeMap<>()).then(now, key, contents);
        }
        StepFunction first = subject.first();
        Folded folded = new Folded(first.start(), new TreeMap<>()).then(first, key, contents.subList(0, byOlder));
        byte[] upgraded = now.upgraded(key, subject.olderVersion(), folded.context);
        return new Folded(upgraded, folded.rows).then(now, key, contents.subList(byOlder, contents.size()));
    }

    private Folded then(StepFunction function, List<String> key, List<byte[]> contents) {
        byte[] after = context;
        SortedMap<RowId, byte[]> written = new TreeMap<>(rows);
        for (byte[] content : contents) {
            if (!Arrays.equals(content, Arrival.filtered())
                    && function.step(key, after, content) instanceof Result.Done done) {
                after = done.context();
                done.rows().forEach((row, bytes) -> put(written, row, bytes));
            }
        }
        return new Folded(after, written);
    }

    private static void put(SortedMap<RowId, byte[]> rows, RowId row, byte @Nullable [] content) {
        if (content == null) {
            rows.remove(row);
        } else {
            rows.put(row, content);
        }
    }
}
