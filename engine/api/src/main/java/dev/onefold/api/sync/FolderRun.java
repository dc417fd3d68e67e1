package dev.onefold.api.sync;

import dev.onefold.core.Engine.Appended;
import dev.onefold.core.EngineException;
import dev.onefold.core.EngineException.Kind;
import dev.onefold.core.Sync;
import dev.onefold.core.bytes.RecordKind;
import java.io.Closeable;
import java.io.IOException;
import java.util.Map;

/// A seeding or a repair whose progress is in a [SeedLog]. One thread.
public final class FolderRun implements Sync.Run {
    private final SeedLog.Seed seed;
    private final Intake intake;
    private final Runnable end;
    private final Closeable also;

    /// The receiver of its records.
    public interface Intake {
        /// Takes lines. They are durable when it returns.
        Appended append(RecordKind kind, byte[] lines, int length);
    }

    /// @param end checks at its end that its rows are in what there is
    /// @param also closed with it
    public FolderRun(SeedLog.Seed seed, Intake intake, Runnable end, Closeable also) {
        this.seed = seed;
        this.intake = intake;
        this.end = end;
        this.also = also;
    }

    /// Something that reads or writes the notes.
    public interface Noting<T> {
        T run() throws IOException;
    }

    /// Does it.
    ///
    /// @throws EngineException if the notes cannot be read or written
    public static <T> T noted(Noting<T> noting) {
        try {
            return noting.run();
        } catch (IOException e) {
            throw new EngineException(
                    Kind.STORAGE_FAILED, "The notes of a seeding or a repair failed: " + e.getMessage(), e);
        }
    }

    @Override
    public long number() {
        return seed.number();
    }

    @Override
    public long continued() {
        return seed.continued();
    }

    @Override
    public Map<String, String> marks() {
        return seed.marks();
    }

    @Override
    public Appended append(byte[] lines, int length) {
        return intake.append(RecordKind.SENT, lines, length);
    }

    @Override
    public Appended appendRows(byte[] lines, int length) {
        return intake.append(RecordKind.ROW, lines, length);
    }

    @Override
    public void save(Map<String, String> marks) {
        noted(() -> {
            seed.save(marks);
            return true;
        });
    }

    @Override
    public void finish() {
        end.run();
        noted(() -> {
            seed.finish();
            return true;
        });
    }

    @Override
    public void close() {
        noted(() -> {
            try (also) {
                seed.close();
            }
            return true;
        });
    }
}
