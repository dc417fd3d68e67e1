package dev.onefold.local.stack;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;

/// Messages that correct, repeat, delete and break each other, and the totals that are right for them.
final class Trades {
    static final Pipeline PIPELINE = PipelineBuilder.named("trades")
            .key("id")
            .version("v")
            .delete("gone = true")
            .rollup(r -> r.levels("desk", "region")
                    .sum("value", "value", 18, 2)
                    .count("trades")
                    .max("largest", "value", 18, 2)
                    .distinct("books", "book"))
            .build();

    final List<byte[]> records = new ArrayList<>();
    final List<String> broken = new ArrayList<>();
    private final Map<Integer, Trade> latest = new HashMap<>();

    private record Trade(int version, boolean gone, String desk, String region, long cents, String book) {}

    Trades(int count, long seed) {
        Random random = new Random(seed);
        List<String> made = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int kind = random.nextInt(1_000);
            if (kind < 50 && !made.isEmpty()) { // What comes again comes soon or late.
                add(made.get(random.nextInt(Math.max(0, made.size() - 500), made.size())));
            } else if (kind < 55) {
                broken.add("{\"id\":" + i + ",\"v\":1,\"value\":\"much\"");
                add(broken.getLast());
            } else {
                int id = kind < 300 ? random.nextInt(1 + latest.size()) : latest.size();
                Trade before = latest.get(id);
                int version = before == null ? 1 : before.version() + 1;
                Trade trade = new Trade(
                        version,
                        kind < 70,
                        "desk-" + random.nextInt(3),
                        "region-" + random.nextInt(4),
                        random.nextLong(-100_000_00, 100_000_00),
                        "book-" + random.nextInt(20));
                String text = json(id, trade);
                latest.put(id, trade);
                made.add(text);
                add(text);
            }
        }
    }

    private void add(String text) {
        records.add(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String json(int id, Trade trade) {
        return "{\"id\":%d,\"v\":%d,\"gone\":%b,\"desk\":\"%s\",\"region\":\"%s\",\"value\":%s,\"book\":\"%s\"}"
                .formatted(
                        id,
                        trade.version(),
                        trade.gone(),
                        trade.desk(),
                        trade.region(),
                        BigDecimal.valueOf(trade.cents(), 2),
                        trade.book());
    }

    /// Value, trades, largest value and books of each group, as the answer has them.
    SortedMap<List<String>, List<BigDecimal>> totals() {
        return Totals.of(latest.values().stream()
                .filter(trade -> !trade.gone())
                .map(trade -> new Totals.Part(
                        List.of(trade.desk(), trade.region()), BigDecimal.valueOf(trade.cents(), 2), trade.book()))
                .toList());
    }
}
