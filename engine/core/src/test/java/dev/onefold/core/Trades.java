package dev.onefold.core;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/// Trades for tests: their pipeline, their records, and random ones whose right totals are known by plain maps.
final class Trades {
    static final Pipeline TRADES = PipelineBuilder.named("trades")
            .key("id")
            .version("v")
            .delete("deleted = true")
            .filter("not status = \"TEST\"")
            .rollup(r -> r.levels("desk", "region").sum("value", "value", 18, 2).count("trades"))
            .rollup(
                    "figures",
                    r -> r.average("mean", "value", 18, 2)
                            .min("least", "value", 18, 2)
                            .max("most", "value", 18, 2)
                            .distinct("regions", "region"))
            .build();

    static String trade(String id, int version, String desk, String region, String value) {
        return "{\"id\":\"%s\",\"v\":%d,\"desk\":\"%s\",\"region\":\"%s\",\"value\":%s}"
                .formatted(id, version, desk, region, value);
    }

    static String deleted(String id, int version) {
        return "{\"id\":\"%s\",\"v\":%d,\"deleted\":true}".formatted(id, version);
    }

    static String filtered(String id, int version) {
        return "{\"id\":\"%s\",\"v\":%d,\"status\":\"TEST\"}".formatted(id, version);
    }

    /// All orders of some items.
    static <T> List<List<T>> permutations(List<T> items) {
        if (items.isEmpty()) {
            return List.of(List.of());
        }
        List<List<T>> all = new ArrayList<>();
        for (int i = 0; i < items.size(); i++) {
            List<T> rest = new ArrayList<>(items);
            T first = rest.remove(i);
            for (List<T> behind : permutations(rest)) {
                List<T> one = new ArrayList<>(List.of(first));
                one.addAll(behind);
                all.add(one);
            }
        }
        return all;
    }

    final List<String> records = new ArrayList<>();
    private final Map<String, List<Object>> winners = new TreeMap<>();

    private Trades() {}

    /// So many random events, conflicts, deletes and filtered ones among them.
    static Trades random(Random random, int count) {
        Trades trades = new Trades();
        for (int i = 0; i < count; i++) {
            trades.add(random);
        }
        return trades;
    }

    /// Adds a random event, and keeps the greatest of its key: version, kind, desk, region, value.
    private void add(Random random) {
        String id = "k" + random.nextInt(8);
        int version = random.nextInt(5);
        int kind = Math.min(2, random.nextInt(8));
        String desk = kind == 2 ? "d" + random.nextInt(3) : "";
        String region = kind == 2 ? "r" + random.nextInt(2) : "";
        int value = kind == 2 ? random.nextInt(-2, 10) : 0;
        records.add(
                switch (kind) {
                    case 0 -> deleted(id, version);
                    case 1 -> filtered(id, version);
                    default -> trade(id, version, desk, region, "" + value);
                });
        int rank = kind == 0 ? 2 : kind == 1 ? 0 : 1;
        List<Object> mine = List.of(version, rank, desk, region, value);
        winners.merge(id, mine, (a, b) -> compare(a, b) >= 0 ? a : b);
    }

    private static int compare(List<Object> one, List<Object> other) {
        for (int i = 0; i < one.size(); i++) {
            int order = one.get(i) instanceof Integer number
                    ? number.compareTo((Integer) other.get(i))
                    : ((String) one.get(i)).compareTo((String) other.get(i));
            if (order != 0) {
                return order;
            }
        }
        return 0;
    }

    /// The right totals, each as `group=value,trades`.
    List<String> totals() {
        Map<String, int[]> totals = new TreeMap<>(Map.of("", new int[2]));
        for (List<Object> winner : winners.values()) {
            if (winner.get(1).equals(1)) {
                for (String group : List.of("", "" + winner.get(2), winner.get(2) + "/" + winner.get(3))) {
                    int[] total = totals.computeIfAbsent(group, _ -> new int[2]);
                    total[0] += (int) winner.get(4);
                    total[1]++;
                }
            }
        }
        return totals.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue()[0] + ".00," + entry.getValue()[1])
                .toList();
    }
}
