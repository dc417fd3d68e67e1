package dev.onefold.oracle;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/// Says what a function per key comes to: contexts and rows of tables. The events that are kept of a key
/// are folded again, from the first one, with every event that comes. Not thread-safe.
public final class KeyedOracle {
    /// Which events of a key are folded, and when.
    public enum Order {
        LATEST,
        EVERY,
        IN_ORDER
    }

    /// A function per key over plain maps; it throws [Failed] where it fails.
    public interface Function {
        /// The context of a key before its first event.
        Map<String, Object> start();

        /// The next context, and rows by table and key; an empty one is removed.
        Outcome step(String key, Map<String, Object> context, Map<String, Object> event);
    }

    /// A function that writes rows of tables which other keys write, too. Each row has one owner.
    public interface SharingFunction extends Function {
        /// Whether the rows of a table, which are known by their keys alone, are of several keys.
        boolean isShared(String table);
    }

    /// What a step comes to.
    public record Outcome(Map<String, Object> context, Map<List<String>, Optional<Map<String, Object>>> rows) {}

    /// The function fails at this event.
    public static final class Failed extends RuntimeException {}

    /// An event.
    ///
    /// @param rank the greater one of two contents of a version stays, where that can still be changed
    /// @param fields none: the filter leaves the event out
    public record Event(String key, long version, int rank, Optional<Map<String, Object>> fields) {}

    /// What became of an event.
    public enum Verdict {
        ACCEPTED,
        DUPLICATE,
        STALE,
        CONFLICTING,
        REJECTED
    }

    /// A value that is there.
    public static Object value(Map<String, Object> fields, String name) {
        return Objects.requireNonNull(fields.get(name));
    }

    private final Order order;
    private final int keep;
    private Function function;
    private final SortedMap<String, Key> keys = new TreeMap<>();
    private final Map<Verdict, Long> verdicts = new HashMap<>();
    private final Map<List<Object>, Boolean> purged = new HashMap<>(); // Key, version and rank; whether it has failed.

    /// @param keep events per key that a late one may be folded before; with [Order#EVERY] there is no
    ///     bound here
    public KeyedOracle(Order order, int keep, Function function) {
        this.order = order;
        this.keep = keep;
        this.function = function;
    }

    /// Takes an event.
    ///
    /// @param redriven whether a person sends it again, after it was rejected
    public Verdict accept(Event event, boolean redriven) {
        Key key = keys.computeIfAbsent(event.key, Key::new);
        SortedSet<Long> failedBefore = new TreeSet<>(key.failed);
        Event before = key.accepted.get(event.version);
        Verdict verdict = switch (order) {
            case LATEST -> key.latest(event, redriven);
            case EVERY -> key.every(event, redriven);
            case IN_ORDER -> key.inOrder(event, redriven);
        };
        verdicts.merge(verdict, 1L, Long::sum);
        if (redriven) { // A record counts as what it came to the last time.
            verdicts.merge(Verdict.REJECTED, -1L, Long::sum);
        }
        if (order == Order.IN_ORDER) {
            boolean replaced = !redriven && before != null && !before.equals(key.accepted.get(event.version));
            key.recount(failedBefore, Optional.of(event.version), replaced);
            if (replaced && verdict == Verdict.REJECTED) { // Of the two, one has failed, and the other one has lost.
                verdicts.merge(Verdict.ACCEPTED, -1L, Long::sum);
                verdicts.merge(Verdict.CONFLICTING, 1L, Long::sum);
            }
        }
        return verdict;
    }

    /// Takes an event that a person has purged, from a source that is folded again: it keeps its version, and the
    /// function is never called for it.
    ///
    /// @param hasFailed whether the function had failed at it; else it had lost against another content
    public void acceptPurged(Event event, boolean hasFailed) {
        purged.put(List.of(event.key, event.version, event.rank), hasFailed);
        accept(event, false);
    }

    /// Counts a record that was purged, and whose event is not there.
    public void reject() {
        verdicts.merge(Verdict.REJECTED, 1L, Long::sum);
    }

    /// Goes on with a newer function.
    ///
    /// @param refold whether the events that are kept are folded again
    public void upgrade(Function newer, boolean refold) {
        function = newer;
        keys.values().forEach(key -> {
            SortedSet<Long> failedBefore = new TreeSet<>(key.failed);
            key.upgrade(refold);
            key.recount(failedBefore, Optional.empty(), false);
        });
    }

