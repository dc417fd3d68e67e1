package dev.onefold.simulator.embedded;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// A table whose rows come and go, and the log of its changes, some of which are lost. Positions are given when a
/// transaction writes; when it ends, its changes are in the log; and readers see them a little later, as in
/// PostgreSQL. Plain maps; the judge asks it what is right.
public final class MovingTable {
    private static final int KEYS = 24;

    private final RandomGenerator random;
    private final boolean hasTransactions;
    private final Map<String, Content> rows = new TreeMap<>();
    private final List<Change> open = new ArrayList<>();
    private final List<Change> log = new ArrayList<>(); // Perhaps not yet seen by readers.
    private long clock;
    private boolean isLosing;

    public MovingTable(RandomGenerator random, boolean hasTransactions) {
        this.random = random;
        this.hasTransactions = hasTransactions;
    }

    /// What a row holds.
    ///
    /// @param version that a user would give it
    public record Content(long version, String city, long stars) {
        boolean isSame(@Nullable Content other) {
            return other != null && city.equals(other.city) && stars == other.stars;
        }
    }

    /// A change of a row; the row behind it is `null` if it is gone.
    public static final class Change {
        public final String key;
        public final long position;
        public final @Nullable Content after;
        public long committed = Long.MAX_VALUE; // When readers see it.
        boolean isLogged;
        public boolean isLost;
        public boolean isDelivered;

        private Change(String key, long position, @Nullable Content after) {
            this.key = key;
            this.position = position;
            this.after = after;
        }
    }

    public long now() {
        return ++clock;
    }

    public Map<String, Content> rows() {
        return rows;
    }

    public List<Change> log() {
        return log;
    }

    /// From now on no change reaches the stream, or each does again.
    public void lose(boolean losing) {
        isLosing = losing;
    }

    /// Something changes.
    public void change() {
        if (!open.isEmpty() && random.nextInt(3) == 0) {
            Change some = open.get(random.nextInt(open.size()));
            if (!some.isLogged && random.nextBoolean()) {
                writeLog(some);
            } else {
                open.remove(some);
                commit(some);
            }
            return;
        }
        Set<String> locked = new HashSet<>();
        open.forEach(change -> locked.add(change.key));
        String key = "k" + random.nextInt(KEYS);
        if (locked.contains(key)) {
            return;
        }
        Content before = rows.get(key);
        long position = now();
        Content after = before != null && random.nextInt(3) == 0
                ? null
                : new Content(position, "city" + random.nextInt(3), random.nextInt(4));
        Change change = new Change(key, position, before == null && after == null ? null : after);
        if (hasTransactions && random.nextInt(4) == 0) {
            open.add(change);
        } else {
            commit(change);
        }
    }

    private void writeLog(Change change) {
        change.isLogged = true;
        change.isLost = isLosing;
        log.add(change);
    }

    private void commit(Change change) {
        if (!change.isLogged) {
            writeLog(change);
        }
        change.committed = now();
        if (change.after == null) {
            rows.remove(change.key);
        } else {
            rows.put(change.key, change.after);
        }
    }

    /// The open transactions commit.
    public void commitOpen() {
        while (!open.isEmpty()) {
            commit(open.removeFirst());
        }
    }

    /// Changes in the log that reach the stream, and are not delivered.
    public List<Change> undelivered() {
        return log.stream()
                .filter(change -> !change.isLost && !change.isDelivered)
                .toList();
    }

    public List<Change> lost() {
        return log.stream()
                .filter(change -> change.isLost && !change.isDelivered)
                .toList();
    }
}
