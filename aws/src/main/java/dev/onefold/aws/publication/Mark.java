package dev.onefold.aws.publication;

import dev.onefold.aws.item.Items;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// The item of a published table that says of which cut the others are. A writer claims the next cut in it
/// first.
///
///     item = id ":onefold", claimed the last cut that was claimed, writer a name of the claim, deadline until
///            when others leave it alone, totals whose they are, toward the commits that the claim brings the
///            items to, rewrites if there, failure why the claim has ended, if it has failed; of the last cut
///            that was written whole: cut, cut_at, made_of, reached
///
/// @param claim the last one
/// @param totals the table of totals of the deployment that publishes here; empty if no cut was claimed
/// @param failure empty while the claim goes on, and when its cut is whole
/// @param whole the last cut that was written whole
record Mark(Claim claim, String totals, String failure, Whole whole) {
    static final String ID = ":onefold";
    static final String CUT = "cut";
    static final String CUT_AT = "cut_at";

    /// The condition of a transaction of a claim: it is still the last one.
    static final String IS_LAST = "claimed = :claimed AND writer = :writer";

    private static final String CLAIMED = "claimed";
    private static final String WRITER = "writer";
    private static final String DEADLINE = "deadline";
    private static final String TOWARD = "toward";
    private static final String REWRITES = "rewrites";
    private static final String MADE_OF = "made_of";
    private static final String REACHED = "reached";
    private static final String TOTALS = "totals";
    private static final String FAILURE = "failure";

    /// So many claims in a row may end without a cut before the next ones wait.
    private static final int UNFINISHED_MAX = 5;

    private static final int REST_MINUTES_MAX = 15;

    /// An instant of the totals.
    ///
    /// @param commits the last one of each lane
    /// @param at all that was written to the totals before is in them
    record Target(List<Long> commits, Instant at) {
        static final Target NONE = new Target(List.of(), Instant.EPOCH);

        private static Target of(String commits, Instant at) {
            return new Target(
                    commits.isEmpty()
                            ? List.of()
                            : Arrays.stream(commits.split(",", -1))
                                    .map(Long::valueOf)
                                    .toList(),
                    at);
        }

        private String text() {
            return commits.stream().map(String::valueOf).collect(Collectors.joining(","));
        }
    }

    /// @param cut 0 if no cut was claimed
    /// @param writer a name that each claim has for itself
    /// @param deadline until when others leave it alone
    /// @param toward what it adds the commits up to; none if it compares all items
    /// @param rewrites whether it writes also what is equal, so that nothing of a claim before is written any
    ///     more
    record Claim(long cut, String writer, Instant deadline, Target toward, boolean rewrites) {
        boolean isOfCommits() {
            return !toward.commits.isEmpty();
        }
    }

    /// @param cut 0 if none was written whole
    /// @param madeOf of whose totals, and how: see [#madeOf]
    /// @param reached what the items are of
    record Whole(long cut, String madeOf, Target reached) {}

    /// The mark that an item holds; all zero for no item.
    static Mark of(Map<String, AttributeValue> item) {
        if (item.isEmpty()) {
            return new Mark(new Claim(0, "", Instant.EPOCH, Target.NONE, false), "", "", new Whole(0, "", Target.NONE));
        }
        String[] toward = text(item, TOWARD).split("@", -1);
        return new Mark(
                new Claim(
                        Items.number(item, CLAIMED),
                        Items.text(item, WRITER),
                        Instant.ofEpochMilli(Items.number(item, DEADLINE)),
                        toward.length < 2 ? Target.NONE : Target.of(toward[0], Instant.parse(toward[1])),
                        item.containsKey(REWRITES)),
                Items.text(item, TOTALS),
                text(item, FAILURE),
                item.containsKey(CUT)
                        ? new Whole(
                                Items.number(item, CUT),
                                Items.text(item, MADE_OF),
                                Target.of(text(item, REACHED), Instant.parse(Items.text(item, CUT_AT))))
                        : new Whole(0, "", Target.NONE));
    }

    private static String text(Map<String, AttributeValue> item, String name) {
        return item.containsKey(name) ? Items.text(item, name) : "";
    }

    static Map<String, AttributeValue> key() {
        return PublishedItems.key(ID);
    }

