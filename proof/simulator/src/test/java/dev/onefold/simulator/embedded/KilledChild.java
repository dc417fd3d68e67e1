package dev.onefold.simulator.embedded;

import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// A process of its own, to be killed: folds a file, or appends its lines from where the data directory says, and tells
/// on standard output what it was told.
public final class KilledChild {
    private static final String LOGGING = "java.util.logging.config.file";
    private static final int LINES_PER_APPEND = 500;

    private KilledChild() {}

    /// `fold`, `append` or `tell`, the data directory, the file, and how many lines were acknowledged before.
    public static void main(String[] arguments) throws IOException {
        Path file = Path.of(arguments[2]);
        Settings settings = Settings.defaults()
                .withThreads(2)
                .withShards(2)
                .withStateBytesMax(1L << 30)
                .withCheckpointInterval(Duration.ofMillis(20));
        try (EmbeddedEngine engine = Trades.open(Path.of(arguments[1]), settings)) {
            if (engine.acknowledged("s") < Long.parseLong(arguments[3])) {
                throw new IllegalStateException(
                        arguments[3] + " lines were acknowledged, but " + engine.acknowledged("s") + " are in");
            }
            switch (arguments[0]) {
                case "fold" -> {
                    engine.fold(new FileSource("file", () -> Files.newInputStream(file), false), FoldListener.silent());
                    System.out.println("folded");
                }
                case "append" -> append(engine, file);
                default -> {
                    System.out.println(engine.acknowledged("s"));
                    System.out.println(Trades.totals(engine));
                    System.out.println(engine.verify().isEqual() ? "verified" : "differs");
                }
            }
        }
    }

    private static void append(EmbeddedEngine engine, Path file) throws IOException {
        List<String> lines = Files.readAllLines(file);
        for (int from = (int) engine.acknowledged("s"); from < lines.size(); ) {
            int to = Math.min(lines.size(), from + LINES_PER_APPEND);
            from = (int)
                    engine.append("s", new ArrayList<>(lines.subList(from, to))).acknowledged();
            System.out.println(from);
        }
    }

    /// Starts one with this heap.
    static Process start(Path log, String heap, String... arguments) throws IOException {
        return start(log, heap, KilledChild.class, arguments);
    }

    /// Starts a process of this class with this heap; what it prints goes to the log.
    public static Process start(Path log, String heap, Class<?> main, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx" + heap,
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-D" + LOGGING + "=" + System.getProperty(LOGGING, ""),
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
    }

    /// The last whole number that a process has told.
    static long acknowledged(Path log) throws IOException {
        long last = 0;
        String text = Files.readString(log);
        for (String line : text.substring(0, text.lastIndexOf('\n') + 1).lines().toList()) {
            if (!line.isEmpty() && line.chars().allMatch(Character::isDigit)) {
                last = Long.parseLong(line);
            }
        }
        return last;
    }
}
