package dev.onefold.embedded.fold;

import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.query.Answer;
import dev.onefold.embedded.disk.Checkpoint;
import dev.onefold.embedded.source.LineReader;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The sources and how far each is in the totals. Guarded by the engine's lock.
public final class Sources {
    public static final Source NOWHERE = new Source("", -1, false);

    /// One source. Its number is what rows name it by; it never changes.
    public static final class Source {
        public final String name;
        public final int number;
        public final boolean replayable;
        /// Lines, a header included: by these a record's place is numbered.
        public long records;

        public long bytes;
        /// How far it is in the journal: as far as it is folded, or further within one commit.
        public long recordsAppended;

        public long bytesAppended;
        /// Whether a header line is in the journal, and perhaps not folded yet.
        public boolean headerAppended;

        /// Hash of these bytes: known from the checkpoint until the source is read again, then as a state that goes
        /// on.
        public byte[] hash = Sha256.digest().digest();

        @Nullable
        public MessageDigest digest;

        public byte[] header = new byte[0];
        /// Whether the last line that was folded had no end.
        public boolean unfinished;

        public Source(String name, int number, boolean replayable) {
            this.name = name;
            this.number = number;
            this.replayable = replayable;
        }

        /// Lines that are records: a header is none.
        public long dataRecords() {
            return records - (header.length > 0 ? 1 : 0);
        }

        public byte[] currentHash() {
            MessageDigest state = digest;
            return state == null ? hash : LineReader.copy(state).digest();
        }
    }

    private final List<Source> all = new ArrayList<>();

    public void load(List<Checkpoint.Source> stored) {
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

    public List<Checkpoint.Source> store() {
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
    public Source find(String name) {
        return all.stream()
                .filter(source -> source.name.equals(name))
                .findFirst()
                .orElse(null);
    }

    public Source findOrAdd(String name, boolean replayable) {
        Source known = find(name);
        if (known != null) {
            return known;
        }
        Source source = new Source(name, all.size(), replayable);
        all.add(source);
        return source;
    }

    public List<Source> all() {
        return all;
    }

    public String name(int number) {
        return all.get(number).name;
    }

    /// How far each source is.
    public List<Answer.Progress> progress() {
        return all.stream()
                .map(source -> new Answer.Progress(source.name, source.dataRecords(), source.bytes))
                .toList();
    }

    /// The sources of which something is in the totals: not those that were refused at their first line.
    public List<Answer.Progress> covered() {
        return progress().stream().filter(source -> source.bytes() > 0).toList();
    }
}
