package dev.onefold.aws.batch;

import dev.onefold.aws.batch.CutItem.End;
import dev.onefold.aws.batch.CutItem.Gaps;
import dev.onefold.aws.batch.CutItem.LaneHeader;
import dev.onefold.aws.batch.RestoredItems.Old;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.store.BatchReads;
import dev.onefold.aws.store.Parts;
import dev.onefold.aws.store.Queries;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.TableIds;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Receiver;
import dev.onefold.core.seal.DeliveryRules;
import dev.onefold.core.seal.LaneCut.Position;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.Delete;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// Recovers the tables of batches after a restore from backups. Some of their items are missing and some are
/// from other moments, because a backup orders nothing. The items that are there are taken for true, and all
/// others are derived from them:
///
///     1 closed    the definition names no tables: nothing is collected, sealed or delivered
///     2 fenced    lanes and cut go on at a number that was never given, so what was begun before is refused
/// 3 claims    of chunks that are not there, at or above the place up to which batches were sealed, are
/// removed:
/// these ids are accepted again. Below it a chunk that is not there was freed behind an ended batch,
/// if it is of no batch that 5 removes; with `once` these ids stay known. Claims of records that are
///                 there are made again, so that no record is in a second batch when it comes again
///     4 sealed    all records that are there and in no batch, into new batches; old ones in doubt
/// 5 removed   batches that cannot be delivered as they are, with their parts: a chunk, a part or the batch
/// before
///                 is not there, or parts are there whose batch is not there or is from before it was divided
/// 6 listed    the others again, as in doubt if their receiver does not bear another delivery: they may be in
/// since
///     7 opened    the definition names the tables that there are
///
/// Numbers of chunks and batches after a restore begin above those of [#ERA] that the time has reached, so a
/// receiver has seen none of them. The first batch of an era begins a chain of proofs of its own.
///
/// A run may be stopped anywhere and repeated, also by several processes at once: every transaction checks the
/// definition that its process has written, so only the last process continues. It is one idea: the steps share
/// the fence and these checks.
public final class BatchesRestored {
    /// Numbers of one incarnation: more than there are batches or chunks of a lane.
    static final long ERA = 1_000_000_000;

    private static final Instant BEGINNING = Instant.parse("2025-01-01T00:00:00Z");

    /// The time after which no attempt from before the restore is running: a function lives for 15 minutes.
    private static final Duration OWNER_MAX = Duration.ofMinutes(20);

    /// By how much the clocks of a source and of this process differ, at most.
    private static final Duration CLOCKS_MAX = Duration.ofHours(1);

    private static final String ALWAYS = "attribute_not_exists(k) OR attribute_exists(k)";
    private static final int ITEMS_MAX = 99;
    private static final int ATTEMPTS_MAX = 20;

    /// While it is under way: the number of the last batch before.
    private static final String LAST = "q";

    private final Store store;
    private final BatchDefinition definition;
    private final Batching batching;
    private final List<String> lost = new ArrayList<>();
    private final Set<Chunks.Place> lostChunks = new HashSet<>(); // Of removed batches.
    private CutItem cut;
    private List<Position> sealedTo = List.of();
    private long sealedBefore;

    /// The findings of a takeover, and its results.
    ///
    /// @param reaccepted ids, and marks of messages, that may come again
    /// @param sealed batches of records that were in none
    /// @param inDoubt deliveries that wait for a person now
    /// @param letters marks of dead letters that are not there; see [LetterTable#matchMarks]
    /// @param lost one sentence for each batch of which a part is missing
    public record Report(long reaccepted, int sealed, int inDoubt, int letters, List<String> lost) {
        public Report {
            lost = List.copyOf(lost);
        }
    }

    /// A table, and whether it is another one than the deployment knows.
    public record Found(TableIds.Found table, boolean isOther) {}

    /// The tables at the moment of a decision to take them over.
    ///
    /// @param definition the only one that is taken over
    public record Looked(BatchDefinition definition, List<Found> tables) {
        public Looked {
            tables = List.copyOf(tables);
        }
    }

    private BatchesRestored(Store store, BatchDefinition definition) {
        this.store = store;
        this.definition = definition;
        batching = (Batching) definition.pipeline().fold();
        cut = CutItem.of(Map.of(), definition.lanes());
    }

