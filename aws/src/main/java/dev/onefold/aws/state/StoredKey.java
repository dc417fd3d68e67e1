package dev.onefold.aws.state;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.KeyItem;
import dev.onefold.aws.item.OutputTable;
import dev.onefold.aws.store.BatchReads;
import dev.onefold.aws.store.Parts;
import dev.onefold.aws.store.SettledReads;
import dev.onefold.aws.store.SettledReads.Item;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.UserFunction;
import dev.onefold.core.keyed.Base;
import dev.onefold.core.keyed.Head.Window;
import dev.onefold.core.keyed.Kept;
import dev.onefold.core.keyed.KeyAudit;
import dev.onefold.core.keyed.RowId;
import dev.onefold.core.process.KeyDifference;
import dev.onefold.core.state.Key;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// The stored data of one key, as of the step that its head was written in. The items of a step become visible
/// one by one, so a plain read may find the head of one step and a row of the one before. Rows and the base are
/// read together with the head in one transaction, which is refused as long as a step is under way on one of
/// them. If the head is another one by then, all is read again. A kept event is written once and never changed,
/// so it is read plainly, and read again only if it is not there. Not thread-safe.
public final class StoredKey implements dev.onefold.core.keyed.Store {
    private static final int ATTEMPTS_MAX = 12;
    private static final int TOGETHER_MAX = 99;

    private final Store store;
    private final List<OutputTable> tables;
    private final byte[] key;
    private final @Nullable KeyItem head;
    private @Nullable Base base; // Once it was read.

