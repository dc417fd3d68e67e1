package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DefinitionChange;
import dev.onefold.core.Truth;
import dev.onefold.core.event.Reason;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.keyed.Steps;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.KeyState;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.core.query.Query;
import dev.onefold.core.query.TableQuery;
import dev.onefold.embedded.rows.Segment;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.fixtures.Seeds;
import dev.onefold.process.Processor;
import dev.onefold.process.Step;
import dev.onefold.process.Write;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Functions per key in the embedded engine, against plain maps.
class ProcessTest {
    private static final String ROLLUPS =
            ",\"rollups\":{\"trails\":{\"of\":\"buckets\",\"levels\":[\"bucket\"],\"measures\":"
                    + "{\"rows\":\"count()\",\"sum\":\"sum(trail) decimal(20,0)\",\"most\":\"max(count) decimal(9,0)\"}}}";

    @TempDir
    Path folder;

    private static Pipeline pipeline(String order, int keep, int version) {
        return pipeline(order, keep, version, 20);
    }

    /// @param digits of the sum in the roll-up
    private static Pipeline pipeline(String order, int keep, int version, int digits) {
        String keeps = order.equals("latest") ? "" : ",\"keep\":" + keep;
        String text = "{\"pipeline\":\"p\",\"input\":{\"key\":\"k\",\"version\":\"v\"},\"process\":{\"class\":\""
                + Steps.class.getName() + "\",\"version\":" + version + ",\"order\":\"" + order + "\"" + keeps
                + ",\"tables\":{\"latest\":\"k\",\"buckets\":[\"k\",\"bucket\"]}}"
                + ROLLUPS.replace("20,0", digits + ",0") + "}";
        return read(text);
    }

    private static Pipeline read(String text) {
        return switch (PipelineText.read(text)) {
            case Reading.Read(Pipeline read) -> read;
            case Reading.Refused refused -> throw new AssertionError(refused.toString());
        };
    }

    private static LoadedFunction steps(String order, int keep) {
        return LoadedFunction.of(pipeline(order, keep, 1), new Steps());
    }

    private record Sent(String key, int version, Steps.Event event) {
        String line() {
            return "{\"k\":\"%s\",\"v\":%d,\"add\":%d,\"what\":\"%s\"}"
                    .formatted(key, version, event.add(), event.what());
        }
    }

    /// The expected state of each key, folded in the order of the events.
    private static final class Expected {
        private final SortedMap<String, Steps.Seen> contexts = new TreeMap<>();
        private final SortedMap<String, Record> rows = new TreeMap<>();
        private int folded;
        private int failed;

        void fold(Processor<Steps.Seen, Steps.Event> function, Sent sent) {
            Steps.Seen context = contexts.computeIfAbsent(sent.key, _ -> function.start());
            Step<Steps.Seen> step;
            try {
                step = function.step(context, sent.event);
            } catch (IllegalArgumentException e) {
                failed++;
                return;
            }
            folded++;
            contexts.put(sent.key, step.context());
            for (Write write : step.writes()) {
                switch (write) {
                    case Write.Put(String table, Record row) -> rows.put(name(table, row), row);
                    case Write.Remove(String table, List<Object> key) -> rows.remove(table + key);
                }
            }
        }

        private static String name(String table, Record row) {
            return switch (row) {
                case Steps.Bucket bucket -> table + List.of(bucket.k(), bucket.bucket());
                case Steps.Latest latest -> table + List.of(latest.k());
                default -> throw new AssertionError(row);
            };
        }

        void requireAsIn(EmbeddedEngine engine) {
            List<String> wanted = rows.values().stream()
                    .map(row -> switch (row) {
                        case Steps.Bucket(String k, long bucket, long trail, int count) ->
                            "buckets {\"k\":\"%s\",\"bucket\":%d,\"trail\":%d,\"count\":%d}"
                                    .formatted(k, bucket, trail, count);
                        case Steps.Latest(String k, long trail) ->
                            "latest {\"k\":\"%s\",\"trail\":%d}".formatted(k, trail);
                        default -> throw new AssertionError(row);
                    })
                    .sorted()
                    .toList();
            List<String> found = engine.tables(
                    new TableQuery(List.of("buckets", "latest"), Optional.empty(), Long.MAX_VALUE),
                    answer -> answer.tables().stream()
                            .flatMap(table -> table.rows().stream().map(row -> table.name() + " " + row.toJson()))
                            .sorted()
                            .toList());
            assertThat(found).isEqualTo(wanted);
            contexts.forEach((key, context) -> {
                KeyState state = engine.state(List.of(key)).orElseThrow();
                assertThat(state.context().toJson())
                        .isEqualTo("{\"trail\":%d,\"count\":%d}".formatted(context.trail(), context.count()));
            });
            requireTotals(engine);
            assertThat(engine.verify().isEqual()).isTrue();
        }

