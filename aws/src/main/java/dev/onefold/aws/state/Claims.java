package dev.onefold.aws.state;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Header;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.TotalsKey;
import dev.onefold.aws.store.Futures;
import dev.onefold.aws.store.Queries;
import dev.onefold.aws.store.Store;
import dev.onefold.core.pipeline.Pipeline;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;

/// What the table of totals knows of the definition, which stands in the table of rows: each change is noted here
/// before it is made there. So a table that was restored alone, or to another moment than the other one, is found
/// out, and the number of a view is given once, whichever of the two remembers less.
///
/// It also says in which incarnation the totals are whole. When a new one has begun, nothing is answered until the
/// totals are made of the rows that there are.
///
///     item = p "headers", g FF FF, e epoch of the last change that was noted, i incarnation in which the totals are
///            whole, m the greatest number of a view
public final class Claims {
    private static final Map<String, AttributeValue> KEY =
            TotalsKey.of(Header.PARTITION, new byte[] {(byte) 0xff, (byte) 0xff});

    private final Store store;

    /// @param epoch 0 if nothing was noted
    /// @param incarnation empty if nothing was noted
    private record Claim(long epoch, int last, String incarnation) {
        private boolean isIn(Definition definition) {
            return incarnation.equals(definition.incarnation().id()) || epoch == 0;
        }
    }

    public Claims(Store store) {
        this.store = store;
    }

    private CompletableFuture<Claim> find() {
        return store.retried(() -> store.client()
                        .getItem(request -> request.tableName(store.tables().totals())
                                .key(KEY)
                                .consistentRead(true)))
                .thenApply(response -> new Claim(
                        number(response.item(), "e"),
                        (int) number(response.item(), "m"),
                        response.item().containsKey("i") ? Items.text(response.item(), "i") : ""));
    }

    private static long number(Map<String, AttributeValue> item, String name) {
        return item.containsKey(name) ? Items.number(item, name) : 0;
    }

    /// A definition with one more view, under a number that no view has had and whose stripes are empty.
    public CompletableFuture<Definition> withView(Definition now, Pipeline pipeline, int oneIn, String owner) {
        return find().thenCompose(claim -> free(now, Math.max(now.last(), claim.last()) + 1))
                .thenApply(number -> now.withView(number, pipeline, oneIn, owner));
    }

    private CompletableFuture<Integer> free(Definition now, int number) {
        List<CompletableFuture<Boolean>> empty = IntStream.range(0, now.lanes())
                .mapToObj(lane -> isEmpty(TotalsKey.partition(number, lane)))
                .toList();
        return CompletableFuture.allOf(empty.toArray(CompletableFuture[]::new))
                .thenCompose(_ -> empty.stream().allMatch(CompletableFuture::join)
                        ? CompletableFuture.completedFuture(number)
                        : free(now, number + 1));
    }

    private CompletableFuture<Boolean> isEmpty(String partition) {
        return Queries.first(
                        store,
                        QueryRequest.builder()
                                .tableName(store.tables().totals())
                                .keyConditionExpression("p = :p")
                                .expressionAttributeValues(Map.of(":p", AttributeValue.fromS(partition)))
                                .consistentRead(true)
                                .limit(1)
                                .build())
                .thenApply(page -> page.items().isEmpty());
    }

    /// Notes a change before it is made. Where the tables do not belong together, they do not after it, either.
    CompletableFuture<Void> note(Definition next) {
        String belongs =
                "i = :i AND e >= :before AND e < :e" + (next.epoch() == 2 ? " OR attribute_not_exists(e)" : "");
        return update("m = :m", "attribute_not_exists(m) OR m < :m", Map.of(":m", Items.number(next.last())))
                .thenCompose(_ -> update(
                        "e = :e, i = :i",
                        belongs,
                        Map.of(
                                ":e",
                                Items.number(next.epoch()),
                                ":before",
                                Items.number(next.epoch() - 1),
                                ":i",
                                id(next))));
    }

    private static AttributeValue id(Definition definition) {
        return AttributeValue.fromS(definition.incarnation().id());
    }

