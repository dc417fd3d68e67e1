package dev.onefold.kafka;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// A partition of a [SimulatedTopic] as its leader holds it, with everything that its log ever was.
final class SimulatedPartition {
    /// A transaction; its end is decided once, and marked in each partition.
    static final class Transaction {
        @Nullable
        Boolean isCommitted;
    }

    /// What a producer sends.
    ///
    /// @param version a number that no other record has; it is the value, too
    /// @param kind what the pipeline makes of it
    record Sent(String key, long version, Kind kind) {}

    enum Kind {
        TRADE,
        POISON,
        /// A record without a value.
        EMPTY
    }

    /// What is at an offset.
    ///
    /// @param sent `null` for the marker of a transaction's end
    record Entry(
            long offset,
            int epoch,
            @Nullable Sent sent,
            @Nullable Transaction transaction) {
        boolean isCommitted() {
            return sent != null && (transaction == null || Boolean.TRUE.equals(transaction.isCommitted));
        }
    }

    /// A history of the log.
    ///
    /// @param written all that was written
    /// @param kept what compaction has left of it
    /// @param cutAt the offset from which on the next history is another one
    record Branch(NavigableMap<Long, Entry> written, Set<Long> kept, long end, long cutAt) {}

    /// What a fetch brought.
    ///
    /// @param epoch of the last entry that was passed
    record Fetched(long from, List<Entry> records, long next, int epoch) {}

    private NavigableMap<Long, Entry> written = new TreeMap<>();
    private final NavigableMap<Long, Entry> kept = new TreeMap<>();
    private final NavigableMap<Integer, Long> epochs = new TreeMap<>(); // Their first offsets.
    private final Map<Transaction, Long> open = new LinkedHashMap<>(); // Their first offsets.
    private final List<Branch> past = new ArrayList<>();
    private long start;
    private long end;
    private int epoch;
    private long read; // Behind what was fetched last.

    /// @param at the first offset
    SimulatedPartition(long at) {
        start = at;
        end = at;
        epochs.put(0, at);
    }

    long start() {
        return start;
    }

    long end() {
        return end;
    }

    int epoch() {
        return epoch;
    }

    /// An offset of the log a little before the one that is fetched next.
    long nearRead(int before) {
        return Math.clamp(read - before, start, end);
    }

    /// The offset before which no transaction is open.
    long stable() {
        return open.values().stream()
                .mapToLong(first -> Math.max(first, start))
                .min()
                .orElse(end);
    }

    Map<Transaction, Long> open() {
        return open;
    }

    void append(Sent sent, @Nullable Transaction transaction) {
        if (transaction != null) {
            open.putIfAbsent(transaction, end);
        }
        add(new Entry(end, epoch, sent, transaction));
    }

    /// Marks the end of a transaction that is decided.
    void mark(Transaction transaction) {
        if (open.remove(transaction) != null) {
            add(new Entry(end, epoch, null, transaction));
        }
    }

    private void add(Entry entry) {
        written.put(end, entry);
        kept.put(end, entry);
        end++;
    }

    /// Another broker leads, which has all that was written.
    void elect() {
        epoch++;
        epochs.put(epoch, end);
    }

    /// Another broker leads, which lacks what was written from an offset on: an unclean election.
    void elect(long from) {
        int next = epoch + 1;
        cut(from);
        epoch = next;
        epochs.put(epoch, end);
    }

    /// The disk of the broker is as it was when the log ended at an offset; its epochs are, too.
    void restore(long from) {
        cut(from);
        epoch = epochs.lastKey();
    }

    private void cut(long from) {
        Set<Long> left = new HashSet<>(kept.keySet());
        past.add(new Branch(written, left, end, from));
        written = new TreeMap<>(written.headMap(from, false));
        kept.tailMap(from, true).clear();
        end = from;
        while (epochs.size() > 1 && epochs.lastEntry().getValue() >= from) {
            epochs.pollLastEntry();
        }
        open.clear();
        written.values().stream().filter(each -> each.transaction() != null).forEach(each -> {
            if (each.sent() == null) {
                open.remove(each.transaction());
            } else {
                open.putIfAbsent(each.transaction(), each.offset());
            }
        });
    }

    /// Forgets what is below an offset.
    void retain(long from) {
        start = Math.max(start, from);
        kept.headMap(start, false).clear();
    }

    /// Keeps of each key the last record, and the last record of all.
    void compact() {
        Set<String> seen = new HashSet<>();
        for (Entry entry :
                List.copyOf(kept.headMap(stable(), false).descendingMap().values())) {
            boolean isOld = entry.sent() != null
                    && (!entry.isCommitted() || !seen.add(entry.sent().key()));
            if (isOld && entry.offset() < end - 1) {
                kept.remove(entry.offset());
            }
        }
    }

    /// Whether the log does not have any more what was in front of a position that a reader got with an epoch.
    boolean isCutBelow(long position, int ofEpoch) {
        Integer known = epochs.floorKey(ofEpoch);
        if (known == null || ofEpoch > epoch) {
            return true;
        }
        Map.Entry<Integer, Long> next = epochs.higherEntry(ofEpoch);
        return (next == null ? end : next.getValue()) < position;
    }

    boolean has(long position) {
        return position >= start && position <= end;
    }

    /// What a reader of committed records gets.
    @Nullable
    Fetched fetch(long from, int entriesMax) {
        List<Entry> records = new ArrayList<>();
        Entry last = null;
        int count = 0;
        for (Entry entry :
                kept.subMap(from, true, Math.max(from, stable()), false).values()) {
            if (count++ == entriesMax) {
                break;
            }
            last = entry;
            if (entry.isCommitted()) {
                records.add(entry);
            }
        }
        read = last == null ? from : last.offset() + 1;
        return last == null ? null : new Fetched(from, records, last.offset() + 1, last.epoch());
    }

    /// The first record that is left; `null` if there is none.
    @Nullable
    Entry first() {
        return kept.isEmpty() ? null : kept.firstEntry().getValue();
    }

    Branch now() {
        return new Branch(written, kept.keySet(), end, Long.MAX_VALUE);
    }

    List<Branch> past() {
        return past;
    }
}
