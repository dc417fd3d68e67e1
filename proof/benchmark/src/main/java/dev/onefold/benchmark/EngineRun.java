package dev.onefold.benchmark;

import dev.onefold.core.Counts;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.load.TradeRiskLoad;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// The engine on the same input, with all its guarantees: durable each second, whatever the machine does.
final class EngineRun {
    private static final int APPEND_BYTES = 1 << 20;

    private EngineRun() {}

    static Pipeline pipeline() {
        return ((Reading.Read) PipelineText.read(TradeRiskLoad.PIPELINE)).pipeline();
    }

    /// Folds a file from its beginning to its end into a new directory.
    static Meter.Run fold(Path input, Path directory) {
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, pipeline(), Settings.defaults())) {
            Meter meter = new Meter();
            engine.fold(
                    new FileSource(input.toString(), () -> Files.newInputStream(input), false), FoldListener.silent());
            Meter.Run run = meter.stop("engine", engine.counts().records());
            printTotals(engine);
            return run;
        }
    }

    /// Folds a file until somebody kills this process, and says on the way how far it is.
    static void foldAndTell(Path input, Path directory) {
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, pipeline(), Settings.defaults())) {
            engine.fold(new FileSource(input.toString(), () -> Files.newInputStream(input), false), new FoldListener() {
                @Override
                public void folded(long durableBytes, long foldedBytes, Counts counts) {
                    System.out.println("folded\t" + counts.records() + "\t" + durableBytes);
                }

                @Override
                public boolean stop() {
                    return false;
                }
            });
        }
    }

    /// Sends a file through the journal: each piece is forced before it is acknowledged.
    static Meter.Run append(Path input, Path directory) throws IOException {
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, pipeline(), Settings.defaults());
                InputStream in = Files.newInputStream(input)) {
            Meter meter = new Meter();
            byte[] bytes = new byte[APPEND_BYTES];
            int length = 0;
            long acknowledged = 0;
            for (int read = in.read(bytes);
                    read >= 0 || length > 0;
                    read = in.read(bytes, length, bytes.length - length)) {
                length += Math.max(read, 0);
                int end = length;
                while (read >= 0 && end > 0 && bytes[end - 1] != '\n') {
                    end--;
                }
                acknowledged = engine.append("standard-input", acknowledged + 1, bytes, end)
                        .acknowledged();
                System.arraycopy(bytes, end, bytes, 0, length - end);
                length -= end;
            }
            Meter.Run run = meter.stop("engine-appended", engine.counts().records());
            printTotals(engine);
            return run;
        }
    }

    /// Opens a directory and asks for the totals.
    static Meter.Run restart(Path directory) {
        Meter meter = new Meter();
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, Settings.defaults())) {
            engine.query(Query.all("main"));
            Meter.Run run = meter.stop("first-answer", engine.status().rows());
            engine.progress().forEach(source -> System.out.println("durable\t" + source.bytes()));
            return run;
        }
    }

    static void printTotals(EmbeddedEngine engine) {
        for (Answer.Line line : engine.query(Query.all("main")).lines()) {
            if (line.group().size() == 3) {
                print(line.group(), line.values());
            }
        }
        System.out.println("rows\t" + engine.status().rows());
        System.out.println("stop\t" + engine.checkpointStopMax().toNanos());
    }

    private static void print(List<String> group, List<BigDecimal> values) {
        System.out.println(
                "total\t" + String.join(":", group) + "\t" + values.get(0).unscaledValue() + "\t" + values.get(1));
    }
}