    /// The greatest number that a view may have had, as far as the tables say.
    public CompletableFuture<Integer> last(Definition definition) {
        return find().thenApply(claim -> Math.max(claim.last(), definition.last()));
    }

    /// Notes that the tables belong together, because what serves was filled from the rows that there are.
    /// A request that comes late, or from a definition that no longer serves, changes nothing, because it
    /// expects the claim that was read.
    public CompletableFuture<Void> join(Definition definition) {
        return find().thenCompose(claim -> {
            if (claim.isIn(definition)
                    && (claim.epoch() == definition.epoch() || claim.epoch() == definition.epoch() + 1)) {
                return CompletableFuture.completedFuture(null); // They do; or somebody is about to change it.
            }
            if (claim.isIn(definition) && claim.epoch() < definition.epoch()) {
                return join(claim, definition);
            }
            return new Definitions(store)
                    .load()
                    .thenCompose(now -> !now.equals(definition)
                            ? CompletableFuture.completedFuture(null)
                            : join(claim, definition));
        });
    }

    private CompletableFuture<Void> join(Claim seen, Definition definition) {
        Map<String, AttributeValue> values = new TreeMap<>();
        values.put(":e", Items.number(definition.epoch()));
        values.put(":i", id(definition));
        String condition = "attribute_not_exists(e)";
        if (seen.epoch() != 0) {
            values.put(":seen", Items.number(seen.epoch()));
            values.put(":whole", AttributeValue.fromS(seen.incarnation()));
            condition = "e = :seen AND i = :whole";
        }
        return update("e = :e, i = :i", condition, values);
    }

    private CompletableFuture<Void> update(String setting, String condition, Map<String, AttributeValue> values) {
        return store.retried(() -> store.client()
                        .updateItem(request -> request.tableName(store.tables().totals())
                                .key(KEY)
                                .updateExpression("SET " + setting)
                                .conditionExpression(condition)
                                .expressionAttributeValues(values)))
                .handle((_, failure) -> {
                    Throwable cause = failure == null ? null : Futures.cause(failure);
                    if (cause != null && !(cause instanceof ConditionalCheckFailedException)) {
                        throw new CompletionException(cause);
                    }
                    return null;
                });
    }

    /// Fails if a definition that was just read and the totals do not belong together.
    public CompletableFuture<Void> require(Definition definition) {
        return find().thenCompose(claim -> {
            if (!claim.isIn(definition)) {
                return unfinished(definition);
            }
            if (claim.epoch() < definition.epoch() && definition.epoch() > 1) {
                return CompletableFuture.failedFuture(foreign(store.tables().totals(), claim, definition));
            }
            // Somebody may be about to change the definition, or have changed it since it was read.
            return claim.epoch() <= definition.epoch() + 1
                    ? CompletableFuture.completedFuture(null)
                    : new Definitions(store)
                            .load()
                            .thenCompose(now -> claim.epoch() <= now.epoch() + 1
                                    ? CompletableFuture.completedFuture(null)
                                    : CompletableFuture.failedFuture(
                                            foreign(store.tables().rows(), claim, now)));
        });
    }

    private CompletableFuture<Void> unfinished(Definition definition) {
        return new Definitions(store)
                .load()
                .thenCompose(now -> now.incarnation().equals(definition.incarnation())
                        ? CompletableFuture.failedFuture(new IllegalStateException("Table "
                                + store.tables().totals()
                                + " is not made of the rows that there are: a table was restored, and 'onefold aws restored' is"
                                + " under way, or was stopped. Ask again when it is done, or run it again."))
                        : require(now));
    }

    private static IllegalStateException foreign(String table, Claim claim, Definition definition) {
        return new IllegalStateException("Table " + table
                + " is from an earlier time than the others: the totals know definition " + claim.epoch()
                + ", the rows have definition " + definition.epoch()
                + ". It was restored from a backup, or emptied. Totals are not answered from it. Run 'onefold aws restored'"
                + ", and then 'onefold aws replay' from before the time that it was restored to.");
    }
}
