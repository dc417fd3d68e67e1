package dev.onefold.aws.reduce;

import dev.onefold.aws.item.Header;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.TotalsKey;
import dev.onefold.aws.store.Queries;
import dev.onefold.aws.store.Store;
import dev.onefold.core.map.Delta;
import dev.onefold.core.map.DeltaBytes;
import dev.onefold.core.map.ViewDeltas;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;

/// The commits of a view, for a reader who adds them up elsewhere: what each of them has added, written in its
/// own transaction. An item names the commit before it. So a commit that is missing is noticed: it was made
/// while nobody logged or by code that does not log, its item has expired, or a restored table lacks it.
///
///     item = p view "/" lane, g FF and n as eight bytes, b the last commit before n, e epoch, a what was
///            added, ttl when it may be deleted
///
/// It lies in the stripe of its view, and goes with it. The service deletes an item some time after [#KEPT], at
/// no charge.
public final class CommitLog {
    /// A reader that is further behind reads all totals again.
    private static final Duration KEPT = Duration.ofDays(4);

    /// So many commits are logged without a word from a reader.
    private static final long COMMITS_MAX = 1_000_000;

    /// To read more of them takes longer than to read all totals.
    private static final long COMMITS_READ_MAX = 200_000;

    private static final String BEFORE = "b";
    private static final String EPOCH = "e";
    private static final String AMOUNTS = "a";
    private static final String EXPIRES = "ttl";

    private final Store store;
    private final int view;

    private record Entry(long commit, long before, long epoch, Delta delta) {}

    public CommitLog(Store store, int view) {
        this.store = store;
        this.view = view;
    }

    private static Map<String, AttributeValue> key(int view, int lane, long commit) {
        return TotalsKey.of(TotalsKey.partition(view, lane), sortKey(commit));
    }

    private static byte[] sortKey(long commit) {
        return ByteBuffer.allocate(1 + Long.BYTES)
                .put((byte) 0xff)
                .putLong(commit)
                .array();
    }

    /// The item of the commit that follows this header; empty if it is not logged.
    static Optional<Map<String, AttributeValue>> item(Header header, ViewDeltas added, Instant now) {
        Header.Logging logging = header.logging();
        long commit = header.commits() + 1;
        if (logging == null || commit > logging.to()) {
            return Optional.empty();
        }
        TreeMap<Integer, Delta> ofView = new TreeMap<>(added.byView());
        ofView.keySet().removeIf(each -> each != logging.view());
        Map<String, AttributeValue> item = new TreeMap<>(key(logging.view(), header.lane(), commit));
        item.put(BEFORE, Items.number(header.last()));
        item.put(EPOCH, Items.number(header.epoch()));
        item.put(AMOUNTS, Items.bytes(DeltaBytes.of(new ViewDeltas(ofView))));
        item.put(EXPIRES, Items.number(now.plus(KEPT).getEpochSecond()));
        return Optional.of(item);
    }

    /// Has all commits logged from now on, on condition that nobody has begun another incarnation.
    ///
    /// @param headers as they were read, of all lanes
    public void keep(List<Header> headers) {
        List<Header> ending = headers.stream().filter(this::isEnding).toList();
        store.threads()
                .each(
                        ending,
                        header -> store.retriedIf(() -> store.client()
                                .updateItem(request -> request.tableName(
                                                store.tables().totals())
                                        .key(Header.keyOf(header.lane()))
                                        .updateExpression(
                                                "SET v = :view, y = n + :most ADD n :one") // A commit under way is
                                        // refused.
                                        .conditionExpression("i = :i")
                                        .expressionAttributeValues(Map.of(
                                                ":view", Items.number(view),
                                                ":most", Items.number(COMMITS_MAX),
                                                ":one", Items.number(1),
                                                ":i", AttributeValue.fromS(header.incarnation()))))));
    }

    private boolean isEnding(Header header) {
        Header.Logging logging = header.logging();
        return logging == null || logging.view() != view || logging.to() - header.commits() < COMMITS_MAX / 2;
    }

    /// What was added by the commits from one cut to a later one; empty if not all of them are there.
    ///
    /// @param from the last commit of each lane
    /// @param to all of whose commits are visible
    public Optional<Map<Delta.Cell, Delta.Sums>> between(List<Long> from, List<Long> to) {
        if (from.size() != to.size() || sum(to) - sum(from) > COMMITS_READ_MAX) {
            return Optional.empty();
        }
        Map<Delta.Cell, Delta.Sums> sums = new HashMap<>();
        List<Boolean> whole = store.threads().all(to.size(), lane -> {
            long[] last = {from.get(lane)};
            boolean[] isWhole = {true};
            read(lane, from.get(lane), to.get(lane), entry -> {
                isWhole[0] &= entry.before == last[0];
                last[0] = entry.commit;
                synchronized (sums) {
                    entry.delta.cells().forEach((cell, some) -> sums.merge(cell, some, Delta.Sums::plus));
                }
            });
            return isWhole[0] && last[0] == to.get(lane);
        });
        return whole.contains(false) ? Optional.empty() : Optional.of(sums);
    }

    private static long sum(List<Long> commits) {
        return commits.stream().mapToLong(Long::longValue).sum();
    }

    /// The last commit of each lane in an epoch that is closed; empty if the log lacks a commit.
    ///
    /// @param from last commits in that epoch or before it
    /// @param now last commits that were read after the epoch was closed, and are visible
    public Optional<List<Long>> lasts(List<Long> from, long epoch, List<Long> now) {
        if (from.size() != now.size()) {
            return Optional.empty();
        }
        List<Optional<Long>> lasts = store.threads().all(from.size(), lane -> {
            long[] last = {from.get(lane)};
            long[] read = {from.get(lane)};
            boolean[] isWhole = {true};
            read(lane, from.get(lane), Long.MAX_VALUE - 1, entry -> {
                isWhole[0] &= entry.before == read[0];
                read[0] = entry.commit;
                if (entry.epoch <= epoch) {
                    last[0] = entry.commit;
                }
            });
            return isWhole[0] && read[0] >= now.get(lane) ? Optional.of(last[0]) : Optional.empty();
        });
        return lasts.contains(Optional.<Long>empty())
                ? Optional.empty()
                : Optional.of(lasts.stream().flatMap(Optional::stream).toList());
    }

    /// Reads the commits of a lane that were logged, in their order.
    private void read(int lane, long after, long to, Consumer<Entry> reader) {
        if (after >= to) {
            return;
        }
        QueryRequest request = QueryRequest.builder()
                .tableName(store.tables().totals())
                .keyConditionExpression("p = :p AND g BETWEEN :from AND :to")
                .expressionAttributeValues(Map.of(
                        ":p", AttributeValue.fromS(TotalsKey.partition(view, lane)),
                        ":from", Items.bytes(sortKey(after + 1)),
                        ":to", Items.bytes(sortKey(to))))
                .consistentRead(true)
                .build();
        Queries.pages(store, request, page -> {
            page.items().forEach(item -> reader.accept(entry(item)));
            return true;
        });
    }

    private Entry entry(Map<String, AttributeValue> item) {
        ViewDeltas deltas = DeltaBytes.read(Items.bytes(item, AMOUNTS));
        return new Entry(
                ByteBuffer.wrap(Items.bytes(item, TotalsKey.GROUP)).getLong(1),
                Items.number(item, BEFORE),
                Items.number(item, EPOCH),
                deltas.byView().getOrDefault(view, Delta.NOTHING));
    }
}