    /// Whether a chain of proofs begins with the batch of this number.
    static boolean begins(long number) {
        return number % ERA == 1;
    }

    /// Compares the tables with the definition; empty if the deployment makes no batches, or has never
    /// collected anything.
    public static Optional<Looked> look(Store store) {
        return BatchDefinition.findAnyhow(store).map(definition -> {
            List<TableIds.Found> found = BatchDefinition.tablesOf(store);
            return new Looked(
                    definition,
                    IntStream.range(0, found.size())
                            .mapToObj(table -> new Found(found.get(table), definition.isOther(table, found.get(table))))
                            .toList());
        });
    }

    /// Takes the tables over as they are.
    ///
    /// @param looked tables of the decision: if another process has taken them over since, nothing is done
    /// @throws IllegalStateException if another process does the same at the same time, or has done so since
    public static Report takeOver(Store store, Looked looked) {
        BatchDefinition closed = looked.definition.closed(store);
        closed.replace(store, looked.definition);
        if (!closed.isStored(store)) {
            throw overtaken();
        }
        // Whoever has found the tables to be known goes on for so long. One that is frozen longer writes behind the
        // fence only.
        store.threads().pause(TableIds.VALID_MAX.plus(Store.IN_FLIGHT_MAX));
        return new BatchesRestored(store, closed).run();
    }

    private static IllegalStateException overtaken() {
        return new IllegalStateException(
                "Somebody else takes these tables over at the same time, or has done so since; run it again");
    }

    private Report run() {
        fence();
        store.threads().pause(Store.IN_FLIGHT_MAX); // What was begun before is seen, or is refused.
        RestoredItems found = RestoredItems.read(store, cut.number());
        sealedTo = found.sealedTo(sealedTo);
        sealedBefore = found.last(sealedBefore);
        Old old = new Old(nowMs() - IdRemoval.KEPT.minus(CLOCKS_MAX).toMillis(), sealedTo);
        moveCut(cut, List.of());
        nameMissing(found);
        List<DeliveryItem> unsound = unsound(found);
        long reaccepted = dropClaims(found);
        restoreClaims(found, old);
        int sealed = sealRest(found, old);
        remove(unsound);
        int inDoubt = relist(found);
        int letters = finish(found);
        return new Report(reaccepted, sealed, inDoubt, letters, lost);
    }

    private long nowMs() {
        return store.clock().millis();
    }

    private boolean isOnce() {
        return batching.receiver() == Receiver.ONCE;
    }

    /// Headers and cut go up, so that no transaction of before finds them as it has read them.
    private void fence() {
        List<LaneHeader> headers = IntStream.range(0, definition.lanes())
                .mapToObj(lane -> LaneHeader.of(store.get(store.tables().rows(), LaneHeader.key(lane))))
                .toList();
        for (int attempt = 1; ; attempt++) {
            Map<String, AttributeValue> item = store.get(store.tables().rows(), CutItem.key());
            CutItem before = CutItem.of(item, definition.lanes());
            List<End> ends = item.containsKey(CutItem.SEALED_TO)
                    ? CutItem.of(with(item, "p", item.get(CutItem.SEALED_TO)), definition.lanes())
                            .ends()
                    : before.ends();
            sealedBefore = item.containsKey(LAST) ? Items.number(item, LAST) : before.number();
            sealedTo = ends.stream().map(End::position).toList();
            long greatest = headers.stream().mapToLong(LaneHeader::next).reduce(before.number(), Math::max);
            long reached = Math.max(
                    0, Duration.between(BEGINNING, store.clock().instant()).toMinutes());
            long base = Math.max(reached, greatest / ERA + 1) * ERA;
            End end = new End(new Position(base, 0), 0);
            cut = new CutItem(base, 0, Collections.nCopies(definition.lanes(), end));
            String condition = item.isEmpty() ? "attribute_not_exists(k)" : "n = :n";
            Map<String, AttributeValue> values =
                    item.isEmpty() ? Map.of() : Map.of(":n", Items.number(before.number()));
            if (write(List.of(put(closedCut(cut), condition, values)))
                    || CutItem.of(store.get(store.tables().rows(), CutItem.key()), definition.lanes())
                            .equals(cut)) {
                break;
            }
            if (!definition.isStored(store)) {
                throw overtaken();
            }
            store.backOff(attempt);
        }
        LaneHeader header = new LaneHeader(cut.number(), 0, 0);
        for (List<Integer> lanes :
                Parts.of(IntStream.range(0, definition.lanes()).boxed().toList(), ITEMS_MAX)) {
            require(lanes.stream()
                    .map(lane -> put(
                            header.item(lane),
                            "attribute_not_exists(k) OR n <= :n",
                            Map.of(":n", Items.number(cut.number()))))
                    .toList());
        }
    }

