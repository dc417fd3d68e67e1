package dev.onefold.fakes.stream;

import java.math.BigInteger;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.kinesis.model.Record;
import software.amazon.awssdk.services.kinesis.model.Shard;

/// A shard of a stream: the records whose partition key's hash lies between its bounds.
final class StoredShard {
    private final String id;
    private final List<String> parents;
    private final BigInteger hashFrom;
    private final BigInteger hashTo;
    private final String first;
    private final List<Record> records = new ArrayList<>();
    private int trimmed;
    private int dropped; // Records before the first one of the list.
    private @Nullable String last;
    private @Nullable Instant closedAt;

    StoredShard(String id, List<String> parents, BigInteger hashFrom, BigInteger hashTo, String first) {
        this.id = id;
        this.parents = parents;
        this.hashFrom = hashFrom;
        this.hashTo = hashTo;
        this.first = first;
    }

    String id() {
        return id;
    }

    BigInteger hashFrom() {
        return hashFrom;
    }

    BigInteger hashTo() {
        return hashTo;
    }

    boolean isOpen() {
        return closedAt == null;
    }

    boolean holds(BigInteger hash) {
        return isOpen() && hashFrom.compareTo(hash) <= 0 && hash.compareTo(hashTo) <= 0;
    }

    void add(Record record) {
        records.add(record);
    }

    /// Nothing comes into it any more.
    void close(String sequence, Instant at) {
        last = sequence;
        closedAt = at;
    }

    /// Forgets what came before then; whether there is nothing left to remember.
    boolean forget(Instant oldest) {
        while (trimmed < end() && get(trimmed).approximateArrivalTimestamp().isBefore(oldest)) {
            trimmed++;
        }
        return closedAt != null && closedAt.isBefore(oldest);
    }

    /// Lets go of what came before then, whole: for streams of millions of records that nobody reads again. The newest
    /// record stays.
    void drop(Instant before) {
        forget(before);
        int gone = Math.min(trimmed - dropped, records.size() - 1);
        if (gone > records.size() / 2) { // Seldom, because those that stay are moved.
            records.subList(0, gone).clear();
            dropped += gone;
        }
    }

    /// All that came into it, also what it has forgotten, but not what was dropped.
    List<Record> all() {
        return records;
    }

    /// The record at a place, which is the same for ever.
    Record get(int index) {
        return records.get(index - dropped);
    }

    int end() {
        return dropped + records.size();
    }

    /// Where a reader stands who stands there: not before the oldest record.
    int notBefore(int index) {
        return Math.max(index, trimmed);
    }

    /// Where the first record stands that came then or later.
    int at(Instant time) {
        int index = trimmed;
        while (index < end() && get(index).approximateArrivalTimestamp().isBefore(time)) {
            index++;
        }
        return index;
    }

    /// Where the first record stands with that sequence number or a higher one.
    int at(String sequence) {
        int low = dropped;
        int high = end();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (get(middle).sequenceNumber().compareTo(sequence) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    boolean hasHad(String sequence) {
        int index = at(sequence);
        return index < end() && get(index).sequenceNumber().equals(sequence);
    }

    Shard described() {
        return Shard.builder()
                .shardId(id)
                .parentShardId(parents.isEmpty() ? null : parents.getFirst())
                .adjacentParentShardId(parents.size() < 2 ? null : parents.get(1))
                .hashKeyRange(
                        range -> range.startingHashKey(hashFrom.toString()).endingHashKey(hashTo.toString()))
                .sequenceNumberRange(
                        range -> range.startingSequenceNumber(first).endingSequenceNumber(last))
                .build();
    }
}
