package dev.onefold.aws.batch;

import dev.onefold.aws.content.StagedContents;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.store.BatchReads;
import dev.onefold.aws.store.Parts;
import dev.onefold.aws.store.Queries;
import dev.onefold.aws.store.Store;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.pipeline.Batching;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.Delete;
import software.amazon.awssdk.services.dynamodb.model.Put;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// The states of deliveries, and which of them are not ended. A state and its place in that list change in one
/// transaction, conditional on the state's revision.
///
///     list = l "open", "person" or "decided", i the number, so that numbers sort, b the number, s a letter for its
///            state, r its records where a person has ended it, and w when it is due: where an attempt was begun, when
/// its owner is gone; in the table of deltas
///     slot = l "slot", i its number, b the number of the delivery that was begun in it
///
/// A slot is there exactly as long as its delivery is begun. So there are never more attempts under way than slots,
/// over all invocations. See [#freeLeftSlots] for a slot that is there for longer.
///
/// The list only says where to look: of what is true the state decides, because items of one transaction are seen one
/// after the other.
final class Deliveries {
    /// Deliveries that are waiting or started.
    static final String OPEN = "open";
    /// Deliveries that wait for a person.
    static final String PERSON = "person";

    /// Deliveries that a person has ended.
    static final String DECIDED = "decided";

    private static final String DISCARDED = "x";
    private static final String SLOT = "slot";
    private static final String STARTED = "s";
    private static final String ALONE = "l";
    private static final String IN_DOUBT = "d";
    private static final int ATTEMPTS_MAX = 20;

    private static final int READS_AT_A_TIME = 64;

    /// Where a transaction that takes a slot or frees it has the item of the slot.
    private static final int SLOT_AT = 1;

    private final Store store;

    Deliveries(Store store) {
        this.store = store;
    }

    /// The delivery of a number, if there is one.
    Optional<DeliveryItem> find(BatchNumber number) {
        Map<String, AttributeValue> item = store.get(store.tables().rows(), DeliveryItem.key(number));
        return item.isEmpty() ? Optional.empty() : Optional.of(new DeliveryItem(number, item));
    }

    /// The deliveries that are there, by number.
    ///
    /// @param numbers each at most once
    Map<BatchNumber, DeliveryItem> find(List<BatchNumber> numbers) {
        Map<ByteBuffer, BatchNumber> keys = new HashMap<>();
        numbers.forEach(number -> keys.put(key(DeliveryItem.key(number)), number));
        List<Map<String, AttributeValue>> wanted =
                numbers.stream().map(DeliveryItem::key).toList();
        Map<BatchNumber, DeliveryItem> found = new HashMap<>();
        for (Map<String, AttributeValue> item :
                BatchReads.of(store, store.tables().rows(), wanted, null)) {
            BatchNumber number = Objects.requireNonNull(keys.get(key(item)));
            found.put(number, new DeliveryItem(number, item));
        }
        return found;
    }

    private static ByteBuffer key(Map<String, AttributeValue> item) {
        return ByteBuffer.wrap(Items.bytes(item, "k"));
    }

    /// The delivery of a number that there must be.
    DeliveryItem load(BatchNumber number) {
        return find(number)
                .orElseThrow(() -> new IllegalStateException(
                        "There is no batch " + number + " in " + store.tables().rows()));
    }

    /// A delivery in a list.
    ///
    /// @param atMs when it is due; of an attempt that was begun, when its owner is gone for certain
    /// @param state see [#state]
    /// @param records where a person has ended it; else 0
    record Listed(BatchNumber number, long atMs, String state, long records) {
        boolean isDiscarded() {
            return state.equals(DISCARDED);
        }

        boolean isStarted() {
            return state.equals(STARTED);
        }

        boolean isAlone() {
            return state.equals(ALONE);
        }

        boolean isInDoubt() {
            return state.equals(IN_DOUBT);
        }
    }

    /// The entries of a list, in the order of their numbers.
    List<Listed> listed(String list, int limit) {
        return listed(read(of(list).limit(limit).build(), limit));
    }