    private static Map<String, AttributeValue> with(
            Map<String, AttributeValue> item, String name, AttributeValue value) {
        Map<String, AttributeValue> other = new TreeMap<>(item);
        other.put(name, value);
        return other;
    }

    /// The cut while this is under way: also with the places up to which batches were sealed before.
    private Map<String, AttributeValue> closedCut(CutItem next) {
        List<End> before =
                sealedTo.stream().map(position -> new End(position, 0)).toList();
        return with(
                with(next.item(), LAST, Items.number(sealedBefore)),
                CutItem.SEALED_TO,
                Objects.requireNonNull(
                        new CutItem(next.number(), 0, before).item().get("p")));
    }

    private void moveCut(CutItem next, List<TransactWriteItem> more) {
        List<TransactWriteItem> items = new ArrayList<>(more);
        items.add(put(
                closedCut(next),
                "n = :n OR n = :m",
                Map.of(":n", Items.number(cut.number()), ":m", Items.number(next.number()))));
        require(items);
        cut = next;
    }

    /// Whether these were written, while nobody else has closed or opened the deployment.
    private boolean write(List<TransactWriteItem> items) {
        List<TransactWriteItem> checked = new ArrayList<>(items);
        checked.add(definition.check(store));
        return store.transact(checked) instanceof Store.Written.Done;
    }

    /// Writes these, which changes nothing the second time. Each is refused only if somebody else takes over,
    /// too.
    private void require(List<TransactWriteItem> items) {
        for (int attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
            if (write(items)) {
                return;
            }
            if (!definition.isStored(store)) {
                throw overtaken();
            }
            store.backOff(attempt);
        }
        throw new IllegalStateException("The tables of " + store.tables().rows() + " have refused " + ATTEMPTS_MAX
                + " attempts to write what was restored; run it again");
    }

    private void requireAll(List<TransactWriteItem> items) {
        Parts.of(items, ITEMS_MAX).forEach(this::require);
    }

    private TransactWriteItem put(
            Map<String, AttributeValue> item, String condition, Map<String, AttributeValue> values) {
        return Deliveries.put(store.tables().rows(), item, condition, values);
    }

    /// Deletes what was read, if it is still that.
    private TransactWriteItem delete(Map<String, AttributeValue> item) {
        boolean hasChunk = item.containsKey("c");
        return TransactWriteItem.builder()
                .delete(Delete.builder()
                        .tableName(store.tables().rows())
                        .key(Map.of("k", item.get("k")))
                        .conditionExpression(
                                "attribute_not_exists(k) OR " + (hasChunk ? Claim.SAME : "attribute_not_exists(c)"))
                        .expressionAttributeValues(hasChunk ? Map.of(":l", item.get("l"), ":c", item.get("c")) : null)
                        .build())
                .build();
    }

    /// Also marks of messages, which were written with a claim. Those of an earlier version do not name its
    /// chunk: they go before the first claim does, because a message may come in twice, and is never lost.
    private long dropClaims(RestoredItems found) {
        Predicate<Map<String, AttributeValue>> lostClaims = item -> item.containsKey("c") && isLost(found, item);
        boolean[] isAny = new boolean[1];
        Queries.scan(
                store,
                store.tables().rows(),
                page -> isAny[0] |= page.stream().filter(RowItem::isRow).anyMatch(lostClaims));
        return isAny[0] ? drop(item -> !item.containsKey("c") && !Begun.is(item)) + drop(lostClaims) : 0;
    }

    private long drop(Predicate<Map<String, AttributeValue>> which) {
        long[] dropped = new long[1];
        Queries.scan(store, store.tables().rows(), page -> {
            List<TransactWriteItem> deletes = page.stream()
                    .filter(RowItem::isRow)
                    .filter(which)
                    .map(this::delete)
                    .toList();
            requireAll(deletes);
            dropped[0] += deletes.size();
        });
        return dropped[0];
    }

