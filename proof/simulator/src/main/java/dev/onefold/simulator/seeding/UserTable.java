package dev.onefold.simulator.seeding;

import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.event.Version;
import dev.onefold.core.form.RowLine;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// A table of somebody's that changes, and the log of its changes. A change may be open for a while: it has its
/// place in the log, and nobody sees it. The log may be off for a while, and is another one then, if it has a
/// name. Not thread-safe.
final class UserTable {
    private static final int KEYS = 30;
    private static final int TOWNS = 4;
    private static final int AMOUNTS = 1_000;
    private static final long FIRST_LOG = Instant.parse("2029-01-01T00:00:00Z").getEpochSecond();

    /// What its changes look like, and whose version a row has.
    enum Kind {
        /// Rows with a version, as JSON.
        OWN("{format: json, key: id, version: v, delete: gone = true}"),
        /// A log in the form of Debezium, and rows with a version.
        OWN_IN_LOG("{format: debezium, table: t, key: id, version: v}"),
        /// A log in the form of Debezium, where the place is the version.
        LOG("{format: debezium, table: t, key: id}"),
        /// The change stream of a DynamoDB table.
        STREAM("{format: dynamodb-stream, table: Tab, key: id}");

        private final String input;

        Kind(String input) {
            this.input = input;
        }

        boolean isOwn() {
            return this == OWN || this == OWN_IN_LOG;
        }
    }

    /// A row as the table has it.
    record Row(String id, long version, String town, int amount) {
        String json() {
            return "{\"id\":\"%s\",\"v\":%d,\"town\":\"%s\",\"amount\":%d.25}".formatted(id, version, town, amount);
        }
    }

    /// @param after `null` if it is removed
    private record Change(
            String id,
            long place,
            @Nullable Row before,
            @Nullable Row after) {}

    final Kind kind;
    private final SplittableRandom random;
    private final TreeMap<String, Row> rows = new TreeMap<>();
    private final Map<String, Change> open = new HashMap<>();
    private final List<byte[]> arriving = new ArrayList<>();
    private final Set<String> unlogged = new HashSet<>();
    private long versions;
    private long place;
    private long log = FIRST_LOG;
    private boolean off = true;

    /// A table with rows from before its log.
    UserTable(SplittableRandom random) {
        this.random = random;
        kind = Kind.values()[random.nextInt(Kind.values().length)];
        for (int i = random.nextInt(2 * KEYS); i > 0; i--) {
            change();
        }
        commitAll();
        off = false;
        unlogged.clear();
    }

    /// The text of a pipeline file.
    String pipeline() {
        return "pipeline: towns\ninput: " + kind.input + """

                rollup:
                  levels: [town]
                  measures:
                    amount: sum(amount) decimal(18,2)
                    rows: count()
                """;
    }

    /// Somebody writes or removes a row, perhaps in a transaction that stays open.
    void change() {
        String id = "k" + random.nextInt(KEYS);
        if (open.containsKey(id)) {
            return; // Its row is locked.
        }
        Row before = rows.get(id);
        place += 1 + random.nextInt(3);
        Row after = before != null && random.nextInt(3) == 0
                ? null
                : new Row(id, ++versions, "t" + random.nextInt(TOWNS), random.nextInt(AMOUNTS));
        Change change = new Change(id, place, before, after);
        if (kind != Kind.STREAM && random.nextInt(4) == 0) {
            open.put(id, change);
        } else {
            commit(change);
        }
    }

    /// One open transaction ends.
    void commitSome() {
        open.keySet().stream().sorted().findFirst().ifPresent(id -> {
            commit(Objects.requireNonNull(open.get(id)));
            open.remove(id);
        });
    }

    void commitAll() {
        while (!open.isEmpty()) {
            commitSome();
        }
    }

    private void commit(Change change) {
        Row after = change.after;
        if (after == null) {
            rows.remove(change.id);
        } else {
            rows.put(change.id, after);
        }
        if (off) {
            unlogged.add(change.id);
        } else {
            unlogged.remove(change.id);
            arriving.add(record(change).getBytes(StandardCharsets.UTF_8));
        }
    }

