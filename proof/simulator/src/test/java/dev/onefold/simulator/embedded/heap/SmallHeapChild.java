package dev.onefold.simulator.embedded.heap;

import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.simulator.embedded.PipelineYaml;
import dev.onefold.simulator.embedded.Trades;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// A process of its own that folds a file and tells the totals: `pipeline file`, data directory, input file.
final class SmallHeapChild {
    private SmallHeapChild() {}

    public static void main(String[] arguments) throws IOException {
        Path file = Path.of(arguments[2]);
        Settings settings = Settings.defaults().withThreads(2).withShards(2).withStateBytesMax(2L << 30);
        var pipeline = PipelineYaml.read(Files.readString(Path.of(arguments[0])));
        try (EmbeddedEngine engine = EmbeddedEngine.open(Path.of(arguments[1]), pipeline, settings)) {
            engine.fold(new FileSource("input", () -> Files.newInputStream(file), false), FoldListener.silent());
            Trades.totals(engine).forEach((group, values) -> System.out.println(group + " = " + values));
            System.out.println(engine.counts());
        }
    }
}
