package dev.onefold.aws.reduce;

import dev.onefold.aws.item.DeltaItem;
import dev.onefold.aws.item.Header;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.Stored;
import dev.onefold.aws.item.TotalsKey;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.store.BatchReads;
import dev.onefold.aws.store.Queries;
import dev.onefold.aws.store.SettledReads;
import dev.onefold.aws.store.Store;
import dev.onefold.core.map.ViewDeltas;
import dev.onefold.core.reduce.Commit;
import dev.onefold.core.reduce.DeltaId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.Delete;
import software.amazon.awssdk.services.dynamodb.model.Put;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.Update;

/// Brings the deltas of one lane into its stripe of the totals: all that are there when it begins, or as many as it has
/// time for. What comes meanwhile has woken another run, which goes on from there; so each run ends, however fast they
/// come. Where nothing came meanwhile, no other run may follow, so a run goes on when its time is over. What wakes it
/// does not matter, nor how many do it at once: each transaction deletes the deltas that it adds,
/// on condition that they are there, and moves the lane's header, on condition that nobody has since it was read. So
/// whoever comes late, or twice, or wakes up after minutes, changes nothing.
///
/// Before a commit is sent, the one before it is visible, whole; see [Header]. A delta of another incarnation than the
/// header's is deleted and added to nothing: what it is made of was in the rows when this incarnation began to fill its
/// totals from them, or is in no rows of this deployment.
public final class Reduce {
    private static final int DELTAS_READ_MAX = 200;
    private static final int ITEMS_MAX = 98; // Of the hundred, one is the lane's header, and one is for the log.
    private static final long BYTES_MAX = 2_000_000;
    private static final int ATTEMPTS_MAX = 30;
    private static final int GONE_MAX = 100_000;

    /// How long a run pauses at a time, and how often in a row, where a reader asks for it: a reader may have died.
    private static final Duration PAUSE = Duration.ofMillis(20);

    private static final int PAUSES_MAX = 15;
    private static final Duration FOREVER = Duration.ofDays(1);

    /// How long a run goes on as long as nothing new comes. Less than the least time-out of the function.
    private static final Duration OWN_MAX = Duration.ofSeconds(20);

    /// How far apart the times may be that two functions take from the service.
    private static final Duration APART_MAX = Duration.ofSeconds(1);

    private final Store store;
    private final int lane;
    private final Duration most;
    private final Delays delays;
    /// Deltas that are known not to be in the table any more: what they held is in the totals.
    private final Set<DeltaId> gone = new HashSet<>();
    /// The last commit of the lane that is known to be visible, whole; -1 if none is.
    private long settled = -1;
    /// The last commit of the lane at the attempt before; -1 if there was none.
    private long stood = -1;
    private String incarnation = "";
    private long commits;

    /// The deltas that one transaction adds to the totals, and deletes.
    private record Picked(List<DeltaItem> deltas, ViewDeltas sum, Set<DeltaId> blockers) {}

    private Reduce(Store store, int lane, Duration most, Delays delays) {
        this.store = store;
        this.lane = lane;
        this.most = most;
        this.delays = delays;
    }

    /// Reduces a lane until all that was there is in its totals.
    ///
    /// @return how many transactions it took
    public static long lane(Store store, int lane) {
        return lane(store, lane, FOREVER, new Delays());
    }

    /// The same for about so long at most: for a run that others wait for, and that another run follows if deltas come
    /// meanwhile. If none comes, it goes on for longer.
    ///
    /// @param delays takes the delays of what becomes visible. What an unanswered commit made visible is left out
    public static long lane(Store store, int lane, Duration most, Delays delays) {
        return new Reduce(store, lane, most, delays).run();
    }

    private long run() {
        new Definitions(store).requireTables();
        Optional<DeltaItem> last = last();
        if (last.isPresent()) {
            drain(last.get().id().id());
            tell();
        }
        return commits;
    }

    /// @param last the greatest id that was there at the beginning. Ids begin with the time, so only few that come
    ///     later are below it
    private void drain(String last) {
        Instant begun = store.clock().instant();
        int attempt = 1;
        while (hasTime(begun)) {
            Header header = header();
            List<DeltaItem> deltas = deltas();
            if (deltas.isEmpty() || deltas.getFirst().id().id().compareTo(last) > 0) {
                return;
            }
            Picked picked = pick(header, deltas);
            if (!picked.deltas().isEmpty() && commit(header, picked) instanceof Store.Written.Done) {
                commits++;
                settled = header.commits() + 1;
                Instant now = store.clock().instant();
                picked.deltas().forEach(delta -> delays.add(delta.arrivals(), now));
                noteGone(picked.deltas().stream().map(DeltaItem::id).toList());
                attempt = 1;
            } else {
                attempt = again(header, picked, attempt);
            }
        }
    }

