package dev.onefold.simulator.keyed;

import static dev.onefold.oracle.KeyedOracle.value;

import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.oracle.KeyedOracle;
import dev.onefold.oracle.KeyedOracle.Event;
import dev.onefold.oracle.KeyedOracle.Order;
import dev.onefold.oracle.generate.RandomFunction;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;

/// A pipeline with a function, and events for it, drawn at random: duplicated, out of order, with several
/// contents of a version, and some that the filter leaves out.
///
/// @param keep with [Order#IN_ORDER] 1 to 8; with [Order#EVERY] more than there are runs
record DrawnCase(Order order, int keep, RandomFunction function, List<Event> events) {
    static DrawnCase of(RandomGenerator random) {
        List<Order> orders = List.of(Order.LATEST, Order.EVERY, Order.IN_ORDER);
        Order order = orders.get(random.nextInt(orders.size()));
        int keep = order == Order.IN_ORDER ? random.nextInt(1, 9) : 1_000;
        int keys = random.nextInt(1, 5);
        int[] top = new int[keys];
        List<Event> events = new ArrayList<>();
        for (int count = random.nextInt(5, 120); count > 0; count--) {
            int key = random.nextInt(keys);
            top[key] += random.nextInt(3) == 0 ? 0 : 1;
            int version = random.nextInt(3) > 0
                    ? top[key]
                    : Math.max(0, top[key] - random.nextInt(2 * Math.min(keep, 8) + 2));
            events.add(event("k" + key, version, random.nextInt(4) == 0 ? random.nextInt(3) : 1));
        }
        return new DrawnCase(order, keep, RandomFunction.of(random), events);
    }

    /// One of three contents of the version: they differ in their rank alone, which decides all that they
    /// say.
    ///
    /// @param rank 0 to 2
    static Event event(String key, int version, int rank) {
        if (rank == 0 && version % 4 == 0) {
            return new Event(key, version, -1, Optional.empty());
        }
        int kind = (version * 7 + rank * 3) % 10;
        String what = kind == 0 ? "remove" : kind < 4 ? "fail" : "put";
        return new Event(key, version, rank, Optional.of(Map.of("amount", version * 10 + rank, "what", what)));
    }

    /// The record of an event.
    static String record(Event event) {
        String identity = "{\"k\":\"" + event.key() + "\",\"v\":" + event.version();
        return event.fields()
                .map(fields -> identity + ",\"rank\":" + event.rank() + ",\"amount\":" + value(fields, "amount")
                        + ",\"what\":\"" + value(fields, "what") + "\"}")
                .orElse(identity + ",\"what\":\"test\"}");
    }

    /// The pipeline with a version of the function.
    ///
    /// @param code its number
    /// @param refold what becomes of contexts, with [Order#IN_ORDER]
    LoadedFunction loaded(RandomFunction version, int code, boolean refold) {
        String keeps = order == Order.LATEST ? "" : ",\"keep\":" + keep;
        String onNewVersion = order == Order.IN_ORDER && refold ? "refold" : "continue";
        String places = function.places() == 0 ? "" : ",\"places\":\"place\"";
        String byHolder = function.places() == 0
                ? ""
                : ",\"by-holder\":{\"of\":\"places\",\"levels\":[\"k\"],\"measures\":"
                        + "{\"rows\":\"count()\",\"trail\":\"sum(trail) decimal(20,0)\"}}";
        String text =
                "{\"pipeline\":\"drawn\",\"input\":{\"key\":\"k\",\"version\":\"v\",\"filter\":\"what != \\\"test\\\"\"},"
                        + "\"process\":{\"class\":\"Drawn\",\"version\":" + code + ",\"on-new-version\":\""
                        + onNewVersion + "\",\"order\":\""
                        + order.name().toLowerCase(Locale.ROOT).replace('_', '-')
                        + "\"" + keeps + ",\"tables\":{\"buckets\":[\"k\",\"bucket\"],\"last\":\"k\"" + places + "}},"
                        + "\"rollups\":{\"by-bucket\":{\"of\":\"buckets\",\"levels\":[\"bucket\"],\"measures\":"
                        + "{\"rows\":\"count()\",\"trail\":\"sum(trail) decimal(20,0)\"}}" + byHolder + "}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(Pipeline pipeline) -> LoadedFunction.of(pipeline, new DrawnFunction(version));
            case Reading.Refused refused -> throw new IllegalStateException(refused.toString());
        };
    }

    KeyedOracle oracle() {
        return new KeyedOracle(order, keep, function);
    }
}
