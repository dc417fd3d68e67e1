package dev.onefold.cli.call;

import dev.onefold.core.json.Json;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Standard error as a program reads it: each message is one line, a JSON object with its time, its level and its text;
/// where something went wrong is a list beside it. Any thread may call.
public final class JsonLog extends PrintStream implements Logs.Sink {
    private static final String FAILURE = "onefold: ";
    private static final String WARNING = "Warning: ";

    private final PrintStream err;
    private final InstantSource clock;
    private final StringBuilder begun = new StringBuilder(); // A message without its line end so far.

    /// A caller whose messages are written so.
    public static Caller caller(Caller caller, InstantSource clock) {
        return new Caller(
                caller.in(),
                caller.out(),
                new JsonLog(caller.err(), clock),
                caller.folder(),
                caller.environment(),
                caller.screen());
    }

    private JsonLog(PrintStream err, InstantSource clock) {
        super(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
        this.err = err;
        this.clock = clock;
    }

    @Override
    public synchronized void print(String text) {
        begun.append(text);
        if (text.endsWith("\n")) {
            String message = begun.toString().stripTrailing();
            begun.setLength(0);
            write(level(message), message, List.of());
        }
    }

    @Override
    public void println(String line) {
        print(line + "\n");
    }

    /// Prints bytes that picocli writes: its messages, which end with a line end.
    @Override
    public void write(byte[] bytes, int offset, int length) {
        print(new String(bytes, offset, length, StandardCharsets.UTF_8));
    }

    @Override
    public void flush() {
        err.flush();
    }

    private static System.Logger.Level level(String message) {
        if (message.startsWith(FAILURE)) {
            return System.Logger.Level.ERROR;
        }
        return message.startsWith(WARNING) ? System.Logger.Level.WARNING : System.Logger.Level.INFO;
    }

    @Override
    public void write(System.Logger.Level level, String message, List<String> where) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("at", clock.instant());
        json.put("level", level.getName());
        json.put("message", message);
        if (!where.isEmpty()) {
            json.put("where", where);
        }
        err.println(Json.of(json));
    }
}
