package dev.onefold.cli.trial;

import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.verbs.Totals;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.test.FunctionCheck;
import dev.onefold.test.Tables;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SortedMap;
import java.util.TreeMap;

/// What is right for records of a person's own. The embedded engine computes the totals, in a folder of its
/// own. The right rows of a function are those of a loop that calls it for each event of a key, in the order of
/// versions, and shares nothing with an engine.
final class EmbeddedOracle implements Oracle {
    private static final String SOURCE = "trial";

    private final EmbeddedEngine engine;
    private final List<String> rollups;
    private final List<String> tables;
    private final Optional<LoadedFunction> function;
    private final List<String> put = new ArrayList<>(); // Of a function alone.
    private long taken; // Lines, where a record may have several.

    /// @param folder that is empty
    EmbeddedOracle(TrialPipeline tried, Path folder) {
        rollups = Rollups.of(tried.pipeline()).all().stream().map(Rollup::name).toList();
        tables = tried.functionTables();
        function = tried.function();
        engine = function.map(loaded -> EmbeddedEngine.open(folder, loaded, Settings.defaults()))
                .orElseGet(() -> EmbeddedEngine.open(folder, tried.pipeline(), Settings.defaults()));
    }

    @Override
    public void note(List<byte[]> records) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] record : records) {
            all.write(record);
            all.write('\n');
            if (function.isPresent()) {
                put.add(new String(record, StandardCharsets.UTF_8));
            }
        }
        if (!records.isEmpty()) {
            engine.append(SOURCE, taken + 1, all.toByteArray(), all.size());
            taken += RecordEnds.lines(all.toByteArray(), 0, all.size());
        }
    }

    @Override
    public Right right() {
        SequencedMap<String, Totals> right = new LinkedHashMap<>();
        for (String rollup : rollups) {
            right.put(rollup, engine.query(Query.all(rollup), Totals::of));
        }
        return new Right(right, 0);
    }

    @Override
    public long rejected() {
        return RejectedRecords.of(engine.deadLetters()).size();
    }

    @Override
    public SortedMap<String, List<String>> rows() {
        SortedMap<String, List<String>> rows = new TreeMap<>();
        if (function.isPresent() && !put.isEmpty()) {
            try {
                Tables right = FunctionCheck.of(function.get())
                        .events(put)
                        .allowingDependenceOnOrder()
                        .runs(1)
                        .check();
                tables.forEach(table -> rows.put(table, right.rows(table)));
            } catch (AssertionError broken) {
                throw new CommandFailure(ExitCode.DIFFERENT, String.valueOf(broken.getMessage()), broken);
            }
        }
        return rows;
    }

    @Override
    public void close() {
        engine.close();
    }
}
