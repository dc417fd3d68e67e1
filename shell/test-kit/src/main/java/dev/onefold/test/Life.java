package dev.onefold.test;

import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.keyed.Arrival;
import dev.onefold.core.keyed.Change;
import dev.onefold.core.keyed.Head;
import dev.onefold.core.keyed.KeyFold;
import dev.onefold.core.keyed.RowId;
import dev.onefold.core.keyed.StepFunction;
import dev.onefold.core.keyed.Verdict;
import dev.onefold.core.pipeline.Processing.Order;
import dev.onefold.core.state.Key;
import dev.onefold.test.Sample.Item;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// A runtime in memory: events come in batches, and what the rules say is stored as bytes, whole or not at all. It
/// knows for each key which events the rules have accepted. Not thread-safe.
final class Life {
    private final Subject subject;
    private final Order order;
    private final Map<Tuple, KeyBytes> keys = new TreeMap<>();
    private final Map<Tuple, History> histories = new HashMap<>();
    private final Map<RowId, List<String>> owners = new HashMap<>();
    private final Map<String, Item> origins = new HashMap<>();
    private final List<String> letters = new ArrayList<>();
    private StepFunction function;
    private boolean isUpgraded;
    private int delivery;
    private String meeting = "";

    /// The accepted events of one key, by version and in the order of arrival. The function's order decides which
    /// of the two is folded.
    private static final class History {
        final SortedMap<BigInteger, byte[]> byVersion = new TreeMap<>();
        final List<byte[]> asItCame = new ArrayList<>();
        final Set<BigInteger> notTheOwner = new HashSet<>(); // Versions that contribute nothing because of it.
        int byOlder = Folded.NEVER; // With IN_ORDER of the lowest versions, else of the first ones that came.

        List<byte[]> contents(Order order) {
            if (order != Order.IN_ORDER) {
                return asItCame;
            }
            List<byte[]> contents = new ArrayList<>();
            byVersion.forEach(
                    (version, content) -> contents.add(notTheOwner.contains(version) ? Arrival.filtered() : content));
            return contents;
        }
    }

    /// A batch that was folded and is not stored yet.
    private record Work(
            Map<Item, Verdict> verdicts, @Nullable Change change) {}

    Life(Subject subject) {
        this.subject = subject;
        order = subject.processing().order();
        function = subject.first();
        isUpgraded = subject.older() == null;
    }

    /// Another process goes on from the bytes that are stored.
    void restart() {
        function = isUpgraded ? subject.now() : subject.first();
    }

    /// The newer version of the function goes on, with each key.
    void upgrade() {
        isUpgraded = true;
        restart();
        keys.forEach((key, bytes) -> {
            if (bytes.head() != null) {
                store(key, work(key, List.of()));
            }
        });
    }

    /// Folds events, the ones of a key in one step.
    void deliver(List<Item> items, Fate fate) {
        Map<Tuple, List<Item>> batches = new LinkedHashMap<>();
        items.forEach(item ->
                batches.computeIfAbsent(item.key(), _ -> new ArrayList<>()).add(item));
        batches.forEach((key, batch) -> deliver(key, batch, fate));
    }

    private void deliver(Tuple key, List<Item> batch, Fate fate) {
        switch (fate) {
            case STORED -> store(key, work(key, batch));
            case LOST -> {
                work(key, batch);
                restart();
                store(key, work(key, batch));
            }
            case REPEATED -> {
                store(key, work(key, batch));
                restart();
                store(key, work(key, batch));
            }
            case TWIN -> {
                Work slow = work(key, batch);
                store(key, work(key, batch));
                if (!store(key, slow)) {
                    store(key, work(key, batch));
                }
            }
        }
    }

    private KeyBytes newKey(Tuple key) {
        return new KeyBytes(Key.parts(subject.pipeline(), key.bytes()), owners);
    }

    private Work work(Tuple key, List<Item> batch) {
        KeyBytes bytes = keys.computeIfAbsent(key, this::newKey);
        KeyFold fold = new KeyFold(function, key.bytes(), bytes.head(), bytes);
        Map<Item, Verdict> verdicts = new LinkedHashMap<>();
        for (Item item : batch) {
            delivery++;
            origins.put(item.line() + "/" + delivery, item);
            Verdict verdict = fold.fold(item.arrival(delivery));
            verdicts.merge(item, verdict, (first, _) -> first);
        }
        return new Work(verdicts, fold.hasChanged() ? fold.change() : null);
    }

