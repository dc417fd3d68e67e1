package dev.onefold.aws.resync;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.state.SeedNumbers;
import dev.onefold.aws.store.Store;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionCheck;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;

/// The turn of one re-sync: one repairs at a time, wherever it runs. It draws a number of the sequence of the seedings,
/// and each of its transactions checks that no later re-sync has begun. So what a process repairs that was taken for
/// dead, and wakes up, is refused.
///
/// A turn is held for as long as it is renewed. That keeps two people apart; it is the number that makes it right. The
/// number stands in several items, because transactions that check one item at the same time get in each other's way.
///
///     turn  = k 00 "resync", n number of the last re-sync, t until when it is its turn, epoch ms
///     fence = k 00 "resync/" i, n number of the re-sync whose repairs are taken
public final class ResyncTurn {
    /// Longer than two renewals are apart.
    public static final Duration HELD = Duration.ofMinutes(5);

    private static final int FENCES = 64;
    private static final String NUMBER = "n";
    private static final String UNTIL = "t";

    private final Store store;
    private final long number;

    /// Another re-sync has begun, because this one was taken for dead.
    public static final class Overtaken extends IllegalStateException {
        private static final long serialVersionUID = 1L;

        Overtaken(long number) {
            super("Another re-sync has begun meanwhile, because nothing was heard of this one, " + number
                    + ", for longer than " + HELD.toMinutes()
                    + " minutes. What it has repaired stays. Try again when the other one is done.");
        }
    }

    private ResyncTurn(Store store, long number) {
        this.store = store;
        this.number = number;
    }

    /// Takes the turn; empty if another re-sync has it.
    public static Optional<ResyncTurn> take(Store store) {
        Map<String, AttributeValue> before = store.get(store.tables().rows(), key());
        ResyncTurn turn =
                new ResyncTurn(store, SeedNumbers.draw(store, store.clock().millis()));
        if (!turn.begin()) {
            return Optional.empty();
        }
        try {
            store.threads().each(FENCES, turn::moveFence);
        } catch (RuntimeException e) {
            turn.giveUp(); // Nobody has the turn then, and it would stay taken.
            throw e;
        }
        if (!before.isEmpty() && Items.number(before, UNTIL) > 0) { // It was left behind in the middle.
            store.threads().pause(Store.IN_FLIGHT_MAX);
        }
        return Optional.of(turn);
    }

    private static Map<String, AttributeValue> key() {
        return RowItem.other("resync");
    }

    private static Map<String, AttributeValue> fence(int fence) {
        return RowItem.other("resync/" + fence);
    }

    private boolean begin() {
        long now = store.clock().millis();
        boolean taken = update(
                key(),
                "SET n = :n, t = :t",
                "attribute_not_exists(n) OR (n < :n AND t < :now)",
                Map.of(
                        ":n",
                        Items.number(number),
                        ":t",
                        Items.number(now + HELD.toMillis()),
                        ":now",
                        Items.number(now)));
        return taken || isMine(); // An answer may have been lost.
    }

    private boolean isMine() {
        Map<String, AttributeValue> item = store.get(store.tables().rows(), key());
        return !item.isEmpty() && Items.number(item, NUMBER) == number;
    }

    private void moveFence(int fence) {
        update(
                fence(fence),
                "SET n = :n",
                "attribute_not_exists(n) OR n < :n",
                Map.of(":n", Items.number(number))); // If it does not hold, the first repair finds that out.
    }

    private boolean update(
            Map<String, AttributeValue> key, String set, String condition, Map<String, AttributeValue> values) {
        return store.retriedIf(() -> store.client()
                .updateItem(request -> request.tableName(store.tables().rows())
                        .key(key)
                        .updateExpression(set)
                        .conditionExpression(condition)
                        .expressionAttributeValues(values)));
    }

    /// The number of the re-sync.
    public long number() {
        return number;
    }

    /// Holds the turn for longer.
    ///
    /// @throws Overtaken if it is another one's
    public void renew() {
        UpdateItemRequest longer = until(store.clock().millis() + HELD.toMillis());
        if (!store.retriedIf(() -> store.client().updateItem(longer))) {
            throw new Overtaken(number);
        }
    }

    /// Gives the turn back, if it still has it.
    public void release() {
        store.retriedIf(() -> store.client().updateItem(until(0)));
    }

    /// It is held until then, if it is still this one's.
    private UpdateItemRequest until(long untilMs) {
        return UpdateItemRequest.builder()
                .tableName(store.tables().rows())
                .key(key())
                .updateExpression("SET t = :t")
                .conditionExpression("n = :n")
                .expressionAttributeValues(Map.of(":n", Items.number(number), ":t", Items.number(untilMs)))
                .build();
    }

    private void giveUp() {
        store.tried(() -> store.client().updateItem(until(0)));
    }

    /// The condition of a transaction of repairs: a fence, chosen by chance, still has the number of this turn.
    TransactWriteItem check() {
        return TransactWriteItem.builder()
                .conditionCheck(ConditionCheck.builder()
                        .tableName(store.tables().rows())
                        .key(fence(store.random().nextInt(FENCES)))
                        .conditionExpression("n = :n")
                        .expressionAttributeValues(Map.of(":n", Items.number(number)))
                        .build())
                .build();
    }

    Overtaken overtaken() {
        return new Overtaken(number);
    }
}
