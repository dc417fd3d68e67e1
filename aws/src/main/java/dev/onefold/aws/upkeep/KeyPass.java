package dev.onefold.aws.upkeep;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.KeyItem;
import dev.onefold.aws.item.OutputTable;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.state.Functions;
import dev.onefold.aws.state.StoredKey;
import dev.onefold.aws.store.Parts;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.UserFunction;
import dev.onefold.core.Verification;
import dev.onefold.core.bytes.Hash;
import dev.onefold.core.keyed.Base;
import dev.onefold.core.keyed.Head.Window;
import dev.onefold.core.process.KeyDifference;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ScanRequest;
import software.amazon.awssdk.services.dynamodb.model.ScanResponse;

/// A pass over all keys that a function folds, some pages at a time, by whoever has time. It brings keys that no
/// event touches to the version of the function that serves, audits some of the keys if that is wanted, and deletes
/// what steps that were killed have left behind. A pass that is moved back by a twin costs time and nothing else.
///
///     item = k 00 "keys", p number of the pass, v version that keys are brought to, o one key in how many is
///            audited (0: none), c key of the last item that is done (none: nothing is), n how many keys that is,
///            d whether that is all
final class KeyPass {
    private static final int KEYS_AT_A_TIME = 50;

    private final Store store;
    private final Definition definition;
    private final UserFunction function;
    private final List<OutputTable> tables;
    private final State begun;
    private final List<KeyDifference> differences = new ArrayList<>();
    private long audited;

    /// How far a pass is.
    private record State(
            long pass, int version, int oneIn, @Nullable AttributeValue cursor, long keys, boolean done) {
        static final State NONE = new State(0, 0, 0, null, 0, true);

        static State of(Map<String, AttributeValue> item) {
            return item.isEmpty()
                    ? NONE
                    : new State(
                            Items.number(item, "p"),
                            (int) Items.number(item, "v"),
                            (int) Items.number(item, "o"),
                            item.get("c"),
                            Items.number(item, "n"),
                            Items.require(item, "d").bool());
        }

        State next(int nextVersion, int nextOneIn) {
            return new State(pass + 1, nextVersion, nextOneIn, null, 0, false);
        }

        Map<String, AttributeValue> item() {
            Map<String, AttributeValue> item = new TreeMap<>(key());
            item.put("p", Items.number(pass));
            item.put("v", Items.number(version));
            item.put("o", Items.number(oneIn));
            item.put("n", Items.number(keys));
            item.put("d", AttributeValue.fromBool(done));
            if (cursor != null) {
                item.put("c", cursor);
            }
            return item;
        }
    }

    /// The progress of a pass after an invocation.
    ///
    /// @param keys number of keys gone through by now; -1 if no pass is under way
    /// @param audit of the keys of this invocation; `null` if none was audited
    record Done(long keys, boolean isAll, @Nullable Verification audit) {}

    private KeyPass(Store store, Definition definition, UserFunction function, State begun) {
        this.store = store;
        this.definition = definition;
        this.function = function;
        this.begun = begun;
        tables = OutputTable.of(function.loaded().pipeline(), function.loaded().processing());
    }

    private static Map<String, AttributeValue> key() {
        return RowItem.other("keys");
    }

    /// Goes on with the pass that is under way, or begins one: when the version of the function was raised, or an
    /// audit is wanted.
    ///
    /// @param auditOneIn audits one key in so many; 0: none
    static Done go(Store store, Definition definition, UserFunction function, int auditOneIn, BooleanSupplier goesOn) {
        State state = State.of(store.get(store.tables().rows(), key()));
        int version = function.loaded().processing().version();
        if (version > state.version || state.done && auditOneIn > 0) {
            State next = state.next(version, Math.max(auditOneIn, state.done ? 0 : state.oneIn));
            if (!save(store, next, state.pass)) {
                return new Done(0, false, null); // Somebody else has begun one.
            }
            state = next;
        }
        return state.done ? new Done(-1, true, null) : new KeyPass(store, definition, function, state).pages(goesOn);
    }

    /// Whether the pass is still the one that it was.
    private static boolean save(Store store, State state, long expected) {
        return store.retriedIf(() -> store.client()
                .putItem(request -> request.tableName(store.tables().rows())
                        .item(state.item())
                        .conditionExpression("attribute_not_exists(p) OR p = :p OR p = :n")
                        .expressionAttributeValues(
                                Map.of(":p", Items.number(expected), ":n", Items.number(state.pass)))));
    }

