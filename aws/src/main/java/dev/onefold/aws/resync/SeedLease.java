package dev.onefold.aws.resync;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.store.Queries;
import dev.onefold.aws.store.Store;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;

/// Says for all machines that a seeding runs. A comparison waits for it, because a row that was read and is not written
/// yet looks like a difference. If a seeding is taken for dead and wakes up, its rows are below all repairs.
///
///     item = p "seedings", i number, t until when it is taken to run, epoch ms; in the table of letters
public final class SeedLease implements AutoCloseable {
    /// How long a seeding is taken to run of which nothing is heard.
    public static final Duration HELD = Duration.ofMinutes(2);

    private static final String PARTITION = "seedings";

    private final Store store;
    private final long number;

    private SeedLease(Store store, long number) {
        this.store = store;
        this.number = number;
    }

    /// Begins before the seeding reads its first row.
    public static SeedLease begin(Store store, long number) {
        SeedLease lease = new SeedLease(store, number);
        lease.renew();
        return lease;
    }

    private static Map<String, AttributeValue> key(long number) {
        return Map.of(
                "p",
                AttributeValue.fromS(PARTITION),
                "i",
                Items.bytes(ByteBuffer.allocate(Long.BYTES).putLong(number).array()));
    }

    long number() {
        return number;
    }

    /// The seeding still runs.
    public void renew() {
        Map<String, AttributeValue> item = new TreeMap<>(key(number));
        item.put("t", Items.number(store.clock().millis() + HELD.toMillis()));
        store.retried(() -> store.client()
                .putItem(request -> request.tableName(store.tables().letters()).item(item)));
    }

    /// It does not run any more.
    @Override
    public void close() {
        store.retried(() -> store.client()
                .deleteItem(
                        request -> request.tableName(store.tables().letters()).key(key(number))));
    }

    /// Whether a seeding with a lower number runs. Forgets those that are dead.
    public static boolean isRunning(Store store, long below) {
        QueryRequest request = QueryRequest.builder()
                .tableName(store.tables().letters())
                .keyConditionExpression("p = :p")
                .expressionAttributeValues(Map.of(":p", AttributeValue.fromS(PARTITION)))
                .consistentRead(true)
                .build();
        List<Long> running = new ArrayList<>();
        List<Long> dead = new ArrayList<>();
        long now = store.clock().millis();
        Queries.pages(store, request, page -> {
            page.items().forEach(item -> {
                long number = ByteBuffer.wrap(Items.bytes(item, "i")).getLong();
                (Items.number(item, "t") < now ? dead : running).add(number);
            });
            return true;
        });
        dead.forEach(number -> new SeedLease(store, number).close());
        return running.stream().anyMatch(number -> number < below);
    }
}
