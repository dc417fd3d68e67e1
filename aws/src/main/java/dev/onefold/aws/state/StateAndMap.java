package dev.onefold.aws.state;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.letter.Letter;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.state.RefusedRows.LostRow;
import dev.onefold.aws.store.Store;
import dev.onefold.core.event.Version;
import dev.onefold.core.letter.ConflictLetter;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.reduce.DeltaId;
import dev.onefold.core.state.Row;
import dev.onefold.core.state.Transition;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BinaryOperator;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// Takes the records of one batch: rejects those that cannot be read, finds the winner of each key, reads the
/// rows, lets `core` decide, and writes each changed row with its delta in one transaction. Identity is the
/// row's: a record that comes again, in any batch and by any twin, finds it there.
///
/// A decision whose request fails is made again from the start, because the rows hold the truth, and not the
/// answer to a request. So a reply that was lost, another function that was faster, and a new definition are
/// one case. One object for one batch. Its transactions are written on threads of their own, so sets that they
/// change are concurrent ones.
///
/// The first attempt at a batch reads rows eventually consistent, which costs half as much. Such a row may be
/// older than the row that is there. A row only ever rises, in (version, contributions), so there are two
/// cases:
/// - The record is above the old row, so it is written. The transaction's condition names the delta of the row
/// that was read, and holds only while that row is there. Otherwise the second attempt reads the row as it is
/// now.
/// - The record is below the old row, or equal to it, so it is left out as stale or duplicate. It is below or
/// equal to every later row, too. (If a conflict has put a greater content into the row since, that conflict
/// has kept this record's letter.)
///
/// A conflict, a row of another view, and one that the served view refuses, are never decided on an old row:
/// they are looked at again. A redrive reads rows as they are now, because its letter goes away when its record
/// is a duplicate.
public final class StateAndMap {
    private static final int ATTEMPTS_MAX = 30;

    private final Store store;
    private final Definitions definitions;
    private final LetterTable letters;
    private final List<Arrival> arrivals;
    private final boolean keepsRejected;
    private final @Nullable LostRow lost;
    private final @Nullable Supplier<TransactWriteItem> fence;
    private final Fate[] fates;
    /// Deltas that this batch has tried to write: a row that names one of them is this batch's own.
    private final Set<DeltaId> mine = ConcurrentHashMap.newKeySet();
    /// Gates that were behind the definition, and that this batch has moved: the next attempts check these,
    /// because others may be behind, too, if nobody moves them all.
    private final List<Integer> moved = new CopyOnWriteArrayList<>();

    /// Records whose row was throttled: from then on each goes alone, so that it holds up no other.
    private final Set<Integer> throttled = new ConcurrentSkipListSet<>();

