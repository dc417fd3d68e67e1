package dev.onefold.simulator.embedded.heap;

import static dev.onefold.simulator.embedded.Trades.trade;

import dev.onefold.core.DeadLetter;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.simulator.embedded.Trades;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;

/// A process of its own that is flooded with records that are rejected: data directory, how many of them.
final class LetterFloodChild {
    private static final int BLOCK = 10_000;
    private static final int HEALTHY_BLOCKS = 50;
    private static final int PAGE = 10_000;

    private LetterFloodChild() {}

    public static void main(String[] arguments) {
        Path data = Path.of(arguments[0]);
        long count = Long.parseLong(arguments[1]);
        Settings settings = Settings.defaults().withThreads(2).withShards(2).withStateBytesMax(1L << 30);
        try (EmbeddedEngine engine = Trades.open(data, settings)) {
            engine.fold(new FileSource("flood", () -> flood(count), false), FoldListener.silent());
            engine.append("s", List.of(trade("after", 1, "FX", "1")));
            System.out.println("folded " + Trades.totals(engine) + ", "
                    + engine.deadLetters().size());
        }
        try (EmbeddedEngine engine = Trades.open(data, settings)) {
            long listed = 0;
            long ids = 0;
            List<DeadLetter> page = engine.deadLetters().list(0, PAGE);
            while (!page.isEmpty()) {
                for (DeadLetter letter : page) {
                    listed++;
                    ids += letter.id();
                }
                page = engine.deadLetters().list(page.getLast().id(), PAGE);
            }
            System.out.println("listed " + listed + ", " + (ids == count * (count + 1) / 2));
            List<Long> gone = new ArrayList<>();
            for (long id = 1; id <= count; id++) {
                gone.add(id);
                if (gone.size() == PAGE || id == count) {
                    engine.deadLetters().purge(gone);
                    gone.clear();
                }
            }
            System.out.println("left " + engine.deadLetters().size());
        }
    }

    /// Good records, so that rounds are as large as they become; then rejected ones, and among each block of them
    /// a good one.
    private static InputStream flood(long count) {
        String good = trade("one", 1, "FX", "1") + '\n';
        byte[] healthy = good.repeat(BLOCK).getBytes(StandardCharsets.UTF_8);
        byte[] poison = ("p\n".repeat(BLOCK) + good).getBytes(StandardCharsets.UTF_8);
        return new SequenceInputStream(Collections.enumeration(Stream.concat(
                        Stream.generate(() -> healthy).limit(HEALTHY_BLOCKS),
                        Stream.generate(() -> poison).limit(count / BLOCK))
                .map(block -> (InputStream) new ByteArrayInputStream(block))
                .toList()));
    }
}
