package dev.onefold.fakes.stream;

import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.VirtualTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import software.amazon.awssdk.services.kinesis.model.Record;

/// Kinesis, simulated: streams in memory, in virtual time, and whatever is left to chance its seed says. It answers as
/// AWS documents it. Production code reaches it through the SDK's own client interface, one [KinesisClient] for each
/// process.
///
/// Of the faults it knows, `UNPROCESSED` is an entry of PutRecords that was refused while others were taken, and a page
/// of GetRecords that is cut short, or empty though there is more.
///
/// One thread, the one that runs the [VirtualTime].
public final class SimulatedKinesis {
    final VirtualTime time;
    final SplittableRandom random;

    private final Map<String, StoredStream> streams = new TreeMap<>();
    private final List<StoredStream> deleted = new ArrayList<>();
    private Faults faults = Faults.none();

    /// A service without streams, in which nothing goes wrong.
    public SimulatedKinesis(VirtualTime time, long seed) {
        this.time = time;
        random = new SplittableRandom(seed);
    }

    /// A record that was taken, and where it stands.
    public record Stored(String stream, String shardId, Record record) {}

    /// What a stream of that name is called.
    public static String arn(String stream) {
        return "arn:aws:kinesis:eu-central-1:000000000000:stream/" + stream;
    }

    /// From now on this goes wrong.
    public void inject(Faults newFaults) {
        faults = newFaults;
    }

    Faults faults() {
        return faults;
    }

    /// A client of its own, for one process.
    public KinesisClient client() {
        return new KinesisClient(this);
    }

    StoredStream stream(String name) {
        StoredStream stream = streams.get(name);
        if (stream == null) {
            throw Refusals.notFound("Stream " + name + " under account 000000000000 not found.");
        }
        stream.forget(time.instant());
        return stream;
    }

    /// Creates a stream, at once.
    public void create(String name, int shardCount) {
        if (streams.containsKey(name)) {
            throw Refusals.inUse("Stream " + name + " under account 000000000000 already exists.");
        }
        streams.put(name, new StoredStream(name, shardCount, time.instant()));
    }

    /// Deletes a stream, at once.
    public void delete(String name) {
        deleted.add(stream(name));
        streams.remove(name);
    }

    /// Every record that was ever taken, also by streams that were deleted.
    public List<Stored> everything() {
        List<StoredStream> all = new ArrayList<>(deleted);
        all.addAll(streams.values());
        List<Stored> everything = new ArrayList<>();
        for (StoredStream stream : all) {
            for (StoredShard shard : stream.all()) {
                shard.all().forEach(record -> everything.add(new Stored(stream.name(), shard.id(), record)));
            }
        }
        return everything;
    }

    /// Lets go of what came into a stream before then; nobody may read it again.
    public void drop(String name, Instant before) {
        stream(name).all().forEach(shard -> shard.drop(before));
    }

    /// For each shard of a stream that has any, the sequence number of the last record.
    public Map<String, String> ends(String name) {
        Map<String, String> ends = new TreeMap<>();
        for (StoredShard shard : stream(name).shards()) {
            if (shard.end() > 0) {
                ends.put(shard.id(), shard.all().getLast().sequenceNumber());
            }
        }
        return ends;
    }
}