    /// The fence of a repair does not hold any more.
    public static final class Fenced extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Fenced() {
            super("The condition of a repair does not hold any more");
        }
    }

    private StateAndMap(
            Store store,
            List<Arrival> arrivals,
            boolean keepsRejected,
            @Nullable LostRow lost,
            @Nullable Supplier<TransactWriteItem> fence) {
        this.store = store;
        this.keepsRejected = keepsRejected;
        this.lost = lost;
        this.fence = fence;
        definitions = new Definitions(store);
        letters = new LetterTable(store);
        this.arrivals = List.copyOf(arrivals);
        fates = new Fate[arrivals.size()];
    }

    /// Takes a batch. When it completes, every record is in the rows and deltas, or is a dead letter; if it
    /// fails, some may be, and the batch must come again.
    ///
    /// @return fates of the records, in their order
    public static List<Fate> process(Store store, List<Arrival> arrivals) {
        Definition definition = new Definitions(store).load();
        return isOfKeys(definition)
                ? KeySteps.process(store, definition, arrivals, false)
                : new StateAndMap(store, arrivals, true, null, null).process(definition);
    }

    /// Takes a record that is a dead letter already. When it is rejected again, or loses a conflict, no
    /// letter of it is kept: its letter is its caller's, and may have another identity than its place.
    public static Fate redrive(Store store, Arrival arrival) {
        Definition definition = new Definitions(store).load();
        return isOfKeys(definition)
                ? KeySteps.process(store, definition, List.of(arrival), true).getFirst()
                : new StateAndMap(store, List.of(arrival), false, null, null)
                        .process(definition)
                        .getFirst();
    }

    /// Takes repairs of rows. Each transaction has one more condition.
    ///
    /// @param fence makes it, for each transaction
    /// @throws Fenced if the condition does not hold; some of the repairs may be in
    public static List<Fate> repair(Store store, List<Arrival> arrivals, Supplier<TransactWriteItem> fence) {
        return new StateAndMap(store, arrivals, true, null, fence).process(new Definitions(store).load());
    }

    /// Whether each of these records is in its row, or a higher version is; empty if none of them has a row, as
    /// where the pipeline refuses them all.
    public static Optional<Boolean> areIn(Store store, List<Arrival> arrivals) {
        Definition definition = new Definitions(store).load();
        Pipeline pipeline = definition.servedView().pipeline();
        RecordDecoder decoding = new RecordDecoder(definition);
        Map<ByteBuffer, Version> versions = new LinkedHashMap<>();
        for (Arrival arrival : arrivals) {
            if (decoding.decode(arrival) instanceof RecordDecoder.Decoded.Good(var candidate)) {
                versions.merge(
                        ByteBuffer.wrap(candidate.key()),
                        Version.of(pipeline, candidate.version()),
                        BinaryOperator.maxBy(Comparator.naturalOrder()));
            }
        }
        if (versions.isEmpty()) {
            return Optional.empty();
        }
        Map<ByteBuffer, RowItem> rows = new RowReads(store)
                .read(versions.keySet().stream().map(ByteBuffer::array).toList());
        return Optional.of(versions.entrySet().stream().allMatch(each -> {
            RowItem row = rows.get(each.getKey());
            return row != null && Version.of(pipeline, row.version()).compareTo(each.getValue()) >= 0;
        }));
    }

    private static boolean isOfKeys(Definition definition) {
        return definition.servedView().pipeline().fold() instanceof Processing;
    }

    /// The same for a row that has lost a conflict.
    ///
    /// @param read where its record came from, and what is kept of it
    public static Fate redrive(Store store, Arrival read, LostRow lost) {
        return new StateAndMap(store, List.of(read), false, lost, null)
                .process(new Definitions(store).load())
                .getFirst();
    }

    private List<Fate> process(Definition first) {
        List<Integer> left = IntStream.range(0, arrivals.size()).boxed().toList();
        for (int attempt = 1; !left.isEmpty(); attempt++) {
            if (attempt > ATTEMPTS_MAX) {
                throw new IllegalStateException(left.size() + " of " + arrivals.size()
                        + " records could not be written in " + ATTEMPTS_MAX
                        + " attempts: the tables are throttled, or others write the same keys all the time."
                        + " The batch will come again; if this goes on, raise the tables' limits.");
            }
            Definition definition = attempt == 1 ? first : definitions.load();
            left = attempt(definition, left, attempt == 1 && keepsRejected);
            if (!left.isEmpty()) {
                store.backOff(attempt);
            }
        }
        return Arrays.asList(fates);
    }

    /// One try under one definition; returns the records that are to be tried again.
    ///
    /// @param eventually whether rows may be read as they were a while ago
    private List<Integer> attempt(Definition definition, List<Integer> indices, boolean eventually) {
        List<Letter> rejected = new ArrayList<>();
        RecordDecoder decoding = new RecordDecoder(definition);
        Map<ByteBuffer, List<Integer>> byKey = new LinkedHashMap<>();
        Candidate[] candidates = new Candidate[arrivals.size()];
        for (int index : indices) {
            Arrival arrived = arrivals.get(index);
            switch (lost == null ? decoding.decode(arrived) : decoding.derive(lost, arrived)) {
                case RecordDecoder.Decoded.Bad(var malformed, var stated, var arrival) -> {
                    fates[index] = new Fate.Rejected(malformed);
                    if (keepsRejected) {
                        rejected.add(Letter.rejected(arrival, malformed, stated));
                    }
                }
                case RecordDecoder.Decoded.Silent(var why) -> fates[index] = new Fate.Silent(why);
                case RecordDecoder.Decoded.Good(var read) -> {
                    Candidate candidate = keepsRejected ? read : read.redriven();
                    candidates[index] = candidate;
                    byKey.computeIfAbsent(ByteBuffer.wrap(candidate.key()), _ -> new ArrayList<>())
                            .add(index);
                }
            }
        }
        Pipeline pipeline = definition.servedView().pipeline();
        // A winner that is to be tried again is with all whom it stood above: under another definition it may be bad.
        Map<Integer, List<Integer>> contests = new LinkedHashMap<>();
        byKey.values().forEach(same -> contests.put(winner(pipeline, same, candidates, rejected), same));
        List<Integer> winners = List.copyOf(contests.keySet());
        List<byte[]> keys = winners.stream()
                .map(index -> Objects.requireNonNull(candidates[index]).key())
                .toList();
        RowReads reads = new RowReads(store);
        Map<ByteBuffer, RowItem> rows = eventually ? reads.readEventually(keys) : reads.read(keys);
        List<Change> changes = new ArrayList<>();
        List<Integer> again = new ArrayList<>();
        List<RowItem> refusedRows = new ArrayList<>();
        List<RowItem> outdatedRows = new ArrayList<>();
        for (int i = 0; i < winners.size(); i++) {
            Candidate candidate = Objects.requireNonNull(candidates[winners.get(i)]);
            Change change = new Change(winners.get(i), rows.get(ByteBuffer.wrap(keys.get(i))), candidate);
            if (change.isOutdated() || eventually && change.transition(pipeline) instanceof Transition.Settled) {
                again.add(winners.get(i));
                if (!eventually) {
                    (change.isRefused() ? refusedRows : outdatedRows).add(Objects.requireNonNull(change.before()));
                }
            } else if (decide(pipeline, change, rejected)) {
                changes.add(change);
            }
        }
        // Letters first: of a row that loses a conflict nothing is left when its transaction is in. A letter of an
        // older definition must not come behind the filling that looks at the letters: the next one may accept it.
        if (!keep(definition, rejected)) {
            return indices;
        }
        // The next attempt decides on records of rows that the served view refuses, or that lack it: it finds these
        // rows empty, or whole.
        settle(definition, refusedRows, outdatedRows);
        again.addAll(write(definition, changes));
        return withRivals(again, contests);
    }

    private void settle(Definition definition, List<RowItem> refused, List<RowItem> outdated) {
        new RefusedRows(store, definition).settle(refused, () -> gate(definition), this::moveGate);
        new ServedViews(store, definition).settle(outdated, () -> gate(definition), this::moveGate);
    }

    private static List<Integer> withRivals(List<Integer> winners, Map<Integer, List<Integer>> contests) {
        return winners.stream()
                .flatMap(winner -> Objects.requireNonNull(contests.get(winner)).stream())
                .toList();
    }

    /// The record of a key that stands above the others of the batch; says what became of these.
    private int winner(Pipeline pipeline, List<Integer> same, Candidate[] candidates, List<Letter> rejected) {
        Map<Integer, Row> rows = new LinkedHashMap<>();
        same.forEach(index ->
                rows.put(index, Objects.requireNonNull(candidates[index]).row(pipeline)));
        int winner = Collections.max(rows.entrySet(), Map.Entry.comparingByValue(Row.ORDER))
                .getKey();
        rows.forEach((index, row) -> {
            if (index != winner) {
                fates[index] = switch (Transition.of(
                        rows.get(winner), row, pipeline.input().isRemovalNewer())) {
                    case Transition.Stale _ -> new Fate.Stale();
                    case Transition.Duplicate _ -> new Fate.Duplicate();
                    case Transition.Settled settled -> {
                        Letter loser = loser(settled, Objects.requireNonNull(candidates[index]));
                        rejected.add(loser);
                        yield new Fate.Conflicting(Optional.of(loser));
                    }
                    case Transition.Changed _ ->
                        throw new IllegalStateException("The winner of a batch is not its greatest");
                };
            }
        });
        return winner;
    }

    /// Whether the row is to be written.
    private boolean decide(Pipeline pipeline, Change change, List<Letter> rejected) {
        RowItem before = change.before();
        int index = change.index();
        if (before != null && !before.isEmpty() && mine.contains(before.delta())) {
            return false; // It went in when no answer came; what became of it is said.
        }
        if (fence != null && before != null && before.isAside()) {
            fates[index] = new Fate.Accepted(); // The source is the truth, also where it has no version.
            return true;
        }
        return switch (change.transition(pipeline)) {
            case Transition.Changed _ -> {
                fates[index] = new Fate.Accepted();
                yield true;
            }
            case Transition.Duplicate _ -> {
                fates[index] = new Fate.Duplicate();
                yield false;
            }
            case Transition.Stale _ -> {
                fates[index] = new Fate.Stale();
                yield false;
            }
            case Transition.Settled settled
            when settled.arrivedStays() -> {
                ConflictLetter lost = ConflictLetter.of(settled, pipeline);
                Arrival read = Candidate.arrival(Objects.requireNonNull(before), lost.kept());
                rejected.add(Letter.of(lost, read, change.candidate().served()));
                fates[index] = new Fate.Conflicting(Optional.empty());
                yield true;
            }
            case Transition.Settled settled -> {
                Letter loser = loser(settled, change.candidate());
                if (keepsRejected) {
                    rejected.add(loser);
                }
                fates[index] = new Fate.Conflicting(Optional.of(loser));
                yield false;
            }
        };
    }

    private static Letter loser(Transition.Settled settled, Candidate loser) {
        Arrival arrival = loser.arrival();
        return Letter.of(ConflictLetter.of(settled, arrival.data()), arrival, 0);
    }

    /// Writes all at once; returns the records that are to be tried again.
    private List<Integer> write(Definition definition, List<Change> changes) {
        List<RowTransaction> transactions = new ArrayList<>(RowTransaction.pack(
                definition,
                changes.stream()
                        .filter(change -> !throttled.contains(change.index()))
                        .toList()));
        changes.stream()
                .filter(change -> throttled.contains(change.index()))
                .forEach(change -> transactions.addAll(RowTransaction.pack(definition, List.of(change))));
        return store.threads().all(transactions, transaction -> write(definition, transaction)).stream()
                .flatMap(List::stream)
                .toList();
    }

    private List<Integer> write(Definition definition, RowTransaction transaction) {
        DeltaId delta = new DeltaId(transaction.lane(), store.newId());
        mine.add(delta);
        int gate = gate(definition);
        List<TransactWriteItem> items =
                transaction.items(store, definition, delta, definitions.check(definition, gate));
        if (fence != null) {
            items.add(fence.get());
        }
        Store.Written written = store.transact(items);
        if (written instanceof Store.Written.Done) {
            return List.of();
        }
        List<Integer> indices =
                transaction.changes().stream().map(Change::index).toList();
        if (written instanceof Store.Written.Refused refused) {
            if (fence != null && refused.failed(items.size() - 1)) {
                throw new Fenced();
            }
            if (refused.failed(0)) {
                moveGate(gate);
            } else {
                IntStream.range(0, indices.size())
                        .filter(row -> refused.throttled(row + 1)) // The first item is the gate's check.
                        .forEach(row -> throttled.add(indices.get(row)));
            }
        }
        return indices;
    }

    /// Keeps letters. Each chooses a gate, because transactions that check one gate at the same time conflict.
    ///
    /// @return whether the definition is still the current one; if it is not, these gates are moved
    private boolean keep(Definition definition, List<Letter> rejected) {
        Set<Integer> gates = new ConcurrentSkipListSet<>();
        boolean kept = letters.keep(rejected, definition.incarnation().id(), () -> {
            int gate = gate(definition);
            gates.add(gate);
            return List.of(definitions.check(definition, gate));
        });
        if (!kept) {
            gates.forEach(this::moveGate);
        }
        return kept;
    }

    private int gate(Definition definition) {
        return moved.isEmpty()
                ? definitions.anyGate(definition)
                : moved.get(store.random().nextInt(moved.size()));
    }

    /// This gate alone: whoever changes the definition moves them all.
    private void moveGate(int gate) {
        definitions.moveGate(gate, definitions.load());
        moved.add(gate);
    }
}