    /// The open ones that are due, in the order of their numbers: those that wait do not hide them.
    List<Listed> due(long nowMs, int limit) {
        return listed(read(
                of(OPEN).filterExpression("w <= :now")
                        .expressionAttributeValues(
                                Map.of(":l", AttributeValue.fromS(OPEN), ":now", Items.number(nowMs)))
                        .build(),
                limit));
    }

    private static List<Listed> listed(List<Map<String, AttributeValue>> items) {
        return items.stream()
                .map(item -> new Listed(
                        BatchNumber.read(Items.text(item, "b")).orElseThrow(),
                        Items.number(item, "w"),
                        Items.text(item, "s"),
                        item.containsKey("r") ? Items.number(item, "r") : 0))
                .toList();
    }

    private QueryRequest.Builder of(String list) {
        return QueryRequest.builder()
                .tableName(store.tables().deltas())
                .keyConditionExpression("l = :l")
                .expressionAttributeValues(Map.of(":l", AttributeValue.fromS(list)))
                .consistentRead(true);
    }

    private List<Map<String, AttributeValue>> slots() {
        return read(of(SLOT).build(), Batching.CONCURRENCY_MAX);
    }

    private List<Map<String, AttributeValue>> read(QueryRequest request, int limit) {
        List<Map<String, AttributeValue>> found = new ArrayList<>();
        Queries.pages(store, request, page -> {
            found.addAll(page.items());
            return found.size() < limit;
        });
        return found;
    }

    /// Slots in which an attempt may be begun.
    ///
    /// @param count how many there are in all
    List<Integer> freeSlots(int count) {
        Set<Integer> taken = slots().stream()
                .map(item -> Integer.parseInt(Items.text(item, "i")))
                .collect(Collectors.toSet());
        return IntStream.rangeClosed(1, count)
                .boxed()
                .filter(slot -> !taken.contains(slot))
                .limit(Math.max(0, count - taken.size()))
                .toList();
    }

    /// Frees slots whose delivery is not under way in them. A version of this code that knows no slots leaves the slot
    /// of a delivery that it ends.
    ///
    /// @return whether there were any
    boolean freeLeftSlots() {
        boolean isFreed = false;
        for (List<Map<String, AttributeValue>> some : Parts.of(slots(), READS_AT_A_TIME)) {
            isFreed |= store.threads().all(some, this::freeIfLeft).contains(true);
        }
        return isFreed;
    }

    private boolean freeIfLeft(Map<String, AttributeValue> slot) {
        Optional<DeliveryItem> found =
                find(BatchNumber.read(Items.text(slot, "b")).orElseThrow());
        boolean isTaken = found.isPresent()
                && found.get().delivery() instanceof Delivery.Started
                && found.get().slot() == Integer.parseInt(Items.text(slot, "i"));
        if (isTaken) {
            return false;
        }
        List<TransactWriteItem> items = new ArrayList<>();
        items.add(leave(slot));
        // The start mark may be there, and not seen yet. Then this is refused. A batch that was freed is never
        // begun again.
        found.ifPresent(item -> items.add(put(item, item)));
        return store.transact(items) instanceof Store.Written.Done;
    }

    /// Frees a slot, on condition that it is this delivery's.
    private TransactWriteItem leave(Map<String, AttributeValue> slot) {
        return TransactWriteItem.builder()
                .delete(Delete.builder()
                        .tableName(store.tables().deltas())
                        .key(Map.of("l", slot.get("l"), "i", slot.get("i")))
                        .conditionExpression("b = :b")
                        .expressionAttributeValues(Map.of(":b", slot.get("b")))
                        .build())
                .build();
    }

    /// Whether a delivery and all of its parts are ended; not if it is sealed and not seen yet.
    boolean isEnded(BatchNumber number) {
        return find(number).stream().anyMatch(this::isEnded);
    }

    /// Whether a delivery and all of its parts are ended.
    boolean isEnded(DeliveryItem item) {
        Delivery delivery = item.delivery();
        if (item.isRemoved()) {
            return true;
        }
        if (!(delivery instanceof Delivery.Divided)) {
            return delivery.isEnded();
        }
        for (int part = 1; part <= item.parts(); part++) {
            if (!isEnded(item.number().part(part))) {
                return false;
            }
        }
        return true;
    }