        private void requireTotals(EmbeddedEngine engine) {
            long count = 0;
            long sum = 0;
            for (Record row : rows.values()) {
                if (row instanceof Steps.Bucket bucket) {
                    count++;
                    sum += bucket.trail();
                }
            }
            List<java.math.BigDecimal> total =
                    engine.query(Query.all("trails")).lines().getFirst().values();
            if (count > 0) {
                assertThat(total.get(0)).isEqualByComparingTo(String.valueOf(count));
                assertThat(total.get(1)).isEqualByComparingTo(String.valueOf(sum));
            }
        }
    }

    private static List<Sent> events(RandomGenerator random, int keys, int versions) {
        List<Sent> events = new ArrayList<>();
        for (int key = 0; key < keys; key++) {
            for (int version = 1; version <= versions; version++) {
                String kind = switch (random.nextInt(6)) {
                    case 0 -> "throw";
                    case 1 -> "remove";
                    default -> "put";
                };
                events.add(new Sent("k" + key, version, new Steps.Event(random.nextInt(100), kind + ":k" + key)));
            }
        }
        return events;
    }

    /// The data directory as a crash leaves it.
    private Path crashed(Path directory, int number) {
        Path copy = folder.resolve("life-" + number + "-" + System.nanoTime());
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                Path to = copy.resolve(directory.relativize(file));
                if (Files.isDirectory(file)) {
                    Files.createDirectories(to);
                } else if (!file.getFileName().toString().startsWith("LOCK")
                        && !file.getFileName().toString().equals("engine.socket")) {
                    Files.copy(file, to);
                }
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        return copy;
    }

    @Test
    void a_pipeline_that_gets_a_function_is_not_filled_from_its_rows() {
        Pipeline plain = read("{\"pipeline\":\"p\",\"input\":{\"key\":\"k\",\"version\":\"v\"}"
                + ROLLUPS.replace("\"of\":\"buckets\",", "") + "}");
        try (EmbeddedEngine engine = EmbeddedEngine.open(folder, plain, Settings.defaults())) {
            engine.append("in", List.of("{\"k\":\"a\",\"v\":1,\"bucket\":\"b\",\"trail\":5,\"count\":1}"));
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(folder, steps("latest", 0), Settings.defaults())) {
            assertThat(engine.change(engine.wanted().orElseThrow()))
                    .isInstanceOfSatisfying(
                            DefinitionChange.Impossible.class,
                            change -> assertThat(change.reason())
                                    .isEqualTo("a pipeline with a function and one without hold different things"));
        }
    }

    @Test
    void in_order_whatever_the_order_of_arrival_and_the_crashes_the_tables_are_those_of_the_right_order() {
        Seeds.forAllSeeds(5, random -> {
            List<Sent> sent = events(random, 4, 25);
            Expected expected = new Expected();
            sent.forEach(each -> expected.fold(new Steps(), each));
            List<Sent> arriving = new ArrayList<>(sent);
            int doubles = 20;
            for (int i = 0; i < doubles; i++) {
                arriving.add(sent.get(random.nextInt(sent.size())));
            }
            Collections.shuffle(arriving, Random.from(random));
            Settings settings = Settings.defaults()
                    .withShards(1 + random.nextInt(3))
                    .withThreads(random.nextInt(3))
                    .withCheckpointInterval(Duration.ofMillis(random.nextInt(2)));
            Path directory = folder.resolve("first-" + System.nanoTime());
            EmbeddedEngine engine = EmbeddedEngine.open(directory, steps("in-order", 100), settings);
            try {
                for (int from = 0; from < arriving.size(); ) {
                    int to = Math.min(arriving.size(), from + 1 + random.nextInt(30));
                    engine.append(
                            "in",
                            arriving.subList(from, to).stream().map(Sent::line).toList());
                    from = to;
                    if (random.nextInt(4) == 0) {
                        boolean isStill =
                                settings.threads() == 0; // Otherwise a checkpoint may be under way during the copy.
                        Path next = isStill && random.nextBoolean() ? crashed(directory, from) : directory;
                        engine.close();
                        directory = next;
                        engine = EmbeddedEngine.open(
                                directory, steps("in-order", 100), settings.withShards(1 + random.nextInt(3)));
                    }
                }
                expected.requireAsIn(engine);
                assertThat(engine.counts().accepted()).isEqualTo(expected.folded);
                assertThat(engine.counts().rejected()).isEqualTo(expected.failed);
                assertThat(engine.counts().duplicate()).isEqualTo(doubles);
                assertThat(engine.deadLetters().list(0, 1_000))
                        .hasSize(expected.failed)
                        .allMatch(letter -> letter.reason() == Reason.FAILED);
            } finally {
                engine.close();
            }
        });
    }

