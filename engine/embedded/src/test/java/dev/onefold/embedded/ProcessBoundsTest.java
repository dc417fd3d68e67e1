package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.DefinitionChange;
import dev.onefold.core.EngineException;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.event.Reason;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.keyed.Steps;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.core.query.Query;
import dev.onefold.core.query.TableQuery;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.process.Processor;
import dev.onefold.process.Step;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.jar.JarOutputStream;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A function that breaks its limits, and the state of its keys when its version is raised.
class ProcessBoundsTest {
    private static final Settings SETTINGS = Settings.defaults().withShards(2).withThreads(2);
    private static final long SLOW_NANOS = 20_000_000;

    @TempDir
    Path directory;

    /// Sums up metres, in units of its factor.
    public static final class Metres implements Processor<Metres.Total, Metres.Add> {
        private final int factor;
        private final CountDownLatch release;

        Metres(int factor, CountDownLatch release) {
            this.factor = factor;
            this.release = release;
        }

        public record Total(long metres, int runs) {}

        public record Add(long metres, String what) {}

        public record Row(String k, long metres, int runs) {}

        @Override
        public Total start() {
            return new Total(0, 0);
        }

        @Override
        public Step<Total> step(Total total, Add add) {
            if (add.what().startsWith("hang")) {
                while (release.getCount() > 0) {
                    Thread.onSpinWait(); // An interrupt does not end it.
                }
            }
            if (add.what().startsWith("slow")) {
                for (long begun = System.nanoTime(); System.nanoTime() - begun < SLOW_NANOS; ) {
                    Thread.onSpinWait();
                }
            }
            if (add.what().startsWith("throw")) {
                throw new IllegalArgumentException("no " + add.what());
            }
            Total next = new Total(total.metres() + factor * add.metres(), total.runs() + 1);
            String key = add.what().substring(add.what().indexOf(':') + 1);
            Step<Total> step = Step.to(next);
            for (int i = 0; add.what().startsWith("wide") && i < 91; i++) {
                step = step.put("many", new Many(key, i));
            }
            return step.put("totals", new Row(key, next.metres(), next.runs()));
        }

        public record Many(String k, int i) {}

        @Override
        public Map<String, Class<? extends Record>> tables() {
            return Map.of("totals", Row.class, "many", Many.class);
        }
    }