    private boolean hasTime(Instant begun) {
        Duration taken = Duration.between(begun, store.clock().instant());
        if (taken.compareTo(most) < 0) {
            return true;
        }
        if (taken.compareTo(OWN_MAX) >= 0) {
            return false;
        }
        Optional<DeltaItem> now = last();
        return now.isPresent() && !now.get().at().isAfter(begun.plus(APART_MAX));
    }

    /// Waits before the next attempt. Where somebody else has made a commit since the last attempt, this one was the
    /// first: what waits becomes less, whoever commits it. Readers who close epochs move the lane, too, and make
    /// nothing less.
    ///
    /// @return the number of the next attempt
    private int again(Header header, Picked picked, int attempt) {
        int attempts = header.last() == stood ? attempt : 1;
        stood = header.last();
        if (attempts >= ATTEMPTS_MAX) {
            throw new IllegalStateException("Lane " + lane + " could not be reduced in "
                    + ATTEMPTS_MAX + " attempts, by nobody; what stands in it is added the next time."
                    + (picked.blockers().isEmpty() ? "" : " It waits for the deltas " + picked.blockers() + "."));
        }
        store.backOff(attempts);
        return attempts + 1;
    }

    /// Picks; if all that was read waits for something else, that is looked at: it is gone, or stands further behind
    /// in this lane and is taken first, or in another lane (the number of lanes has changed) and is waited for.
    /// So is what may be on its way into the table.
    private Picked pick(Header header, List<DeltaItem> deltas) {
        List<DeltaItem> read = new ArrayList<>(deltas);
        while (true) {
            List<DeltaItem> foreign = read.stream()
                    .filter(delta -> !delta.incarnation().equals(header.incarnation()))
                    .limit(store.deltasPerCommitMax())
                    .toList();
            if (!foreign.isEmpty()) {
                return new Picked(foreign, ViewDeltas.NOTHING, Set.of());
            }
            Picked picked = picked(read);
            if (!picked.deltas().isEmpty() || picked.blockers().isEmpty() || !resolve(picked.blockers(), read)) {
                return picked;
            }
        }
    }

    /// Looks at what others wait for.
    ///
    /// @param read takes those that stand in this lane
    /// @return whether anything is known now that was not
    private boolean resolve(Set<DeltaId> blockers, List<DeltaItem> read) {
        List<Map<String, AttributeValue>> keys =
                blockers.stream().map(DeltaItem::keyOf).toList();
        Optional<List<Map<String, AttributeValue>>> items =
                SettledReads.of(store, store.tables().deltas(), keys);
        if (items.isEmpty()) {
            return false;
        }
        List<DeltaItem> found = items.get().stream().map(DeltaItem::of).toList();
        Set<DeltaId> missing = new HashSet<>(blockers);
        found.forEach(delta -> missing.remove(delta.id()));
        noteGone(missing);
        int before = read.size();
        found.stream().filter(delta -> delta.id().lane() == lane).forEach(read::add);
        return read.size() > before || !missing.isEmpty();
    }

    private Picked picked(List<DeltaItem> read) {
        Map<DeltaId, DeltaItem> byId = new HashMap<>();
        read.forEach(item -> byId.put(item.id(), item));
        Commit commit = Commit.of(
                read.stream().map(DeltaItem::delta).toList(),
                gone,
                new Commit.Limits(store.deltasPerCommitMax(), ITEMS_MAX, BYTES_MAX));
        return new Picked(
                commit.deltas().stream().map(delta -> byId.get(delta.id())).toList(), commit.sum(), commit.blockers());
    }

    /// The header, when all that its last commit wrote is visible, and no reader waits for a pause.
    private Header header() {
        Header header = settledHeader();
        for (int pauses = 0; header.isAsked() && pauses < PAUSES_MAX; pauses++) {
            store.threads().pause(PAUSE);
            header = settledHeader();
        }
        return header;
    }

    private Header settledHeader() {
        Optional<Header> found = Headers.find(store, lane);
        while (found.isEmpty()) {
            Headers.make(store, new Definitions(store).load());
            found = Headers.find(store, lane);
        }
        Header header = found.get();
        incarnation = header.incarnation();
        if (header.last() != settled) {
            Headers.settle(store, header);
            settled = header.last();
        }
        return header;
    }

