package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.core.query.Query;
import dev.onefold.core.query.TableQuery;
import dev.onefold.core.shape.Value;
import dev.onefold.process.Processor;
import dev.onefold.process.Step;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Which key owns a row is decided by the order of arrival, which the journal has recorded.
class SharedRowsOrderTest {
    private static final int SENDERS = 6;
    private static final int REQUESTS = 40;
    private static final int RECORDS = 12;
    private static final int RUNS = 30;

    @TempDir
    private Path folder;

    /// Writes the row of a run, or removes it.
    public static final class Runs implements Processor<Runs.Count, Runs.Event> {
        /// A context.
        public record Count(int count) {}

        /// An event.
        public record Event(String k, String run, boolean gone) {}

        /// A row, which is found by its run alone.
        public record Row(String run, String k, int count) {}

        @Override
        public Count start() {
            return new Count(0);
        }

        @Override
        public Step<Count> step(Count before, Event event) {
            Count count = new Count(before.count() + 1);
            return event.gone()
                    ? Step.to(count).remove("runs", event.run())
                    : Step.to(count).put("runs", new Row(event.run(), event.k(), count.count()));
        }

        @Override
        public Map<String, Class<? extends Record>> tables() {
            return Map.of("runs", Row.class);
        }
    }

    private static EmbeddedEngine open(Path data, String order, int shards) {
        String text = "{\"pipeline\":\"runs\",\"input\":{\"key\":\"k\",\"version\":\"v\"},\"process\":{\"class\":\"X\","
                + "\"order\":\"" + order + "\",\"tables\":{\"runs\":\"run\"}},\"rollups\":{\"all\":{\"of\":\"runs\","
                + "\"levels\":[\"k\"],\"measures\":{\"rows\":\"count()\",\"counts\":\"sum(count) decimal(18,0)\"}}}}";
        LoadedFunction function = LoadedFunction.of(((Reading.Read) PipelineText.read(text)).pipeline(), new Runs());
        return EmbeddedEngine.open(
                data, function, Settings.defaults().withShards(shards).withCheckpointInterval(Duration.ofDays(1)));
    }

    private static void send(EmbeddedEngine engine, int sender) {
        SplittableRandom random = new SplittableRandom(sender);
        int version = 0;
        for (int request = 0; request < REQUESTS; request++) {
            List<String> records = new ArrayList<>();
            for (int i = 0; i < RECORDS; i++) {
                version += random.nextInt(3); // Some versions come again, with another content.
                records.add("{\"k\":\"%s\",\"v\":%d,\"run\":\"r%d\",\"gone\":%b}"
                        .formatted(
                                "k" + sender + random.nextInt(3),
                                version,
                                random.nextInt(RUNS),
                                random.nextInt(3) == 0));
            }
            engine.append("source" + sender, records);
            if (sender == 0 && request == REQUESTS / 2) {
                engine.checkpointNow();
            }
        }
    }

    private record Seen(List<String> rows, List<String> letters, String totals) {}

    private static Seen seen(EmbeddedEngine engine) {
        assertThat(engine.verify().isEqual()).isTrue();
        List<String> rows = engine.tables(
                new TableQuery(List.of("runs"), Optional.empty(), 1_000),
                answer -> answer.tables().getFirst().rows().stream()
                        .map(Value.Fields::toJson)
                        .toList());
        List<String> letters = engine.deadLetters().list(0, 100_000).stream()
                .map(SharedRowsOrderTest::said)
                .toList();
        return new Seen(rows, letters, engine.query(Query.all("all")).lines().toString());
    }

    private static String said(DeadLetter letter) {
        return letter.id() + " " + letter.place() + " " + letter.reason() + " " + letter.message();
    }

    private void assertSame(String order) throws Exception {
        Path data = folder.resolve(order);
        Path copy = folder.resolve(order + "-copy");
        Seen before;
        try (EmbeddedEngine engine = open(data, order, 4);
                ExecutorService senders = Executors.newFixedThreadPool(SENDERS)) {
            List<Future<?>> sent = new ArrayList<>();
            for (int sender = 0; sender < SENDERS; sender++) {
                int number = sender;
                sent.add(senders.submit(() -> send(engine, number)));
            }
            for (Future<?> each : sent) {
                each.get();
            }
            before = seen(engine);
            copy(data, copy); // As a killed process leaves it.
        }
        assertThat(before.letters).as("keys have met").isNotEmpty();
        try (EmbeddedEngine engine = open(copy, order, 3)) {
            assertThat(seen(engine)).isEqualTo(before);
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : all.toList()) {
                Path target = to.resolve(from.relativize(each).toString());
                if (Files.isDirectory(each)) {
                    Files.createDirectories(target);
                } else if (Files.isRegularFile(each)) {
                    Files.copy(each, target);
                }
            }
        }
    }

    @Test
    void the_journal_is_folded_again_with_the_same_owners_and_the_same_letters() throws Exception {
        assertSame("every");
        assertSame("latest");
        assertSame("in-order");
    }
}
