package dev.onefold.aws.state;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Header;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.TotalsKey;
import dev.onefold.aws.store.Queries;
import dev.onefold.aws.store.Store;
import dev.onefold.core.pipeline.Pipeline;
import java.util.Map;
import java.util.TreeMap;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;

/// The notes on the definition in the table of totals. The definition is in the table of rows, and each change is
/// noted here before it is made there. So a table that was restored alone, or to another moment than the other
/// one, is detected, and the number of a view is given once, whichever of the two remembers less.
///
/// The notes also name the incarnation in which the totals are whole. When a new incarnation has begun, no query
/// is answered until the totals are recomputed from the rows.
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

    private Claim find() {
        Map<String, AttributeValue> item = store.get(store.tables().totals(), KEY);
        return new Claim(
                number(item, "e"), (int) number(item, "m"), item.containsKey("i") ? Items.text(item, "i") : "");
    }

    private static long number(Map<String, AttributeValue> item, String name) {
        return item.containsKey(name) ? Items.number(item, name) : 0;
    }

    /// A definition with one more view, under a number that no view has had and whose stripes are empty.
    public Definition withView(Definition now, Pipeline pipeline, int oneIn, String owner) {
        int number = Math.max(now.last(), find().last()) + 1;
        while (!isFree(now, number)) {
            number++;
        }
        return now.withView(number, pipeline, oneIn, owner);
    }

    private boolean isFree(Definition now, int number) {
        return !store.threads()
                .all(now.lanes(), lane -> isEmpty(TotalsKey.partition(number, lane)))
                .contains(false);
    }

    private boolean isEmpty(String partition) {
        QueryRequest request = QueryRequest.builder()
                .tableName(store.tables().totals())
                .keyConditionExpression("p = :p")
                .expressionAttributeValues(Map.of(":p", AttributeValue.fromS(partition)))
                .consistentRead(true)
                .limit(1)
                .build();
        return Queries.first(store, request).items().isEmpty();
    }

    /// Notes a change before it is made. Where the tables do not belong together, they do not after it, either.
    void note(Definition next) {
        String belongs =
                "i = :i AND e >= :before AND e < :e" + (next.epoch() == 2 ? " OR attribute_not_exists(e)" : "");
        update("m = :m", "attribute_not_exists(m) OR m < :m", Map.of(":m", Items.number(next.last())));
        update(
                "e = :e, i = :i",
                belongs,
                Map.of(
                        ":e", Items.number(next.epoch()),
                        ":before", Items.number(next.epoch() - 1),
                        ":i", id(next)));
    }

    private static AttributeValue id(Definition definition) {
        return AttributeValue.fromS(definition.incarnation().id());
    }

    /// The greatest number that a view may have had, as far as the tables say.
    public int last(Definition definition) {
        return Math.max(find().last(), definition.last());
    }

    /// Notes that the tables belong together, because what serves was filled from the rows that there are.
    /// A request that comes late, or from a definition that no longer serves, changes nothing, because it
    /// expects the claim that was read.
    public void join(Definition definition) {
        Claim claim = find();
        while (mayJoin(claim, definition) && !join(claim, definition)) {
            claim = find(); // Somebody was first, perhaps with an older definition.
        }
    }

    private boolean mayJoin(Claim claim, Definition definition) {
        boolean isIn = claim.isIn(definition);
        if (isIn && (claim.epoch() == definition.epoch() || claim.epoch() == definition.epoch() + 1)) {
            return false; // They do; or somebody is about to change it.
        }
        return isIn && claim.epoch() < definition.epoch()
                || new Definitions(store).load().equals(definition);
    }

    private boolean join(Claim seen, Definition definition) {
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

    private boolean update(String setting, String condition, Map<String, AttributeValue> values) {
        return store.retriedIf(() -> store.client()
                .updateItem(request -> request.tableName(store.tables().totals())
                        .key(KEY)
                        .updateExpression("SET " + setting)
                        .conditionExpression(condition)
                        .expressionAttributeValues(values)));
    }

    /// Fails if a definition that was just read and the totals do not belong together.
    public void require(Definition read) {
        Definition definition = read;
        Claim claim = find();
        while (!claim.isIn(definition)) {
            Definition now = new Definitions(store).load();
            if (now.incarnation().equals(definition.incarnation())) {
                throw new IllegalStateException("Table "
                        + store.tables().totals()
                        + " is not made of the rows that there are: 'onefold aws restored' or 'onefold aws reset' is under"
                        + " way, or was stopped. Ask again when it is done, or run it again.");
            }
            definition = now;
            claim = find();
        }
        if (claim.epoch() < definition.epoch() && definition.epoch() > 1) {
            throw foreign(store.tables().totals(), claim, definition);
        }
        // Somebody may be about to change the definition, or have changed it since it was read.
        if (claim.epoch() > definition.epoch() + 1) {
            Definition now = new Definitions(store).load();
            if (claim.epoch() > now.epoch() + 1) {
                throw foreign(store.tables().rows(), claim, now);
            }
        }
    }

    private static IllegalStateException foreign(String table, Claim claim, Definition definition) {
        return new IllegalStateException("Table " + table
                + " is from an earlier time than the others: the totals know definition " + claim.epoch()
                + ", the rows have definition " + definition.epoch()
                + ". It was restored from a backup, or emptied. Totals are not answered from it. Run 'onefold aws restored'"
                + ", and then 'onefold aws replay' from before the time that it was restored to.");
    }
}