    private boolean isLost(RestoredItems found, Map<String, AttributeValue> claim) {
        int lane = (int) Items.number(claim, "l");
        long chunk = Items.number(claim, "c");
        boolean isOfRemoved = lostChunks.contains(new Chunks.Place(lane, chunk));
        // An id that is forgotten after its delivery goes before its chunk does.
        boolean isForgotten = batching.forget() instanceof Batching.Forget.AfterDelivery && claim.containsKey("h");
        return lane >= 0
                && (chunk >= sealedTo.get(lane).chunk()
                        || (isOnce() ? isForgotten && !isOfRemoved : isForgotten || isOfRemoved))
                && chunk < cut.ends().get(lane).position().chunk()
                && !found.hasChunk(lane, chunk);
    }

    /// Makes the claims of records that are there. Those of a backup are missing, or of an earlier record of
    /// the id.
    private void restoreClaims(RestoredItems found, Old old) {
        var claimsOf = found.claims(definition.pipeline(), old);
        Queries.scan(store, store.tables().rows(), page -> {
            Map<ByteBuffer, Claim> claims = claimsOf.apply(page);
            List<Map<String, AttributeValue>> keys = claims.keySet().stream()
                    .map(id -> Claim.key(Claim.bytes(id)))
                    .toList();
            Map<ByteBuffer, Claim> before = new HashMap<>();
            BatchReads.of(store, store.tables().rows(), keys, null)
                    .forEach(item -> before.put(Claim.idHash(item), Claim.of(item)));
            List<TransactWriteItem> puts = new ArrayList<>();
            claims.forEach((id, claim) -> {
                Claim stored = before.getOrDefault(id, claim);
                if (!before.containsKey(id) || found.isReplaced(stored, claim)) {
                    puts.add(put(
                            claim.item(Claim.bytes(id), batching.forget(), Collect.REDELIVERY_MAX),
                            "attribute_not_exists(k) OR " + Claim.SAME + " OR l = :m AND c = :d OR attribute_exists(o)",
                            claim.namesAfter(stored)));
                }
            });
            requireAll(puts);
        });
    }

    /// Batches that cannot be delivered as they are, each with its parts. Their records are sealed again.
    private List<DeliveryItem> unsound(RestoredItems found) {
        List<DeliveryItem> unsound = new ArrayList<>();
        for (BatchNumber number : found.numbers()) {
            List<DeliveryItem> items = found.withParts(number);
            DeliveryItem batch = items.getFirst();
            String why = found.whyUnsound(items);
            if (!why.isEmpty()) {
                String left = batch.number().isWhole()
                        ? found.present(batch) + " of its " + batch.members().count() + " records are there and were"
                        : "those of its records that are there were";
                lost.add("Batch " + number + " is not delivered any more, because " + why + ": " + left
                        + " sealed again. Its receiver may have it." + ofMissing(found, batch));
                found.remove(number);
                unsound.addAll(items);
            }
        }
        return unsound;
    }

    /// The fate of the records of a batch that are not there, as a sentence.
    private String ofMissing(RestoredItems found, DeliveryItem batch) {
        List<Chunks.Place> missing =
                batch.number().isWhole() ? found.missing(batch).toList() : List.of();
        lostChunks.addAll(missing);
        if (missing.isEmpty()) {
            return "";
        }
        return isOnce()
                ? " If it has not, send the records that are not there under other ids: theirs stay known."
                : " The ids of the records that are not there are accepted again.";
    }

    /// A batch is deleted before its parts. If the command is stopped between them, its next run finds parts
    /// without their batch and deletes them. A batch that has lost its parts could look as if it was never
    /// divided.
    private void remove(List<DeliveryItem> unsound) {
        Deliveries deliveries = new Deliveries(store);
        deliveries.removeContents(unsound);
        requireAll(deliveries.deletes(unsound));
    }

    /// Seals all records that are there and in no batch. A receiver may have them under another number: where
    /// it must not get a record twice, and of old ones with any receiver, a person decides.
    private int sealRest(RestoredItems found, Old old) {
        boolean isDoubtful = batching.receiver() != Receiver.IDEMPOTENT || !batching.bearsEverySecondDelivery();
        return seal(found, found.rest(batching, old, true, nowMs()), true)
                + seal(found, found.rest(batching, old, false, nowMs()), isDoubtful);
    }

