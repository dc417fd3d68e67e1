package dev.onefold.simulator.embedded.heap;

import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.simulator.embedded.PipelineYaml;
import dev.onefold.simulator.embedded.Trades;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/// A process of its own that folds rows, each with three values that no other row has: data directory, `rows`,
/// `deletes` or `verify`, how many rows there are. It prints the totals, and whether they are verified.
final class ValueFloodChild {
    private static final int BLOCK = 10_000;
    private static final long STRIDE = 7_919; // A prime: the values come in no order.
    private static final String PIPELINE = """
            pipeline: values
            input: {key: id, version: version, delete: 'op = "delete"'}
            rollup:
              levels: [g]
              measures:
                least: min(low) decimal(18,2)
                most: max(high) decimal(18,2)
                texts: distinct(text)
            """;

    private ValueFloodChild() {}

    public static void main(String[] arguments) {
        Path data = Path.of(arguments[0]);
        int count = Integer.parseInt(arguments[2]);
        Settings settings = Settings.defaults().withThreads(2).withShards(2).withStateBytesMax(4L << 30);
        try (EmbeddedEngine engine = EmbeddedEngine.open(data, PipelineYaml.read(PIPELINE), settings)) {
            switch (arguments[1]) {
                case "rows" -> fold(engine, "rows", count, id -> row(id, count));
                case "deletes" -> fold(engine, "deletes", count, id -> delete(id, count));
                default -> System.out.println(engine.verify().isEqual() ? "verified" : "differs");
            }
            System.out.println(Trades.totals(engine));
        }
    }

    private static void fold(EmbeddedEngine engine, String source, int count, IntFunction<String> line) {
        engine.fold(new FileSource(source, () -> lines(count, line), false), FoldListener.silent());
        System.out.println("folded");
    }

    private static String row(int id, int count) {
        long value = id * STRIDE % count;
        return "{\"id\":" + id + ",\"version\":1,\"g\":\"" + value % 2 + "\",\"low\":" + value + ".25,\"high\":" + value
                + ",\"text\":\"text " + value + "\"}\n";
    }

    /// Deletes the rows of the least and of the greatest quarter of the values.
    private static String delete(int id, int count) {
        long value = id * STRIDE % count;
        boolean stays = value >= count / 4 && value < count - count / 4;
        return stays ? "" : "{\"id\":" + id + ",\"version\":2,\"op\":\"delete\"}\n";
    }

    /// Made while they are read.
    private static InputStream lines(int count, IntFunction<String> line) {
        return new InputStream() {
            private ByteArrayInputStream block = block(0, line);
            private int next = BLOCK;

            @Override
            public int read() {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
            }

            @Override
            public int read(byte[] into, int offset, int length) {
                int read = block.read(into, offset, length);
                while (read < 0 && next < count) {
                    block = block(next, line);
                    next += BLOCK;
                    read = block.read(into, offset, length);
                }
                return read;
            }
        };
    }

    private static ByteArrayInputStream block(int from, IntFunction<String> line) {
        StringBuilder text = new StringBuilder();
        IntStream.range(from, from + BLOCK).mapToObj(line).forEach(text::append);
        return new ByteArrayInputStream(text.toString().getBytes(StandardCharsets.UTF_8));
    }
}
