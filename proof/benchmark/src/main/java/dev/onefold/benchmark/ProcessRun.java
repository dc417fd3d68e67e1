package dev.onefold.benchmark;

import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.core.query.TableAnswer;
import dev.onefold.core.query.TableQuery;
import dev.onefold.core.shape.Value;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/// A function per key in the engine, with all its guarantees: durable each second.
final class ProcessRun {
    private static final String ROLLUP = """
            , "rollups": {"by-club": {"of": "runs", "levels": ["club"], "measures": {
                "runs": "count()", "metres": "sum(metres) decimal(18,0)", "seconds": "sum(seconds) decimal(18,0)"}}}
            """;

    private ProcessRun() {}

    /// Folds a file from its beginning to its end into a new directory.
    ///
    /// @param keep 0: the default
    static Meter.Run fold(Path input, Path directory, String order, int keep, boolean withRollup) throws IOException {
        LoadedFunction function = function(order, keep, withRollup);
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, function, Settings.defaults())) {
            Meter meter = new Meter();
            engine.fold(
                    new FileSource(input.toString(), () -> Files.newInputStream(input), false), FoldListener.silent());
            Meter.Run run = meter.stop(
                    order + (keep == 0 ? "" : " " + keep) + (withRollup ? " by-club" : ""),
                    engine.counts().records());
            System.out.println("rows\t" + engine.status().rows());
            System.out.println("stop\t" + engine.checkpointStopMax().toNanos());
            System.out.println("disk\t" + bytes(directory));
            requireTotals(input, keep == 1 ? "in-order 1" : order, totals(engine));
            return run;
        }
    }

    private static void requireTotals(Path input, String order, List<String> totals) throws IOException {
        List<String> wanted = Files.readAllLines(RunsInput.totals(input)).stream()
                .filter(line -> line.startsWith(order + "\t"))
                .map(line -> line.substring(order.length() + 1))
                .sorted()
                .toList();
        if (!wanted.equals(totals)) {
            throw new IllegalStateException("The totals are " + totals + " and should be " + wanted);
        }
    }

    static LoadedFunction function(String order, int keep, boolean withRollup) {
        String text = """
                {
                  "pipeline": "runs",
                  "input": {"key": "run_id", "version": "sequence_id"},
                  "process": {
                    "class": "dev.onefold.benchmark.LatestRun",
                    "order": "%s",
                    %s
                    "tables": {"runs": ["run_id"]}
                  }
                  %s
                }
                """.formatted(order, keep == 0 ? "" : "\"keep\": " + keep + ",", withRollup ? ROLLUP : "");
        return LoadedFunction.of(((Reading.Read) PipelineText.read(text)).pipeline(), new LatestRun());
    }

    private static long bytes(Path directory) throws IOException {
        try (var files = Files.walk(directory)) {
            return files.filter(Files::isRegularFile)
                    .mapToLong(file -> file.toFile().length())
                    .sum();
        }
    }

    /// Runs, metres and seconds of each club, from the rows.
    private static List<String> totals(EmbeddedEngine engine) {
        SortedMap<String, long[]> clubs = new TreeMap<>();
        TableQuery all = new TableQuery(List.of("runs"), Optional.empty(), Long.MAX_VALUE);
        TableAnswer answer = engine.tables(all, rows -> rows);
        for (Value.Fields row : answer.tables().getFirst().rows()) {
            long[] club = clubs.computeIfAbsent(component(row, "club").toString(), _ -> new long[3]);
            club[0]++;
            club[1] += (Long) component(row, "metres");
            club[2] += (Long) component(row, "seconds");
        }
        return clubs.entrySet().stream()
                .map(club -> club.getKey() + "\t" + club.getValue()[0] + "\t" + club.getValue()[1] + "\t"
                        + club.getValue()[2])
                .toList();
    }

    private static Object component(Value.Fields row, String name) {
        return Objects.requireNonNull(
                Objects.requireNonNull(row.components().get(name)).plain());
    }
}
