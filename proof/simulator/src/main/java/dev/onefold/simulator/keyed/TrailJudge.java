package dev.onefold.simulator.keyed;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.Engine;
import dev.onefold.core.Truth;
import dev.onefold.core.event.Reason;
import dev.onefold.core.process.KeyState;
import dev.onefold.core.query.Query;
import dev.onefold.oracle.KeyedOracle.Order;
import dev.onefold.process.Step;
import dev.onefold.process.Write;
import dev.onefold.simulator.keyed.Trails.Entry;
import dev.onefold.simulator.keyed.Trails.Trail;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/// Judges what [Trails] has come to, in whatever order its events came: each context says what was folded, so
/// rows and totals are those of it, and each event is in it or is accounted for.
final class TrailJudge {
    private static final ObjectMapper JSON = new ObjectMapper();

    /// So many runs of versions are remembered for sure.
    private static final int RUNS = 30;

    private final LifeCase dealt;
    private final Map<String, NavigableMap<Long, NavigableMap<Integer, Trails.Event>>> came = new TreeMap<>();
    private final Map<String, String> rows = new TreeMap<>();
    private boolean isRedriven;

    /// A dead letter by what it is of.
    private record Lost(Reason reason, String key, long version, int rank) {}

    TrailJudge(LifeCase dealt) {
        this.dealt = dealt;
        dealt.events()
                .forEach(event -> came.computeIfAbsent(event.k(), _ -> new TreeMap<>())
                        .computeIfAbsent(event.v(), _ -> new TreeMap<>())
                        .put(event.rank(), event));
    }

    /// A letter that is redriven may be rejected for another reason, for which the event has a letter already.
    void noteRedrive() {
        isRedriven = true;
    }

    /// Requires that contexts, rows, totals and letters belong together.
    ///
    /// @param newest version of the function that every key has
    /// @param stored the rows that are stored, by table and key
    void require(Engine engine, int newest, Map<String, String> stored) {
        Set<Lost> lost = letters(engine);
        rows.clear();
        came.forEach((key, versions) -> {
            KeyState state = engine.state(List.of(key))
                    .orElseThrow(() -> new IllegalStateException("There is nothing of key " + key));
            require(
                    state.version().toString().equals(versions.lastKey().toString()),
                    "The version of " + key + " is " + state.version() + ", not " + versions.lastKey());
            require(state.code() == newest, key + " was folded by version " + state.code() + ", not " + newest);
            List<Entry> trail = trail(state);
            judge(key, versions, trail, lost);
            rows(key, trail, dealt.places())
                    .forEach((name, row) ->
                            require(rows.put(name, row) == null, "several keys have written " + name + ": " + key));
            if (dealt.isExact()) {
                requireExact(key, versions, newest, trail, lost);
            }
        });
        require(stored.equals(rows), "the rows are " + stored + ", not " + rows);
        requireTotals(engine);
        var verification = engine.verify(new Truth.Rows(1));
        require(verification.isEqual(), "verify finds " + verification);
    }

    /// What a key has folded.
    static List<Entry> trail(KeyState state) {
        List<Entry> entries = new ArrayList<>();
        for (JsonNode entry : json(state.context().toJson()).get("entries")) {
            entries.add(new Entry(
                    entry.get("code").asInt(),
                    entry.get("v").asLong(),
                    entry.get("rank").asInt(),
                    entry.get("amount").asInt(),
                    entry.get("what").asText()));
        }
        return entries;
    }

    private static JsonNode json(String text) {
        try {
            return JSON.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(text, e);
        }
    }

    /// Each event is folded once, in the order that was promised, or is accounted for.
    private void judge(
            String key,
            NavigableMap<Long, NavigableMap<Integer, Trails.Event>> versions,
            List<Entry> trail,
            Set<Lost> lost) {
        Map<Long, Integer> folded = new TreeMap<>();
        long last = -1;
        int code = 1;
        for (Entry entry : trail) {
            Trails.Event event =
                    versions.getOrDefault(entry.v(), new TreeMap<>()).get(entry.rank());
            require(
                    event != null
                            && event.amount() == entry.amount()
                            && event.what().equals(entry.what()),
                    "an event of " + key + " was folded that never came: " + entry);
            require(
                    dealt.order() == Order.EVERY ? !folded.containsKey(entry.v()) : entry.v() > last,
                    "events of " + key + " were folded out of order or twice: " + trail);
            require(entry.code() >= code, "contexts of several versions were mixed: " + key + " " + trail);
            folded.put(entry.v(), entry.rank());
            last = entry.v();
            code = entry.code();
            require(
                    !lost.contains(new Lost(Reason.FAILED, key, entry.v(), entry.rank()))
                            && !lost.contains(new Lost(Reason.NOT_THE_OWNER, key, entry.v(), entry.rank())),
                    "an event that was folded has a letter: " + key + " " + entry);
        }
        versions.forEach((version, contents) -> {
            requireIn(key, version, trail, lost);
            contents.keySet().forEach(rank -> {
                boolean isFolded = Objects.equals(folded.get(version), rank);
                boolean isLate = lost.contains(new Lost(Reason.TOO_LATE, key, version, rank));
                boolean isLoser = lost.contains(new Lost(Reason.CONFLICT, key, version, rank));
                require(
                        !isFolded || !isLoser,
                        "version " + version + " of " + key + " was folded, and has a letter of a conflict");
                require(
                        !isFolded || !isLate || dealt.order() == Order.EVERY || versions.size() > RUNS,
                        "version " + version + " of " + key + " was folded, and has a letter that it was too late");
            });
        });
    }