    private boolean store(Tuple key, Work work) {
        KeyBytes bytes = keys.computeIfAbsent(key, this::newKey);
        Head before = bytes.head();
        Change change = work.change;
        if (change == null) {
            return true;
        }
        if (!bytes.store(change)) {
            return false;
        }
        History history = histories.computeIfAbsent(key, _ -> new History());
        if (before != null && before.code() < change.head().code()) {
            noteUpgrade(history, before, change.head());
        }
        Map<Item, Reason> rejected = new HashMap<>();
        for (Change.Letter letter : change.letters()) {
            Item item = origins.get(new String(letter.origin(), StandardCharsets.UTF_8));
            Malformed why = letter.why();
            if (item != null && letter.content() == null) {
                rejected.put(item, why.reason());
            }
            letters.add((item == null ? "" : "line " + item.line() + ": ") + why.message());
            meeting = why.reason() == Reason.NOT_THE_OWNER && meeting.isEmpty() ? letters.getLast() : meeting;
        }
        work.verdicts.forEach((item, verdict) -> note(history, item, verdict, rejected.get(item)));
        for (Change.Withdrawn folded : change.withdrawn()) {
            Item item = origins.get(new String(folded.origin(), StandardCharsets.UTF_8));
            if (item != null) {
                history.notTheOwner.remove(item.number());
            }
        }
        return true;
    }

    private void noteUpgrade(History history, Head before, Head after) {
        boolean refolded =
                Objects.equals(before.window().codeFloor(), after.window().codeFloor());
        int kept = order == Order.IN_ORDER && refolded ? before.window().count() : 0;
        history.byOlder = history.contents(order).size() - kept;
    }

    /// @param rejected the reason of its letter; `null` if it has none
    private void note(History history, Item item, Verdict verdict, @Nullable Reason rejected) {
        switch (verdict) {
            case ACCEPTED, REJECTED -> {
                if (verdict == Verdict.REJECTED && rejected == Reason.TOO_LATE) {
                    return;
                }
                boolean contributes = verdict == Verdict.ACCEPTED || rejected != Reason.NOT_THE_OWNER;
                history.byVersion.put(item.number(), item.content());
                if (contributes) {
                    history.notTheOwner.remove(item.number());
                    history.asItCame.add(item.content());
                } else {
                    history.notTheOwner.add(item.number());
                }
            }
            case CONFLICTING -> {
                if (order == Order.IN_ORDER) {
                    byte[] before = history.byVersion.put(
                            item.number(), greater(history.byVersion.get(item.number()), item.content()));
                    if (!Arrays.equals(before, history.byVersion.get(item.number()))) {
                        history.notTheOwner.remove(item.number());
                    }
                }
            }
            case DUPLICATE, STALE -> {}
        }
    }

    private static byte[] greater(byte @Nullable [] one, byte[] other) {
        return one == null || Arrays.compareUnsigned(one, other) < 0 ? other : one;
    }

    /// The stored state of each key.
    Map<Tuple, Folded> stored() {
        Map<Tuple, Folded> stored = new TreeMap<>();
        keys.forEach((key, bytes) -> {
            Head head = bytes.head();
            if (head != null) {
                stored.put(key, new Folded(head.context(), bytes.rows()));
            }
        });
        return stored;
    }

    /// The result of folding the accepted events of each key from the beginning.
    Map<Tuple, Folded> expected() {
        Map<Tuple, Folded> expected = new TreeMap<>();
        histories.forEach((key, history) ->
                expected.put(key, Folded.inOrder(subject, key.bytes(), history.contents(order), history.byOlder)));
        return expected;
    }

    /// Why the first event that would have written a row of another key became a dead letter; empty if none did.
    String owners() {
        return meeting;
    }

    /// How many versions of a key are in.
    int versions(Tuple key) {
        History history = histories.get(key);
        return history == null ? 0 : history.byVersion.size();
    }

    /// Why events became dead letters since this was asked last.
    List<String> takeLetters() {
        List<String> taken = List.copyOf(letters);
        letters.clear();
        return taken;
    }
}
