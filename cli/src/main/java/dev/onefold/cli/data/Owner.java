package dev.onefold.cli.data;

import dev.onefold.cli.call.Call;
import dev.onefold.core.EngineException;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// A data directory that this process owns, or reads: its engine, and the door for the commands of others.
public final class Owner implements AutoCloseable {
    /// Most commands own the directory for less time. A longer owner is probably a running engine.
    private static final Duration COMMAND_MAX = Duration.ofSeconds(3);

    private final EmbeddedEngine engine;
    private final @Nullable Door door;

    private Owner(EmbeddedEngine engine, @Nullable Door door) {
        this.engine = engine;
        this.door = door;
    }

    /// Opens the directory and serves it, as soon as whoever has it lets go; gives up after a while. The definition
    /// is the one of the pipeline file.
    ///
    /// @throws EngineException also when it stays in use
    public static Owner open(DataDirectory data, Settings settings, Call call) {
        Patience patience = new Patience(call.caller(), COMMAND_MAX);
        while (true) {
            try {
                return serve(engine(data, settings), data, call);
            } catch (EngineException e) {
                patience.waitAgain(e);
            }
        }
    }

    /// Opens the directory as it is, once. The definition is the one stored in it.
    static Owner openStored(DataDirectory data, Call call) {
        Settings settings = Settings.defaults().withSpaceListener(new FullDisk(call.caller(), () -> false));
        return serve(EmbeddedEngine.open(data.path(), settings), data, call);
    }

    /// The directory as it is now, for reading only; owns nothing.
    static Owner reader(DataDirectory data) {
        return new Owner(EmbeddedEngine.read(data.path(), Settings.defaults()), null);
    }

    private static EmbeddedEngine engine(DataDirectory data, Settings settings) {
        return data.definition() == null
                ? EmbeddedEngine.open(data.path(), settings)
                : EmbeddedEngine.open(data.path(), data.definition(), settings);
    }

    private static Owner serve(EmbeddedEngine engine, DataDirectory data, Call call) {
        try {
            return new Owner(
                    engine, Door.open(new Door.Inside(data.path(), engine, call.interpreter()), Door.Limits.USUAL));
        } catch (IOException | UnsupportedOperationException e) {
            // The totals are right without it.
            call.caller().err().println("Other commands cannot reach this engine while it runs: " + e.getMessage());
            return new Owner(engine, null);
        }
    }

    public EmbeddedEngine engine() {
        return engine;
    }

    /// Waits for the commands of others, then closes the engine. May be called twice.
    @Override
    public void close() {
        try {
            if (door != null) {
                door.close();
            }
        } catch (IOException e) {
            // Its files may be left behind; the next owner removes them.
        } finally {
            engine.close();
        }
    }
}
