package dev.onefold.simulator.embedded.heap;

import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.simulator.embedded.Trades;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/// A process of its own that appends so many records which are all rejected: data directory, `list`, `numbered` or
/// `together`, how many records. It prints what it was told, or what refused it, and what the totals are then.
final class AppendFloodChild {
    private static final int CALLERS = 16;

    private AppendFloodChild() {}

    public static void main(String[] arguments) throws InterruptedException {
        int count = Integer.parseInt(arguments[2]);
        Settings settings = Settings.defaults().withThreads(2).withShards(2).withStateBytesMax(1L << 30);
        try (EmbeddedEngine engine = Trades.open(Path.of(arguments[0]), settings)) {
            switch (arguments[1]) {
                case "list" -> list(engine, count);
                case "numbered" -> numbered(engine, count);
                default -> together(engine, count / CALLERS);
            }
            engine.append("healthy", List.of(Trades.trade("after", 1, "FX", "1")));
            System.out.println(engine.deadLetters().size() + " " + Trades.totals(engine));
        }
    }

    private static void list(EmbeddedEngine engine, int count) {
        try {
            System.out.println(
                    engine.append("s", Collections.nCopies(count, "p")).acknowledged());
        } catch (IllegalArgumentException e) {
            System.out.println(e.getMessage());
        }
    }

    private static void numbered(EmbeddedEngine engine, int count) {
        byte[] lines = "p\n".repeat(count).getBytes(StandardCharsets.UTF_8);
        System.out.println(engine.append("s", 1, lines, lines.length).acknowledged());
    }

    /// Calls at the same time, each of which fits.
    private static void together(EmbeddedEngine engine, int each) throws InterruptedException {
        List<Thread> callers = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            callers.add(Thread.ofPlatform().start(() -> engine.append("s", Collections.nCopies(each, "p"))));
        }
        for (Thread caller : callers) {
            caller.join();
        }
        System.out.println(engine.acknowledged("s"));
    }
}
