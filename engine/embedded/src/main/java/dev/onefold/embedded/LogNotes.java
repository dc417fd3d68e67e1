package dev.onefold.embedded;

import dev.onefold.core.Status;
import dev.onefold.embedded.framing.Position;
import dev.onefold.embedded.framing.Source;
import dev.onefold.embedded.source.LogNote;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// What readers of logs know of the partitions beside their records, since they have begun. Thread-safe.
final class LogNotes {
    private final Map<String, LogNote> notes = new ConcurrentHashMap<>();

    void put(String source, LogNote note) {
        notes.put(source, note);
    }

    List<Status.OfPartition> status(List<Source.Known> sources, long nowMs) {
        return sources.stream()
                .filter(source -> source.position() instanceof Position.Partition)
                .map(source -> status(
                        source.name(),
                        (Position.Partition) source.position(),
                        notes.getOrDefault(source.name(), LogNote.NONE),
                        nowMs))
                .toList();
    }

    private static Status.OfPartition status(String source, Position.Partition position, LogNote note, long nowMs) {
        long behind = note.end() < 0 ? -1 : Math.max(0, note.end() - position.next());
        long behindMs = behind == 0 ? 0 : behind < 0 || note.sinceMs() < 0 ? -1 : Math.max(0, nowMs - note.sinceMs());
        return new Status.OfPartition(
                source,
                position.next(),
                behind,
                behindMs,
                note.retentionMs() < 0 || behindMs < 0 ? -1 : Math.max(0, note.retentionMs() - behindMs),
                note.waits(),
                note.stopped(),
                position.gaps().stream()
                        .map(gap -> new Status.Lost(gap.from(), gap.to(), gap.at()))
                        .toList());
    }
}
