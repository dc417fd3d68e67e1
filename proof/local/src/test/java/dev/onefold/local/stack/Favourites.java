package dev.onefold.local.stack;

import dev.onefold.aws.Connection;
import dev.onefold.aws.store.Store;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.CreateTableRequest;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;

/// Who likes which restaurant: a table of a user's own, whose items come, change, go and come back. Not thread-safe.
///
/// Some items come broken: with words where the stars belong. Half of those are put right later.
final class Favourites {
    static final Pipeline PIPELINE = PipelineBuilder.named("favourites")
            .key("Keys.user", "Keys.restaurant")
            .version("SequenceNumber")
            .delete("eventName = \"REMOVE\"")
            .rollup(r -> r.levels("NewImage.city", "Keys.restaurant")
                    .sum("stars", "NewImage.stars", 18, 2)
                    .count("favourites")
                    .max("best", "NewImage.stars", 18, 2)
                    .distinct("users", "Keys.user"))
            .build();

    private static final String TABLE = "Favourites";
    private static final int AT_A_TIME = 20;
    private static final int USERS = 20;
    private static final int RESTAURANTS = 8;

    private final Store store;
    private final Random random;
    private final Set<Favourite> there = new HashSet<>();
    private final Set<Favourite> brokenNow = new LinkedHashSet<>();
    private final Map<Favourite, CompletableFuture<?>> underWay = new HashMap<>();

    /// Keys of items as they came broken, one for each time.
    final List<String> broken = new ArrayList<>();

    /// Changes that the stream tells of.
    int changes;

    /// The key of an item.
    private record Favourite(String user, String restaurant) {
        private Map<String, AttributeValue> item() {
            return Map.of("user", AttributeValue.fromS(user), "restaurant", AttributeValue.fromS(restaurant));
        }
    }

    /// @param store whose client and patience are used; the table is none of its
    Favourites(Store store, long seed) {
        this.store = store;
        random = new Random(seed);
    }

    /// The table, as its owner made it.
    static CreateTableRequest table() {
        return CreateTableRequest.builder()
                .tableName(TABLE)
                .billingMode("PAY_PER_REQUEST")
                .attributeDefinitions(attribute("user"), attribute("restaurant"))
                .keySchema(part("user", "HASH"), part("restaurant", "RANGE"))
                .build();
    }

    private static AttributeDefinition attribute(String name) {
        return AttributeDefinition.builder()
                .attributeName(name)
                .attributeType(ScalarAttributeType.S)
                .build();
    }

    private static KeySchemaElement part(String name, String type) {
        return KeySchemaElement.builder().attributeName(name).keyType(type).build();
    }

    /// Puts items that no stream tells of, each of a user of its own.
    static void putBefore(DynamoDbAsyncClient client, int items) {
        for (int i = 0; i < items; i++) {
            Map<String, AttributeValue> item =
                    new HashMap<>(new Favourite("early-" + i, "restaurant-" + i % RESTAURANTS).item());
            item.put("city", AttributeValue.fromS("city-" + i % 4));
            item.put("stars", AttributeValue.fromN(Integer.toString(i % 5)));
            client.putItem(request -> request.tableName(TABLE).item(item)).join();
        }
    }

    /// Inserts, changes, removes and inserts again; each item's changes one after the other, several items at a time.
    void change(int times) {
        for (int i = 0; i < times; i++) {
            Favourite one = new Favourite("user-" + random.nextInt(USERS), "restaurant-" + random.nextInt(RESTAURANTS));
            int kind = random.nextInt(100);
            if (kind < 3) {
                comeBroken(new Favourite("broken-" + broken.size(), one.restaurant()));
            } else if (kind < 6 && !brokenNow.isEmpty()) {
                Favourite mended = brokenNow.iterator().next();
                brokenNow.remove(mended);
                put(mended, stars());
            } else if (kind < 40 && there.contains(one)) {
                remove(one);
            } else {
                put(one, stars());
            }
        }
        await();
    }

    private void await() {
        CompletableFuture.allOf(underWay.values().toArray(CompletableFuture[]::new))
                .join();
        underWay.clear();
    }

    private void write(Favourite one, Supplier<CompletableFuture<?>> request) {
        if (underWay.containsKey(one) || underWay.size() == AT_A_TIME) {
            await();
        }
        changes++;
        underWay.put(one, request.get());
    }

    private void comeBroken(Favourite one) {
        broken.add(one.user());
        brokenNow.add(one);
        put(one, AttributeValue.fromS("many"));
    }

    /// One more item comes broken.
    void comeBroken() {
        comeBroken(new Favourite("broken-" + broken.size(), "restaurant-0"));
        await();
    }

    private AttributeValue stars() {
        return AttributeValue.fromN(
                BigDecimal.valueOf(random.nextInt(500) - 100L, 2).toString());
    }

    /// Each time with a number of its own: to put what is there already would be no change.
    private void put(Favourite one, AttributeValue stars) {
        Map<String, AttributeValue> item = new HashMap<>(one.item());
        item.put("city", AttributeValue.fromS("city-" + random.nextInt(4)));
        item.put("stars", stars);
        item.put("change", AttributeValue.fromN(String.valueOf(changes)));
        write(
                one,
                () -> CompletableFuture.supplyAsync(
                        () -> store.retried(() -> store.client()
                                .putItem(request -> request.tableName(TABLE).item(item))),
                        Connection.THREADS));
        there.add(one);
    }

    private void remove(Favourite one) {
        write(
                one,
                () -> CompletableFuture.supplyAsync(
                        () -> store.retried(() -> store.client()
                                .deleteItem(request -> request.tableName(TABLE).key(one.item()))),
                        Connection.THREADS));
        there.remove(one);
    }

    /// Stars, favourites, most stars and users of each group, counted in the table as it is now.
    SortedMap<List<String>, List<BigDecimal>> totals() {
        List<Totals.Part> parts = new ArrayList<>();
        store.client()
                .scanPaginator(request -> request.tableName(TABLE).consistentRead(true))
                .items()
                .subscribe(item -> {
                    if (item.get("stars").n() != null) {
                        parts.add(new Totals.Part(
                                List.of(
                                        item.get("city").s(),
                                        item.get("restaurant").s()),
                                new BigDecimal(item.get("stars").n()).setScale(2),
                                item.get("user").s()));
                    }
                })
                .join();
        return Totals.of(parts);
    }
}
