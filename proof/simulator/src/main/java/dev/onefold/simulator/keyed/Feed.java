package dev.onefold.simulator.keyed;

import dev.onefold.core.DeadLetter;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.LogBatch;
import dev.onefold.oracle.KeyedOracle.Event;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// A source of events, which has them in their order. Not thread-safe.
final class Feed {
    /// A file that grows, lines that a producer numbers, or a partition of a log.
    enum Kind {
        FILE,
        LINES,
        PARTITION
    }

    private static final String LOG = "log";

    final Kind kind;
    final List<Event> events = new ArrayList<>();
    private final int number;
    private long durable; // Events that may not be lost any more.

    /// @param number of it among all sources, from 0
    Feed(Kind kind, int number) {
        this.kind = kind;
        this.number = number;
    }

    String name() {
        return kind == Kind.PARTITION ? LogBatch.source(LOG, number) : "in" + number;
    }

    /// How many events are in the results.
    int in(EmbeddedEngine engine) {
        return engine.progress().stream()
                .filter(source -> source.source().equals(name()))
                .mapToInt(source -> (int) source.records())
                .findFirst()
                .orElse(0);
    }

    /// Events that were promised to be durable.
    long durable() {
        return durable;
    }

    /// Hands over events.
    ///
    /// @param from one that is in already, or the next one; a file begins with its first one
    /// @param to behind the last one
    void send(EmbeddedEngine engine, int from, int to) {
        switch (kind) {
            case FILE -> {
                byte[] content = lines(0, to);
                engine.fold(
                        new FileSource(name(), () -> new ByteArrayInputStream(content), false), FoldListener.silent());
                durable = to;
            }
            case LINES -> {
                byte[] content = lines(from, to);
                durable = engine.append(name(), from + 1L, content, content.length)
                        .acknowledged();
            }
            case PARTITION -> {
                List<LogBatch.Entry> entries = IntStream.range(from, to)
                        .mapToObj(at -> new LogBatch.Entry(at, record(at).getBytes(StandardCharsets.UTF_8)))
                        .toList();
                engine.fold(new LogBatch(LOG, number, from, to, entries));
                durable = Math.max(durable, engine.durableOffsets(LOG).getOrDefault(number, 0L));
            }
        }
    }

    /// The whole of it as a file.
    FileSource file() {
        byte[] content = lines(0, events.size());
        return new FileSource(name(), () -> new ByteArrayInputStream(content), false);
    }

    /// The number of the event whose record has this place.
    int index(DeadLetter.Place place) {
        if (kind == Kind.PARTITION) {
            return (int) place.offset();
        }
        int index = 0;
        for (long at = 0; at < place.offset(); index++) {
            at += record(index).length() + 1;
        }
        return index;
    }

    private byte[] lines(int from, int to) {
        return IntStream.range(from, to)
                .mapToObj(at -> record(at) + "\n")
                .collect(Collectors.joining())
                .getBytes(StandardCharsets.UTF_8);
    }

    private String record(int at) {
        return DrawnCase.record(events.get(at));
    }

    @Override
    public String toString() {
        return name() + " (" + kind + ", " + events.size() + ")";
    }
}
