package dev.onefold.embedded;

import dev.onefold.core.query.Answer;
import dev.onefold.embedded.disk.Checkpoint;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The sources and how far each is in the totals. Guarded by the engine's lock.
final class Sources {
    static final Source NOWHERE = new Source("", -1, false);

    /// One source. Its number is what rows name it by; it never changes.
    static final class Source {
        final String name;
        final int number;
        final boolean replayable;
        long records;
        long bytes;
        /// How far it is in the journal: as far as it is folded, or further within one commit.
        long recordsAppended;

        long bytesAppended;
        /// Hash of these bytes: known from the checkpoint until the source is read again, then as a state that goes
        /// on.
        byte[] hash = LineReader.sha256().digest();

        @Nullable
        MessageDigest digest;

        byte[] header = new byte[0];
        /// Whether the last line that was folded had no end.
        boolean unfinished;

        Source(String name, int number, boolean replayable) {
            this.name = name;
            this.number = number;
            this.replayable = replayable;
        }

        byte[] currentHash() {
            MessageDigest state = digest;
            return state == null ? hash : LineReader.copy(state).digest();
        }
    }

    private final List<Source> all = new ArrayList<>();

    void load(List<Checkpoint.Source> stored) {
        for (Checkpoint.Source each : stored) {
            Source source = new Source(each.name(), all.size(), each.replayable());
            source.records = each.records();
            source.bytes = each.bytes();
            source.recordsAppended = each.records();
            source.bytesAppended = each.bytes();
            source.hash = each.sha256();
            source.header = each.header();
            source.unfinished = each.unfinished();
            all.add(source);
        }
    }

    List<Checkpoint.Source> store() {
        return all.stream()
                .map(source -> new Checkpoint.Source(
                        source.name,
                        source.replayable,
                        source.records,
                        source.bytes,
                        source.replayable ? source.currentHash() : new byte[0],
                        source.header,
                        source.unfinished))
                .toList();
    }

    @Nullable
    Source find(String name) {
        return all.stream()
                .filter(source -> source.name.equals(name))
                .findFirst()
                .orElse(null);
    }

    Source findOrAdd(String name, boolean replayable) {
        Source known = find(name);
        if (known != null) {
            return known;
        }
        Source source = new Source(name, all.size(), replayable);
        all.add(source);
        return source;
    }

    List<Source> all() {
        return all;
    }

    String name(int number) {
        return all.get(number).name;
    }

    List<Answer.Progress> progress() {
        return all.stream()
                .map(source -> new Answer.Progress(source.name, source.records, source.bytes))
                .toList();
    }
}
