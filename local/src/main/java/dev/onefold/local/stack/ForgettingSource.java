package dev.onefold.local.stack;

import dev.onefold.mapping.source.StreamRecord;
import dev.onefold.mapping.source.StreamSource;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/// A stream that forgets what comes during an outage of its reader, as it does when the outage is longer than its
/// memory. What was forgotten once is never read.
final class ForgettingSource implements StreamSource {
    private final StreamSource stream;
    private final Outage outage;

    ForgettingSource(StreamSource stream, Outage outage) {
        this.stream = stream;
        this.outage = outage;
    }

    /// Of one stream, whoever reads it. Any thread may call.
    static final class Outage {
        private final Set<Place> forgotten = ConcurrentHashMap.newKeySet();
        private volatile boolean isOn;

        private record Place(String shard, String sequence) {}

        void begin() {
            isOn = true;
        }

        void end() {
            isOn = false;
        }

        private boolean forgets(String shard, StreamRecord record) {
            Place place = new Place(shard, record.sequence());
            if (isOn) {
                forgotten.add(place);
            }
            return forgotten.contains(place);
        }
    }

    @Override
    public String arn() {
        return stream.arn();
    }

    @Override
    public String batchInfo() {
        return stream.batchInfo();
    }

    @Override
    public Duration pollInterval() {
        return stream.pollInterval();
    }

    @Override
    public CompletableFuture<List<Shard>> shards() {
        return stream.shards();
    }

    @Override
    public CompletableFuture<String> iterator(String shardId, Position position) {
        return stream.iterator(shardId, position);
    }

    @Override
    public CompletableFuture<Page> records(String shardId, String iterator) {
        return stream.records(shardId, iterator)
                .thenApply(page -> new Page(
                        page.records().stream()
                                .filter(record -> !outage.forgets(shardId, record))
                                .toList(),
                        page.next(),
                        page.isBehind()));
    }
}