    private void requireIn(String key, long version, List<Entry> trail, Set<Lost> lost) {
        NavigableMap<Long, NavigableMap<Integer, Trails.Event>> versions = Objects.requireNonNull(came.get(key));
        Set<Integer> contents = Objects.requireNonNull(versions.get(version)).keySet();
        boolean isLetter = contents.stream()
                .anyMatch(rank -> lost.contains(new Lost(Reason.FAILED, key, version, rank))
                        || lost.contains(new Lost(Reason.NOT_THE_OWNER, key, version, rank))
                        || lost.contains(new Lost(Reason.TOO_LATE, key, version, rank)));
        boolean isStale = dealt.order() == Order.LATEST && version < versions.lastKey();
        require(
                trail.stream().anyMatch(entry -> entry.v() == version)
                        || contents.contains(LifeCase.FILTERED)
                        || isLetter
                        || isStale,
                "version " + version + " of " + key + " is lost; folded are " + trail + ", letters are " + lost);
    }

    /// Requires that each event is folded, or has a letter: also while some have failed by their time alone.
    void requireNothingLost(Engine engine) {
        Set<Lost> lost = letters(engine);
        came.forEach((key, versions) -> {
            List<Entry> trail =
                    engine.state(List.of(key)).map(TrailJudge::trail).orElse(List.of());
            versions.keySet().forEach(version -> requireIn(key, version, trail, lost));
        });
    }

    /// The rows that the entries of a key have written, by table and key.
    static Map<String, String> rows(String key, List<Entry> trail) {
        return rows(key, trail, 0);
    }

    private static Map<String, String> rows(String key, List<Entry> trail, int places) {
        Map<String, String> rows = new TreeMap<>();
        Trail context = new Trail(List.of());
        for (Entry entry : trail) {
            Step<Trail> step = new Trails(entry.code(), places, () -> false)
                    .step(context, new Trails.Event(entry.rank(), key, entry.v(), entry.amount(), entry.what()));
            context = step.context();
            step.writes().forEach(write -> write(rows, write));
        }
        return rows;
    }

    /// Requires that each event which wrote another key's row would do so again: all letters were redriven
    /// until none came in any more.
    void requireOthersOwn(Engine engine, int newest) {
        boolean mayFold =
                dealt.order() == Order.EVERY || dealt.order() == Order.IN_ORDER && dealt.keepsAll() && newest == 1;
        for (Lost letter : mayFold ? letters(engine) : Set.<Lost>of()) {
            if (letter.reason != Reason.NOT_THE_OWNER) {
                continue;
            }
            Trails.Event event = Objects.requireNonNull(Objects.requireNonNull(
                            Objects.requireNonNull(came.get(letter.key)).get(letter.version))
                    .get(letter.rank));
            List<Entry> before = trail(engine.state(List.of(letter.key)).orElseThrow()).stream()
                    .filter(entry -> dealt.order() == Order.EVERY || entry.v() < letter.version)
                    .toList();
            Map<String, String> place = new TreeMap<>();
            try {
                new Trails(newest, dealt.places(), () -> false)
                        .step(new Trail(before), event)
                        .writes()
                        .forEach(write -> place.put(
                                write instanceof Write.Put(String table, Trails.Place row)
                                        ? table + " " + row.place()
                                        : write instanceof Write.Remove(String table, List<Object> row)
                                                ? table + " " + row.getFirst()
                                                : "",
                                ""));
            } catch (IllegalStateException failsNow) {
                continue;
            }
            require(
                    place.keySet().stream().anyMatch(row -> {
                        String there = rows.get(row);
                        return there != null && !there.contains("\"k\":\"" + letter.key + "\"");
                    }),
                    "no other key owns the rows " + place.keySet() + " of " + letter + ", and it has a letter");
        }
    }

