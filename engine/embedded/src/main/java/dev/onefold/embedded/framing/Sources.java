package dev.onefold.embedded.framing;

import dev.onefold.core.EngineException;
import dev.onefold.core.query.Answer;
import dev.onefold.embedded.framing.Source.Kind;
import dev.onefold.embedded.source.QueueBatch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The sources and the progress of each in the totals. Guarded by the engine's lock.
public final class Sources {
    private final List<Source> all = new ArrayList<>();
    private final Map<String, Source> byName = new HashMap<>();

    public Sources() {}

    public void load(List<Source.Known> stored) {
        stored.forEach(known -> add(new Source(known, all.size())));
    }

    private Source add(Source source) {
        all.add(source);
        byName.put(source.name(), source);
        return source;
    }

    /// As a checkpoint keeps them.
    public List<Source.Known> store() {
        return all.stream().map(Source::known).toList();
    }

    public @Nullable Source find(String name) {
        return byName.get(name);
    }

    /// The source whose name is in the place of a dead letter; `null` if there is none. The place of a
    /// message has its id, too.
    public @Nullable Source ofPlace(String name) {
        Source known = find(name);
        return known == null ? find(QueueBatch.queueOf(name)) : known;
    }

    public Source findOrAdd(String name, Kind kind) {
        Source known = find(name);
        return known == null ? add(new Source(name, all.size(), kind)) : known;
    }

    /// A source of this kind; a new one if there is none of the name.
    ///
    /// @throws EngineException if the name is that of a source of another kind
    public Source open(String name, Kind kind) {
        Source source = findOrAdd(name, kind);
        if (source.kind() != kind) {
            throw new EngineException(
                    EngineException.Kind.SOURCE_CHANGED,
                    "Source " + name + " is " + source.kind().text() + "; " + kind.text()
                            + " needs a source name of its own" + (kind == Kind.LINES ? " (--source)" : ""));
        }
        return source;
    }

    /// Forgets a source of lines if it is the newest one and nothing of it came. A source whose lines were
    /// all refused would be in front of others until the next start, and behind them or nowhere afterwards.
    public void forgetIfEmpty(String name) {
        Source source = find(name);
        if (source == null || source.number() != all.size() - 1) {
            return;
        }
        if (source.kind() == Kind.LINES && source.recordsAppended() == 0) {
            all.removeLast();
            byName.remove(name);
        }
    }

    public List<Source> all() {
        return List.copyOf(all);
    }

    public String name(int number) {
        return all.get(number).name();
    }

    /// The progress of each source.
    public List<Answer.Progress> progress() {
        return all.stream().map(Source::progress).toList();
    }

    /// The sources that are in the totals, at least in part: not those that were refused at their first line.
    public List<Answer.Progress> covered() {
        return all.stream()
                .filter(source -> source.at() > 0)
                .map(Source::progress)
                .toList();
    }
}