    /// Replaces a state by the next one.
    ///
    /// @param before as it was read
    /// @return the delivery under its next revision; empty if somebody else has changed it or has taken its slot
    Optional<DeliveryItem> change(DeliveryItem before, Delivery delivery) {
        DeliveryItem next = before.next(delivery);
        List<TransactWriteItem> items = new ArrayList<>();
        items.add(put(before, next));
        if (delivery instanceof Delivery.Started) {
            items.add(take(next));
        } else if (before.slot() > 0) {
            items.add(leave(slot(before)));
        }
        String from = list(before.delivery());
        String to = list(delivery);
        if (!from.isEmpty() && !from.equals(to)) {
            items.add(unlist(from, before.number()));
        }
        if (!to.isEmpty()) {
            items.add(index(store, next));
        }
        if (delivery instanceof Delivery.Divided divided) {
            for (Delivery.Part part : divided.parts()) {
                DeliveryItem item = DeliveryItem.part(part);
                items.add(put(store.tables().rows(), item.attributes(), "attribute_not_exists(k)", Map.of()));
                if (!list(part.delivery()).isEmpty()) {
                    items.add(index(store, item));
                }
            }
        }
        return write(items, next);
    }

    /// Records the proof of a content. Whoever does it, it is the same.
    Optional<DeliveryItem> prove(DeliveryItem before, DeliveryItem.Proof proof) {
        DeliveryItem next = before.proven(proof);
        return write(new ArrayList<>(List.of(put(before, next))), next);
    }

    private TransactWriteItem take(DeliveryItem next) {
        return put(store.tables().deltas(), slot(next), "attribute_not_exists(l)", Map.of());
    }

    /// The slot of a delivery that is begun.
    private static Map<String, AttributeValue> slot(DeliveryItem item) {
        return Map.of(
                "l", AttributeValue.fromS(SLOT),
                "i", AttributeValue.fromS(String.format(Locale.ROOT, "%04d", item.slot())),
                "b", AttributeValue.fromS(item.number().toString()));
    }

    /// An answer that is lost leaves the state to tell. A request that arrives late finds another revision.
    private Optional<DeliveryItem> write(List<TransactWriteItem> items, DeliveryItem next) {
        for (int attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
            Store.Written written = store.transact(items);
            if (written instanceof Store.Written.Done) {
                return Optional.of(next);
            }
            store.backOff(attempt);
            DeliveryItem now = load(next.number());
            if (now.attributes().equals(next.attributes())) {
                return Optional.of(next);
            }
            boolean isSlotAnothers = written instanceof Store.Written.Refused refused && refused.failed(SLOT_AT);
            if (now.revision() >= next.revision() || isSlotAnothers && next.slot() > 0) {
                return Optional.empty();
            }
            if (isSlotAnothers) {
                items.remove(SLOT_AT); // See #freeLeftSlots: it was freed before, and has been taken by another since.
            }
        }
        throw new IllegalStateException("The state of batch " + next.number() + " could not be written in "
                + ATTEMPTS_MAX + " attempts: the tables are throttled. It is tried again at the next wake-up.");
    }

    private TransactWriteItem put(DeliveryItem before, DeliveryItem next) {
        return put(store.tables().rows(), next.attributes(), "v = :v", Map.of(":v", Items.number(before.revision())));
    }

    private static String list(Delivery delivery) {
        return switch (delivery) {
            case Delivery.Waiting _, Delivery.Started _ -> OPEN;
            case Delivery.InDoubt _, Delivery.Aside _ -> PERSON;
            case Delivery.Done done -> done.isDecided() ? DECIDED : "";
            case Delivery.Divided _ -> "";
        };
    }

    static TransactWriteItem put(
            String table, Map<String, AttributeValue> item, String condition, Map<String, AttributeValue> values) {
        return TransactWriteItem.builder()
                .put(Put.builder()
                        .tableName(table)
                        .item(item)
                        .conditionExpression(condition)
                        .expressionAttributeValues(values.isEmpty() ? null : values)
                        .build())
                .build();
    }

