package dev.onefold.cli.run;

import dev.onefold.core.TotalsTable;
import dev.onefold.core.query.Answer;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/// What goes wrong with a table that totals are published to.
final class FaultyTotals {
    boolean isDown;
    volatile boolean isAsked;
    volatile boolean isHanging;
    int failingCommits; // 1: the next one fails; 2: only its answer is lost.

    /// A table with these faults.
    TotalsTable over(TotalsTable table) {
        return () -> {
            isAsked = true;
            while (isHanging) {
                Thread.onSpinWait();
            }
            if (isDown) {
                throw new TotalsTable.Unavailable("It is down", new SQLException());
            }
            return new Faulty(table.begin());
        };
    }

    /// A session whose commits fail before or after they are done.
    private final class Faulty implements TotalsTable.Session {
        private final TotalsTable.Session session;

        Faulty(TotalsTable.Session session) {
            this.session = session;
        }

        @Override
        public Optional<TotalsTable.Mark> mark() {
            return session.mark();
        }

        @Override
        public boolean isWhole() {
            return session.isWhole();
        }

        @Override
        public void begin(TotalsTable.Mark next) {
            session.begin(next);
        }

        @Override
        public void replace(int rollup) {
            session.replace(rollup);
        }

        @Override
        public void put(int rollup, Answer.Line line) {
            session.put(rollup, line);
        }

        @Override
        public void remove(int rollup, List<String> group) {
            session.remove(rollup, group);
        }

        @Override
        public void commit() {
            int fault = failingCommits;
            failingCommits = 0;
            if (fault != 1) {
                session.commit();
            }
            if (fault != 0) {
                throw new TotalsTable.Unavailable("The answer is lost", new SQLException());
            }
        }

        @Override
        public void close() {
            session.close();
        }
    }
}
