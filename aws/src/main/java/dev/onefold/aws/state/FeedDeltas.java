package dev.onefold.aws.state;

import dev.onefold.core.keyed.Change.RowChange;
import dev.onefold.core.keyed.Feeds;
import dev.onefold.core.keyed.Feeds.Part;
import dev.onefold.core.map.Delta;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Contribution;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The deltas that changes of rows make in the roll-ups that the rows feed.
public final class FeedDeltas {
    private FeedDeltas() {}

    /// The sum of all changes.
    static Delta of(Feeds feeds, List<RowChange> changes) {
        Delta sum = Delta.NOTHING;
        for (RowChange change : changes) {
            int table = change.row().table();
            if (feeds.isFed(table)) {
                sum = sum.plus(signed(feeds, table, change.before(), true));
                sum = sum.plus(signed(feeds, table, change.after(), false));
            }
        }
        return sum;
    }

    /// The delta of a row of a table.
    public static Delta of(Feeds feeds, int table, byte[] row) {
        return signed(feeds, table, row, false);
    }

    private static Delta signed(Feeds feeds, int table, byte @Nullable [] row, boolean leaves) {
        if (row == null) {
            return Delta.NOTHING;
        }
        Part part = feeds.part(table, row).orElseThrow();
        Pipeline pipeline = part.pipeline();
        Contribution nothing = new Contribution(dev.onefold.core.event.Event.Kind.FILTERED, List.of(), List.of());
        Delta delta = leaves
                ? Delta.between(pipeline, part.contribution(), nothing)
                : Delta.between(pipeline, null, part.contribution());
        TreeMap<Delta.Cell, Delta.Sums> cells = new TreeMap<>();
        delta.cells().forEach((cell, sums) -> cells.put(placed(part, cell), sums));
        TreeMap<Delta.Value, Long> values = new TreeMap<>();
        delta.values()
                .forEach((value, count) -> values.put(
                        new Delta.Value(placed(part, value.cell()), value.measure(), value.amount()), count));
        return new Delta(cells, values);
    }

    private static Delta.Cell placed(Part part, Delta.Cell cell) {
        return new Delta.Cell(part.rollups().get(cell.rollup()), cell.leaf());
    }

    /// A delta in parts of at most so many leaves and values. Each part is added for itself.
    static List<Delta> parts(Delta delta, int most) {
        List<Delta> parts = new ArrayList<>();
        Delta part = new Delta(new TreeMap<>(), new TreeMap<>());
        for (Map.Entry<Delta.Cell, Delta.Sums> cell : delta.cells().entrySet()) {
            part = room(parts, part, most);
            part.cells().put(cell.getKey(), cell.getValue());
        }
        for (Map.Entry<Delta.Value, Long> value : delta.values().entrySet()) {
            part = room(parts, part, most);
            part.values().put(value.getKey(), value.getValue());
        }
        parts.add(part);
        return parts;
    }

    private static Delta room(List<Delta> parts, Delta part, int most) {
        if (part.items() < most) {
            return part;
        }
        parts.add(part);
        return new Delta(new TreeMap<>(), new TreeMap<>());
    }
}
