package dev.onefold.test;

import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Reason;
import dev.onefold.core.json.Json;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.core.query.TableQuery;
import dev.onefold.core.state.Horizon;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.SpaceListener;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Runs the embedded engine over a sample: with any pipeline, in a temporary folder, without threads, and on a clock
/// that does not move. With a horizon, the clock shows the latest time of the sample. Equal seeds give equal runs.
public final class EngineRuns {
    private static final String SOURCE = "sample";
    private static final int LIVES_MAX = 3;
    private static final int BATCH_MAX = 40;
    private static final long STATE_BYTES_MAX = 1L << 30;

    private final Pipeline pipeline;
    private final @Nullable LoadedFunction function;
    private final List<String> records;
    private final boolean anyOrder;
    private final Instant now;

    /// @param function of a pipeline with `process`; `null` of any other
    /// @param anyOrder whether the order of arrival is drawn, too
    public EngineRuns(Pipeline pipeline, @Nullable LoadedFunction function, List<String> records, boolean anyOrder) {
        this.pipeline = pipeline;
        this.function = function;
        this.records = List.copyOf(records);
        this.anyOrder = anyOrder;
        now = latest(pipeline, this.records);
    }

    /// The latest time of the records: with a horizon, all of them arrive then.
    private static Instant latest(Pipeline pipeline, List<String> records) {
        Decoder decoder = new Decoder(pipeline);
        boolean isHeader = Decoder.wantsHeader(pipeline);
        long latestMs = 0;
        for (String record : Horizon.of(pipeline).isPresent() ? records : List.<String>of()) {
            byte[] bytes = record.getBytes(StandardCharsets.UTF_8);
            byte[] padded = Arrays.copyOf(bytes, bytes.length + Decoder.PADDING);
            if (isHeader) {
                decoder.header(padded, 0, bytes.length);
                isHeader = false;
            } else if (decoder.decode(padded, 0, bytes.length) == null) {
                latestMs = Math.max(latestMs, decoder.event().timeMs);
            }
        }
        return Instant.ofEpochMilli(latestMs);
    }

    /// The answers for the records as they are.
    public Answers asTheyAre() {
        try (TemporaryFolder folder = TemporaryFolder.make();
                EmbeddedEngine engine = open(folder.path(), 1, false)) {
            engine.append(SOURCE, records);
            return answers(engine);
        }
    }

    /// The answers for the records in another order, some of them twice, cut at arbitrary places. Meanwhile the
    /// process is killed between two of its steps, at points that a seed draws.
    public Answers drawn(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<String> arrivals = arrivals(random);
        try (TemporaryFolder folder = TemporaryFolder.make()) {
            Path data = folder.path().resolve("0");
            for (int lives = random.nextInt(LIVES_MAX + 1); lives > 0; lives--) {
                Path after = folder.path().resolve(Integer.toString(lives));
                try (EmbeddedEngine killed = open(data, 1 + random.nextInt(2), random.nextBoolean())) {
                    send(killed, arrivals, random.nextInt(arrivals.size() + 1), random);
                    TemporaryFolder.copy(data, after); // The next life knows nothing of how this one is closed.
                }
                data = after;
            }
            try (EmbeddedEngine engine = open(data, 1 + random.nextInt(2), random.nextBoolean())) {
                send(engine, arrivals, arrivals.size(), random);
                return answers(engine);
            }
        }
    }

    private EmbeddedEngine open(Path folder, int shards, boolean checkpointsAlways) {
        Path directory = folder.resolve(pipeline.name());
        Settings settings = new Settings(
                shards,
                0,
                checkpointsAlways ? Duration.ZERO : Duration.ofDays(1),
                STATE_BYTES_MAX,
                Settings.UNDELIVERED_BYTES_MAX,
                false,
                new Settings.Machine(() -> now, new SplittableRandom(1), () -> {}, SpaceListener.silent()));
        return function == null
                ? EmbeddedEngine.open(directory, pipeline, settings)
                : EmbeddedEngine.open(directory, function.renewed(), settings);
    }

    private static void send(EmbeddedEngine engine, List<String> arrivals, int to, SplittableRandom random) {
        for (int from = (int) engine.acknowledged(SOURCE); from < to; ) {
            int end = Math.min(to, from + 1 + random.nextInt(BATCH_MAX));
            byte[] lines = (String.join("\n", arrivals.subList(from, end)) + "\n").getBytes(StandardCharsets.UTF_8);
            engine.append(SOURCE, from + 1L, lines, lines.length);
            from = end;
        }
    }

    private List<String> arrivals(SplittableRandom random) {
        int header = Decoder.wantsHeader(pipeline) ? 1 : 0;
        List<String> arrivals = new ArrayList<>(records.subList(0, Math.min(header, records.size())));
        if (function != null && anyOrder) {
            Plan.arrivals(Sample.of(function.pipeline(), records), function.processing(), false, random)
                    .forEach(line -> arrivals.add(records.get(line - 1)));
            return arrivals;
        }
        List<Integer> lines = new ArrayList<>();
        boolean repeats = !(pipeline.input().identity() instanceof Identity.ByPlace);
        for (int line = header; line < records.size(); line++) {
            lines.add(line);
            if (repeats && random.nextInt(4) == 0) {
                lines.add(header + random.nextInt(line + 1 - header)); // One that came before, or this one.
            }
        }
        if (anyOrder) {
            shuffle(lines, random);
        }
        lines.forEach(line -> arrivals.add(records.get(line)));
        return arrivals;
    }

    private static void shuffle(List<Integer> lines, SplittableRandom random) {
        for (int i = lines.size() - 1; i > 0; i--) {
            Collections.swap(lines, i, random.nextInt(i + 1));
        }
    }

    private Answers answers(EmbeddedEngine engine) {
        SortedMap<String, List<String>> tables = new TreeMap<>();
        if (pipeline.fold() instanceof Processing processing) {
            List<String> names =
                    processing.tables().stream().map(Processing.Table::name).toList();
            engine.tables(new TableQuery(names, Optional.empty(), Long.MAX_VALUE), answer -> {
                answer.tables()
                        .forEach(table -> tables.put(
                                table.name(),
                                table.rows().stream().map(row -> row.toJson()).toList()));
                return true;
            });
        }
        SortedMap<String, List<String>> totals = new TreeMap<>();
        for (Rollup rollup : Rollups.of(pipeline).all()) {
            Answer answer = engine.query(Query.all(rollup.name()));
            totals.put(
                    rollup.name(),
                    answer.lines().stream()
                            .map(line -> group(answer.measures(), line))
                            .toList());
        }
        long tooLate = engine.status().deadLettersByReason().getOrDefault(Reason.TOO_LATE, 0L);
        return new Answers(tables, totals, tooLate);
    }

    private static String group(List<String> measures, Answer.Line line) {
        Map<String, @Nullable BigDecimal> values = new LinkedHashMap<>();
        IntStream.range(0, measures.size())
                .forEach(i -> values.put(measures.get(i), line.values().get(i)));
        Map<String, Object> group = new LinkedHashMap<>();
        group.put("group", line.group());
        group.put("values", values);
        return Json.of(group);
    }
}
