package dev.onefold.aws.item;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// A lane's header: each commit of the lane moves it, so that two reducers of one lane cannot both commit on what they
/// read. All headers have the same epoch at every instant; a reader closes it in one transaction over all of them, and
/// that is the cut of its answer.
///
/// The items of a transaction become visible one after the other. So a header names the items that its last commit
/// wrote until that commit's writer knows that all of them are visible: a reader who sees this header waits for
/// these items, and the next commit is sent by nobody before. All commits before the last one are visible, whole.
///
///     item = p "headers", g lane 2, i incarnation, n commits and closings, e epoch, c the n of the last commit, and
///            while that may be visible in part: u per view the sort keys of the items that it wrote; t when the
///            epoch before was closed, and a what its cut covers; w the epoch, if a reader waits for the commits
///            to pause, to close it; h an epoch that was closed and is held for a reader, o when it was closed,
///            k what its cut covers, and x until when it is held; v the view whose commits are logged, and y
///            the last n of which they are
///
/// @param incarnation in which the totals are added to
/// @param last the last commit
/// @param touched keys of the items that it wrote; none if all of them are visible
/// @param closing of the epoch before; `null` if this is the first one
/// @param isAsked whether a reader waits to close the epoch
/// @param hold the last one, which may be over; `null` if there was none
/// @param logging `null` if commits are not logged
public record Header(
        int lane,
        String incarnation,
        long commits,
        long epoch,
        long last,
        List<Map<String, AttributeValue>> touched,
        @Nullable Closing closing,
        boolean isAsked,
        @Nullable Hold hold,
        @Nullable Logging logging) {
    public static final String COMMITS = "n";
    public static final String EPOCH = "e";
    public static final String LAST = "c";
    public static final String TOUCHED = "u";
    public static final String CLOSED = "t";
    public static final String COVERS = "a";
    public static final String ASKED = "w";
    public static final String HELD = "h";
    public static final String HELD_FROM = "o";
    public static final String HELD_COVERS = "k";
    public static final String HELD_UNTIL = "x";
    public static final String LOGGED = "v";
    public static final String LOGGED_TO = "y";
    public static final String PARTITION = "headers";

    /// How an epoch was closed.
    ///
    /// @param at when; it says how old the cut is, and decides nothing about totals
    /// @param covers all that was written before is in the cut
    public record Closing(Instant at, Instant covers) {}

    /// An epoch whose end a reader needs for long. A hold stops nobody, and decides nothing about totals.
    ///
    /// @param epoch the one that was closed
    /// @param begun when it was closed
    /// @param covers all that was written before is in its cut
    /// @param until when it ends, unless it is renewed
    public record Hold(long epoch, Instant begun, Instant covers, Instant until) {}

    /// Each commit leaves a copy of what it adds to a view, for the published table.
    ///
    /// @param to the greatest [Header#commits] of a commit that does; so a log that nobody reads any more ends
    public record Logging(int view, long to) {}

    public Header {
        touched = List.copyOf(touched);
    }

    /// The header of a lane that has had no commit.
    public static Header first(int lane, String incarnation) {
        return new Header(lane, incarnation, 0, 1, 0, List.of(), null, false, null, null);
    }

    /// The header that an item holds.
    public static Header of(Map<String, AttributeValue> item) {
        byte[] lane = Items.bytes(item, TotalsKey.GROUP);
        int number = (lane[0] & 0xff) << 8 | lane[1] & 0xff;
        List<Map<String, AttributeValue>> touched = new ArrayList<>();
        if (item.containsKey(TOUCHED)) {
            item.get(TOUCHED)
                    .m()
                    .forEach((view, sortKeys) -> sortKeys.bs()
                            .forEach(sortKey -> touched.add(TotalsKey.of(
                                    TotalsKey.partition(Integer.parseInt(view), number), sortKey.asByteArray()))));
        }
        Closing closing = !item.containsKey(CLOSED)
                ? null
                : new Closing(
                        Instant.ofEpochMilli(Items.number(item, CLOSED)),
                        Instant.ofEpochMilli(Items.number(item, COVERS)));
        Hold hold = !item.containsKey(HELD)
                ? null
                : new Hold(
                        Items.number(item, HELD),
                        Instant.ofEpochMilli(Items.number(item, HELD_FROM)),
                        Instant.ofEpochMilli(Items.number(item, HELD_COVERS)),
                        Instant.ofEpochMilli(Items.number(item, HELD_UNTIL)));
        Logging logging = !item.containsKey(LOGGED)
                ? null
                : new Logging((int) Items.number(item, LOGGED), Items.number(item, LOGGED_TO));
        return new Header(
                number,
                Items.text(item, Incarnation.ID),
                Items.number(item, COMMITS),
                Items.number(item, EPOCH),
                Items.number(item, LAST),
                touched,
                closing,
                item.containsKey(ASKED),
                hold,
                logging);
    }

    /// The epoch whose values commits keep; none if no reader holds one.
    public OptionalLong held(Instant now) {
        return hold == null || !hold.until().isAfter(now) ? OptionalLong.empty() : OptionalLong.of(hold.epoch());
    }

    /// The value of the attribute [#TOUCHED] for items of these keys.
    public static AttributeValue touched(Collection<Map<String, AttributeValue>> keys) {
        TreeMap<String, List<SdkBytes>> views = new TreeMap<>();
        for (Map<String, AttributeValue> key : keys) {
            String view = Integer.toString(TotalsKey.view(Items.text(key, TotalsKey.PARTITION)));
            views.computeIfAbsent(view, _ -> new ArrayList<>())
                    .add(Items.require(key, TotalsKey.GROUP).b());
        }
        TreeMap<String, AttributeValue> sets = new TreeMap<>();
        views.forEach((view, sortKeys) -> sets.put(view, AttributeValue.fromBs(sortKeys)));
        return AttributeValue.fromM(sets);
    }

    /// The item of a header that names nothing.
    public Map<String, AttributeValue> item() {
        Map<String, AttributeValue> item = new TreeMap<>(keyOf(lane));
        item.put(Incarnation.ID, AttributeValue.fromS(incarnation));
        item.put(COMMITS, Items.number(commits));
        item.put(EPOCH, Items.number(epoch));
        item.put(LAST, Items.number(last));
        return item;
    }

    /// The key of a lane's header.
    public static Map<String, AttributeValue> keyOf(int lane) {
        return TotalsKey.of(PARTITION, new byte[] {(byte) (lane >> 8), (byte) lane});
    }
}