    /// Names totals: items of one name are added to, others are compared.
    ///
    /// @param shape how items are made of totals
    static String madeOf(String incarnation, int view, String shape) {
        return String.join("/", incarnation, String.valueOf(view), shape);
    }

    boolean isWhole() {
        return claim.cut == whole.cut;
    }

    /// Whether somebody is writing the cut that was claimed last.
    boolean isUnderWay(Instant now) {
        return !isWhole() && failure.isEmpty() && claim.deadline.isAfter(now);
    }

    /// Until when nobody tries again: a claim has said so at its end, or many in a row have ended without a
    /// cut.
    Instant restsUntil() {
        long unfinished = claim.cut - whole.cut;
        if (unfinished >= UNFINISHED_MAX) {
            return claim.deadline.plus(Duration.ofMinutes(Math.min(unfinished - UNFINISHED_MAX + 1, REST_MINUTES_MAX)));
        }
        return failure.isEmpty() ? Instant.EPOCH : claim.deadline;
    }

    /// The claim of the next cut, which adds commits.
    Mark next(String by, Instant until, String of, Target toward) {
        return new Mark(new Claim(claim.cut + 1, by, until, toward, false), of, "", whole);
    }

    /// The claim of the next cut, which compares all items.
    Mark next(String by, Instant until, String of) {
        boolean rewrites = !isWhole() && (claim.isOfCommits() || claim.rewrites);
        return new Mark(new Claim(claim.cut + 1, by, until, Target.NONE, rewrites), of, "", whole);
    }

    /// The same when it has failed.
    ///
    /// @param until when nobody tries again
    Mark failed(String why, Instant until) {
        return new Mark(new Claim(claim.cut, claim.writer, until, claim.toward, claim.rewrites), totals, why, whole);
    }

    /// The same when all of the claimed cut is written.
    Mark whole(String madeOf, Target reached) {
        return new Mark(
                new Claim(claim.cut, claim.writer, claim.deadline, Target.NONE, false),
                totals,
                "",
                new Whole(claim.cut, madeOf, reached));
    }

    /// Whether this is the claim of another mark, whatever became of it.
    boolean isClaimOf(Mark other) {
        return claim.cut == other.claim.cut && claim.writer.equals(other.claim.writer);
    }

    /// The values of [#IS_LAST].
    Map<String, AttributeValue> claimed() {
        return Map.of(":claimed", Items.number(claim.cut), ":writer", AttributeValue.fromS(claim.writer));
    }

    /// The condition that this mark is still there, for what takes its place.
    String isUnmoved() {
        if (claim.cut == 0) {
            return "attribute_not_exists(" + CLAIMED + ")";
        }
        return IS_LAST + (whole.cut == 0 ? " AND attribute_not_exists(cut)" : " AND cut = :cut");
    }

    /// The values of [#isUnmoved] for a claim.
    Map<String, AttributeValue> claimedAndCut() {
        Map<String, AttributeValue> values = new TreeMap<>(claimed());
        if (whole.cut > 0) {
            values.put(":cut", Items.number(whole.cut));
        }
        return values;
    }

    /// The item of this mark.
    Map<String, AttributeValue> item() {
        Map<String, AttributeValue> item = new TreeMap<>(key());
        item.put(CLAIMED, Items.number(claim.cut));
        item.put(WRITER, AttributeValue.fromS(claim.writer));
        item.put(DEADLINE, Items.number(claim.deadline.toEpochMilli()));
        item.put(TOTALS, AttributeValue.fromS(totals));
        if (claim.isOfCommits()) {
            item.put(TOWARD, AttributeValue.fromS(claim.toward.text() + "@" + claim.toward.at));
        }
        if (claim.rewrites) {
            item.put(REWRITES, AttributeValue.fromBool(true));
        }
        if (!failure.isEmpty()) {
            item.put(FAILURE, AttributeValue.fromS(failure));
        }
        if (whole.cut > 0) {
            item.put(CUT, Items.number(whole.cut));
            item.put(CUT_AT, AttributeValue.fromS(whole.reached.at.toString()));
            item.put(MADE_OF, AttributeValue.fromS(whole.madeOf));
            item.put(REACHED, AttributeValue.fromS(whole.reached.text()));
        }
        return item;
    }
}