    /// Says in the header that the last commit is visible, whole, so that nobody has to look. If this fails, they look.
    private void tell() {
        if (commits > 0) {
            store.tried(() -> store.client()
                    .updateItem(request -> request.tableName(store.tables().totals())
                            .key(Header.keyOf(lane))
                            .updateExpression("REMOVE " + Header.TOUCHED)
                            .conditionExpression("c = :c AND i = :i AND attribute_exists(" + Header.TOUCHED + ")")
                            .expressionAttributeValues(
                                    Map.of(":c", Items.number(settled), ":i", AttributeValue.fromS(incarnation)))));
        }
    }

    private Optional<DeltaItem> last() {
        return Queries.first(store, query().scanIndexForward(false).limit(1).build()).items().stream()
                .findFirst()
                .map(DeltaItem::of);
    }

    private List<DeltaItem> deltas() {
        return Queries.first(store, query().limit(DELTAS_READ_MAX).build()).items().stream()
                .map(DeltaItem::of)
                .toList();
    }

    private QueryRequest.Builder query() {
        return QueryRequest.builder()
                .tableName(store.tables().deltas())
                .keyConditionExpression("l = :l")
                .expressionAttributeValues(Map.of(":l", AttributeValue.fromS(Integer.toString(lane))))
                .consistentRead(true);
    }

    /// Forgotten ids are simply looked up again.
    private void noteGone(Collection<DeltaId> ids) {
        if (gone.size() > GONE_MAX) {
            gone.clear();
        }
        gone.addAll(ids);
    }

    private Store.Written commit(Header header, Picked picked) {
        List<Addition> additions = new ArrayList<>();
        picked.sum().byView().forEach((view, delta) -> additions.addAll(Addition.of(view, lane, delta)));
        List<Map<String, AttributeValue>> keys =
                new ArrayList<>(additions.stream().map(Addition::key).toList());
        Map<Map<String, AttributeValue>, Map<String, AttributeValue>> stored = read(keys);
        List<TransactWriteItem> items = new ArrayList<>();
        CommitLog.item(header, picked.sum(), store.clock().instant()).ifPresent(item -> {
            keys.add(TotalsKey.of(Items.text(item, TotalsKey.PARTITION), Items.bytes(item, TotalsKey.GROUP)));
            items.add(TransactWriteItem.builder()
                    .put(Put.builder()
                            .tableName(store.tables().totals())
                            .item(item)
                            .build())
                    .build());
        });
        items.add(move(header, keys));
        picked.deltas().forEach(delta -> items.add(delete(delta.id())));
        OptionalLong held = header.held(store.clock().instant());
        additions.forEach(addition ->
                items.add(addition.update(store, stored.getOrDefault(addition.key(), Map.of()), header.epoch(), held)));
        return store.transact(items);
    }

    private TransactWriteItem move(Header header, List<Map<String, AttributeValue>> keys) {
        return TransactWriteItem.builder()
                .update(Update.builder()
                        .tableName(store.tables().totals())
                        .key(Header.keyOf(lane))
                        .updateExpression("SET n = :after, c = :after, u = :keys"
                                + (header.isAsked() ? " REMOVE " + Header.ASKED : ""))
                        .conditionExpression("n = :before AND i = :i")
                        .expressionAttributeValues(Map.of(
                                ":before", Items.number(header.commits()),
                                ":after", Items.number(header.commits() + 1),
                                ":i", AttributeValue.fromS(header.incarnation()),
                                ":keys", Header.touched(keys)))
                        .build())
                .build();
    }

    private TransactWriteItem delete(DeltaId id) {
        return TransactWriteItem.builder()
                .delete(Delete.builder()
                        .tableName(store.tables().deltas())
                        .key(DeltaItem.keyOf(id))
                        .conditionExpression("attribute_exists(l)")
                        .build())
                .build();
    }

    /// The epochs of the items that will change, by key; those that there are.
    private Map<Map<String, AttributeValue>, Map<String, AttributeValue>> read(List<Map<String, AttributeValue>> keys) {
        String projection = String.join(", ", TotalsKey.PARTITION, TotalsKey.GROUP, Stored.EPOCH, Stored.HELD);
        Map<Map<String, AttributeValue>, Map<String, AttributeValue>> found = new HashMap<>();
        for (Map<String, AttributeValue> item :
                BatchReads.of(store, store.tables().totals(), keys, projection)) {
            found.put(
                    Map.of(
                            TotalsKey.PARTITION, Items.require(item, TotalsKey.PARTITION),
                            TotalsKey.GROUP, Items.require(item, TotalsKey.GROUP)),
                    item);
        }
        return found;
    }
}
