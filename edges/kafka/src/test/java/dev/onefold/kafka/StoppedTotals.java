package dev.onefold.kafka;

import dev.onefold.core.TotalsTable;
import dev.onefold.core.query.Answer;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A copy whose writer stops before one of its steps: nothing of it is closed, as of a process that sleeps.
final class StoppedTotals implements TotalsTable {
    private final TotalsTable real;
    private @Nullable Session sleeping;
    private int steps = Integer.MAX_VALUE;

    StoppedTotals(TotalsTable real) {
        this.real = real;
    }

    /// Stops before this step of the next session; after it no session begins.
    void stopAt(int step) {
        steps = step;
    }

    boolean isStopped() {
        return steps <= 0;
    }

    /// The session in which it has stopped.
    Optional<Session> sleeping() {
        return Optional.ofNullable(sleeping);
    }

    private void step() {
        if (steps != Integer.MAX_VALUE && --steps <= 0) {
            throw new Unavailable("It is stopped", null);
        }
    }

    @Override
    public Session begin() {
        step();
        Session session = real.begin();
        sleeping = session;
        return new Session() {
            @Override
            public Optional<Mark> mark() {
                return session.mark();
            }

            @Override
            public boolean isWhole() {
                return session.isWhole();
            }

            @Override
            public void begin(Mark next) {
                step();
                session.begin(next);
            }

            @Override
            public void replace(int rollup) {
                step();
                session.replace(rollup);
            }

            @Override
            public void put(int rollup, Answer.Line line) {
                step();
                session.put(rollup, line);
            }

            @Override
            public void remove(int rollup, List<String> group) {
                step();
                session.remove(rollup, group);
            }

            @Override
            public void commit() {
                step();
                session.commit();
                step(); // The answer is lost.
            }

            @Override
            public void close() {
                if (!isStopped()) {
                    session.close();
                }
            }
        };
    }
}
