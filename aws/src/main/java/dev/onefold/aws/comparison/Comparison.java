package dev.onefold.aws.comparison;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.store.Store;
import dev.onefold.tables.compare.Finding.Kind;
import dev.onefold.tables.compare.Finding.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// The state of the repeated comparison in the tables. One invocation at a time works on it: it puts a token of
/// its own into the item, and writes on condition that the token is still there. It numbers its writes, and each
/// write is on condition that the one before it is there: a request that arrives late, after it was sent again,
/// changes nothing.
///
///     item = k 00 "comparison", s source, r whether it repairs, i incarnation and view, h token of the last holder,
///            q number of its last write, u until when it is held (0: not), y first seen, x when the next one begins,
///            f why the last one failed, a invocations in a row that came to nothing,
///            p repairs and g removals of those that failed since the last complete one,
///            b begin, t id of the source's table, w slicing, c tally: of the one that is under way;
///            d end, l tally: of the last complete one
///
/// @param of the source and the rows that are compared
/// @param held the invocation that works on it
/// @param since time at which a function looked first at this source, or the last comparison of other rows of it
///     ended
/// @param next time at which the next comparison begins
/// @param failure reason why the last comparison failed; empty if it did not
/// @param attempts number of invocations in a row that came to nothing
/// @param unended repairs by comparisons that did not come to their end, since the last one that did
/// @param work comparison that is under way; `null` if none is
/// @param last result of the last complete comparison; `null` if there is none
public record Comparison(
        Of of,
        Held held,
        Instant since,
        Instant next,
        String failure,
        int attempts,
        Unended unended,
        @Nullable Work work,
        @Nullable Result last) {
    /// How long an invocation is taken to run of which nothing is heard.
    public static final Duration HELD = Duration.ofMinutes(2);

    private static final Instant NEVER = Instant.EPOCH;

    /// A person's clock may be so far ahead, and what is asked for is due all the same.
    private static final Duration AHEAD = Duration.ofHours(1);

    /// The two sides of a comparison.
    ///
    /// @param source as in `dynamodb:Favourites`
    /// @param rows incarnation and view of the deployment
    public record Of(String source, boolean repairs, String rows) {}

    /// The hold of the invocation that works on it.
    ///
    /// @param writes number of the last write
    record Held(String token, long writes, Instant until) {
        static final Held NOBODY = new Held("", 0, NEVER);
    }

    /// The repairs of comparisons that did not come to their end.
    ///
    /// @param repairs number of repairs that were begun
    /// @param removals number of removals that are known to be in: a limit for all rows counts them
    record Unended(long repairs, long removals) {
        static final Unended NOTHING = new Unended(0, 0);
    }

    /// A comparison that is under way.
    ///
    /// @param table id of the source's table
    record Work(Instant begun, String table, Slicing slicing, Tally tally) {
        Work with(Slicing other) {
            return new Work(begun, table, other, tally);
        }
    }

    /// A comparison that is complete.
    public record Result(Instant ended, Tally tally) {}

    private static Map<String, AttributeValue> key() {
        return RowItem.other("comparison");
    }

    /// The comparison as stored in the tables; empty if no function has looked yet.
    public static Optional<Comparison> find(Store store) {
        Map<String, AttributeValue> item = store.get(store.tables().rows(), key());
        return item.isEmpty() ? Optional.empty() : Optional.of(of(item));
    }

    /// The one of these settings: what others have begun is no part of it. A failure of others with the same source
    /// stays until a comparison has come to its end, and so does the time since when there was none.
    static Comparison of(Store store, Of wanted) {
        Optional<Comparison> found = find(store);
        if (found.isEmpty()) {
            return first(wanted, Held.NOBODY, now(store));
        }
        Comparison last = found.get();
        if (last.of.equals(wanted)) {
            return last;
        }
        if (!last.of.source().equals(wanted.source())) {
            return first(wanted, last.held, now(store));
        }
        Unended unended = last.unendedBy(last.work == null ? Tally.NONE : last.work.tally());
        return new Comparison(wanted, last.held, last.lastEnd(), NEVER, last.failure, 0, unended, null, null);
    }

    /// To the millisecond, as it is written.
    private static Instant now(Store store) {
        return Instant.ofEpochMilli(store.clock().millis());
    }

    private static Comparison first(Of wanted, Held held, Instant now) {
        return new Comparison(wanted, held, now, NEVER, "", 0, Unended.NOTHING, null, null);
    }

    /// Notes when a function looked first, if none has yet.
    void noteFirst(Store store) {
        store.retriedIf(() -> store.client()
                .putItem(request -> request.tableName(store.tables().rows())
                        .item(item())
                        .conditionExpression("attribute_not_exists(k)")));
    }

    /// The repairs that will not be in the numbers of a complete comparison, as far as they are known.
    ///
    /// @param seen tally of the comparison that does not end
    Unended unendedBy(Tally seen) {
        if (work == null) {
            return unended;
        }
        Slicing slicing = work.slicing();
        long removed =
                seen.count(Kind.GHOST, Outcome.REPAIRED) + slicing.begun().ghosts();
        // Rows that the source has and that contribute nothing are no part of the limit, though repaired as well.
        long lacking = slicing.ghosts() - unended.removals() + slicing.begun().ghosts();
        return new Unended(
                work.tally().unended()
                        + work.tally().repaired()
                        + slicing.begun().repairs(),
                unended.removals() + Math.min(removed, lacking));
    }

    /// Whether somebody works on it.
    public boolean isHeld(Instant now) {
        return held.until().isAfter(now);
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
        Comparison mine = with(new Held(store.newId(), 0, now(store).plus(HELD)), attempts + 1);
        boolean taken = store.retriedIf(() -> store.client()
                .putItem(request -> request.tableName(store.tables().rows())
                        .item(mine.item())
                        .conditionExpression("attribute_not_exists(k) OR h = :h AND u = :u")
                        .expressionAttributeValues(Map.of(
                                ":h", AttributeValue.fromS(held.token()),
                                ":u", Items.number(held.until().toEpochMilli())))));
        return taken || isWritten(store, mine) ? Optional.of(mine) : Optional.empty();
    }

    /// Writes what is said now, if this invocation still has it.
    ///
    /// @return the same, as it is written
    /// @throws IllegalStateException if another one has taken it, because nothing was heard of this one
    Comparison save(Store store) {
        Instant until = held.until().equals(NEVER) ? NEVER : now(store).plus(HELD);
        Comparison mine = with(new Held(held.token(), held.writes() + 1, until), attempts);
        boolean saved = store.retriedIf(() -> store.client()
                .putItem(request -> request.tableName(store.tables().rows())
                        .item(mine.item())
                        .conditionExpression("h = :h AND q = :q")
                        .expressionAttributeValues(
                                Map.of(":h", AttributeValue.fromS(held.token()), ":q", Items.number(held.writes())))));
        if (!saved && !isWritten(store, mine)) {
            throw lost();
        }
        return mine;
    }

    /// An answer may have been lost. What was written may have been renewed since; its times are in milliseconds.
    private static boolean isWritten(Store store, Comparison mine) {
        Comparison wanted = of(mine.item());
        return find(store)
                .filter(found -> found.with(
                                new Held(found.held.token(), found.held.writes(), wanted.held.until()), found.attempts)
                        .equals(wanted))
                .isPresent();
    }

    /// Holds it for longer.
    ///
    /// @throws IllegalStateException if another one has taken it, because nothing was heard of this one
    void renew(Store store) {
        AttributeValue until = Items.number(now(store).plus(HELD).toEpochMilli());
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

    /// Lets the next wake-up begin a comparison at once. A failure stays until a comparison has come to its end.
    ///
    /// @return whether it will; not if one is under way
    public static boolean begin(Store store) {
        return store.retriedIf(() -> store.client()
                .updateItem(request -> request.tableName(store.tables().rows())
                        .key(key())
                        .updateExpression("SET x = :due, h = :h") // One that was taken for dead writes no more.
                        .conditionExpression("attribute_exists(k) AND attribute_not_exists(b) AND u < :now")
                        .expressionAttributeValues(Map.of(
                                ":due", Items.number(store.clock().millis() - AHEAD.toMillis()),
                                ":h", AttributeValue.fromS(store.newId()),
                                ":now", Items.number(store.clock().millis())))));
    }

    private Comparison with(Held holder, int tries) {
        return new Comparison(of, holder, since, next, failure, tries, unended, work, last);
    }

    private Held nobody() {
        return new Held(held.token(), held.writes(), NEVER);
    }

    /// Given back, as if this attempt had not been.
    Comparison released(int before) {
        return with(nobody(), before);
    }

    /// Further in the one that is under way.
    Comparison with(Work now) {
        return new Comparison(of, held, since, next, failure, 0, unended, now, last);
    }

    /// While a slice of the one that is under way is repaired.
    Comparison repairing(Work now) {
        return new Comparison(of, held, since, next, failure, attempts, unended, now, last);
    }

    /// From its beginning.
    Comparison anew(Unended before) {
        return new Comparison(of, held, since, next, failure, attempts, before, null, last);
    }

    /// Failed, until it is tried again.
    Comparison failed(String why, Instant again, Unended before) {
        return new Comparison(of, nobody(), since, again, why, 0, before, null, last);
    }

    /// Complete.
    Comparison complete(Result result, Instant again) {
        return new Comparison(of, nobody(), since, again, "", 0, Unended.NOTHING, null, result);
    }

    private Map<String, AttributeValue> item() {
        Map<String, AttributeValue> item = new TreeMap<>(key());
        item.put("s", AttributeValue.fromS(of.source()));
        item.put("r", AttributeValue.fromBool(of.repairs()));
        item.put("i", AttributeValue.fromS(of.rows()));
        item.put("h", AttributeValue.fromS(held.token()));
        item.put("q", Items.number(held.writes()));
        item.put("u", Items.number(held.until().toEpochMilli()));
        item.put("y", Items.number(since.toEpochMilli()));
        item.put("x", Items.number(next.toEpochMilli()));
        item.put("f", AttributeValue.fromS(failure));
        item.put("a", Items.number(attempts));
        item.put("p", Items.number(unended.repairs()));
        item.put("g", Items.number(unended.removals()));
        if (work != null) {
            item.put("b", Items.number(work.begun().toEpochMilli()));
            item.put("t", AttributeValue.fromS(work.table()));
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
                        Items.text(item, "t"),
                        Slicing.of(Items.require(item, "w").m()),
                        Tally.of(Items.require(item, "c").m()))
                : null;
        Result last = item.containsKey("d")
                ? new Result(at(item, "d"), Tally.of(Items.require(item, "l").m()))
                : null;
        return new Comparison(
                new Of(Items.text(item, "s"), Items.require(item, "r").bool(), Items.text(item, "i")),
                new Held(Items.text(item, "h"), Items.number(item, "q"), at(item, "u")),
                at(item, "y"),
                at(item, "x"),
                Items.text(item, "f"),
                (int) Items.number(item, "a"),
                new Unended(Items.number(item, "p"), Items.number(item, "g")),
                work,
                last);
    }
}
