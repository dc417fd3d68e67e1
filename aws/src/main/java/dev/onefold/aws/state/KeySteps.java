package dev.onefold.aws.state;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.ArrivalTimes;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.DeltaItem;
import dev.onefold.aws.item.KeyItem;
import dev.onefold.aws.item.OutputTable;
import dev.onefold.aws.letter.AsideKeys;
import dev.onefold.aws.letter.KeyLetters;
import dev.onefold.aws.letter.Letter;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.letter.LettersInStep;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.UserFunction;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import dev.onefold.core.keyed.Change;
import dev.onefold.core.keyed.KeyFold;
import dev.onefold.core.keyed.OlderCodeException;
import dev.onefold.core.keyed.StepFunction;
import dev.onefold.core.keyed.Verdict;
import dev.onefold.core.map.Delta;
import dev.onefold.core.map.ViewDeltas;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.reduce.Commit.PendingDelta;
import dev.onefold.core.reduce.DeltaId;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.Put;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// Takes the records of one batch for a user's function: groups them by key, reads the head of each key as it
/// is now, lets `core` fold the key's events in the order in which they came, and writes the result in one
/// transaction: head, kept events, base, rows, letters and the delta of the roll-ups that rows feed. The
/// condition is that the head is the one that was read. A result that does not fit into one transaction is cut
/// between events, never within one.
///
/// A key whose transaction fails is read and folded again from the start, because the head holds the truth. A
/// step is known by its name in the head, so a step whose answer was lost is this batch's own, and its events
/// are not folded again. One object for one batch. It is one idea: a batch of events, from their bytes to the
/// steps of their keys.
final class KeySteps {
    private static final int ATTEMPTS_MAX = 30;
    private static final List<Reason> REDRIVEN_FOR = List.of(Reason.FAILED, Reason.TOO_LATE, Reason.CONFLICT);

    private final Store store;
    private final Definitions definitions;
    private final UserFunction function;
    private final Pipeline pipeline;
    private final List<OutputTable> tables;
    private final LettersInStep letters;
    private final List<Arrival> arrivals;
    private final boolean redriven;
    private final Fate[] fates;

    private record Came(int index, dev.onefold.core.keyed.Arrival event) {}

    /// A key whose events are not all in.
    private static final class Pending {
        private final byte[] key;
        private final Deque<Came> events = new ArrayDeque<>();
        private final Map<String, KeyStep> sent = new HashMap<>();
        private boolean upgrades;

        /// @param upgrades whether its head is brought to this version of the function, also without an event
        private Pending(byte[] key, boolean upgrades) {
            this.key = key;
            this.upgrades = upgrades;
        }

        private int left() {
            return events.size() + (upgrades ? 1 : 0);
        }
    }

    /// A step that is ready to be written. A transaction may name the item that counts keys once.
    private record Ready(
            Pending pending,
            KeyStep step,
            List<TransactWriteItem> letterItems,
            List<List<TransactWriteItem>> removals,
            boolean counts) {
        int items() {
            return step.items() + letterItems.size();
        }
    }

    private KeySteps(Store store, Definition definition, List<Arrival> arrivals, boolean redriven) {
        Pipeline served = definition.servedView().pipeline();
        Definition.requireRules(served);
        this.store = store;
        function = Functions.of(store, served);
        this.arrivals = arrivals;
        this.redriven = redriven;
        definitions = new Definitions(store);
        pipeline = function.loaded().pipeline().ofDataOf(served);
        tables = OutputTable.of(pipeline, function.loaded().processing());
        letters = new LettersInStep(store);
        fates = new Fate[arrivals.size()];
    }

    /// Takes a batch; see [StateAndMap#process].
    ///
    /// @param redriven whether the records are dead letters, whose letters are their caller's
    static List<Fate> process(Store store, Definition definition, List<Arrival> arrivals, boolean redriven) {
        KeySteps steps = new KeySteps(store, definition, arrivals, redriven);
        return steps.process(definition, steps.decoded());
    }

