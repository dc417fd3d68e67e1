package dev.onefold.fakes.aws.table;

import dev.onefold.fakes.aws.item.Key;
import dev.onefold.fakes.aws.table.Tables.Backup;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Backups as the API reference of CreateBackup describes them: all that was committed until a minute before the
/// request is in. An item that was written within a minute before or after it may be in as it was at any moment
/// between, or be missing; the items of one transaction are no exception. Nothing orders two items.
///
/// Each backup draws how many of its items are as of moments of their own; the others are as of the request.
public final class Backups {
    /// On either side of the request.
    public static final Duration SPREAD = Duration.ofMinutes(1);

    private final Tables tables;
    private final SplittableRandom random;
    private final Map<String, Deque<Written>> written = new HashMap<>();

    private record Written(Instant at, Key key, @Nullable Map<String, AttributeValue> before) {}

    /// From now on it notes how items were. So a backup is complete if it is asked for a [#SPREAD] later, or more.
    public Backups(Tables tables, SplittableRandom random) {
        this.tables = tables;
        this.random = random;
        tables.onChange(change -> {
            Deque<Written> changes = written.computeIfAbsent(change.table(), _ -> new ArrayDeque<>());
            Instant horizon = change.at().minus(SPREAD.multipliedBy(2));
            while (!changes.isEmpty() && changes.getFirst().at.isBefore(horizon)) {
                changes.removeFirst();
            }
            changes.addLast(new Written(change.at(), change.place(), change.before()));
        });
        tables.onRestore(written::remove);
    }

    /// The backup of a table that was asked for a [#SPREAD] ago; what came since may be in it.
    public Backup get(String name) {
        Table table = tables.table(name);
        NavigableMap<Key, Map<String, AttributeValue>> items = new TreeMap<>();
        tables.backup(name).items().forEach(item -> items.put(table.schema().keyOf(item), item));
        Instant end = tables.now();
        double ownChance = random.nextBoolean() ? random.nextDouble() : random.nextDouble() * 0.1;
        Map<Key, List<Written>> changes = new TreeMap<>();
        for (Written change : written.getOrDefault(name, new ArrayDeque<>())) {
            if (!change.at.isBefore(end.minus(SPREAD.multipliedBy(2)))) {
                changes.computeIfAbsent(change.key, _ -> new ArrayList<>()).add(change);
            }
        }
        changes.forEach((key, ofKey) -> {
            Instant moment = random.nextDouble() < ownChance
                    ? end.minusNanos(random.nextLong(SPREAD.multipliedBy(2).toNanos() + 1))
                    : end.minus(SPREAD);
            ofKey.stream()
                    .filter(change -> change.at.isAfter(moment))
                    .findFirst()
                    .ifPresent(change -> {
                        if (change.before == null) {
                            items.remove(key);
                        } else {
                            items.put(key, change.before);
                        }
                    });
        });
        return new Backup(name, List.copyOf(items.values()));
    }
}
