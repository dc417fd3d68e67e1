package dev.onefold.test;

import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Processing.Order;
import dev.onefold.test.Sample.Item;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/// The moves of one run, in order: records by their lines, crashes, and the change of the function's version.
record Plan(List<Move> moves) {
    private static final int BATCH_MAX = 8;

    /// One thing that happens.
    sealed interface Move {
        /// Records arrive.
        record Deliver(List<Integer> lines, Fate fate) implements Move {}

        /// The newer version of the function takes over.
        record Upgrade() implements Move {}
    }

    /// A record that arrives at some point.
    private record Coming(double at, Item item) {}

    Plan {
        moves = List.copyOf(moves);
    }

    /// Each record once, in the order of the sample.
    static Plan asItIs(Sample sample, boolean upgrades) {
        List<Move> moves = new ArrayList<>();
        sample.items().keySet().forEach(line -> moves.add(new Move.Deliver(List.of(line), Fate.STORED)));
        if (upgrades) {
            moves.add(new Move.Upgrade());
        }
        return new Plan(moves);
    }

    /// Draws an order of arrival, duplicates, cuts and crashes.
    static Plan of(Sample sample, Processing processing, boolean upgrades, RandomGenerator random) {
        List<Integer> lines = arrivals(sample, processing, random.nextInt(4) == 0, random);
        List<Move> moves = new ArrayList<>();
        int batch = 1 + random.nextInt(BATCH_MAX);
        for (int from = 0; from < lines.size(); ) {
            int to = Math.min(lines.size(), from + 1 + random.nextInt(batch));
            List<Fate> fates = List.of(Fate.values());
            Fate fate = random.nextInt(3) > 0 ? Fate.STORED : fates.get(random.nextInt(fates.size()));
            moves.add(new Move.Deliver(lines.subList(from, to), fate));
            from = to;
        }
        if (upgrades) {
            moves.add(random.nextInt(moves.size() + 1), new Move.Upgrade());
        }
        return new Plan(moves);
    }

    /// An order of arrival with duplicates.
    ///
    /// @param anyhow whether events may be too late
    static List<Integer> arrivals(Sample sample, Processing processing, boolean anyhow, RandomGenerator random) {
        Map<Tuple, TreeMap<BigInteger, List<Item>>> keys = new TreeMap<>();
        sample.items()
                .values()
                .forEach(item -> keys.computeIfAbsent(item.key(), _ -> new TreeMap<>())
                        .computeIfAbsent(item.number(), _ -> new ArrayList<>())
                        .add(item));
        List<Coming> coming = new ArrayList<>();
        for (TreeMap<BigInteger, List<Item>> versions : keys.values()) {
            int rank = 0;
            double late = anyhow ? versions.size() : Math.min(versions.size(), processing.keep()); // In versions.
            for (List<Item> items : versions.values()) {
                for (Item item : items) {
                    coming.add(new Coming((rank + random.nextDouble() * late) / versions.size(), item));
                    while (random.nextInt(4) == 0) {
                        coming.add(new Coming(2 * random.nextDouble(), item));
                    }
                }
                rank++;
            }
        }
        coming.sort(Comparator.comparingDouble(Coming::at));
        List<Item> items = new ArrayList<>(coming.stream().map(Coming::item).toList());
        if (processing.order() != Order.IN_ORDER) {
            keepFirstContents(items);
        }
        return items.stream().map(Item::line).toList();
    }

    /// The first content of a version stays: so the records of a version come in the order of the sample.
    private static void keepFirstContents(List<Item> items) {
        Map<List<Object>, List<Integer>> places = new HashMap<>();
        for (int i = 0; i < items.size(); i++) {
            places.computeIfAbsent(List.of(items.get(i).key(), items.get(i).number()), _ -> new ArrayList<>())
                    .add(i);
        }
        places.values().forEach(same -> {
            List<Item> sorted = new ArrayList<>(same.stream().map(items::get).toList());
            sorted.sort(Comparator.comparingInt(Item::line));
            for (int i = 0; i < same.size(); i++) {
                items.set(same.get(i), sorted.get(i));
            }
        });
    }

    /// All lines, in the order of arrival; some are there twice.
    List<Integer> lines() {
        return moves.stream()
                .flatMap(move -> switch (move) {
                    case Move.Deliver(List<Integer> lines, Fate _) -> lines.stream();
                    case Move.Upgrade _ -> Collections.<Integer>emptyList().stream();
                })
                .toList();
    }

    /// The same, record by record.
    Plan inSingles() {
        List<Move> singles = new ArrayList<>();
        for (Move move : moves) {
            switch (move) {
                case Move.Deliver(List<Integer> lines, Fate fate) ->
                    lines.forEach(line -> singles.add(new Move.Deliver(List.of(line), fate)));
                case Move.Upgrade upgrade -> singles.add(upgrade);
            }
        }
        return new Plan(singles);
    }

    /// The same without some moves.
    Plan without(int from, int to) {
        List<Move> left = new ArrayList<>(moves.subList(0, from));
        left.addAll(moves.subList(to, moves.size()));
        return new Plan(left);
    }

    /// The same with nothing odd in one move.
    Plan plainAt(int place) {
        List<Move> plainer = new ArrayList<>(moves);
        if (plainer.get(place) instanceof Move.Deliver(List<Integer> lines, Fate _)) {
            plainer.set(place, new Move.Deliver(lines, Fate.STORED));
        }
        return new Plan(plainer);
    }
}
