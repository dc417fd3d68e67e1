package dev.onefold.server;

import dev.onefold.core.Capabilities;
import dev.onefold.core.Causes;
import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.Engine;
import dev.onefold.core.Truth;
import dev.onefold.core.Verification;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.core.state.Row;
import java.util.List;
import java.util.Optional;

/// An engine with a bug: it cannot give its counts, and its exception holds a part of a record.
record BrokenEngine(Engine engine, String secret) implements Engine {
    @Override
    public Counts counts() {
        throw new IllegalStateException("Unexpected record " + secret);
    }

    @Override
    public Causes causes() {
        return engine.causes();
    }

    @Override
    public Pipeline pipeline() {
        return engine.pipeline();
    }

    @Override
    public Capabilities capabilities() {
        return engine.capabilities();
    }

    @Override
    public Answer query(Query query) {
        return engine.query(query);
    }

    @Override
    public Optional<Row> get(List<String> key) {
        return engine.get(key);
    }

    @Override
    public Verification verify(Truth truth) {
        return engine.verify(truth);
    }

    @Override
    public Verification rebuild(Truth truth) {
        return engine.rebuild(truth);
    }

    @Override
    public DeadLetters deadLetters() {
        return engine.deadLetters();
    }

    @Override
    public void close() {
        engine.close();
    }
}
