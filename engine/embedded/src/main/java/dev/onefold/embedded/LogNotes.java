package dev.onefold.embedded;

import dev.onefold.core.Status;
import dev.onefold.embedded.framing.Position;
import dev.onefold.embedded.framing.Source;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// What readers of logs know of the partitions beside their records, since they have begun. Thread-safe.
final class LogNotes {
    private static final Note NONE = new Note(-1, "");

    private final Map<String, Note> notes = new ConcurrentHashMap<>();

    /// @param end the offset behind the last record; -1 if it is not known
    /// @param stopped why the partition is not read any more; empty if it is
    private record Note(long end, String stopped) {}

    void put(String source, long end, String stopped) {
        notes.put(source, new Note(end, stopped));
    }

    List<Status.OfPartition> status(List<Source.Known> sources) {
        return sources.stream()
                .filter(source -> source.position() instanceof Position.Partition)
                .map(source -> status(
                        source.name(), (Position.Partition) source.position(), notes.getOrDefault(source.name(), NONE)))
                .toList();
    }

    private static Status.OfPartition status(String source, Position.Partition position, Note note) {
        return new Status.OfPartition(
                source,
                position.next(),
                note.end < 0 ? -1 : Math.max(0, note.end - position.next()),
                note.stopped,
                position.gaps().stream()
                        .map(gap -> new Status.Lost(gap.from(), gap.to(), gap.at()))
                        .toList());
    }
}