    private String record(Change change) {
        Row before = change.before;
        Row after = change.after;
        return switch (kind) {
            case OWN ->
                after != null
                        ? after.json()
                        : "{\"id\":\"%s\",\"v\":%d,\"gone\":true}".formatted(change.id, ++versions);
            case OWN_IN_LOG, LOG ->
                "{\"key\":{\"id\":\"%1$s\"},\"value\":{\"op\":\"%2$s\",\"before\":%3$s,\"after\":%4$s,\"source\":{\"table\":\"t\",\"lsn\":%6$d,\"sequence\":\"[\\\"%5$d\\\",\\\"%6$d\\\"]\"}}}"
                        .formatted(
                                change.id,
                                after == null ? "d" : before == null ? "c" : "u",
                                before == null ? "null" : before.json(),
                                after == null ? "null" : after.json(),
                                change.place,
                                Math.floorMod(
                                        change.place * 7_919, 10_007)); // No order, as the log has none of commits.
            case STREAM ->
                "{\"eventName\":\"%s\",\"eventSourceARN\":\"%s\",\"SequenceNumber\":\"%d\",\"Keys\":{\"id\":\"%s\"}%s}"
                        .formatted(
                                after == null ? "REMOVE" : before == null ? "INSERT" : "MODIFY",
                                stream(),
                                change.place,
                                change.id,
                                after == null ? "" : ",\"NewImage\":" + after.json());
        };
    }

    private String stream() {
        return "arn:aws:dynamodb:eu-central-1:123456789012:table/Tab/stream/"
                + LocalDateTime.ofEpochSecond(log, 0, ZoneOffset.UTC) + ":00.000";
    }

    /// Changes that arrive now, in any order; some come twice.
    List<byte[]> arrivals(int max) {
        List<byte[]> now = new ArrayList<>();
        for (int i = Math.min(max, arriving.size()); i > 0; i--) {
            int at = random.nextInt(arriving.size());
            now.add(arriving.get(at));
            if (random.nextInt(6) > 0) {
                arriving.remove(at);
            }
        }
        return now;
    }

    /// All changes that have not arrived.
    List<byte[]> lastArrivals() {
        List<byte[]> all = List.copyOf(arriving);
        arriving.clear();
        return all;
    }

    /// Whether changes can be missed. A log with a place in each change does not end here: a second one would want
    /// another pipeline file.
    boolean mayBeOff() {
        return kind != Kind.LOG;
    }

    boolean isOff() {
        return off;
    }

    /// From now on nobody notes changes.
    void switchOff() {
        commitAll();
        off = true;
    }

    /// From now on changes are in another log, whose places begin again.
    void switchOn() {
        commitAll();
        off = false;
        log += 60 + random.nextInt(1_000) * 60L;
        place = 0;
    }

    /// Names what a seeding reads: one that goes on at the marks of another reads the same.
    String identity() {
        return kind + " " + log;
    }

    /// The next row behind an id, as it is now; `null` if there is none.
    @Nullable
    Row next(String id) {
        Map.Entry<String, Row> next = rows.higherEntry(id);
        return next == null ? null : next.getValue();
    }

    /// The generation of the log that is on.
    long generation() {
        return kind == Kind.STREAM ? log : 0;
    }

    /// What the records of a seeding are.
    RecordKind seedKind() {
        return kind == Kind.OWN ? RecordKind.SENT : RecordKind.ROW;
    }

    /// A row as a seeding with a number writes it.
    byte[] seed(Row row, long generation, long number) {
        byte[] json = row.json().getBytes(StandardCharsets.UTF_8);
        return switch (kind) {
            case OWN -> json;
            case OWN_IN_LOG -> RowLine.of(json);
            case LOG, STREAM -> RowLine.of(Version.of(generation, BigInteger.ZERO, number), json);
        };
    }

    /// The rows, which a seeding that begins and ends now would read.
    List<Row> rows() {
        return List.copyOf(rows.values());
    }

    /// The keys that the table ever had, or may have had.
    List<String> keys() {
        List<String> keys = new ArrayList<>();
        for (int i = 0; i < KEYS; i++) {
            keys.add("k" + i);
        }
        return keys;
    }

    @Nullable
    Row row(String id) {
        return rows.get(id);
    }

    /// Whether nobody can know that a row is gone: no log has its removal.
    boolean isGhost(String id) {
        return !rows.containsKey(id) && unlogged.contains(id);
    }
}