    /// Brings keys to this version of the function. What is kept of them is given up if it is not there.
    static void upgrade(Store store, Definition definition, List<byte[]> keys) {
        new KeySteps(store, definition, List.of(), false)
                .process(
                        definition,
                        keys.stream().map(key -> new Pending(key, true)).toList());
    }

    private List<Fate> process(Definition first, List<Pending> pendings) {
        List<Pending> left = new ArrayList<>(pendings);
        Definition definition = first;
        for (int attempt = 1, round = 1; !left.isEmpty(); attempt++, round++) {
            if (attempt > ATTEMPTS_MAX) {
                throw new IllegalStateException("Events of " + left.size()
                        + " keys could not be written in " + ATTEMPTS_MAX
                        + " attempts: the tables are throttled, or others write the same keys all the time."
                        + " The batch will come again; if this goes on, raise the tables' limits.");
            }
            int before = events(left);
            attempt(definition, left, round > 1);
            left.removeIf(pending -> pending.left() == 0);
            if (!left.isEmpty()) {
                if (events(left) < before) {
                    attempt = 0;
                } else {
                    store.backOff(attempt);
                }
                definition = definitions.load();
                Functions.of(store, definition.servedView().pipeline());
            }
        }
        return Arrays.asList(fates);
    }

    private static int events(List<Pending> left) {
        return left.stream().mapToInt(Pending::left).sum();
    }

    private List<Pending> decoded() {
        Decoder decoder = new Decoder(pipeline);
        List<Letter> rejected = new ArrayList<>();
        Map<ByteBuffer, Pending> byKey = new LinkedHashMap<>();
        for (int index = 0; index < arrivals.size(); index++) {
            Arrival arrived = arrivals.get(index);
            int length = RecordDecoder.length(arrived.data());
            byte[] record = Arrays.copyOf(arrived.data(), arrived.data().length + Decoder.PADDING);
            Malformed malformed = decoder.decode(record, 0, length);
            Event event = decoder.event();
            if (malformed != null) {
                fates[index] = new Fate.Rejected(malformed);
                rejected.add(Letter.rejected(arrived, malformed, event.identity()));
                continue;
            }
            if (event.silence != null) {
                fates[index] = new Fate.Silent(event.silence);
                continue;
            }
            byte[] key = Arrays.copyOfRange(event.data, event.keyFrom, event.keyTo);
            byte[] version = Arrays.copyOfRange(event.data, event.versionFrom, event.versionTo);
            byte[] content = event.kind == Event.Kind.FILTERED
                    ? dev.onefold.core.keyed.Arrival.filtered()
                    : dev.onefold.core.keyed.Arrival.counted(event.data, event.contentFrom, event.contentTo);
            byte[] origin = KeyLetters.origin(key, version, content, arrived);
            var way =
                    redriven ? dev.onefold.core.keyed.Arrival.Way.REDRIVEN : dev.onefold.core.keyed.Arrival.Way.ARRIVED;
            byKey.computeIfAbsent(ByteBuffer.wrap(key), _ -> new Pending(key, false))
                    .events
                    .add(new Came(index, new dev.onefold.core.keyed.Arrival(version, content, origin, way)));
        }
        if (!redriven) {
            new LetterTable(store).keep(rejected);
        }
        return List.copyOf(byKey.values());
    }

    /// One try under one definition.
    ///
    /// @param alone whether each key is written for itself, so that none holds up another
    private void attempt(Definition definition, List<Pending> left, boolean alone) {
        Map<ByteBuffer, KeyItem> heads = new HashMap<>();
        StoredKey.heads(store, left.stream().map(pending -> pending.key).toList())
                .forEach(head -> heads.put(ByteBuffer.wrap(head.key()), head));
        List<Ready> ready = store
                .threads()
                .all(left, pending -> ready(definition, pending, heads.get(ByteBuffer.wrap(pending.key))))
                .stream()
                .flatMap(Optional::stream)
                .toList();
        store.threads().each(packed(ready, definition.lanes(), alone), together -> write(definition, together));
    }

