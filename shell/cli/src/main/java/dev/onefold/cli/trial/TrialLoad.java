package dev.onefold.cli.trial;

import dev.onefold.cli.verbs.Totals;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.load.TradeRiskLoad;
import dev.onefold.load.TradeRiskMix;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/// The records that a trial puts into the stream, and the totals that are right for them. Is not thread-safe.
interface TrialLoad extends AutoCloseable {
    /// The next records, at most `most`; empty at the end.
    List<byte[]> next(int most) throws IOException;

    /// The totals that are right for all that was handed out, by the name of the roll-up.
    SequencedMap<String, Totals> right();

    @Override
    void close();

    /// Trade-risk messages, whose maker knows the totals without any engine.
    final class Trades implements TrialLoad {
        private final TradeRiskLoad load;

        /// @param messages how many there are in all
        Trades(TradeRiskMix mix, long messages, long seed) {
            load = new TradeRiskLoad(mix, messages, seed);
        }

        @Override
        public List<byte[]> next(int most) throws IOException {
            ByteArrayOutputStream lines = new ByteArrayOutputStream();
            load.write(lines, most);
            byte[] bytes = lines.toByteArray();
            List<byte[]> records = new ArrayList<>();
            int start = 0;
            for (int i = 0; i < bytes.length; i++) {
                if (bytes[i] == '\n') {
                    records.add(Arrays.copyOfRange(bytes, start, i));
                    start = i + 1;
                }
            }
            return records;
        }

        @Override
        public SequencedMap<String, Totals> right() {
            return new LinkedHashMap<>(Map.of(Rollup.MAIN, Totals.of(load.totals())));
        }

        @Override
        public void close() {}
    }
}
