package dev.onefold.simulator.keyed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.process.LoadedFunction;
import dev.onefold.core.query.TableQuery;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.oracle.KeyedOracle;
import dev.onefold.oracle.KeyedOracle.Event;
import dev.onefold.oracle.KeyedOracle.Order;
import dev.onefold.oracle.generate.RandomFunction;
import dev.onefold.simulator.keyed.Feed.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/// Four sources that have events of the same keys, some of them in two, and one thread for each. Nobody knows in which
/// order the events arrive, so results are compared as far as they are the same in any order.
final class ManySources {
    private static final int KEYS = 25;
    private static final int LATE_MAX = 40;

    final List<Feed> feeds = new ArrayList<>();
    private final DrawnCase dealt;
    private final int pieceMax;

    /// @param versions of each key, at most 900; the more there are, the larger are the pieces of a source
    ManySources(Order order, int versions, long seed) {
        pieceMax = 3 * versions;
        SplittableRandom random = new SplittableRandom(seed);
        RandomFunction function = switch (order) {
            case LATEST -> new RandomFunction(RandomFunction.Kind.ABSOLUTE, 5, 0, 0, 1);
            case EVERY -> new RandomFunction(RandomFunction.Kind.COMMUTING, 5, 0, 0, 1);
            case IN_ORDER -> new RandomFunction(RandomFunction.Kind.ORDERED, 5, 0, 3, 1);
        };
        record Placed(int at, Event event) {}
        List<Placed> placed = new ArrayList<>();
        for (int i = 0; i < versions * KEYS; i++) {
            int rank = order == Order.IN_ORDER && random.nextInt(8) == 0 ? random.nextInt(3) : 1;
            placed.add(new Placed(i + random.nextInt(LATE_MAX), DrawnCase.event("k" + i % KEYS, i / KEYS, rank)));
        }
        List<Event> events = placed.stream()
                .sorted(Comparator.comparingInt(Placed::at))
                .map(Placed::event)
                .toList();
        dealt = new DrawnCase(order, 1_000, function, events);
        List.of(Kind.FILE, Kind.LINES, Kind.LINES, Kind.PARTITION)
                .forEach(kind -> feeds.add(new Feed(kind, feeds.size())));
        for (Event event : events) {
            feeds.get(random.nextInt(feeds.size())).events.add(event);
            if (random.nextInt(5) == 0) {
                feeds.get(random.nextInt(feeds.size())).events.add(event);
            }
        }
    }

    /// The function under a version; all versions compute the same.
    LoadedFunction function(int code) {
        return dealt.loaded(dealt.function(), code, true);
    }

    /// Hands over what is not in, from all sources at once.
    ///
    /// @param told after each piece of a source
    void send(EmbeddedEngine engine, Consumer<Feed> told) throws InterruptedException, ExecutionException {
        List<Future<?>> threads = new ArrayList<>();
        try (ExecutorService callers = Executors.newFixedThreadPool(feeds.size())) {
            for (Feed feed : feeds) {
                threads.add(callers.submit(() -> send(engine, feed, told)));
            }
        }
        for (Future<?> thread : threads) {
            thread.get();
        }
    }

    private void send(EmbeddedEngine engine, Feed feed, Consumer<Feed> told) {
        SplittableRandom random = new SplittableRandom(feeds.indexOf(feed));
        for (int in = feed.in(engine); in < feed.events.size(); ) {
            int to = Math.min(feed.events.size(), in + random.nextInt(1, pieceMax));
            feed.send(engine, Math.max(0, in - random.nextInt(5)), to);
            told.accept(feed);
            in = to;
        }
    }

    /// Compares with the oracle, when all is in.
    void check(EmbeddedEngine engine) {
        assertThat(engine.verify().isEqual()).isTrue();
        KeyedOracle oracle = dealt.oracle();
        dealt.events().stream()
                .sorted(Comparator.comparingLong(Event::version))
                .forEach(event -> oracle.accept(event, false));
        oracle.contexts().forEach((key, context) -> {
            Map<?, ?> is = (Map<?, ?>) Objects.requireNonNull(
                    engine.state(List.of(key)).orElseThrow().context().plain());
            assertThat(is.get("trail")).describedAs(key).hasToString(String.valueOf(context.get("trail")));
            if (dealt.order() != Order.LATEST) {
                assertThat(is.get("count")).describedAs(key).hasToString(String.valueOf(context.get("count")));
            }
        });
        if (dealt.order() == Order.IN_ORDER) {
            for (String table : List.of("buckets", "last")) {
                assertThat(rows(engine, table))
                        .containsExactlyInAnyOrderElementsOf(oracle.rows(table).stream()
                                .map(row -> new TreeMap<>(row).toString())
                                .toList());
            }
        }
    }

    private static List<String> rows(EmbeddedEngine engine, String table) {
        return engine.tables(
                new TableQuery(List.of(table), Optional.empty(), 10_000),
                answer -> answer.tables().getFirst().rows().stream()
                        .map(row -> new TreeMap<>((Map<?, ?>) Objects.requireNonNull(row.plain())).toString())
                        .toList());
    }
}
