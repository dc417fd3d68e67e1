package dev.onefold.aws.read;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Header;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.reduce.Headers;
import dev.onefold.aws.store.Store;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// A cut for an answer that takes long to read. An item keeps one value of before, so an answer that takes longer than
/// the next two closings is overtaken, each time. The reader of such an answer closes an epoch and has the headers name
/// it as held. Reduce then keeps a second copy in each item that it changes: the value at the end of the held epoch.
/// Others close epochs and commit meanwhile, as always: a hold stops nobody.
///
/// A hold ends after [#HOLD] unless its reader renews it, so a reader that has died leaves nothing but copies that no
/// one reads, and the next change of the item removes them. Only one epoch is held at a time. Another reader shares the
/// hold while it is young, and waits for its end otherwise. No hold is renewed after [#HELD_MAX], which bounds the wait
/// and the age of an answer. Nothing is concluded from a hold: an item whose copy is missing is noticed when it is
/// read.
record HeldCut(Cut cut, Instant begun) {
    /// Longer than the clocks of two processes are apart.
    private static final Duration HOLD = Duration.ofSeconds(10);

    private static final Duration RENEWED_AFTER = Duration.ofSeconds(3);

    /// Of a hold that has less time left, the reader is done or dead: a reader that renews has 7 s left. A reader that
    /// joined it then would renew it too late.
    private static final Duration LEFT_MIN = Duration.ofSeconds(5);

    static final Duration HELD_MAX = Duration.ofMinutes(2);
    private static final Duration SHARED_MAX = Duration.ofSeconds(30);
    private static final Duration PAUSE = Duration.ofSeconds(1);

    /// So often a reader looks whether the hold of somebody else has ended: for a bit longer than it can last.
    private static final int PAUSES_MAX =
            (int) HELD_MAX.plus(HOLD).plus(SHARED_MAX).dividedBy(PAUSE);

    /// Joins a hold that covers enough, or begins one.
    ///
    /// @param covers what a cut that is closed from now on covers
    /// @param least the least epoch that will do, or [Cut#NEXT]
    static HeldCut take(Store store, Definition definition, Instant covers, long least) {
        long enough = least;
        int attempt = 1;
        for (int pauses = 0; ; ) {
            List<Header> headers = Cut.headers(store, definition);
            if (headers.size() < definition.lanes()) {
                store.backOff(attempt++);
                Headers.make(store, definition);
                continue;
            }
            // A cut that anybody closes after this call began is as good as one of its own.
            boolean mayJoin = enough != Cut.NEXT;
            enough = mayJoin ? enough : Cut.epoch(headers);
            Header.Hold hold = headers.getFirst().hold();
            Instant now = store.clock().instant();
            if (hold == null || !hold.until().isAfter(now)) {
                if (!(Cut.close(store, headers, covers, attempt, now.plus(HOLD)) instanceof Store.Written.Done)) {
                    store.backOff(attempt++);
                }
            } else if (mayJoin && isFresh(hold, enough, now)) {
                Cut.settle(store, headers);
                return new HeldCut(new Cut(hold.epoch(), hold.covers()), hold.begun());
            } else if (pauses++ >= PAUSES_MAX) {
                throw new IllegalStateException(
                        "Answers that take long to read were read by others, one after the other, for " + PAUSES_MAX
                                + " s. Ask again, or for less.");
            } else {
                store.threads().pause(PAUSE);
            }
        }
    }

    private static boolean isFresh(Header.Hold hold, long least, Instant now) {
        return hold.epoch() >= least
                && Duration.between(hold.begun(), now).compareTo(SHARED_MAX) < 0
                && Duration.between(now, hold.until()).compareTo(LEFT_MIN) >= 0;
    }

    /// Renews the hold until an answer is there, or the hold is too old. If a renewal fails, the next one follows.
    void renewUntil(BooleanSupplier isAnswered, Store store, Definition definition) {
        store.threads().pause(RENEWED_AFTER);
        while (!isAnswered.getAsBoolean() && !isOver(store)) {
            renew(store, definition);
            store.threads().pause(RENEWED_AFTER);
        }
    }

    /// Whether the hold is not renewed any more.
    boolean isOver(Store store) {
        return Duration.between(begun, store.clock().instant()).compareTo(HELD_MAX) >= 0;
    }

    /// A hold that has ended is not renewed: copies that it kept may be gone.
    private void renew(Store store, Definition definition) {
        Instant now = store.clock().instant();
        Map<String, AttributeValue> values = Map.of(
                ":held", Items.number(cut.epoch()),
                ":now", Items.number(now.toEpochMilli()),
                ":until", Items.number(now.plus(HOLD).toEpochMilli()),
                ":i", AttributeValue.fromS(definition.incarnation().id()));
        store.threads().each(definition.lanes(), lane -> {
            try {
                store.retriedIf(() -> store.client()
                        .updateItem(request -> request.tableName(store.tables().totals())
                                .key(Header.keyOf(lane))
                                .updateExpression("SET " + Header.HELD_UNTIL + " = :until")
                                .conditionExpression(
                                        Header.HELD + " = :held AND i = :i AND " + Header.HELD_UNTIL + " > :now")
                                .expressionAttributeValues(values)));
            } catch (SdkException failed) {
                return; // The next renewal follows.
            }
        });
    }
}