    /// Another step was written since the head was read.
    public static final class Moved extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Moved() {
            super("Another step of the key was written while it was read", null, false, false);
        }
    }

    /// Something that is kept of the key is not there, or is of another step: a backup may hold a part of a step.
    public static final class Broken extends RuntimeException {
        private static final long serialVersionUID = 1L;

        final String what;

        Broken(String what) {
            super(what, null, false, false);
            this.what = what;
        }
    }

    /// @param head that was read; `null` if the key has none
    public StoredKey(Store store, List<OutputTable> tables, byte[] key, @Nullable KeyItem head) {
        this.store = store;
        this.tables = tables;
        this.key = key;
        this.head = head;
    }

    /// The heads of these keys as they are now, each key at most once.
    public static List<KeyItem> heads(Store store, List<byte[]> keys) {
        return BatchReads.of(
                        store,
                        store.tables().rows(),
                        keys.stream().map(KeyItem::keyOf).toList(),
                        null)
                .stream()
                .map(KeyItem::of)
                .toList();
    }

    /// Reads something of a key, again if another step was written meanwhile.
    ///
    /// @param reading is given the head, which is `null` if there is none
    public static <T> T atOnce(
            Store store, List<OutputTable> tables, byte[] key, BiFunction<@Nullable KeyItem, StoredKey, T> reading) {
        for (int attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
            List<KeyItem> heads = heads(store, List.of(key));
            KeyItem head = heads.isEmpty() ? null : heads.getFirst();
            try {
                return reading.apply(head, new StoredKey(store, tables, key, head));
            } catch (Moved moved) {
                store.backOff(attempt);
            }
        }
        throw new IllegalStateException("A key was written each time that it was read, " + ATTEMPTS_MAX
                + " times. Ask again, or read single rows from their tables.");
    }

    /// The differences between the stored data of a key and the result of its kept events.
    public static List<KeyDifference> audit(Store store, List<OutputTable> tables, UserFunction function, byte[] key) {
        return atOnce(store, tables, key, (head, stored) -> {
            try {
                return head == null ? List.of() : function.use(each -> KeyAudit.of(each, key, head.head(), stored));
            } catch (Broken broken) {
                List<String> parts = Key.parts(function.loaded().pipeline(), key);
                return List.of(new KeyDifference(parts, "kept events", broken.what, ""));
            }
        });
    }

    /// Reads all that is kept.
    ///
    /// @throws Broken if something is not there
    void requireWhole() {
        if (head != null) {
            kept(head.head().window().lowest());
        }
    }

    /// Of the events that are kept those that are there.
    public List<Kept> left() {
        if (head == null) {
            return List.of();
        }
        LongStream ordinals;
        try {
            ordinals = ordinals(head.head().window(), 0);
        } catch (Broken noBase) {
            ordinals = LongStream.range(
                    head.head().window().first(), head.head().window().next());
        }
        List<Map<String, AttributeValue>> keys =
                ordinals.mapToObj(ordinal -> KeyItem.keptOf(key, ordinal)).toList();
        return BatchReads.of(store, store.tables().rows(), keys, null).stream()
                .map(KeyItem::kept)
                .toList();
    }

    @Override
    public List<Kept> kept(long from) {
        if (head == null) {
            return List.of();
        }
        List<Map<String, AttributeValue>> keys = ordinals(head.head().window(), from)
                .mapToObj(ordinal -> KeyItem.keptOf(key, ordinal))
                .toList();
        Map<Map<String, AttributeValue>, Kept> found = new HashMap<>();
        BatchReads.of(store, store.tables().rows(), keys, null)
                .forEach(item -> found.put(Map.of("k", Items.require(item, "k")), KeyItem.kept(item)));
        List<Item> missing = keys.stream()
                .filter(each -> !found.containsKey(each))
                .map(each -> new Item(store.tables().rows(), each))
                .toList();
        List<Kept> all = new ArrayList<>(found.values());
        for (Map<String, AttributeValue> item : together(missing)) {
            if (item.isEmpty()) {
                throw new Broken("Of " + keys.size() + " events that are kept of the key, one or more are not stored");
            }
            all.add(KeyItem.kept(item));
        }
        all.sort(Comparator.comparingLong(Kept::ordinal));
        return all;
    }

    /// The ordinals of the kept events only: between those of a base there may be many whose events are no longer
    /// kept.
    private LongStream ordinals(Window window, long from) {
        LongStream behind = LongStream.range(Math.max(from, window.first()), window.next());
        return window.baseCount() == 0
                ? behind
                : LongStream.concat(base().events().stream().mapToLong(Base.Event::ordinal), behind);
    }

    @Override
    public Base base() {
        Base read = base;
        if (read == null) {
            Map<String, AttributeValue> item = together(
                            List.of(new Item(store.tables().rows(), KeyItem.baseOf(key))))
                    .getFirst();
            if (item.isEmpty()) {
                throw new Broken("The base of the key is not stored");
            }
            read = KeyItem.base(item);
            if (head != null
                    && (Items.number(item, KeyItem.REVISION) > head.head().revision()
                            || read.events().size() != head.head().window().baseCount())) {
                throw new Broken("The base of the key is of another step than its head");
            }
            base = read;
        }
        return read;
    }

    @Override
    public Map<RowId, byte[]> rows(Collection<RowId> wanted) {
        List<RowId> ids = List.copyOf(wanted);
        List<Map<String, AttributeValue>> items = together(ids.stream()
                .map(row -> new Item(
                        store.tables().output(tables.get(row.table()).name()),
                        tables.get(row.table()).keyOf(row.key())))
                .toList());
        Map<RowId, byte[]> rows = new TreeMap<>();
        for (int i = 0; i < ids.size(); i++) {
            if (!items.get(i).isEmpty()) {
                rows.put(ids.get(i), OutputTable.content(items.get(i)));
            }
        }
        return rows;
    }

    /// Items as of the head's step, in the order that they were asked for; one that is not there is empty.
    public List<Map<String, AttributeValue>> together(List<Item> wanted) {
        return Parts.of(wanted, TOGETHER_MAX).stream()
                .map(this::part)
                .flatMap(List::stream)
                .toList();
    }

    private List<Map<String, AttributeValue>> part(List<Item> wanted) {
        List<Item> all = new ArrayList<>();
        all.add(new Item(store.tables().rows(), KeyItem.keyOf(key)));
        all.addAll(wanted);
        for (int attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
            Optional<List<Map<String, AttributeValue>>> items = SettledReads.inOrder(store, all);
            if (items.isPresent()) {
                requireSame(items.get().getFirst());
                return items.get().subList(1, all.size());
            }
            store.backOff(attempt);
        }
        throw new Moved();
    }

    private void requireSame(Map<String, AttributeValue> now) {
        boolean isSame = head == null
                ? now.isEmpty()
                : !now.isEmpty() && Items.text(now, KeyItem.STEP).equals(head.step());
        if (!isSame) {
            throw new Moved();
        }
    }
}
