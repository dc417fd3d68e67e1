package dev.onefold.fakes.stream;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.kinesis.model.Record;

/// A stream with its shards. Sequence numbers begin with the time at which it was created, as the service's do: another
/// stream of the same name has others.
final class StoredStream {
    static final Duration RETENTION_MIN = Duration.ofHours(24);

    private static final BigInteger HASHES = BigInteger.ONE.shiftLeft(128);

    private final String name;
    private final Instant created;
    private final List<StoredShard> shards = new ArrayList<>();
    private final List<StoredShard> forgotten = new ArrayList<>();
    private Duration retention = RETENTION_MIN;
    private long sequences;
    private int shardsMade;

    StoredStream(String name, int shardCount, Instant created) {
        this.name = name;
        this.created = created;
        BigInteger width = HASHES.divide(BigInteger.valueOf(shardCount));
        for (int i = 0; i < shardCount; i++) {
            BigInteger from = width.multiply(BigInteger.valueOf(i));
            BigInteger to = i == shardCount - 1 ? HASHES : from.add(width);
            addShard(List.of(), from, to.subtract(BigInteger.ONE));
        }
    }

    String name() {
        return name;
    }

    String arn() {
        return SimulatedKinesis.arn(name);
    }

    Instant created() {
        return created;
    }

    Duration retention() {
        return retention;
    }

    void retain(Duration duration) {
        retention = duration;
    }

    /// Those that are known still.
    List<StoredShard> shards() {
        return shards;
    }

    /// All that ever were.
    List<StoredShard> all() {
        List<StoredShard> all = new ArrayList<>(forgotten);
        all.addAll(shards);
        return all;
    }

    StoredShard shard(String id) {
        for (StoredShard shard : shards) {
            if (shard.id().equals(id)) {
                return shard;
            }
        }
        throw Refusals.notFound("Shard " + id + " in stream " + name + " under account 000000000000 does not exist");
    }

    private String nextSequence() {
        return String.format(Locale.ROOT, "49%012d%030d%012d", created.getEpochSecond(), ++sequences, 0);
    }

    private StoredShard addShard(List<String> parents, BigInteger from, BigInteger to) {
        String id = String.format(Locale.ROOT, "shardId-%012d", shardsMade++);
        StoredShard shard = new StoredShard(id, parents, from, to, nextSequence());
        shards.add(shard);
        return shard;
    }

    /// Forgets what is older than the retention.
    void forget(Instant now) {
        Instant oldest = now.minus(retention);
        for (StoredShard shard : List.copyOf(shards)) {
            if (shard.forget(oldest)) {
                shards.remove(shard);
                forgotten.add(shard);
            }
        }
    }

    /// The shard that a record belongs to.
    StoredShard owner(String partitionKey, @org.jspecify.annotations.Nullable String explicitHashKey) {
        BigInteger hash = explicitHashKey == null ? hash(partitionKey) : new BigInteger(explicitHashKey);
        for (StoredShard shard : shards) {
            if (shard.holds(hash)) {
                return shard;
            }
        }
        throw Refusals.invalid("No shard has the hash key " + hash);
    }

    String add(StoredShard shard, String partitionKey, SdkBytes data, Instant now) {
        String sequence = nextSequence();
        shard.add(Record.builder()
                .partitionKey(partitionKey)
                .data(data)
                .sequenceNumber(sequence)
                .approximateArrivalTimestamp(Instant.ofEpochMilli(now.toEpochMilli()))
                .build());
        return sequence;
    }

    void split(String id, BigInteger at, Instant now) {
        StoredShard parent = shard(id);
        if (!parent.isOpen() || at.compareTo(parent.hashFrom()) <= 0 || at.compareTo(parent.hashTo()) > 0) {
            throw Refusals.invalid("Shard " + id + " cannot be split at " + at);
        }
        parent.close(nextSequence(), now);
        addShard(List.of(id), parent.hashFrom(), at.subtract(BigInteger.ONE));
        addShard(List.of(id), at, parent.hashTo());
    }

    void merge(String id, String otherId, Instant now) {
        StoredShard one = shard(id);
        StoredShard other = shard(otherId);
        boolean isBeside = one.hashTo().add(BigInteger.ONE).equals(other.hashFrom())
                || other.hashTo().add(BigInteger.ONE).equals(one.hashFrom());
        if (!one.isOpen() || !other.isOpen() || !isBeside) {
            throw Refusals.invalid("Shards " + id + " and " + otherId + " are not adjacent");
        }
        one.close(nextSequence(), now);
        other.close(nextSequence(), now);
        addShard(
                List.of(id, otherId),
                one.hashFrom().min(other.hashFrom()),
                one.hashTo().max(other.hashTo()));
    }

    private static BigInteger hash(String partitionKey) {
        try {
            byte[] digest = MessageDigest.getInstance("MD5").digest(partitionKey.getBytes(StandardCharsets.UTF_8));
            return new BigInteger(1, digest);
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("This Java has no MD5, which every one must have", missing);
        }
    }
}
