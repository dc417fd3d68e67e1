package dev.onefold.aws.publication;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.store.BatchReads;
import dev.onefold.core.aggregate.Aggregate;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.map.Delta;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// Adds commits to the items of a published table: to those of the leaf groups that they touched, and of the
/// groups around them. An item says in `kept` what it was made of; so the next one is that, and what was added.
///
/// An item of a cut later than the last whole one has these commits already: a claim that was not finished is
/// taken over with its commits, and no others. A missing item had no rows at the last whole cut, or was removed
/// by such a claim: rows that are taken away from it tell which.
final class Additions {
    private final PublishedTable table;
    private final Mark before;
    private final List<PublishedItems> rollups;
    private final int top;
    private final Map<String, Group> groups = new TreeMap<>(); // By id.
    private final List<Map<Tuple, Aggregate>> leaves = new ArrayList<>(); // Of each roll-up, as they are then.
    private final Map<String, Map<String, AttributeValue>> puts = new TreeMap<>();
    private final Map<String, Long> cuts = new HashMap<>(); // Of the items that there are.
    private final List<String> deletes = new ArrayList<>();

    /// A group that commits touched.
    private record Group(PublishedItems of, int rollup, Tuple group, Delta.Sums added) {}

    /// Something that nobody has written: the items are not of the cut that the mark names.
    private static final class Unexpected extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    private Additions(PublishedTable table, Mark before, List<PublishedItems> rollups, int top) {
        this.table = table;
        this.before = before;
        this.rollups = rollups;
        this.top = top;
        rollups.forEach(_ -> leaves.add(new TreeMap<>()));
    }

    /// What is to be written; empty if that cannot be made of these items, and all have to be compared.
    ///
    /// @param before of which the items are
    /// @param top how many groups the top list has
    static Optional<Additions> of(
            PublishedTable table,
            Mark before,
            List<PublishedItems> rollups,
            int top,
            Map<Delta.Cell, Delta.Sums> added) {
        Additions additions = new Additions(table, before, rollups, top);
        try {
            additions.touch(added);
            Map<String, Map<String, AttributeValue>> stored = additions.read();
            additions.groups.forEach((id, group) -> additions.add(id, group, stored.getOrDefault(id, Map.of())));
            for (int rollup = 0; rollup < rollups.size(); rollup++) {
                additions.rank(rollups.get(rollup), additions.leaves.get(rollup), stored);
            }
            return Optional.of(additions);
        } catch (Unexpected _) {
            return Optional.empty();
        }
    }

    private void touch(Map<Delta.Cell, Delta.Sums> added) {
        added.forEach((cell, sums) -> {
            PublishedItems of = rollups.get(cell.rollup());
            for (Tuple group : of.around(cell.leaf())) {
                groups.merge(
                        of.id(group),
                        new Group(of, cell.rollup(), group, sums),
                        (one, other) -> new Group(of, cell.rollup(), group, one.added.plus(other.added)));
            }
        });
        groups.values().removeIf(group -> group.added.isZero());
    }

    private Map<String, Map<String, AttributeValue>> read() {
        List<Map<String, AttributeValue>> keys = new ArrayList<>(
                groups.keySet().stream().map(PublishedItems::key).toList());
        rollups.stream().filter(PublishedItems::hasTop).forEach(of -> {
            keys.add(PublishedItems.key(of.topId()));
            keys.add(PublishedItems.key(of.reserveId()));
        });
        Map<String, Map<String, AttributeValue>> stored = new HashMap<>();
        BatchReads.of(table.store(), table.name(), keys, null)
                .forEach(item -> stored.put(PublishedItems.id(item), item));
        return stored;
    }

    private boolean isDone(Map<String, AttributeValue> stored) {
        return Items.number(stored, Mark.CUT) > before.whole().cut();
    }

    private void add(String id, Group group, Map<String, AttributeValue> stored) {
        Aggregate now = group.of.empty();
        if (stored.isEmpty()) {
            if (group.added.rows() < 0) {
                return; // It was removed.
            }
            now.add(group.added);
        } else {
            if (!stored.containsKey(PublishedItems.KEPT)) {
                throw new Unexpected();
            }
            now.plus(group.of.kept(stored));
            if (!isDone(stored)) {
                now.add(group.added);
                cuts.put(id, Items.number(stored, Mark.CUT));
            }
        }
        boolean isRoot = group.group.bytes().length == 0;
        if (now.rows() < 0 || now.isEmpty() && (!now.sums().isZero() || stored.isEmpty())) {
            throw new Unexpected();
        }
        if (group.of.isLeaf(group.group)) {
            leaves.get(group.rollup).put(group.group, now);
        }
        if (now.isEmpty() && !isRoot) {
            deletes.add(id);
        } else if (stored.isEmpty() || cuts.containsKey(id)) {
            puts.put(id, group.of.content(group.group, now));
        }
    }

    /// The top list and its reserve. A leaf group that was removed is among those that were touched.
    private void rank(PublishedItems of, Map<Tuple, Aggregate> now, Map<String, Map<String, AttributeValue>> stored) {
        if (!of.hasTop()) {
            return;
        }
        Map<String, AttributeValue> list = stored.getOrDefault(of.topId(), Map.of());
        Map<String, AttributeValue> reserve = stored.getOrDefault(of.reserveId(), Map.of());
        if (list.isEmpty() || reserve.isEmpty()) {
            throw new Unexpected();
        }
        Ranking ranking = Ranking.of(Items.bytes(reserve, PublishedItems.KEPT))
                .with(
                        touchedLeaves(of),
                        now.entrySet().stream()
                                .filter(leaf -> !leaf.getValue().isEmpty())
                                .map(leaf -> of.entry(leaf.getKey(), leaf.getValue()))
                                .toList(),
                        top)
                .orElseThrow(Unexpected::new);
        replace(of.reserveId(), reserve, of.reserve(ranking));
        replace(of.topId(), list, of.top(ranking.first(top)));
    }

    private Set<Tuple> touchedLeaves(PublishedItems of) {
        return groups.values().stream()
                .filter(group -> group.of == of && of.isLeaf(group.group))
                .map(Group::group)
                .collect(Collectors.toSet());
    }

    private void replace(String id, Map<String, AttributeValue> stored, Map<String, AttributeValue> content) {
        if (!isDone(stored) && !content.equals(PublishedItems.compared(stored))) {
            cuts.put(id, Items.number(stored, Mark.CUT));
            puts.put(id, content);
        }
    }

    /// How many items were looked at.
    long items() {
        return groups.size();
    }

    long written() {
        return puts.size();
    }

    long removed() {
        return deletes.size();
    }

    /// Writes the items; whether the claim is still the last.
    boolean write(Mark claim) {
        Map<Map<String, AttributeValue>, Long> replaced = new HashMap<>();
        List<TransactWriteItem> others = new ArrayList<>();
        puts.forEach((id, content) -> {
            Map<String, AttributeValue> item = PublishedItems.item(
                    id, content, claim.claim().cut(), claim.claim().toward().at());
            Long cut = cuts.get(id);
            if (cut == null) {
                others.add(table.putting(item));
            } else {
                replaced.put(item, cut);
            }
        });
        deletes.forEach(id -> others.add(table.deleting(id)));
        table.replace(replaced);
        return others.isEmpty() || table.commit(claim, others);
    }
}