    private Optional<Ready> ready(Definition definition, Pending pending, @Nullable KeyItem head) {
        KeyStep known = head == null ? null : pending.sent.get(head.step());
        if (known != null) {
            settle(pending, known); // It went in when no answer came.
        }
        if (pending.left() == 0) {
            return Optional.empty();
        }
        try {
            KeyStep step = function.use(each -> step(each, pending, head));
            return step == null ? Optional.empty() : Optional.of(ready(definition, pending, step));
        } catch (StoredKey.Moved again) {
            return Optional.empty();
        } catch (StoredKey.Broken broken) {
            return folded(pending, Objects.requireNonNull(head), broken);
        } catch (OlderCodeException e) {
            settle(pending, Collections.nCopies(pending.events.size(), new Fate.HandedBack(e)));
            return Optional.empty();
        }
    }

    /// The step after which nothing is kept of a key, because something that is kept is not there: its context
    /// and rows are those of all events that are in, and it goes on from there. What was read in one
    /// transaction with the head is looked at again when nothing of the head's step can be on its way.
    private Optional<Ready> folded(Pending pending, KeyItem head, StoredKey.Broken broken) {
        store.threads().pause(Store.IN_FLIGHT_MAX);
        StoredKey stored = new StoredKey(store, tables, pending.key, head);
        try {
            stored.requireWhole();
            return Optional.empty();
        } catch (StoredKey.Moved again) {
            return Optional.empty();
        } catch (StoredKey.Broken still) {
            Change change = Change.forGood(head.head(), stored.left());
            List<TransactWriteItem> items = new ArrayList<>();
            letters.keep(List.of(KeyLetters.broken(pipeline, head, broken.what)))
                    .forEach(items::addAll);
            items.add(AsideKeys.oneMore(store));
            KeyStep step = new KeyStep(pending.key, head, change, List.of(), Delta.NOTHING);
            return Optional.of(new Ready(pending, step, items, List.of(), true));
        }
    }

    /// The step of as many events as fit into a transaction; `null`: no change.
    private @Nullable KeyStep step(StepFunction called, Pending pending, @Nullable KeyItem head) {
        StoredKey stored = new StoredKey(store, tables, pending.key, head);
        if (pending.upgrades) {
            stored.requireWhole();
        }
        KeyFold fold = new KeyFold(called, pending.key, head == null ? null : head.head(), stored);
        List<Fate> sofar = new ArrayList<>();
        KeyStep last = fold.hasChanged() ? step(called, pending, head, fold.change(), sofar) : null;
        for (Came came : pending.events) {
            Verdict verdict = fold.fold(came.event);
            if (!fold.hasChanged()) {
                sofar.add(fate(verdict, List.of(), pending.key, came));
                continue;
            }
            Change change = fold.change();
            List<Fate> all = new ArrayList<>(sofar);
            all.add(fate(verdict, change.letters(), pending.key, came));
            KeyStep next = step(called, pending, head, change, all);
            if (!next.fits(tables) && (last != null || !sofar.isEmpty())) {
                break;
            }
            sofar.add(all.getLast());
            last = next;
        }
        if (last == null) {
            settle(pending, sofar);
        }
        return last;
    }

    private KeyStep step(
            StepFunction called, Pending pending, @Nullable KeyItem head, Change change, List<Fate> sofar) {
        return new KeyStep(pending.key, head, change, sofar, FeedDeltas.of(called.feeds(), change.rows()));
    }

