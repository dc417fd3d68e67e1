package dev.onefold.fakes.aws.table;

import dev.onefold.fakes.aws.item.Key;
import dev.onefold.fakes.aws.item.Schema;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.TableDescription;

/// One table: the items as they are, and for a short while as they were, for reads that are eventually consistent.
public final class Table {
    /// How long it is known how an item was.
    public static final Duration PAST_MAX = Duration.ofSeconds(5);

    private final TableDescription description;
    private final Schema schema;
    private final NavigableMap<Key, Slot> slots = new TreeMap<>();
    private final Set<Key> locked = new TreeSet<>();
    private final Deque<Leaving> leaving = new ArrayDeque<>();

    private record Leaving(Instant until, Key key) {}

    private record Past(Instant until, @Nullable Map<String, AttributeValue> image) {}

    private static final class Slot {
        private List<Past> past = List.of();
        private @Nullable Object image;

        @Nullable
        Map<String, AttributeValue> now() {
            return image == null ? null : Image.unpacked(image);
        }

        void add(Past more) {
            past = past.isEmpty() ? new ArrayList<>(1) : past;
            past.add(more);
        }

        /// What has not changed for a while takes less room.
        void forget(Instant horizon) {
            if (!past.isEmpty()) {
                past.removeIf(each -> !each.until.isAfter(horizon));
            }
            if (past.isEmpty()) {
                past = List.of();
                image = image == null ? null : Image.packed(Image.unpacked(image));
            }
        }
    }

    Table(TableDescription description, Schema schema) {
        this.description = description;
        this.schema = schema;
    }

    String name() {
        return description.tableName();
    }

    TableDescription description() {
        return description;
    }

    Schema schema() {
        return schema;
    }

    /// How many items it holds now.
    long items() {
        return slots.values().stream().filter(slot -> slot.image != null).count();
    }

    /// The item as it is.
    @Nullable
    Map<String, AttributeValue> read(Key key) {
        Slot slot = slots.get(key);
        return slot == null ? null : slot.now();
    }

    /// The item as it was.
    @Nullable
    Map<String, AttributeValue> read(Key key, Instant asOf) {
        Slot slot = slots.get(key);
        if (slot == null) {
            return null;
        }
        for (Past past : slot.past) {
            if (past.until.isAfter(asOf)) {
                return past.image;
            }
        }
        return slot.now();
    }

    /// Every place at which an item is or lately was, in order.
    NavigableMap<Key, ?> places() {
        return slots;
    }

    void write(Key key, @Nullable Map<String, AttributeValue> image, Instant now) {
        forget(now.minus(PAST_MAX));
        Slot slot = slots.computeIfAbsent(key, _ -> new Slot());
        slot.add(new Past(now, slot.now()));
        slot.image = image;
        leaving.addLast(new Leaving(now, key));
    }

    private void forget(Instant horizon) {
        while (!leaving.isEmpty() && !leaving.getFirst().until.isAfter(horizon)) {
            Key key = leaving.removeFirst().key;
            Slot slot = slots.get(key);
            if (slot != null) {
                slot.forget(horizon);
                if (slot.image == null && slot.past.isEmpty()) {
                    slots.remove(key);
                }
            }
        }
    }

    boolean isLocked(Key key) {
        return locked.contains(key);
    }

    void lock(Key key) {
        locked.add(key);
    }

    void unlock(Key key) {
        locked.remove(key);
    }
}
