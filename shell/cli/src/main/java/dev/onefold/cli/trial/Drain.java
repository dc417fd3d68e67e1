package dev.onefold.cli.trial;

import dev.onefold.aws.Connection;
import dev.onefold.aws.resync.RetryQueue;
import dev.onefold.aws.store.Store;
import dev.onefold.cli.deploy.Services;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.Engine;
import dev.onefold.core.bytes.Sha256;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.kinesis.model.ListShardsResponse;
import software.amazon.awssdk.services.kinesis.model.Shard;

/// Whether all that is in a stream is in the totals. A mark is put behind it into each shard: a text that is
/// no event. State takes a shard in its order, so what came before is in the rows when the mark is a dead
/// letter. Records of the mark's own batch may still be on their way then; so a second mark is put, which can
/// only come in a later batch. Rows are in the totals when no delta is left.
final class Drain {
    private static final int ROUNDS = 2;

    /// SQS counts its messages only approximately, so they are looked at several times.
    private static final int QUIET_LOOKS = 3;

    private static final int LETTERS_MAX = 1_000;
    private static final byte[] MARK = "onefold trial: a mark behind all records".getBytes(StandardCharsets.UTF_8);

    /// The hash of the marks, which are dead letters.
    static final String MARK_HASH = Sha256.hex(MARK);

    private final Services services;
    private final String stream;
    private final RetryQueue retries;
    private final Optional<RetryQueue> aside;
    private final Supplier<Optional<Engine>> engine;
    private final Store store;
    private final Set<String> awaited = new HashSet<>();
    private int rounds;
    private int quietLooks;

    /// @param outputs of the stack: the stream, the queue for retries, and perhaps that for what it has put
    ///     aside
    Drain(Services services, Map<String, String> outputs, Store store, Supplier<Optional<Engine>> engine) {
        this.services = services;
        stream = outputs.getOrDefault("InputStreamName", "");
        retries = new RetryQueue(services.queues(), outputs.getOrDefault("RetriesUrl", ""));
        aside = Optional.ofNullable(outputs.get("RetriesAsideUrl")).map(url -> new RetryQueue(services.queues(), url));
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
        quietLooks = retries.size() == 0 && store.isEmpty(store.tables().deltas()) ? quietLooks + 1 : 0;
        return quietLooks >= QUIET_LOOKS;
    }

    /// About how many messages were put aside: the records that they name are not in the totals.
    long aside() {
        return aside.map(RetryQueue::size).orElse(0L);
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
}
