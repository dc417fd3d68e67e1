package dev.onefold.simulator.embedded;

import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.FoldReport;
import dev.onefold.embedded.source.SpaceListener;
import dev.onefold.fakes.disk.SimulatedDisk;
import dev.onefold.oracle.Oracle;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/// What the tests of the embedded engine share: a small pipeline of trades, its records, and engines on a disk.
public final class Trades {
    static final String PIPELINE = """
            pipeline: trades
            input: {key: id, version: v, delete: 'op = "delete"', filter: 'not (book = "test")'}
            rollup:
              levels: [desk]
              measures:
                value: sum(value) decimal(20,2)
                trades: count()
                greatest: max(value) decimal(20,2)
            """;

    private static final RandomGenerator IDENTITIES = new SplittableRandom(18);

    private Trades() {}

    public static String trade(String id, long version, String desk, String value) {
        return "{\"id\":\"%s\",\"v\":%d,\"desk\":\"%s\",\"value\":%s}".formatted(id, version, desk, value);
    }

    static String delete(String id, long version) {
        return "{\"id\":\"%s\",\"v\":%d,\"op\":\"delete\"}".formatted(id, version);
    }

    /// Many trades of a few keys, desks and versions.
    public static List<String> trades(int count) {
        List<String> trades = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            trades.add(
                    i % 17 == 3
                            ? delete("t" + i * 7 % 50, i % 5)
                            : trade("t" + i * 7 % 50, i % 6, "desk" + i % 4, i * 31 % 1000 + ".25"));
        }
        return trades;
    }

    /// One thread, and checkpoints only when asked for.
    public static Settings settings(int shards) {
        return new Settings(
                shards,
                0,
                Duration.ofDays(1),
                1L << 28,
                Settings.UNDELIVERED_BYTES_MAX,
                false,
                new Settings.Machine(InstantSource.system(), IDENTITIES, Trades::refuseToWait, SpaceListener.silent()));
    }

    private static void refuseToWait() {
        throw new AssertionError("There is space enough");
    }

    static EmbeddedEngine open(Path directory, int shards) {
        return open(directory, settings(shards));
    }

    public static EmbeddedEngine open(Path directory, Settings settings) {
        return EmbeddedEngine.open(directory, PipelineYaml.read(PIPELINE), settings);
    }

    static EmbeddedEngine open(SimulatedDisk disk) {
        return open(directory(disk), 2);
    }

    public static Path directory(SimulatedDisk disk) {
        return disk.getPath("/data");
    }

    static FileSource file(String name, String content) {
        byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
        return new FileSource(name, () -> new ByteArrayInputStream(bytes), false);
    }

    public static FileSource file(String name, List<String> lines) {
        return file(name, String.join("\n", lines) + "\n");
    }

    public static FoldReport fold(EmbeddedEngine engine, FileSource file) {
        return engine.fold(file, FoldListener.silent());
    }

    /// The measures of each group, as they are shown.
    public static Map<String, String> totals(EmbeddedEngine engine) {
        Map<String, String> totals = new TreeMap<>();
        Answer answer = engine.query(
                Query.all(Rollups.of(engine.pipeline()).all().getFirst().name()));
        answer.lines().forEach(line -> {
            List<String> values = line.values().stream()
                    .map(value -> value == null ? "-" : value.toPlainString())
                    .toList();
            totals.put(String.join("/", line.group()), String.join(" ", values));
        });
        return totals;
    }

    /// What the oracle says that they are when these lines, and nothing else, are folded.
    public static Map<String, String> right(List<String> lines) {
        Oracle oracle = Oracle.of(PIPELINE);
        for (int line = 0; line < lines.size(); line++) {
            oracle.accept("all", line + 1L, lines.get(line).getBytes(StandardCharsets.UTF_8));
        }
        return totals(oracle);
    }

    /// The same, of an oracle.
    static Map<String, String> totals(Oracle oracle) {
        Map<String, String> right = new TreeMap<>();
        oracle.totals("main").forEach((group, figures) -> {
            List<String> values = figures.values().stream()
                    .map(value -> value == null ? "-" : value)
                    .toList();
            right.put(String.join("/", group), String.join(" ", values));
        });
        return right;
    }
}
