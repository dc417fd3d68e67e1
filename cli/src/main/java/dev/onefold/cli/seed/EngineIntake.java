package dev.onefold.cli.seed;

import dev.onefold.core.Engine;
import dev.onefold.core.Engine.Appended;
import dev.onefold.tables.Seeding;

/// Appends the records of a seeding to a source of its own. One thread.
final class EngineIntake implements Seeding.Intake {
    private final Engine engine;
    private final String source;
    private long next = 1;

    /// @param source that nobody else appends to
    EngineIntake(Engine engine, String source) {
        this.engine = engine;
        this.source = source;
    }

    @Override
    public Appended append(byte[] lines, int length) {
        Appended appended = engine.append(source, next, lines, length);
        next = appended.acknowledged() + 1;
        return appended;
    }
}
