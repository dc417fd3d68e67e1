package dev.onefold.aws.publication;

import dev.onefold.aws.item.Items;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// The item of a published table that says of which cut the others are. A writer claims the next cut in it first, and
/// each of its transactions checks that this claim is the last one. So nobody who has claimed an earlier cut writes
/// anything any more, however late the requests arrive.
///
///     item = id ":onefold", claimed the last cut that was claimed, writer a name of the claim, deadline until when
///            others leave it alone, totals whose they are, failure why the claim has ended, if it has failed; of
///            the last cut that was written whole: cut, cut_at, made_of
///
/// @param claimed 0 if no cut was
/// @param writer a name that each claim has for itself
/// @param deadline of the claim
/// @param totals the table of totals of the deployment that publishes here; empty if no cut was claimed
/// @param failure empty while the claim goes on, and when its cut is whole
/// @param cut 0 if none was written whole
/// @param at all that was written to the totals before is in that cut
/// @param madeOf the totals of that cut: see [#madeOf(String, int, List, String)]
record Mark(
        long claimed,
        String writer,
        Instant deadline,
        String totals,
        String failure,
        long cut,
        Instant at,
        String madeOf) {
    static final String ID = ":onefold";
    static final String CUT = "cut";
    static final String CUT_AT = "cut_at";

    /// The condition of every request of a claim: the claim is still the last one.
    static final String IS_LAST = "claimed = :claimed AND writer = :writer";

    private static final String CLAIMED = "claimed";
    private static final String WRITER = "writer";
    private static final String DEADLINE = "deadline";
    private static final String MADE_OF = "made_of";
    private static final String TOTALS = "totals";
    private static final String FAILURE = "failure";

    /// So many claims in a row may end without a cut before the next ones wait.
    private static final int UNFINISHED_MAX = 5;

    private static final int REST_MINUTES_MAX = 15;

    /// The mark that an item holds; all zero for no item.
    static Mark of(Map<String, AttributeValue> item) {
        if (item.isEmpty()) {
            return new Mark(0, "", Instant.EPOCH, "", "", 0, Instant.EPOCH, "");
        }
        boolean isWhole = item.containsKey(CUT);
        return new Mark(
                Items.number(item, CLAIMED),
                Items.text(item, WRITER),
                Instant.ofEpochMilli(Items.number(item, DEADLINE)),
                Items.text(item, TOTALS),
                item.containsKey(FAILURE) ? Items.text(item, FAILURE) : "",
                isWhole ? Items.number(item, CUT) : 0,
                isWhole ? Instant.parse(Items.text(item, CUT_AT)) : Instant.EPOCH,
                isWhole ? Items.text(item, MADE_OF) : "");
    }

    static Map<String, AttributeValue> key() {
        return PublishedItems.key(ID);
    }

    /// Names totals: equal names are equal items.
    ///
    /// @param lasts the last commit of each lane
    /// @param shape how items are made of totals
    static String madeOf(String incarnation, int view, List<Long> lasts, String shape) {
        return String.join("/", incarnation, String.valueOf(view), lasts.toString(), shape);
    }

    /// Whether somebody is writing the cut that was claimed last.
    boolean isUnderWay(Instant now) {
        return claimed != cut && failure.isEmpty() && deadline.isAfter(now);
    }

    /// Until when nobody tries again: a claim has said so at its end, or many in a row have ended without a cut.
    Instant restsUntil() {
        long unfinished = claimed - cut;
        if (unfinished >= UNFINISHED_MAX) {
            return deadline.plus(Duration.ofMinutes(Math.min(unfinished - UNFINISHED_MAX + 1, REST_MINUTES_MAX)));
        }
        return failure.isEmpty() ? Instant.EPOCH : deadline;
    }

    /// The claim of the next cut.
    Mark next(String by, Instant until, String of) {
        return new Mark(claimed + 1, by, until, of, "", cut, at, madeOf);
    }

    /// The same when it has failed.
    ///
    /// @param until when nobody tries again
    Mark failed(String why, Instant until) {
        return new Mark(claimed, writer, until, totals, why, cut, at, madeOf);
    }

    /// The same when all of the claimed cut is written.
    Mark whole(Instant of, String made) {
        return new Mark(claimed, writer, deadline, totals, "", claimed, of, made);
    }

    /// Whether this is the claim of another mark, whatever became of it.
    boolean isClaimOf(Mark other) {
        return claimed == other.claimed && writer.equals(other.writer);
    }

    /// The values of [#IS_LAST].
    Map<String, AttributeValue> claim() {
        return Map.of(":claimed", Items.number(claimed), ":writer", AttributeValue.fromS(writer));
    }

    /// The condition that this mark is still there, for what takes its place.
    String isUnmoved() {
        if (claimed == 0) {
            return "attribute_not_exists(" + CLAIMED + ")";
        }
        return IS_LAST + (cut == 0 ? " AND attribute_not_exists(cut)" : " AND cut = :cut");
    }

    /// The values of [#isUnmoved] for a claim.
    Map<String, AttributeValue> claimAndCut() {
        Map<String, AttributeValue> values = new TreeMap<>(claim());
        if (cut > 0) {
            values.put(":cut", Items.number(cut));
        }
        return values;
    }

    /// The item of this mark.
    Map<String, AttributeValue> item() {
        Map<String, AttributeValue> item = new TreeMap<>(key());
        item.put(CLAIMED, Items.number(claimed));
        item.put(WRITER, AttributeValue.fromS(writer));
        item.put(DEADLINE, Items.number(deadline.toEpochMilli()));
        item.put(TOTALS, AttributeValue.fromS(totals));
        if (!failure.isEmpty()) {
            item.put(FAILURE, AttributeValue.fromS(failure));
        }
        if (cut > 0) {
            item.put(CUT, Items.number(cut));
            item.put(CUT_AT, AttributeValue.fromS(at.toString()));
            item.put(MADE_OF, AttributeValue.fromS(madeOf));
        }
        return item;
    }
}