    private static LoadedFunction metres(String order, int version, int factor, CountDownLatch release) {
        String text = "{\"pipeline\":\"p\",\"input\":{\"key\":\"k\",\"version\":\"v\"},\"process\":{\"class\":\"X\","
                + "\"version\":" + version + ",\"order\":\"" + order + "\""
                + ",\"tables\":{\"totals\":\"k\",\"many\":[\"k\",\"i\"]}},\"rollups\":{\"all\":{\"of\":\"totals\",\"levels\":[],"
                + "\"measures\":{\"metres\":\"sum(metres) decimal(18,0)\"}}}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(Pipeline read) -> LoadedFunction.of(read, new Metres(factor, release));
            case Reading.Refused refused -> throw new AssertionError(refused.toString());
        };
    }

    private static LoadedFunction metres(String order) {
        return metres(order, 1, 1, new CountDownLatch(0));
    }

    private static String add(String key, int version, int metres, String what) {
        return "{\"k\":\"%s\",\"v\":%d,\"metres\":%d,\"what\":\"%s:%s\"}".formatted(key, version, metres, what, key);
    }

    private static List<String> totals(EmbeddedEngine engine) {
        return engine.tables(
                new TableQuery(List.of("totals"), Optional.empty(), 100),
                answer -> answer.tables().getFirst().rows().stream()
                        .map(row ->
                                String.valueOf(row.components().get("metres").plain()))
                        .toList());
    }

    private static String rollup(EmbeddedEngine engine) {
        return String.valueOf(
                engine.query(Query.all("all")).lines().getFirst().values().getFirst());
    }

    @Test
    void a_stop_waits_for_few_events_of_a_slow_function() throws IOException {
        Path file = directory.resolve("events.ndjson");
        Files.write(
                file,
                IntStream.range(0, 40_000)
                        .mapToObj(i -> add("k" + i, 1, 1, i % 50 == 0 ? "slow" : "run"))
                        .toList());
        try (EmbeddedEngine engine =
                EmbeddedEngine.open(directory.resolve("data"), metres("every"), Settings.defaults())) {
            engine.fold(FileSource.of(file), () -> engine.counts().records() >= 4_000);
            assertThat(engine.counts().records()).isBetween(4_000L, 12_000L);
        }
    }

    @Test
    void hazard_69_a_call_that_does_not_return_makes_its_event_a_dead_letter_and_no_other_key_waits_for_it() {
        CountDownLatch release = new CountDownLatch(1);
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, metres("in-order", 1, 1, release), SETTINGS)) {
            List<String> records = IntStream.range(0, 40)
                    .mapToObj(i -> add("k" + i, 1, 1, i == 7 ? "hang" : "run"))
                    .toList();
            engine.append("in", records);
            assertThat(engine.counts()).isEqualTo(new Counts(39, 0, 0, 0, 1));
            assertThat(engine.deadLetters().list(0, 9)).singleElement().satisfies(letter -> {
                assertThat(letter.reason()).isEqualTo(Reason.FAILED);
                assertThat(letter.message()).contains("did not return within 1 s");
            });
            release.countDown();
            engine.append("in", List.of(add("k7", 2, 5, "run")));
            assertThat(totals(engine)).hasSize(40);
            assertThat(rollup(engine)).isEqualTo("44");
            assertThat(engine.counts()).isEqualTo(new Counts(40, 0, 0, 0, 1));
        } finally {
            release.countDown();
        }
    }

    @Test
    void a_function_that_throws_or_writes_too_much_makes_letters_and_a_redrive_folds_them_where_they_belong() {
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, metres("in-order"), SETTINGS)) {
            engine.append("in", List.of(add("a", 1, 1, "run"), add("a", 2, 10, "throw"), add("a", 3, 100, "wide")));
            engine.append("in", List.of(add("a", 4, 1000, "run"), add("a", 2, 10, "throw")));
            assertThat(engine.counts()).isEqualTo(new Counts(2, 1, 0, 0, 2));
            List<DeadLetter> letters = engine.deadLetters().list(0, 9);
            assertThat(letters).extracting(DeadLetter::reason).containsOnly(Reason.FAILED);
            assertThat(letters.get(0).message()).contains("no throw:a");
            assertThat(letters.get(1).message()).contains("92 rows");
            assertThat(totals(engine)).containsExactly("1001");
            DeadLetters.Redriven redriven = engine.deadLetters()
                    .redrive(letters.get(0).id(), add("a", 2, 10, "run").getBytes(StandardCharsets.UTF_8));
            assertThat(redriven).isEqualTo(DeadLetters.Redriven.ACCEPTED);
            assertThat(totals(engine)).containsExactly("1011");
            assertThat(engine.counts()).isEqualTo(new Counts(3, 1, 0, 0, 1));
            assertThat(engine.deadLetters().size()).isEqualTo(1);
            assertThat(rollup(engine)).isEqualTo("1011");
        }
    }

    @Test
    void latest_keeps_the_first_content_and_every_folds_each_once_as_it_comes() {
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory.resolve("l"), metres("latest"), SETTINGS)) {
            engine.append("in", List.of(add("a", 2, 1, "run"), add("a", 1, 10, "run"), add("a", 2, 1, "run")));
            engine.append("in", List.of(add("a", 2, 7, "run"), add("a", 2, 7, "run"), add("a", 3, 100, "run")));
            assertThat(engine.counts()).isEqualTo(new Counts(2, 1, 1, 2, 0));
            assertThat(totals(engine)).containsExactly("101");
            assertThat(engine.deadLetters().list(0, 9))
                    .singleElement()
                    .satisfies(letter -> assertThat(letter.reason()).isEqualTo(Reason.CONFLICT));
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory.resolve("e"), metres("every"), SETTINGS)) {
            engine.append("in", List.of(add("a", 2, 1, "run"), add("a", 1, 10, "run"), add("a", 2, 1, "run")));
            assertThat(engine.counts()).isEqualTo(new Counts(2, 1, 0, 0, 0));
            assertThat(totals(engine)).containsExactly("11");
            assertThat(engine.state(List.of("a")).orElseThrow().hasGaps()).contains(false);
        }
    }

    @Test
    void a_raised_version_refolds_what_is_kept_and_the_old_view_serves_until_then() {
        CountDownLatch none = new CountDownLatch(0);
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, metres("in-order"), SETTINGS)) {
            engine.append("in", List.of(add("a", 1, 1, "run"), add("b", 2, 10, "run"), add("a", 3, 5, "throw")));
        }
        LoadedFunction second = metres("in-order", 2, 2, none);
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, second, SETTINGS)) {
            assertThat(totals(engine)).containsExactly("1", "10");
            assertThat(engine.change(second.pipeline()))
                    .isEqualTo(new DefinitionChange.FromRows(
                            List.of(), "events that are not kept stay as version 1 has folded them"));
            engine.append("in", List.of(add("b", 1, 100, "run")));
            assertThat(totals(engine)).containsExactly("2", "220");
            assertThat(rollup(engine)).isEqualTo("222");
            assertThat(engine.state(List.of("b")).orElseThrow().code()).isEqualTo(2);
            assertThat(engine.verify().isEqual()).isTrue();
            assertThat(engine.counts()).isEqualTo(new Counts(3, 0, 0, 0, 1));
            assertThat(engine.deadLetters().size()).isEqualTo(1);
        }
        assertThatThrownBy(() -> EmbeddedEngine.open(directory, metres("in-order"), SETTINGS))
                .isInstanceOf(EngineException.class)
                .hasMessageContaining("Version 2 of the function has folded");
        try (EmbeddedEngine engine = EmbeddedEngine.read(directory, SETTINGS)) {
            assertThat(totals(engine)).containsExactly("2", "220");
        }
    }

    @Test
    void a_file_folded_again_from_its_source_comes_to_the_same_tables() {
        byte[] content = (add("a", 1, 1, "run") + "\n" + add("b", 1, 10, "run") + "\n" + add("a", 2, 5, "run") + "\n")
                .getBytes(StandardCharsets.UTF_8);
        FileSource file = new FileSource("in", () -> new ByteArrayInputStream(content), false);
        try (EmbeddedEngine engine =
                EmbeddedEngine.open(directory, metres("latest"), SETTINGS.withCheckpointInterval(Duration.ZERO))) {
            engine.fold(file, FoldListener.silent());
            assertThat(totals(engine)).containsExactly("6", "10");
            assertThat(engine.verify(_ -> file).isEqual()).isTrue();
            assertThat(engine.rebuild(_ -> file).isEqual()).isTrue();
            assertThat(engine.rebuild().isEqual()).isTrue();
            assertThat(totals(engine)).containsExactly("6", "10");
        }
    }

    @Test
    @Tag("campaign")
    void kept_events_are_read_from_disk_for_late_ones_and_take_no_memory_meanwhile() {
        int keys = 40;
        int events = 500;
        String text = "run" + ".".repeat(1_000);
        LoadedFunction function = metres("in-order", 1, 1, new CountDownLatch(0));
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, function, SETTINGS)) {
            for (int version = 1; version <= events; version++) {
                int now = version;
                engine.append(
                        "in",
                        IntStream.range(0, keys)
                                .mapToObj(key -> add("k" + key, 2 * now, 1, text))
                                .toList());
            }
            engine.checkpointNow();
            engine.checkpointNow(); // Lets segments go that the first one has made durable.
            engine.append(
                    "in",
                    IntStream.range(0, keys)
                            .mapToObj(key -> add("k" + key, 2 * events - 51, 1_000, "run"))
                            .toList());
            assertThat(totals(engine)).hasSize(keys).containsOnly("1500");
            assertThat(engine.status().stateBytes()).isLessThan(4 * (9L << 20));
        }
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, function, SETTINGS.withShards(3))) {
            engine.append(
                    "in",
                    IntStream.range(0, keys)
                            .mapToObj(key -> add("k" + key, 2 * events - 53, 10_000, "run"))
                            .toList());
            engine.append("in", List.of(add("k1", 3, 1, "run"), add("k1", 2 * events - 53, 10_000, "run")));
            assertThat(totals(engine)).hasSize(keys).containsOnly("11500");
            assertThat(engine.verify().isEqual()).isTrue();
            assertThat(engine.counts()).isEqualTo(new Counts(keys * (events + 2L), 1, 0, 0, 1));
            assertThat(engine.deadLetters().list(0, 9))
                    .singleElement()
                    .satisfies(letter -> assertThat(letter.reason()).isEqualTo(Reason.TOO_LATE));
        }
    }

    @Test
    void two_threads_on_one_source_fold_each_event_once() throws InterruptedException {
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, metres("every"), SETTINGS)) {
            List<Thread> threads = IntStream.range(0, 2)
                    .mapToObj(thread -> Thread.ofVirtual().start(() -> {
                        for (int version = 1; version <= 50; version++) {
                            engine.append("in", List.of(add("a", 2 * version + thread, 1, "run")));
                        }
                    }))
                    .toList();
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(totals(engine)).containsExactly("100");
            assertThat(engine.acknowledged("in")).isEqualTo(100);
        }
    }

    private Path jar(String... classes) throws IOException {
        Path jar = directory.resolve("runs.jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            for (String each : classes) {
                String name = Steps.class.getName().replace('.', '/') + each + ".class";
                out.putNextEntry(new ZipEntry(name));
                try (InputStream in =
                        Objects.requireNonNull(Steps.class.getClassLoader().getResourceAsStream(name))) {
                    in.transferTo(out);
                }
            }
        }
        return jar;
    }

    private static FunctionJar load(Pipeline pipeline, Path jar) throws IOException {
        byte[] bytes = Files.readAllBytes(jar);
        URL[] urls = {jar.toUri().toURL()};
        ClassLoader loader = new URLClassLoader(urls, new LoadedFunction.Classes());
        return new FunctionJar(LoadedFunction.load(pipeline, loader, Sha256.hex(bytes)), bytes);
    }

    private static Pipeline steps() {
        String text = "{\"pipeline\":\"p\",\"input\":{\"key\":\"k\",\"version\":\"v\"},\"process\":{\"class\":\""
                + Steps.class.getName()
                + "\",\"jar\":\"runs.jar\",\"order\":\"every\",\"tables\":{\"latest\":\"k\",\"buckets\":[\"k\",\"bucket\"]}}}";
        return ((Reading.Read) PipelineText.read(text)).pipeline();
    }

    @Test
    void a_function_in_a_jar_sees_no_class_of_the_application() throws IOException {
        Path jar = jar("", "$Seen", "$Latest", "$Bucket");
        assertThatThrownBy(() -> load(steps(), jar))
                .hasStackTraceContaining("ClassNotFoundException: " + Steps.class.getName() + "$Event");
    }

    @Test
    void a_jar_is_kept_in_the_directory_and_found_there_by_an_owner_without_it() throws IOException {
        Path jar = jar("", "$Seen", "$Event", "$Latest", "$Bucket");
        Pipeline pipeline = steps();
        Path data = directory.resolve("data");
        String event = "{\"k\":\"a\",\"v\":%d,\"add\":2,\"what\":\"put:a\"}";
        try (EmbeddedEngine engine = EmbeddedEngine.open(data, load(pipeline, jar), SETTINGS)) {
            engine.append("in", List.of(event.formatted(1)));
        }
        Files.delete(jar);
        try (EmbeddedEngine engine = EmbeddedEngine.open(data, SETTINGS)) {
            engine.append("in", List.of(event.formatted(2)));
            assertThat(engine.counts().accepted()).isEqualTo(2);
            assertThat(engine.state(List.of("a")).orElseThrow().version()).hasToString("2");
        }
    }

    @Test
    void an_owner_with_the_jar_replaces_a_damaged_copy_of_it() throws IOException {
        FunctionJar jar = load(steps(), jar("", "$Seen", "$Event", "$Latest", "$Bucket"));
        Path data = directory.resolve("data");
        EmbeddedEngine.open(data, jar, SETTINGS).close();
        Path copy;
        try (Stream<Path> files = Files.list(data)) {
            copy = files.filter(file -> file.getFileName().toString().startsWith("code-"))
                    .findFirst()
                    .orElseThrow();
        }
        byte[] damaged = Files.readAllBytes(copy);
        damaged[damaged.length / 2] ^= 1;
        Files.write(copy, damaged);
        assertThatThrownBy(() -> EmbeddedEngine.open(data, SETTINGS)).hasMessageContaining("SHA-256");
        EmbeddedEngine.open(data, jar, SETTINGS).close();
        EmbeddedEngine.open(data, SETTINGS).close();
    }
}
