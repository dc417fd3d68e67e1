package dev.onefold.cli;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.Screen;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/// Runs command lines in this process, as a caller who stands in a folder.
public record Cli(Path folder, Screen screen, Map<String, String> environment) {
    public static final String TRADES = """
            pipeline: trades
            input:
              key: id
              version: v
              delete: gone = true
            rollup:
              levels: [desk, region]
              measures:
                value: sum(value) decimal(18,2)
                trades: count()
            """;

    /// What a command line came to.
    public record Result(int exitCode, String out, String err) {
        public List<String> lines() {
            return out.lines().toList();
        }
    }

    /// In a folder, without a terminal.
    public static Cli in(Path folder) {
        return new Cli(folder, Screen.pipe(), Map.of());
    }

    /// The same folder on a terminal of this width.
    public Cli onTerminal(int width) {
        return new Cli(folder, new Screen(width, Screen.HEIGHT_DEFAULT, false, true, true), environment);
    }

    public Result run(String... arguments) {
        return run(InputStream.nullInputStream(), arguments);
    }

    public Result runWithInput(String input, String... arguments) {
        return run(new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)), arguments);
    }

    public Result run(InputStream input, String... arguments) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int exitCode = Onefold.execute(caller(input, out, err), List.of(arguments));
        return new Result(exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    public Caller caller(InputStream input, ByteArrayOutputStream out, ByteArrayOutputStream err) {
        return new Caller(
                input,
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                folder,
                environment,
                screen);
    }

    /// Writes a file into the folder.
    public Path write(String name, String content) {
        try {
            return Files.writeString(folder.resolve(name), content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Appends to a file in the folder.
    public void append(String name, String content) {
        try {
            Path file = folder.resolve(name);
            Files.writeString(file, Files.exists(file) ? Files.readString(file) + content : content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// One trade as a line.
    public static String trade(String id, int version, String desk, String region, String value) {
        return "{\"id\":\"%s\",\"v\":%d,\"desk\":\"%s\",\"region\":\"%s\",\"value\":%s}\n"
                .formatted(id, version, desk, region, value);
    }
}
