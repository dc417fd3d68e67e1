package dev.onefold.aws.publication;

import dev.onefold.core.aggregate.Aggregate;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.totals.Totals;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// Brings all items of a published table to totals that were read whole. It holds the totals, and some hundred
/// items at a time. What a writer that was stopped has written is equal for the next one.
final class Comparison {
    private static final int WRITES_MAX = 8 * 99;

    private final PublishedTable table;
    private final Mark claim;
    private final Instant at;
    private final Map<String, Part> parts = new TreeMap<>(); // By the name of the roll-up.
    private final List<TransactWriteItem> writes = new ArrayList<>();
    private boolean isLast = true;
    private long items;
    private long written;
    private long removed;

    /// A roll-up.
    ///
    /// @param groups that no item was found for so far
    /// @param lists the top list and its reserve, by id, likewise
    private record Part(
            PublishedItems of, SortedMap<Tuple, Aggregate> groups, Map<String, Map<String, AttributeValue>> lists) {}

    Comparison(PublishedTable table, Mark claim, Instant at) {
        this.table = table;
        this.claim = claim;
        this.at = at;
    }

    /// Adds a roll-up.
    ///
    /// @param top how many groups the top list has
    void add(PublishedItems of, Totals totals, int top) {
        SortedMap<Tuple, Aggregate> groups = of.groups(totals);
        Map<String, Map<String, AttributeValue>> lists = new HashMap<>();
        if (of.hasTop()) {
            Ranking ranking = Ranking.of(
                    () -> groups.entrySet().stream()
                            .filter(group -> of.isLeaf(group.getKey())
                                    && !group.getValue().isEmpty())
                            .map(group -> of.entry(group.getKey(), group.getValue()))
                            .iterator(),
                    top);
            lists.put(of.topId(), of.top(ranking.first(top)));
            if (of.isSummed()) {
                lists.put(of.reserveId(), of.reserve(ranking));
            }
        }
        items += groups.size() + (long) lists.size();
        parts.put(of.name(), new Part(of, groups, lists));
    }

    /// How many items there will be.
    long items() {
        return items;
    }

    long written() {
        return written;
    }

    long removed() {
        return removed;
    }

    /// Writes the items that differ, and removes those of groups that are gone; whether the claim is still the
    /// last.
    boolean write() {
        table.scan(page -> page.stream().filter(PublishedItems::isPublished).forEach(this::compare));
        for (Part part : parts.values()) {
            part.groups.forEach((group, aggregate) -> put(part.of.id(group), part.of.content(group, aggregate)));
            flush();
            part.lists.forEach((id, content) -> {
                put(id, content);
                flush(); // Several together may be more than 4 MB.
            });
        }
        return isLast;
    }

    private void compare(Map<String, AttributeValue> stored) {
        String id = PublishedItems.id(stored);
        Optional<Map<String, AttributeValue>> content = content(stored);
        if (content.isEmpty()) {
            removed++;
            add(table.deleting(id));
        } else if (claim.claim().rewrites() || !content.get().equals(PublishedItems.compared(stored))) {
            put(id, content.get());
        }
    }

    private Optional<Map<String, AttributeValue>> content(Map<String, AttributeValue> stored) {
        Part part = parts.get(PublishedItems.rollup(stored));
        if (part == null) {
            return Optional.empty();
        }
        if (!PublishedItems.isGroup(stored)) {
            return Optional.ofNullable(part.lists.remove(PublishedItems.id(stored)));
        }
        return part.of
                .group(stored)
                .flatMap(group -> Optional.ofNullable(part.groups.remove(group))
                        .map(aggregate -> part.of.content(group, aggregate)));
    }

    private void put(String id, Map<String, AttributeValue> content) {
        written++;
        add(table.putting(PublishedItems.item(id, content, claim.claim().cut(), at)));
    }

    private void add(TransactWriteItem write) {
        writes.add(write);
        if (writes.size() >= WRITES_MAX) {
            flush();
        }
    }

    private void flush() {
        if (!writes.isEmpty() && isLast) {
            isLast = table.commit(claim, List.copyOf(writes));
        }
        writes.clear();
    }
}