    /// Items that rewrite the lists and the slots to hold these deliveries only, which are all that are not
    /// ended.
    List<TransactWriteItem> relisted(List<DeliveryItem> open) {
        Map<Map<String, AttributeValue>, TransactWriteItem> items = new LinkedHashMap<>();
        for (String list : List.of(OPEN, PERSON, SLOT)) {
            read(of(list).build(), Integer.MAX_VALUE).forEach(item -> {
                Map<String, AttributeValue> key = Map.of("l", item.get("l"), "i", item.get("i"));
                items.put(key, delete(store.tables().deltas(), key));
            });
        }
        for (DeliveryItem delivery : open) {
            TransactWriteItem index = index(store, delivery);
            items.put(key(index), index);
            if (delivery.slot() > 0) {
                TransactWriteItem slot = put(
                        store.tables().deltas(),
                        slot(delivery),
                        "attribute_not_exists(l) OR attribute_exists(l)",
                        Map.of());
                items.put(key(slot), slot);
            }
        }
        return List.copyOf(items.values());
    }

    private static Map<String, AttributeValue> key(TransactWriteItem put) {
        return Map.of("l", put.put().item().get("l"), "i", put.put().item().get("i"));
    }

    /// Lists a delivery.
    static TransactWriteItem index(Store store, DeliveryItem delivery) {
        Map<String, AttributeValue> item = new TreeMap<>();
        item.put("l", AttributeValue.fromS(list(delivery.delivery())));
        item.put("i", AttributeValue.fromS(sortable(delivery.number())));
        item.put("b", AttributeValue.fromS(delivery.number().toString()));
        item.put("s", AttributeValue.fromS(state(delivery)));
        item.put("w", Items.number(dueMs(delivery)));
        if (delivery.delivery() instanceof Delivery.Done) {
            item.put("r", Items.number(delivery.members().count()));
        }
        return TransactWriteItem.builder()
                .put(Put.builder().tableName(store.tables().deltas()).item(item).build())
                .build();
    }

    private static String state(DeliveryItem item) {
        return switch (item.delivery()) {
            case Delivery.Waiting _ -> item.isAlone() ? ALONE : "w";
            case Delivery.Started _ -> STARTED;
            case Delivery.InDoubt _ -> IN_DOUBT;
            case Delivery.Aside _ -> "a";
            case Delivery.Done done -> done.how() == Delivery.How.DISCARDED ? DISCARDED : "v";
            case Delivery.Divided _ -> "";
        };
    }

    private static long dueMs(DeliveryItem item) {
        return switch (item.delivery()) {
            case Delivery.Waiting waiting -> waiting.notBeforeMs();
            case Delivery.Started _ -> item.goneMs();
            case Delivery.InDoubt _, Delivery.Aside _, Delivery.Done _, Delivery.Divided _ -> 0;
        };
    }

    private TransactWriteItem unlist(String list, BatchNumber number) {
        return delete(
                store.tables().deltas(),
                Map.of("l", AttributeValue.fromS(list), "i", AttributeValue.fromS(sortable(number))));
    }

    private static TransactWriteItem delete(String table, Map<String, AttributeValue> key) {
        return TransactWriteItem.builder()
                .delete(Delete.builder().tableName(table).key(key).build())
                .build();
    }

    /// Removes what was written for the receiver of these. The items alone name the objects, so the objects go first.
    void removeContents(List<DeliveryItem> all) {
        for (DeliveryItem each : all) {
            String object = each.proof().map(DeliveryItem.Proof::object).orElse("");
            if (!object.isEmpty()) {
                StagedContents.remove(store, object);
            }
        }
    }

    /// Removes these alone.
    List<TransactWriteItem> deletes(List<DeliveryItem> all) {
        return all.stream()
                .map(item -> delete(store.tables().rows(), DeliveryItem.key(item.number())))
                .toList();
    }

    private static String sortable(BatchNumber number) {
        StringBuilder text = new StringBuilder(String.format(Locale.ROOT, "%018d", number.number()));
        number.parts().forEach(part -> text.append(String.format(Locale.ROOT, ".%09d", part)));
        return text.toString();
    }
}
