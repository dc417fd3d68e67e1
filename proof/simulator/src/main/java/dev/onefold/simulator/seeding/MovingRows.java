package dev.onefold.simulator.seeding;

import dev.onefold.simulator.deployment.Person;
import dev.onefold.simulator.embedded.ChangeForm;
import dev.onefold.simulator.embedded.MovingTable;
import dev.onefold.simulator.embedded.MovingTable.Content;
import dev.onefold.tables.RowSource;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;

/// A table that moves as a source: of one snapshot where it has transactions, else page by page, while time passes for
/// its reader.
record MovingRows(MovingTable table, ChangeForm reads, Person reader, Listener listener, SplittableRandom chance)
        implements RowSource {
    private static final int PAGE = 5;
    private static final int PAUSE_MS_MAX = 5_000;

    /// Gets a call for each reading.
    interface Listener {
        /// @param ends whether one ends, and does not begin; a snapshot ends as it begins
        void at(boolean ends);
    }

    @Override
    public String identity() {
        return "moving";
    }

    @Override
    public List<String> parts() {
        return List.of("0");
    }

    @Override
    public Extent extent() {
        return new Extent(0, 0, 0);
    }

    @Override
    public void awaitWriters(BooleanSupplier isStopped) {
        table.commitOpen();
    }

    @Override
    public void read(Map<String, String> from, Taker taker) throws InterruptedException {
        listener.at(false);
        TreeMap<String, Content> snapshot = new TreeMap<>(table.rows());
        String key = "";
        int count = PAGE;
        while (count == PAGE) {
            StringBuilder page = new StringBuilder();
            count = 0;
            TreeMap<String, Content> now = reads.hasTransactions() ? snapshot : new TreeMap<>(table.rows());
            for (Map.Entry<String, Content> row : now.tailMap(key, false).entrySet()) {
                page.append(ChangeForm.row(row.getKey(), row.getValue())).append('\n');
                key = row.getKey();
                if (++count == PAGE) {
                    break;
                }
            }
            byte[] lines = page.toString().getBytes(StandardCharsets.UTF_8);
            if (!taker.take(new RowSource.Rows("0", lines, lines.length, count, count < PAGE ? END : key, count))) {
                return;
            }
            if (count == PAGE) {
                reader.pause(Duration.ofMillis(1 + chance.nextInt(PAUSE_MS_MAX)));
            }
        }
        if (!reads.hasTransactions()) {
            listener.at(true);
        }
    }

    @Override
    public void close() {}
}