    @Test
    void what_was_purged_stays_as_it_was_when_the_sources_are_folded_again_though_other_copies_of_it_came() {
        for (String order : List.of("latest", "every", "in-order")) {
            Seeds.forAllSeeds(2, random -> {
                List<String> lines = new ArrayList<>();
                for (int i = 0; i < 12; i++) {
                    String what = random.nextInt(3) == 0 ? "throw:k" : "put:k";
                    lines.add(new Sent("k", random.nextInt(2), new Steps.Event(random.nextInt(3), what)).line());
                }
                Settings settings = Settings.defaults().withKeepJournal(true);
                Path directory = folder.resolve(order + System.nanoTime());
                try (EmbeddedEngine engine = EmbeddedEngine.open(directory, steps(order, 100), settings)) {
                    engine.append("in", lines);
                    String before = engine.state(List.of("k")).toString();
                    List<Long> letters = engine.deadLetters().list(0, 100).stream()
                            .map(DeadLetter::id)
                            .toList();
                    engine.deadLetters().purge(letters);
                    assertThat(engine.verify(new Truth.Sources()).isEqual()).isTrue();
                    engine.rebuild(new Truth.Sources());
                    assertThat(engine.state(List.of("k"))).hasToString(before);
                    assertThat(engine.deadLetters().list(0, 100)).isEmpty();
                }
            });
        }
    }

    @Test
    void of_two_contents_of_a_version_one_has_lost_and_one_has_failed_whichever_came_first() {
        String put = new Sent("k", 1, new Steps.Event(1, "put:k")).line();
        String greater = new Sent("k", 1, new Steps.Event(3, "throw:k")).line();
        for (List<String> lines : List.of(List.of(put, greater), List.of(greater, put))) {
            Path directory = folder.resolve("two" + System.nanoTime());
            try (EmbeddedEngine engine = EmbeddedEngine.open(directory, steps("in-order", 100), Settings.defaults())) {
                engine.append("in", lines);
                assertThat(engine.counts()).isEqualTo(new Counts(0, 0, 0, 1, 1));
            }
        }
    }

    @Test
    @Tag("campaign")
    void a_key_that_changes_often_between_two_checkpoints_is_written_once() throws IOException {
        int count = 200_000; // Their heads would take two segments.
        List<Sent> sent = new ArrayList<>();
        for (int version = 1; version <= count; version++) {
            sent.add(new Sent("k0", version, new Steps.Event(version % 100, "remove:k0")));
        }
        String lines = sent.stream().map(each -> each.line() + "\n").collect(Collectors.joining());
        Expected expected = new Expected();
        sent.forEach(each -> expected.fold(new Steps(), each));
        Settings settings = Settings.defaults().withCheckpointInterval(Duration.ofHours(1));
        Path directory = folder.resolve("often");
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, steps("latest", 1), settings)) {
            engine.fold(
                    new FileSource("in", () -> new ByteArrayInputStream(lines.getBytes(StandardCharsets.UTF_8)), false),
                    FoldListener.silent());
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, steps("latest", 1), settings)) {
            expected.requireAsIn(engine);
        }
        long bytes = 0;
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                bytes += Files.size(file);
            }
        }
        assertThat(bytes).isLessThan(2L * Segment.BYTES);
    }

    @Test
    void where_a_row_does_not_fit_the_new_roll_ups_the_records_are_folded_again_and_what_does_not_fit_is_a_letter() {
        Path directory = folder.resolve("narrower");
        Settings settings = Settings.defaults().withKeepJournal(true);
        List<String> lines = List.of(
                new Sent("k", 1, new Steps.Event(1, "put:k")).line(),
                new Sent("k", 2, new Steps.Event(99_999, "put:k")).line());
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, steps("in-order", 100), settings)) {
            engine.append("in", lines);
            assertThat(engine.counts().accepted()).isEqualTo(2);
        }
        LoadedFunction narrower = LoadedFunction.of(pipeline("in-order", 100, 1, 3), new Steps());
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, narrower, settings)) {
            engine.fillView(_ -> null, false);
            assertThat(engine.counts()).isEqualTo(new Counts(1, 0, 0, 0, 1));
            assertThat(engine.deadLetters().list(0, 9))
                    .singleElement()
                    .satisfies(letter -> assertThat(letter.message()).contains("cannot feed its roll-ups"));
            assertThat(engine.verify(new Truth.Sources()).isEqual()).isTrue();
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, steps("in-order", 100), settings)) {
            assertThat(engine.change(pipeline("in-order", 100, 1)))
                    .isInstanceOfSatisfying(
                            DefinitionChange.FromRows.class,
                            change -> assertThat(change.doubt())
                                    .contains("stay dead letters until 'rebuild --from-sources' decides them afresh"));
        }
    }
}