    /// How many events came to this.
    public long count(Verdict verdict) {
        return verdicts.getOrDefault(verdict, 0L);
    }

    /// The contexts by key.
    public SortedMap<String, Map<String, Object>> contexts() {
        SortedMap<String, Map<String, Object>> contexts = new TreeMap<>();
        keys.forEach((name, key) -> contexts.put(name, key.context));
        return contexts;
    }

    /// The rows of a table.
    public List<Map<String, Object>> rows(String table) {
        List<Map<String, Object>> rows = new ArrayList<>();
        keys.values()
                .forEach(key -> key.rows.forEach((row, fields) -> {
                    if (row.getFirst().equals(table)) {
                        rows.add(fields);
                    }
                }));
        return rows;
    }

    /// Events that came and contribute nothing, because the function fails at them, or their rows are another key's.
    public List<Event> failed() {
        List<Event> failed = new ArrayList<>();
        keys.values()
                .forEach(key -> key.failed.forEach(version ->
                        Optional.ofNullable(key.accepted.get(version)).ifPresent(failed::add)));
        return failed;
    }

    private boolean isOfAnother(String key, List<String> row) {
        return function instanceof SharingFunction sharing
                && sharing.isShared(row.getFirst())
                && keys.values().stream().anyMatch(other -> !other.name.equals(key) && other.rows.containsKey(row));
    }

    /// When the rows of a step must be free, or this key's.
    private enum Check {
        /// The step is new, or its event contributed nothing before.
        NOW,
        /// It was in before. What its key held then may be another's now; what counts is what is there in the end.
        IN_THE_END,
        /// Nothing is decided: what contributed nothing does not now.
        DECIDED
    }

    private final class Key {
        final String name;
        final TreeMap<Long, Event> accepted = new TreeMap<>();
        final SortedSet<Long> kept = new TreeSet<>();
        final SortedSet<Long> failed = new TreeSet<>();
        long below = Long.MIN_VALUE;
        Map<String, Object> contextBelow = function.start();
        Map<List<String>, Map<String, Object>> rowsBelow = Map.of();
        Map<String, Object> context = contextBelow;
        Map<List<String>, Map<String, Object>> rows = new HashMap<>();

        Key(String name) {
            this.name = name;
        }

        /// Counts events that failed before and do not now, or the other way round.
        ///
        /// @param came the version that came, which is counted already
        /// @param replaced whether its content is the one that came
        void recount(SortedSet<Long> failedBefore, Optional<Long> came, boolean replaced) {
            for (long version : accepted.keySet()) {
                boolean isCame = came.isPresent() && came.get() == version;
                boolean was = failedBefore.contains(version);
                boolean is = !isCame && failed.contains(version);
                if (was != is && (!isCame || replaced)) {
                    verdicts.merge(Verdict.ACCEPTED, was ? 1L : -1L, Long::sum);
                    verdicts.merge(Verdict.REJECTED, was ? -1L : 1L, Long::sum);
                }
            }
        }

        Verdict latest(Event event, boolean redriven) {
            if (!accepted.isEmpty() && event.version < accepted.lastKey()) {
                if (redriven) {
                    failed.remove(event.version);
                }
                return Verdict.STALE;
            }
            boolean again = redriven && failed.contains(event.version);
            if (accepted.containsKey(event.version) && !again) {
                return same(event);
            }
            return fold(event, redriven);
        }

        Verdict every(Event event, boolean redriven) {
            boolean again = redriven && failed.contains(event.version);
            if (accepted.containsKey(event.version) && !again) {
                return event.version == accepted.lastKey() ? same(event) : Verdict.DUPLICATE;
            }
            return fold(event, redriven);
        }

        private Verdict same(Event event) {
            return event.equals(accepted.get(event.version)) ? Verdict.DUPLICATE : Verdict.CONFLICTING;
        }

        /// A redriven event that is rejected again changes nothing.
        private Verdict fold(Event event, boolean redriven) {
            failed.remove(event.version);
            Event before = accepted.put(event.version, event);
            step(event, Check.NOW);
            boolean fails = failed.contains(event.version);
            if (fails && redriven && before != null) {
                accepted.put(event.version, before);
            }
            return fails ? Verdict.REJECTED : Verdict.ACCEPTED;
        }

