package dev.onefold.cli.trial;

import dev.onefold.aws.Connection;
import dev.onefold.aws.store.Store;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.Engine;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.ScanResponse;
import software.amazon.awssdk.services.dynamodb.model.Select;
import software.amazon.awssdk.services.kinesis.model.ListShardsResponse;
import software.amazon.awssdk.services.kinesis.model.Shard;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/// Whether all that is in a stream is in the totals. A mark is put behind it into each shard: a text that is no event.
/// State takes a shard in its order, so what came before is in the rows when the mark is a dead letter. Records of the
/// mark's own batch may still be on their way then; so a second mark is put, which can only come in a later batch. Rows
/// are in the totals when no delta is left.
final class Drain {
    private static final int ROUNDS = 2;
    private static final int LETTERS_MAX = 1_000;
    private static final byte[] MARK = "onefold trial: a mark behind all records".getBytes(StandardCharsets.UTF_8);

    private final Services services;
    private final String stream;
    private final String retries;
    private final Supplier<Optional<Engine>> engine;
    private final Store store;
    private final Set<String> awaited = new HashSet<>();
    private int rounds;

    /// @param stream its name
    /// @param retries URL of the retry queue
    Drain(Services services, String stream, String retries, Store store, Supplier<Optional<Engine>> engine) {
        this.services = services;
        this.stream = stream;
        this.retries = retries;
        this.store = store;
        this.engine = engine;
    }

    /// Whether it is done; puts the next marks when it is time for them.
    boolean isDone() {
        if (!awaited.isEmpty()) {
            strike();
        }
        if (!awaited.isEmpty()) {
            return false;
        }
        if (rounds < ROUNDS) {
            rounds++;
            mark();
            return false;
        }
        return isQueueEmpty() && areDeltasGone();
    }

    private void mark() {
        for (Shard shard : openShards()) {
            var put = Connection.THREADS.await(services.streams()
                    .putRecord(request -> request.streamName(stream)
                            .partitionKey("trial")
                            .explicitHashKey(shard.hashKeyRange().startingHashKey())
                            .data(SdkBytes.fromByteArray(MARK))));
            awaited.add(stream + "/" + put.shardId() + ":" + put.sequenceNumber());
        }
    }

    private List<Shard> openShards() {
        List<Shard> open = new ArrayList<>();
        String token = null;
        do {
            String from = token;
            ListShardsResponse page =
                    Connection.THREADS.await(services.streams().listShards(request -> {
                        if (from == null) {
                            request.streamName(stream);
                        } else {
                            request.nextToken(from);
                        }
                    }));
            page.shards().stream()
                    .filter(shard -> shard.sequenceNumberRange().endingSequenceNumber() == null)
                    .forEach(open::add);
            token = page.nextToken();
        } while (token != null);
        return open;
    }

    private void strike() {
        Optional<Engine> found = engine.get();
        if (found.isEmpty()) {
            return;
        }
        try (Engine read = found.get()) {
            DeadLetters letters = read.deadLetters();
            List<DeadLetter> some = letters.list(0, LETTERS_MAX);
            while (!some.isEmpty() && !awaited.isEmpty()) {
                some.forEach(letter -> awaited.remove(letter.place().source()));
                some = letters.list(some.getLast().id(), LETTERS_MAX);
            }
        }
    }

    private boolean isQueueEmpty() {
        return Connection.THREADS
                .await(services.queues()
                        .getQueueAttributes(request -> request.queueUrl(retries)
                                .attributeNames(
                                        QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES,
                                        QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE)))
                .attributes()
                .values()
                .stream()
                .allMatch("0"::equals);
    }

    private boolean areDeltasGone() {
        ScanResponse response = store.retried(() -> store.client()
                .scan(request -> request.tableName(store.tables().deltas())
                        .consistentRead(true)
                        .select(Select.COUNT)));
        return response.count() == 0 && !response.hasLastEvaluatedKey();
    }
}