    private Done pages(BooleanSupplier goesOn) {
        State at = begun;
        while (!at.done && goesOn.getAsBoolean()) {
            AttributeValue from = at.cursor;
            ScanRequest request = ScanRequest.builder()
                    .tableName(store.tables().rows())
                    .consistentRead(true)
                    .exclusiveStartKey(from == null ? null : Map.of("k", from))
                    .build();
            ScanResponse page = store.retried(() -> store.client().scan(request));
            long keys = page(page.items());
            boolean done = page.lastEvaluatedKey().isEmpty();
            at = new State(
                    at.pass,
                    at.version,
                    at.oneIn,
                    done ? null : Items.require(page.lastEvaluatedKey(), "k"),
                    at.keys + keys,
                    done);
            if (!save(store, at, at.pass)) {
                break;
            }
        }
        Verification audit = at.oneIn == 0
                ? null
                : new Verification(
                        "the kept events of " + audited + " keys, one in " + at.oneIn,
                        0,
                        List.of(),
                        audited,
                        differences);
        return new Done(at.keys, at.done, audit);
    }

    private long page(List<Map<String, AttributeValue>> items) {
        List<KeyItem> heads =
                items.stream().filter(KeyItem::isHead).map(KeyItem::of).toList();
        List<byte[]> older = heads.stream()
                .filter(each -> each.head().code() < begun.version)
                .map(KeyItem::key)
                .toList();
        Parts.of(older, KEYS_AT_A_TIME).forEach(some -> Functions.upgrade(store, definition, some));
        if (begun.oneIn > 0) {
            List<byte[]> chosen =
                    heads.stream().map(KeyItem::key).filter(this::isIn).toList();
            store.threads()
                    .all(chosen, key -> StoredKey.audit(store, tables, function, key))
                    .forEach(differences::addAll);
            audited += chosen.size();
        }
        release(items);
        return heads.size();
    }

    private boolean isIn(byte[] key) {
        long hash = Hash.of(Arrays.copyOf(key, key.length + Hash.PADDING), 0, key.length);
        return Long.remainderUnsigned(hash + begun.pass, begun.oneIn) == 0;
    }

    /// Deletes kept events and bases that no head names. An ordinal is never given twice, so one that is below those
    /// of its head and is not named by its base is named never again.
    private void release(List<Map<String, AttributeValue>> items) {
        Map<ByteBuffer, List<Map<String, AttributeValue>>> byKey = new HashMap<>();
        for (Map<String, AttributeValue> item : items) {
            KeyItem.owner(item)
                    .ifPresent(key -> byKey.computeIfAbsent(ByteBuffer.wrap(key), _ -> new ArrayList<>())
                            .add(item));
        }
        List<KeyItem> heads = StoredKey.heads(
                store, byKey.keySet().stream().map(ByteBuffer::array).toList());
        store.threads().each(heads, head -> {
            try {
                StoredKey stored = new StoredKey(store, tables, head.key(), head);
                byKey.getOrDefault(ByteBuffer.wrap(head.key()), List.of()).stream()
                        .filter(item -> isLeft(item, head, stored))
                        .forEach(this::delete);
            } catch (StoredKey.Moved | StoredKey.Broken other) {
                return; // The next pass looks again.
            }
        });
    }

    private static boolean isLeft(Map<String, AttributeValue> item, KeyItem head, StoredKey stored) {
        Window window = head.head().window();
        if (KeyItem.isBase(item)) {
            return window.baseCount() == 0
                    && Items.number(item, KeyItem.REVISION) <= head.head().revision();
        }
        long ordinal = KeyItem.kept(item).ordinal();
        return ordinal < window.first()
                && (window.baseCount() == 0
                        || stored.base().events().stream()
                                .mapToLong(Base.Event::ordinal)
                                .noneMatch(o -> o == ordinal));
    }

    private void delete(Map<String, AttributeValue> item) {
        store.tried(() -> store.client().deleteItem(request -> {
            request.tableName(store.tables().rows()).key(Map.of("k", Items.require(item, "k")));
            if (KeyItem.isBase(item)) {
                request.conditionExpression(KeyItem.REVISION + " = :r")
                        .expressionAttributeValues(Map.of(":r", Items.require(item, KeyItem.REVISION)));
            }
        }));
    }
}
