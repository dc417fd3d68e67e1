package dev.onefold.aws.read;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Header;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.reduce.Headers;
import dev.onefold.aws.store.BatchReads;
import dev.onefold.aws.store.SettledReads;
import dev.onefold.aws.store.Store;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.Update;

/// One instant of all lanes: the end of an epoch, which a reader closes in one transaction over all headers. Items keep
/// what was in them then, until the next epoch is closed and they change again; who finds one that did so starts
/// again with a new cut.
///
/// Readers share a cut for a second: each closing moves what Reduce's commits are conditional on, and many readers
/// would leave it no time between two of them.
///
/// Where many lanes commit without a pause, one of them is always in a transaction, and a transaction over all headers
/// would be refused for ever. So headers are read one by one; and a reader who was refused asks in each header for a
/// pause, which Reduce makes before its next commit.
///
/// @param epoch the one that was closed; items are read as they are if it is [#NOW]
/// @param covers all that was written before is in the cut
record Cut(long epoch, Instant covers) {
    /// No item was ever changed in a later epoch.
    static final long NOW = Long.MAX_VALUE >> 1;

    /// Instead of the least epoch: one that is not closed yet.
    static final long NEXT = -1;

    private static final Duration SHARED_MAX = Duration.ofSeconds(1);

    /// So often a reader is refused before it asks for a pause.
    private static final int REFUSED_MAX = 2;

    private static final int MIXED_MAX = 12;

    /// Takes a cut that somebody else has closed lately, or closes one.
    ///
    /// @param covers what a cut that is closed from now on covers
    /// @param least the least epoch that will do, or [#NEXT]
    static Cut take(Store store, Definition definition, Instant covers, long least) {
        long enough = least;
        for (int attempt = 1; ; attempt++) {
            List<Header> headers = headers(store, definition);
            if (headers.size() < definition.lanes()) {
                store.backOff(attempt);
                Headers.make(store, definition);
                continue;
            }
            long epoch = epoch(headers);
            Header.Closing closing = headers.getFirst().closing();
            if (closing != null && enough != NEXT && epoch > enough && isYoung(closing, store)) {
                settle(store, headers);
                return new Cut(epoch - 1, closing.covers());
            }
            // Whoever closes it, it is closed after this call began; so its cut is as good as one of ours.
            enough = enough == NEXT ? epoch : enough;
            if (close(store, headers, covers, attempt, null) instanceof Store.Written.Done) {
                return closed(store, definition);
            }
            store.backOff(attempt);
        }
    }

    private static boolean isYoung(Header.Closing closing, Store store) {
        Duration age = Duration.between(closing.at(), store.clock().instant()).abs();
        return age.compareTo(SHARED_MAX) < 0;
    }

    /// The last epoch that was closed; at least the one that this caller has closed.
    private static Cut closed(Store store, Definition definition) {
        List<Header> headers = headers(store, definition);
        settle(store, headers);
        return new Cut(
                epoch(headers) - 1,
                Objects.requireNonNull(headers.getFirst().closing()).covers());
    }

    /// The epoch of all lanes.
    static long epoch(List<Header> headers) {
        long epoch = headers.getFirst().epoch();
        if (headers.stream().anyMatch(header -> header.epoch() != epoch)) {
            throw new IllegalStateException("The lanes are in different epochs: " + headers
                    + ". The table of totals was changed by hand, or restored in part; rebuild it.");
        }
        return epoch;
    }

    /// Returns when all that was committed before these headers were read is visible to plain reads.
    static void settle(Store store, List<Header> headers) {
        store.threads().each(headers, header -> Headers.settle(store, header));
    }

    /// The headers, all of one epoch; those that there are. Each is as it was at an instant of its own: a commit, or a
    /// closing, that is not seen in one of them may be seen in another one.
    static List<Header> headers(Store store, Definition definition) {
        for (int attempt = 1; ; attempt++) {
            List<Header> headers =
                    sorted(BatchReads.of(store, store.tables().totals(), keys(definition), null), definition);
            boolean isMixed = headers.stream().map(Header::epoch).distinct().count() > 1;
            if (!isMixed || attempt >= MIXED_MAX) {
                return headers;
            }
            store.backOff(attempt);
        }
    }

    /// The headers at one instant; none if others are at work on one of them.
    static List<Header> quietHeaders(Store store, Definition definition) {
        return sorted(
                SettledReads.of(store, store.tables().totals(), keys(definition))
                        .orElse(List.of()),
                definition);
    }

    private static List<Map<String, AttributeValue>> keys(Definition definition) {
        return IntStream.range(0, definition.lanes()).mapToObj(Header::keyOf).toList();
    }

    private static List<Header> sorted(List<Map<String, AttributeValue>> items, Definition definition) {
        return items.stream()
                .map(item -> ours(Header.of(item), definition))
                .sorted(Comparator.comparingInt(Header::lane))
                .toList();
    }

    /// Asks for a pause between commits. If this fails, the next attempt asks again.
    private static void ask(Store store, Header header) {
        store.tried(() -> store.client()
                .updateItem(request -> request.tableName(store.tables().totals())
                        .key(Header.keyOf(header.lane()))
                        .updateExpression("SET " + Header.ASKED + " = :epoch")
                        .conditionExpression("e = :epoch AND i = :i")
                        .expressionAttributeValues(Map.of(
                                ":epoch",
                                Items.number(header.epoch()),
                                ":i",
                                AttributeValue.fromS(header.incarnation())))));
    }

    private static Header ours(Header header, Definition definition) {
        if (!header.incarnation().equals(definition.incarnation().id())) {
            throw new IllegalStateException(
                    "The totals are of another incarnation than the rows: 'onefold aws restored' or 'onefold aws reset'"
                            + " is under way, or was stopped. Ask again when it is done.");
        }
        return header;
    }

    /// Closes the epoch of these headers.
    ///
    /// @param attempt from 1; a reader who was refused asks for a pause first
    /// @param heldUntil when the hold of the cut ends; `null` if the cut is not held
    static Store.Written close(
            Store store, List<Header> headers, Instant covers, int attempt, @Nullable Instant heldUntil) {
        if (attempt > REFUSED_MAX) {
            store.threads().each(headers, header -> ask(store, header));
        }
        List<TransactWriteItem> items = new ArrayList<>();
        for (Header header : headers) {
            Map<String, AttributeValue> values = new TreeMap<>(Map.of(
                    ":one", Items.number(1),
                    ":i", AttributeValue.fromS(header.incarnation()),
                    ":epoch", Items.number(header.epoch()),
                    ":t", Items.number(store.clock().millis()),
                    ":a", Items.number(covers.toEpochMilli())));
            String hold = "";
            if (heldUntil != null) {
                hold = ", " + Header.HELD + " = :epoch, " + Header.HELD_FROM + " = :t, " + Header.HELD_COVERS
                        + " = :a, " + Header.HELD_UNTIL + " = :until";
                values.put(":until", Items.number(heldUntil.toEpochMilli()));
            }
            items.add(TransactWriteItem.builder()
                    .update(Update.builder()
                            .tableName(store.tables().totals())
                            .key(Header.keyOf(header.lane()))
                            .updateExpression(
                                    "SET t = :t, a = :a" + hold + " REMOVE " + Header.ASKED + " ADD n :one, e :one")
                            .conditionExpression("e = :epoch AND i = :i")
                            .expressionAttributeValues(values)
                            .build())
                    .build());
        }
        return store.transact(items);
    }
}
