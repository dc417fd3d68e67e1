package dev.onefold.simulator.keyed;

import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.oracle.KeyedOracle.Order;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/// Events for [Trails], drawn at random, and the pipeline that folds them.
///
/// @param keep 1 to 6, or more than there are events
/// @param refolds what becomes of contexts, with [Order#IN_ORDER]
/// @param places how many rows table `places` has at most, which all keys write; 0: there is no such table
record LifeCase(Order order, int keep, boolean refolds, int places, List<Trails.Event> events) {
    /// The rank of an event that the filter leaves out.
    static final int FILTERED = -1;

    private static final int ENOUGH = 1_000;

    static LifeCase of(SplittableRandom random) {
        List<Order> orders = List.of(Order.LATEST, Order.EVERY, Order.IN_ORDER, Order.IN_ORDER);
        Order order = orders.get(random.nextInt(orders.size()));
        int keep = random.nextInt(3) == 0 ? random.nextInt(1, 7) : ENOUGH;
        int keys = random.nextInt(1, 5);
        // Where little is kept, nobody can tell of a second content that it is one.
        boolean several = keep == ENOUGH || order != Order.IN_ORDER;
        int[] top = new int[keys];
        List<Trails.Event> events = new ArrayList<>();
        for (int count = random.nextInt(5, 70); count > 0; count--) {
            int key = random.nextInt(keys);
            top[key] += random.nextInt(3) == 0 ? 0 : 1;
            int version = random.nextInt(3) > 0 ? top[key] : Math.max(0, top[key] - random.nextInt(10));
            int rank = several && random.nextInt(4) == 0 ? random.nextInt(3) : 1;
            events.add(event("k" + key, version, rank));
        }
        boolean refolds = random.nextBoolean();
        return new LifeCase(order, keep, refolds, random.nextBoolean() ? 0 : random.nextInt(1, 12), events);
    }

    private static Trails.Event event(String key, int version, int rank) {
        if (rank == 0 && version % 4 == 0) {
            return new Trails.Event(FILTERED, key, version, 0, "test");
        }
        int kind = (version * 7 + rank * 3) % 10;
        return new Trails.Event(
                rank, key, version, version * 10 + rank, kind == 0 ? "remove" : kind < 4 ? "fail" : "put");
    }

    /// Whether no event is too late.
    boolean keepsAll() {
        return keep == ENOUGH;
    }

    /// The records of some events.
    static List<byte[]> records(List<Trails.Event> events) {
        return events.stream()
                .map(event -> "{\"k\":\"%s\",\"v\":%d,\"rank\":%d,\"amount\":%d,\"what\":\"%s\"}"
                        .formatted(event.k(), event.v(), event.rank(), event.amount(), event.what())
                        .getBytes(StandardCharsets.UTF_8))
                .toList();
    }

    /// Whether contexts depend on the set of events alone. Which key owns a row depends on the order of
    /// arrival.
    boolean isExact() {
        return order == Order.IN_ORDER && keep == ENOUGH && refolds && places == 0;
    }

    /// The pipeline with a version of the function.
    LoadedFunction loaded(int code) {
        return loaded(code, () -> false);
    }

    /// The same, of which some calls fail by their time.
    LoadedFunction loaded(int code, BooleanSupplier stalls) {
        String keeps = order == Order.LATEST ? "" : ",\"keep\":" + keep;
        String onNewVersion = order == Order.IN_ORDER && refolds ? "refold" : "continue";
        String place = places == 0 ? "" : ",\"places\":\"place\"";
        String byHolder = places == 0
                ? ""
                : ",\"by-holder\":{\"of\":\"places\",\"levels\":[\"k\"],\"measures\":"
                        + "{\"rows\":\"count()\",\"trail\":\"sum(trail) decimal(20,0)\","
                        + "\"most\":\"max(trail) decimal(20,0)\"}}";
        String text = "{\"pipeline\":\"drawn\",\"input\":{\"key\":\"k\",\"version\":\"v\",\"filter\":\"what !="
                + " \\\"test\\\"\"},"
                + "\"process\":{\"class\":\"Drawn\",\"version\":" + code + ",\"on-new-version\":\""
                + onNewVersion + "\",\"order\":\""
                + order.name().toLowerCase(Locale.ROOT).replace('_', '-')
                + "\"" + keeps + ",\"tables\":{\"buckets\":[\"k\",\"bucket\"],\"last\":\"k\"" + place + "}},"
                + "\"rollups\":{\"by-bucket\":{\"of\":\"buckets\",\"levels\":[\"bucket\"],\"measures\":"
                + "{\"rows\":\"count()\",\"trail\":\"sum(trail) decimal(20,0)\","
                + "\"most\":\"max(trail) decimal(20,0)\"}}" + byHolder + "}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(Pipeline pipeline) -> LoadedFunction.of(pipeline, new Trails(code, places, stalls));
            case Reading.Refused refused -> throw new IllegalStateException(refused.toString());
        };
    }
}
