package dev.onefold.cli.seed;

import dev.onefold.core.Engine;
import dev.onefold.core.Engine.Appended;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.tables.SeedLog;
import dev.onefold.tables.Seeding;
import java.util.function.LongFunction;

/// Appends the records of a seeding to a source of its own. One thread.
final class EngineIntake implements Seeding.Intake {
    private final Engine engine;
    private final String source;
    private final RecordKind kind;
    private long next = 1;

    /// @param source that nobody else appends to
    /// @param kind of its records
    EngineIntake(Engine engine, String source, RecordKind kind) {
        this.engine = engine;
        this.source = source;
        this.kind = kind;
    }

    /// Numbers that no source of the engine has: the folder of seedings may be lost, and the clock may go back.
    ///
    /// @param source of a number
    static SeedLog.Numbers numbers(Engine engine, LongFunction<String> source) {
        long nowMs = System.currentTimeMillis();
        return new SeedLog.Numbers() {
            @Override
            public long draw(long last) {
                long number = Math.max(nowMs, last + 1);
                while (holds(number)) {
                    number++;
                }
                return number;
            }

            @Override
            public boolean holds(long number) {
                return engine.acknowledged(source.apply(number)) > 0;
            }
        };
    }

    @Override
    public Appended append(byte[] lines, int length) {
        Appended appended = kind == RecordKind.ROW
                ? engine.appendRows(source, next, lines, length)
                : engine.append(source, next, lines, length);
        next = appended.acknowledged() + 1;
        return appended;
    }
}