        Verdict inOrder(Event event, boolean redriven) {
            Event there = accepted.get(event.version);
            if (event.version <= below) {
                return there != null && !redriven ? Verdict.DUPLICATE : Verdict.REJECTED;
            }
            Verdict verdict = Verdict.ACCEPTED;
            if (there != null && !(redriven && failed.contains(event.version))) {
                if (event.rank <= there.rank) {
                    return event.rank == there.rank ? Verdict.DUPLICATE : Verdict.CONFLICTING;
                }
                verdict = Verdict.CONFLICTING;
            }
            Runnable back = back();
            boolean isLast = accepted.isEmpty() || event.version > accepted.lastKey();
            boolean isFirst = accepted.isEmpty();
            accepted.put(event.version, event);
            kept.add(event.version);
            if (isLast) {
                step(event, Check.NOW);
            } else {
                refold(event.version);
                if (holdsOfAnother()) {
                    back.run();
                    return Verdict.REJECTED;
                }
            }
            if (failed.contains(event.version)) {
                verdict = Verdict.REJECTED;
                if (redriven && !isFirst) {
                    back.run();
                    return verdict;
                }
            }
            if (!isLast || kept.size() > 2 * keep) {
                release();
            }
            accepted.descendingKeySet().stream()
                    .skip(keep)
                    .findFirst()
                    .ifPresent(version -> below = Math.max(below, version));
            return verdict;
        }

        /// Takes back what happens from now on.
        private Runnable back() {
            Map<Long, Event> acceptedNow = new TreeMap<>(accepted);
            SortedSet<Long> keptNow = new TreeSet<>(kept);
            SortedSet<Long> failedNow = new TreeSet<>(failed);
            Map<String, Object> contextNow = context;
            Map<List<String>, Map<String, Object>> rowsNow = new HashMap<>(rows);
            return () -> {
                accepted.clear();
                accepted.putAll(acceptedNow);
                kept.clear();
                kept.addAll(keptNow);
                failed.clear();
                failed.addAll(failedNow);
                context = contextNow;
                rows = rowsNow;
            };
        }

        private boolean holdsOfAnother() {
            return rows.keySet().stream().anyMatch(row -> isOfAnother(name, row));
        }

        /// Makes the oldest events final.
        void release() {
            List<Long> leaving = new ArrayList<>(kept);
            leaving = leaving.subList(0, Math.max(0, leaving.size() - keep));
            Map<String, Object> contextNow = context;
            Map<List<String>, Map<String, Object>> rowsNow = rows;
            context = contextBelow;
            rows = new HashMap<>(rowsBelow);
            leaving.forEach(version -> step(at(version), Check.DECIDED));
            contextBelow = context;
            rowsBelow = rows;
            kept.removeAll(leaving);
            context = contextNow;
            rows = rowsNow;
        }

        void upgrade(boolean refold) {
            if (order == Order.IN_ORDER && refold) {
                Runnable back = back();
                refold(Long.MIN_VALUE);
                if (!holdsOfAnother()) {
                    release();
                    return;
                }
                back.run();
            }
            if (order == Order.IN_ORDER && !accepted.isEmpty()) {
                below = accepted.lastKey();
                kept.clear();
                contextBelow = context;
                rowsBelow = new HashMap<>(rows);
            }
        }

        private Event at(long version) {
            return Objects.requireNonNull(accepted.get(version));
        }

        /// @param came the version that came
        private void refold(long came) {
            SortedSet<Long> failedBefore = new TreeSet<>(failed);
            failed.removeAll(kept);
            context = contextBelow;
            rows = new HashMap<>(rowsBelow);
            kept.forEach(version -> step(
                    at(version), version == came || failedBefore.contains(version) ? Check.NOW : Check.IN_THE_END));
        }

        private void step(Event event, Check check) {
            if (event.fields.isEmpty() || check == Check.DECIDED && failed.contains(event.version)) {
                return;
            }
            Boolean hasFailed = purged.get(List.of(event.key, event.version, event.rank));
            if (hasFailed != null) {
                if (hasFailed) {
                    failed.add(event.version);
                }
                return;
            }
            try {
                Outcome outcome = function.step(name, context, event.fields.get());
                if (check == Check.NOW && outcome.rows.keySet().stream().anyMatch(row -> isOfAnother(name, row))) {
                    failed.add(event.version);
                    return;
                }
                context = outcome.context;
                outcome.rows.forEach((row, fields) -> {
                    if (fields.isPresent()) {
                        rows.put(row, fields.get());
                    } else {
                        rows.remove(row);
                    }
                });
            } catch (Failed e) {
                failed.add(event.version);
            }
        }
    }
}