    private Fate fate(Verdict verdict, List<Change.Letter> kept, byte[] key, Came came) {
        Change.Letter own = kept.stream()
                .filter(letter -> letter.content() == null && Arrays.equals(letter.origin(), came.event.origin()))
                .reduce((_, later) -> later)
                .orElse(null);
        return switch (verdict) {
            case ACCEPTED -> new Fate.Accepted();
            case DUPLICATE -> new Fate.Duplicate();
            case STALE -> new Fate.Stale();
            case CONFLICTING ->
                new Fate.Conflicting(Optional.ofNullable(own)
                        .map(letter -> KeyLetters.of(letter, pipeline, key, arrivals.get(came.index))));
            case REJECTED -> new Fate.Rejected(Objects.requireNonNull(own).why());
        };
    }

    private Ready ready(Definition definition, Pending pending, KeyStep step) {
        List<Letter> kept = new ArrayList<>();
        for (Change.Letter letter : step.change().letters()) {
            boolean isCallers = redriven && letter.content() == null;
            if (!isCallers) {
                kept.add(KeyLetters.of(letter, pipeline, pending.key, record(pending, letter)));
            }
        }
        List<TransactWriteItem> items = new ArrayList<>();
        int room = KeyStep.ITEMS_MAX - step.items();
        List<List<TransactWriteItem>> all = letters.keep(kept);
        List<Integer> early = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            if (items.size() + all.get(i).size() <= room) {
                items.addAll(all.get(i));
            } else {
                early.add(i);
            }
        }
        // One event may have more letters than a transaction has room for: these are there before its step.
        for (int i : early) {
            List<TransactWriteItem> one = new ArrayList<>(all.get(i));
            one.add(definitions.check(definition, definitions.anyGate(definition)));
            if (!(store.transact(one) instanceof Store.Written.Done)) {
                throw new StoredKey.Moved();
            }
        }
        List<List<TransactWriteItem>> removals = new ArrayList<>();
        Set<String> keeps = kept.stream().map(Letter::identity).collect(Collectors.toSet());
        for (byte[] origin : folded(pending, step)) {
            for (Reason reason : redriven ? REDRIVEN_FOR : List.of(Reason.FAILED, Reason.TOO_LATE)) {
                String identity = KeyLetters.identity(reason, origin);
                if (!keeps.contains(identity)) {
                    removals.add(letters.removal(identity));
                }
            }
        }
        for (List<TransactWriteItem> removal : removals) {
            if (items.size() + removal.size() <= room) {
                items.addAll(removal);
            }
        }
        return new Ready(pending, step, items, removals, false);
    }

    /// Events whose letters go, because they are in now. One that is redriven may have a letter again later.
    private List<byte[]> folded(Pending pending, KeyStep step) {
        List<byte[]> origins = new ArrayList<>();
        step.change().withdrawn().forEach(event -> origins.add(event.origin()));
        Iterator<Fate> settled = step.fates().iterator();
        for (Came came : pending.events) {
            if (redriven && settled.hasNext() && isIn(settled.next())) {
                origins.add(came.event.origin());
            }
        }
        return origins;
    }

    private static boolean isIn(Fate fate) {
        return fate instanceof Fate.Accepted || fate instanceof Fate.Conflicting(var loser) && loser.isEmpty();
    }

    private @Nullable Arrival record(Pending pending, Change.Letter letter) {
        return pending.events.stream()
                .filter(came -> Arrays.equals(came.event.origin(), letter.origin()))
                .findFirst()
                .map(came -> arrivals.get(came.index))
                .orElse(null);
    }

    /// Steps that are written together, of one lane each.
    private static List<List<Ready>> packed(List<Ready> ready, int lanes, boolean alone) {
        List<List<Ready>> packs = new ArrayList<>();
        Map<Integer, List<Ready>> open = new HashMap<>();
        for (Ready each : ready) {
            int lane = DeltaId.lane(each.pending.key, lanes);
            List<Ready> pack = open.get(lane);
            if (pack == null || alone || each.counts || !isRoom(pack, each)) {
                pack = new ArrayList<>();
                open.put(lane, pack);
                packs.add(pack);
            }
            pack.add(each);
        }
        return packs;
    }

    private static boolean isRoom(List<Ready> pack, Ready more) {
        int items = more.items();
        long bytes = more.step.bytes();
        int touched = more.step.delta().items();
        for (Ready each : pack) {
            items += each.items();
            bytes += each.step.bytes();
            touched += each.step.delta().items();
        }
        return items <= KeyStep.ITEMS_MAX && bytes <= KeyStep.BYTES_MAX && touched <= KeyStep.DELTA_ITEMS_MAX;
    }

    private void write(Definition definition, List<Ready> together) {
        int lane = DeltaId.lane(together.getFirst().pending.key, definition.lanes());
        String name = store.newId();
        List<TransactWriteItem> items = new ArrayList<>();
        int gate = definitions.anyGate(definition);
        items.add(definitions.check(definition, gate));
        Set<DeltaId> ids = deltas(definition, together, lane, items);
        for (Ready each : together) {
            Set<DeltaId> own = each.step.delta().isNothing() ? Set.of() : ids;
            items.addAll(each.step.items(store, tables, name, own));
            items.addAll(each.letterItems);
            each.pending.sent.put(name, each.step);
        }
        switch (store.transact(items)) {
            case Store.Written.Done _ -> together.forEach(this::done);
            case Store.Written.Refused refused -> {
                if (refused.failed(0)) {
                    definitions.moveGate(gate, definitions.load());
                }
            }
            case Store.Written.Unknown _ -> {} // The head says it.
        }
    }

    private void done(Ready ready) {
        settle(ready.pending, ready.step);
        ready.step.clean(store);
        for (List<TransactWriteItem> removal : ready.removals) {
            if (!ready.letterItems.containsAll(removal)) {
                store.transact(removal);
            }
        }
    }

    /// Puts what steps come to in the roll-ups, in as few deltas as Reduce can add.
    private Set<DeltaId> deltas(Definition definition, List<Ready> together, int lane, List<TransactWriteItem> items) {
        Set<DeltaId> after = new HashSet<>();
        List<Arrival> came = new ArrayList<>();
        Delta sum = Delta.NOTHING;
        boolean isAny = false;
        for (Ready each : together) {
            if (!each.step.delta().isNothing()) {
                isAny = true;
                sum = sum.plus(each.step.delta());
                KeyItem before = each.step.before();
                after.addAll(before == null ? Set.of() : before.deltas());
                each.pending.events.stream()
                        .limit(each.step.fates().size())
                        .forEach(event -> came.add(arrivals.get(event.index)));
            }
        }
        Set<DeltaId> ids = new HashSet<>();
        if (!isAny) {
            return ids;
        }
        ArrivalTimes times = ArrivalTimes.of(came);
        for (Delta part : FeedDeltas.parts(sum, KeyStep.DELTA_ITEMS_MAX)) {
            DeltaId id = new DeltaId(lane, store.newId());
            ViewDeltas views = new ViewDeltas(new TreeMap<>(Map.of(definition.served(), part)));
            DeltaItem item = new DeltaItem(
                    new PendingDelta(id, after, views),
                    definition.incarnation().id(),
                    store.clock().instant(),
                    ids.isEmpty() ? times : ArrivalTimes.NONE);
            items.add(TransactWriteItem.builder()
                    .put(Put.builder()
                            .tableName(store.tables().deltas())
                            .item(item.item())
                            .conditionExpression("attribute_not_exists(l)")
                            .build())
                    .build());
            ids.add(id);
        }
        return ids;
    }

    private void settle(Pending pending, KeyStep step) {
        boolean upgrades = pending.upgrades
                && step.change().head().code() < function.loaded().processing().version();
        pending.sent.clear();
        settle(pending, step.fates());
        pending.upgrades = upgrades;
    }

    private void settle(Pending pending, List<Fate> some) {
        pending.upgrades = false;
        for (Fate fate : some) {
            fates[pending.events.remove().index] = fate;
        }
    }
}
