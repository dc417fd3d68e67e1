package dev.onefold.cli.trial;

import dev.onefold.cli.verbs.Totals;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.load.TradeRiskLoad;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SortedMap;
import java.util.TreeMap;

/// Says what is right for the records of a trial. Is not thread-safe.
interface Oracle extends AutoCloseable {
    /// Takes records that are put next.
    void note(List<byte[]> records) throws IOException;

    /// What is right for all that was noted.
    Right right();

    /// Different records that were noted and are no events.
    long rejected();

    /// The rows of a function's tables that are right, as JSON by the name of the table; none without a
    /// function.
    default SortedMap<String, List<String>> rows() {
        return new TreeMap<>();
    }

    @Override
    default void close() {}

    /// What is right at a moment.
    ///
    /// @param totals by the name of the roll-up
    /// @param members different records for batches; 0 if the pipeline makes none
    record Right(SequencedMap<String, Totals> totals, long members) {}

    /// Of trade-risk messages the maker knows the totals, without any engine.
    static Oracle of(TradeRiskLoad load) {
        return new Oracle() {
            @Override
            public void note(List<byte[]> records) {}

            @Override
            public Right right() {
                return new Right(new LinkedHashMap<>(Map.of(Rollup.MAIN, Totals.of(load.totals()))), 0);
            }

            @Override
            public long rejected() {
                return load.totals().inOrder().malformed();
            }
        };
    }
}
