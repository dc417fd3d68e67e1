package dev.onefold.aws.comparison;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.store.Store;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// What the tables say of the repeated comparison. One invocation at a time works on it: it puts a token of its own
/// into the item, and writes on condition that the token is still there.
///
///     item = k 00 "comparison", s source, r whether it repairs, i incarnation and view, h token of the last holder,
///            u until when it is held (0: not), y first seen, x when the next one begins, f why the last one failed,
///            a invocations in a row that came to nothing,
///            b begin, w slicing, c tally: of the one that is under way; d end, l tally: of the last complete one
///
/// @param of what is compared
/// @param held who works on it
/// @param since when a function with these settings looked first
/// @param next when another one begins
/// @param failure why the last one failed; empty if it did not
/// @param attempts invocations in a row that came to nothing
/// @param work what is under way; `null` if nothing is
/// @param last the last complete one; `null` if there is none
public record Comparison(
        Of of,
        Held held,
        Instant since,
        Instant next,
        String failure,
        int attempts,
        @Nullable Work work,
        @Nullable Result last) {
    /// How long an invocation is taken to run of which nothing is heard.
    public static final Duration HELD = Duration.ofMinutes(2);

    private static final Instant NEVER = Instant.EPOCH;

    /// What is compared.
    ///
    /// @param source as in `dynamodb:Favourites`
    /// @param rows incarnation and view of the deployment
    public record Of(String source, boolean repairs, String rows) {}

    /// Who works on it, until when.
    record Held(String token, Instant until) {}

    /// A comparison that is under way.
    record Work(Instant begun, Slicing slicing, Tally tally) {}

    /// A comparison that is complete.
    public record Result(Instant ended, Tally tally) {}

    private static Map<String, AttributeValue> key() {
        return RowItem.other("comparison");
    }

    /// What the tables say; empty if no function has looked yet.
    public static Optional<Comparison> find(Store store) {
        Map<String, AttributeValue> item = store.get(store.tables().rows(), key());
        return item.isEmpty() ? Optional.empty() : Optional.of(of(item));
    }

    /// The one of these settings: what others have begun is no part of it.
    static Comparison of(Store store, Of wanted) {
        Optional<Comparison> found = find(store);
        if (found.isPresent() && found.get().of.equals(wanted)) {
            return found.get();
        }
        Held held = found.map(Comparison::held).orElse(new Held("", NEVER));
        return new Comparison(wanted, held, store.clock().instant(), NEVER, "", 0, null, null);
    }

    boolean isHeld(Instant now) {
        return held.until().isAfter(now);
    }

    /// Whether somebody works on it.
    public boolean isRunning(Store store) {
        return isHeld(store.clock().instant());
    }

    /// Whether one has begun and is not complete.
    public boolean isUnderWay() {
        return work != null || !held.until().equals(NEVER);
    }

    /// When the last one was complete, or the first look if there was none.
    public Instant lastEnd() {
        return last == null ? since : last.ended();
    }

    /// Takes it for this invocation, as an attempt more; empty if somebody else was faster.
    Optional<Comparison> take(Store store) {
        Comparison mine = with(new Held(store.newId(), store.clock().instant().plus(HELD)), attempts + 1);
        boolean taken = store.retriedIf(() -> store.client()
                .putItem(request -> request.tableName(store.tables().rows())
                        .item(mine.item())
                        .conditionExpression("attribute_not_exists(k) OR h = :h AND u = :u")
                        .expressionAttributeValues(Map.of(
                                ":h", AttributeValue.fromS(held.token()),
                                ":u", Items.number(held.until().toEpochMilli())))));
        return taken || isTaken(store, mine) ? Optional.of(mine) : Optional.empty();
    }

    /// An answer may have been lost.
    private static boolean isTaken(Store store, Comparison mine) {
        return find(store)
                .map(found -> found.held.token().equals(mine.held.token()))
                .orElse(false);
    }

    /// Writes what is said now, if this invocation still has it.
    ///
    /// @throws IllegalStateException if another one has taken it, because nothing was heard of this one
    Comparison save(Store store) {
        Instant until =
                held.until().equals(NEVER) ? NEVER : store.clock().instant().plus(HELD);
        Map<String, AttributeValue> item =
                with(new Held(held.token(), until), attempts).item();
        boolean saved = store.retriedIf(() -> store.client()
                .putItem(request -> request.tableName(store.tables().rows())
                        .item(item)
                        .conditionExpression("h = :h")
                        .expressionAttributeValues(Map.of(":h", AttributeValue.fromS(held.token())))));
        if (!saved) {
            throw lost();
        }
        return this;
    }

    /// Holds it for longer.
    ///
    /// @throws IllegalStateException if another one has taken it, because nothing was heard of this one
    void renew(Store store) {
        AttributeValue until = Items.number(store.clock().instant().plus(HELD).toEpochMilli());
        boolean renewed = store.retriedIf(() -> store.client()
                .updateItem(request -> request.tableName(store.tables().rows())
                        .key(key())
                        .updateExpression("SET u = :u")
                        .conditionExpression("h = :h AND u > :zero")
                        .expressionAttributeValues(Map.of(
                                ":u", until, ":h", AttributeValue.fromS(held.token()), ":zero", Items.number(0)))));
        if (!renewed) {
            throw lost();
        }
    }

    private static IllegalStateException lost() {
        return new IllegalStateException("Another invocation compares now, because nothing was heard of this one for "
                + HELD.toMinutes() + " minutes");
    }

    /// Lets the next wake-up begin a comparison at once.
    ///
    /// @return whether it will; not if one is under way
    public static boolean begin(Store store) {
        return store.retriedIf(() -> store.client()
                .updateItem(request -> request.tableName(store.tables().rows())
                        .key(key())
                        .updateExpression("SET x = :zero, f = :none")
                        .conditionExpression("attribute_exists(k) AND attribute_not_exists(b) AND u < :now")
                        .expressionAttributeValues(Map.of(
                                ":zero", Items.number(0),
                                ":none", AttributeValue.fromS(""),
                                ":now", Items.number(store.clock().millis())))));
    }

    private Comparison with(Held holder, int tries) {
        return new Comparison(of, holder, since, next, failure, tries, work, last);
    }

    /// Given back, as if this attempt had not been.
    Comparison released(int before) {
        return with(new Held(held.token(), NEVER), before);
    }

    /// Further in the one that is under way.
    Comparison with(Work now) {
        return new Comparison(of, held, since, next, failure, 0, now, last);
    }

    /// Failed, until it is tried again.
    Comparison failed(String why, Instant again) {
        return new Comparison(of, new Held(held.token(), NEVER), since, again, why, 0, null, last);
    }

    /// Complete.
    Comparison complete(Result result, Instant again) {
        return new Comparison(of, new Held(held.token(), NEVER), since, again, "", 0, null, result);
    }

    private Map<String, AttributeValue> item() {
        Map<String, AttributeValue> item = new TreeMap<>(key());
        item.put("s", AttributeValue.fromS(of.source()));
        item.put("r", AttributeValue.fromBool(of.repairs()));
        item.put("i", AttributeValue.fromS(of.rows()));
        item.put("h", AttributeValue.fromS(held.token()));
        item.put("u", Items.number(held.until().toEpochMilli()));
        item.put("y", Items.number(since.toEpochMilli()));
        item.put("x", Items.number(next.toEpochMilli()));
        item.put("f", AttributeValue.fromS(failure));
        item.put("a", Items.number(attempts));
        if (work != null) {
            item.put("b", Items.number(work.begun().toEpochMilli()));
            item.put("w", work.slicing().item());
            item.put("c", work.tally().item());
        }
        if (last != null) {
            item.put("d", Items.number(last.ended().toEpochMilli()));
            item.put("l", last.tally().item());
        }
        return item;
    }

    private static Instant at(Map<String, AttributeValue> item, String name) {
        return Instant.ofEpochMilli(Items.number(item, name));
    }

    private static Comparison of(Map<String, AttributeValue> item) {
        Work work = item.containsKey("b")
                ? new Work(
                        at(item, "b"),
                        Slicing.of(Items.require(item, "w").m()),
                        Tally.of(Items.require(item, "c").m()))
                : null;
        Result last = item.containsKey("d")
                ? new Result(at(item, "d"), Tally.of(Items.require(item, "l").m()))
                : null;
        return new Comparison(
                new Of(Items.text(item, "s"), Items.require(item, "r").bool(), Items.text(item, "i")),
                new Held(Items.text(item, "h"), at(item, "u")),
                at(item, "y"),
                at(item, "x"),
                Items.text(item, "f"),
                (int) Items.number(item, "a"),
                work,
                last);
    }
}