    private int seal(RestoredItems found, List<SealedBatch> batches, boolean isDoubtful) {
        for (SealedBatch batch : batches) {
            BatchNumber number = BatchNumber.of(cut.number() + 1);
            Delivery delivery = isDoubtful
                    ? new Delivery.InDoubt(
                            Delivery.Tries.NONE,
                            "",
                            nowMs(),
                            "Its records were in no batch when the tables were backed up, and may be in one since that was"
                                    + " delivered under another number")
                    : DeliveryRules.sealed(nowMs());
            DeliveryItem item =
                    DeliveryItem.sealed(number, batch, delivery).ownedUntil(nowMs() + OWNER_MAX.toMillis(), 0);
            // Its own answer may be lost: the same item again changes nothing.
            moveCut(
                    new CutItem(number.number(), 0, cut.ends()),
                    List.of(
                            put(
                                    item.attributes(),
                                    "attribute_not_exists(k) OR x = :x",
                                    Map.of(":x", Items.require(item.attributes(), "x"))),
                            Deliveries.index(store, item)));
            found.add(item);
        }
        return batches.size();
    }

    /// Gives each delivery that is not ended a revision that was never given, and lists it, and nothing else.
    ///
    /// @return how many are in doubt
    private int relist(RestoredItems found) {
        long revision = cut.ends().getFirst().position().chunk();
        List<DeliveryItem> open = new ArrayList<>();
        List<TransactWriteItem> puts = new ArrayList<>();
        for (DeliveryItem before : found.all()) {
            Delivery delivery = before.delivery();
            if (delivery.isEnded() || delivery instanceof Delivery.Divided) {
                continue;
            }
            DeliveryItem next = restored(before).at(Math.max(revision, before.revision() + 1));
            open.add(next);
            // Its own answer may be lost.
            puts.add(put(
                    next.attributes(),
                    "v = :v OR v = :w",
                    Map.of(":v", Items.number(before.revision()), ":w", Items.number(next.revision()))));
        }
        requireAll(puts);
        requireAll(new Deliveries(store).relisted(open));
        return (int) open.stream()
                .filter(item -> item.delivery() instanceof Delivery.InDoubt)
                .count();
    }

    /// Puts a delivery in doubt if its receiver does not bear a second one: it may have been tried, and
    /// divided, since the moment of the backup.
    private DeliveryItem restored(DeliveryItem before) {
        if (batching.bearsEverySecondDelivery() || before.delivery() instanceof Delivery.InDoubt) {
            return before;
        }
        Delivery doubt = new Delivery.InDoubt(
                before.delivery().tries(),
                "",
                nowMs(),
                "Its table was restored from a backup: it may have been delivered since, whole or in parts");
        return before.ownedUntil(Math.max(before.goneMs(), nowMs() + OWNER_MAX.toMillis()), 0)
                .next(doubt);
    }

    private void nameMissing(RestoredItems found) {
        for (Gaps.Gap gap : found.missing(sealedBefore, Gaps.load(store))) {
            lost.add("Batches " + BatchNumber.of(gap.first()) + " to " + BatchNumber.of(gap.last())
                    + " are not there. If they were not freed because they were done long ago, ask their receiver: what"
                    + " was left of their records was sealed again, and ids of the others are known.");
        }
    }

    /// @return how many marks of letters were removed
    private int finish(RestoredItems found) {
        long base = cut.ends().getFirst().position().chunk();
        List<TransactWriteItem> items = new ArrayList<>();
        items.add(put(found.gaps(sealedBefore, base).with(Gaps.load(store)).item(), ALWAYS, Map.of()));
        IdRemoval.from(found.first(base), base).forEach(pass -> items.add(put(pass, ALWAYS, Map.of())));
        items.add(put(cut.item(), "n = :n", Map.of(":n", Items.number(cut.number()))));
        require(items);
        LetterTable table = new LetterTable(store);
        int letters = table.matchMarks();
        table.ids().skip(Duration.between(BEGINNING, store.clock().instant()).toMillis());
        store.threads().pause(Store.IN_FLIGHT_MAX);
        BatchDefinition opened = definition.opened(store);
        opened.replace(store, definition);
        if (!opened.isStored(store)) {
            throw overtaken();
        }
        return letters;
    }
}
