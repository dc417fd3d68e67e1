package dev.onefold.simulator.deployment;

import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Event;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.fakes.aws.VirtualTime;
import dev.onefold.fakes.stream.KinesisClient;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.kinesis.model.PutRecordsRequestEntry;
import software.amazon.awssdk.services.kinesis.model.PutRecordsResponse;

/// Whoever puts records into the stream: by partition key, most of them rightly; some aggregated; what got no answer
/// once more, and so does now and then what got one.
final class Producers {
    private static final Duration BETWEEN_MAX = Duration.ofSeconds(3);
    private static final int REQUEST_MAX = 40;
    private static final int AGGREGATE_MAX = 5;

    private final VirtualTime time;
    private final KinesisClient client;
    private final Decoder decoder;
    private final SplittableRandom random;
    private final Map<ByteBuffer, List<byte[]>> aggregates = new HashMap<>();

    Producers(VirtualTime time, KinesisClient client, Pipeline pipeline, SplittableRandom random) {
        this.time = time;
        this.client = client;
        decoder = new Decoder(pipeline);
        this.random = random;
    }

    /// What was put as one record, as the records that it holds.
    List<byte[]> parts(SdkBytes data) {
        return aggregates.getOrDefault(data.asByteBuffer(), List.of(data.asByteArray()));
    }

    /// Puts records; complete when all are in.
    CompletableFuture<Void> put(String stream, List<byte[]> records) {
        List<PutRecordsRequestEntry> entries = new ArrayList<>();
        for (int at = 0; at < records.size(); ) {
            int count = random.nextInt(8) == 0 ? Math.min(1 + random.nextInt(AGGREGATE_MAX), records.size() - at) : 0;
            byte[] data = records.get(at);
            if (count > 0) {
                List<byte[]> parts = List.copyOf(records.subList(at, at + count));
                data = Aggregates.of(parts);
                aggregates.put(ByteBuffer.wrap(data), parts);
            }
            entries.add(PutRecordsRequestEntry.builder()
                    .partitionKey(partitionKey(records.get(at)))
                    .data(SdkBytes.fromByteArray(data))
                    .build());
            at += Math.max(1, count);
        }
        return putAll(stream, entries);
    }

    /// All versions of a key have one, except where somebody was careless.
    private String partitionKey(byte[] record) {
        String right = partitionKey(decoder, record);
        return right == null || random.nextInt(10) == 0 ? "careless-" + random.nextInt(1_000) : right;
    }

    /// The right one, by the event's key; `null` if it is no event.
    static @Nullable String partitionKey(Decoder decoder, byte[] record) {
        byte[] padded = Arrays.copyOf(record, record.length + Decoder.PADDING);
        if (decoder.decode(padded, 0, record.length) != null || decoder.event().silence != null) {
            return null;
        }
        Event event = decoder.event();
        byte[] key = Arrays.copyOfRange(event.data, event.keyFrom, event.keyTo);
        return "k" + HexFormat.of().formatHex(key, 0, Math.min(key.length, 100));
    }

    private CompletableFuture<Void> putAll(String stream, List<PutRecordsRequestEntry> entries) {
        if (entries.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        int count = Math.min(entries.size(), 1 + random.nextInt(REQUEST_MAX));
        return pause().thenCompose(_ -> request(stream, entries.subList(0, count)))
                .thenCompose(_ -> putAll(stream, entries.subList(count, entries.size())));
    }

    private CompletableFuture<Void> pause() {
        CompletableFuture<Void> paused = new CompletableFuture<>();
        time.schedule(Duration.ofNanos(random.nextLong(BETWEEN_MAX.toNanos()) + 1), () -> paused.complete(null));
        return paused;
    }

    private CompletableFuture<Void> request(String stream, List<PutRecordsRequestEntry> entries) {
        return client.putRecords(request -> request.streamName(stream).records(entries))
                .handle((answer, failure) ->
                        failure != null || random.nextInt(12) == 0 ? entries : failed(answer, entries))
                .thenCompose(again -> again.isEmpty()
                        ? CompletableFuture.completedFuture(null)
                        : pause().thenCompose(_ -> request(stream, again)));
    }

    /// Those that were refused, and only those.
    private static List<PutRecordsRequestEntry> failed(
            PutRecordsResponse answer, List<PutRecordsRequestEntry> entries) {
        List<PutRecordsRequestEntry> failed = new ArrayList<>();
        for (int i = 0; i < entries.size(); i++) {
            if (answer.records().get(i).errorCode() != null) {
                failed.add(entries.get(i));
            }
        }
        return failed;
    }
}