    private static void write(Map<String, String> rows, Write write) {
        switch (write) {
            case Write.Put(String table, Trails.Bucket row) ->
                rows.put(
                        table + " " + row.k() + " " + row.bucket(),
                        "{\"k\":\"" + row.k() + "\",\"bucket\":" + row.bucket() + ",\"trail\":" + row.trail() + "}");
            case Write.Put(String table, Trails.Last row) ->
                rows.put(
                        table + " " + row.k(),
                        "{\"k\":\"" + row.k() + "\",\"v\":" + row.v() + ",\"trail\":" + row.trail() + "}");
            case Write.Put(String table, Trails.Place row) ->
                rows.put(
                        table + " " + row.place(),
                        "{\"place\":" + row.place() + ",\"k\":\"" + row.k() + "\",\"trail\":" + row.trail() + "}");
            case Write.Put put -> throw new IllegalStateException(put.toString());
            case Write.Remove(String table, List<Object> row) ->
                rows.remove(table + " " + row.stream().map(String::valueOf).collect(Collectors.joining(" ")));
        }
    }

    /// Nothing is too late: the greatest contents of all versions are folded in their order.
    private void requireExact(
            String key,
            NavigableMap<Long, NavigableMap<Integer, Trails.Event>> versions,
            int newest,
            List<Entry> trail,
            Set<Lost> lost) {
        Trail context = new Trail(List.of());
        Set<Lost> expected = new HashSet<>();
        for (NavigableMap<Integer, Trails.Event> contents : versions.values()) {
            Trails.Event event = contents.lastEntry().getValue();
            contents.headMap(event.rank())
                    .keySet()
                    .forEach(rank -> expected.add(new Lost(Reason.CONFLICT, key, event.v(), rank)));
            if (event.rank() != LifeCase.FILTERED) {
                try {
                    context = new Trails(newest).step(context, event).context();
                } catch (IllegalStateException failed) {
                    expected.add(new Lost(Reason.FAILED, key, event.v(), event.rank()));
                }
            }
        }
        require(trail.equals(context.entries()), key + " has folded " + trail + ", not " + context.entries());
        Set<Lost> own = new HashSet<>(lost);
        own.removeIf(letter -> !letter.key.equals(key));
        require(own.equals(expected), "the letters of " + key + " are " + own + ", not " + expected);
    }

    private Set<Lost> letters(Engine engine) {
        Set<Lost> letters = new HashSet<>();
        for (DeadLetter letter : engine.deadLetters().list(0, 10_000)) {
            Lost lost = lost(engine, letter);
            require(letters.add(lost) || isRedriven, "there are two letters of " + lost);
        }
        return letters;
    }

    private static Lost lost(Engine engine, DeadLetter letter) {
        JsonNode record;
        try {
            record = JSON.readTree(engine.deadLetters().record(letter.id()));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        JsonNode event = letter.content() == DeadLetter.Content.SUMMARY ? record.get("event") : record;
        return letter.content() == DeadLetter.Content.SUMMARY
                ? new Lost(
                        letter.reason(),
                        record.get("key").get(0).asText(),
                        record.get("version").asLong(),
                        event == null ? LifeCase.FILTERED : event.get("rank").asInt())
                : new Lost(
                        letter.reason(),
                        record.get("k").asText(),
                        record.get("v").asLong(),
                        record.get("rank").asInt());
    }

    /// The record of a letter that holds what was read of it.
    byte[] record(Engine engine, DeadLetter letter) {
        Lost lost = lost(engine, letter);
        Trails.Event event = Objects.requireNonNull(
                        Objects.requireNonNull(came.get(lost.key)).get(lost.version))
                .get(lost.rank);
        return LifeCase.records(List.of(Objects.requireNonNull(event))).getFirst();
    }

    private void requireTotals(Engine engine) {
        requireTotals(engine, "by-bucket", "buckets", "bucket");
        if (dealt.places() > 0) {
            requireTotals(engine, "by-holder", "places", "k");
        }
    }

    private void requireTotals(Engine engine, String rollup, String table, String level) {
        Map<String, List<BigDecimal>> expected = new TreeMap<>();
        rows.forEach((name, row) -> {
            if (name.startsWith(table + " ")) {
                BigDecimal trail = json(row).get("trail").decimalValue();
                expected.merge(
                        json(row).get(level).asText(),
                        List.of(BigDecimal.ONE, trail, trail),
                        (one, other) -> List.of(
                                one.get(0).add(other.get(0)),
                                one.get(1).add(other.get(1)),
                                one.get(2).max(other.get(2))));
            }
        });
        Map<String, List<BigDecimal>> served = new TreeMap<>();
        engine.query(Query.all(rollup)).lines().stream()
                .filter(line -> line.group().size() == 1)
                .forEach(line -> served.put(line.group().getFirst(), new ArrayList<>(line.values())));
        require(served.equals(expected), "roll-up " + rollup + " is " + served + ", not " + expected);
    }

    static void require(boolean holds, String message) {
        if (!holds) {
            throw new IllegalStateException(message);
        }
    }
}
