package dev.onefold.core.reduce;

import dev.onefold.core.map.ViewDeltas;
import java.util.ArrayList;
import java.util.List;

/// Divides changes of rows into atomic steps. Each step writes rows of one lane and one delta.
public final class StepPacker {
    private StepPacker() {}

    /// A change of one row.
    ///
    /// @param key of the row
    /// @param deltas the effect of the change on the totals
    /// @param rowBytes about how many bytes the row will have
    public record Change(byte[] key, ViewDeltas deltas, long rowBytes) {}

    /// The limits of one atomic step. A single change is a step even if it exceeds them.
    ///
    /// @param rowsMax number of rows
    /// @param itemsMax items of the totals that the delta touches: they must fit one [Commit]
    /// @param deltaBytesMax bytes of the delta
    /// @param rowBytesMax bytes of all rows
    public record Limits(int rowsMax, int itemsMax, long deltaBytesMax, long rowBytesMax) {}

    /// One atomic step.
    ///
    /// @param indices of the changes, in their order
    /// @param deltas their sum
    public record Step(int lane, List<Integer> indices, ViewDeltas deltas) {
        public Step {
            indices = List.copyOf(indices);
        }
    }

    private static final class Open {
        private final int lane;
        private final List<Integer> indices = new ArrayList<>();
        private ViewDeltas deltas = ViewDeltas.NOTHING;
        private long rowBytes;

        private Open(int lane) {
            this.lane = lane;
        }

        private boolean fits(Change change, ViewDeltas together, Limits limits) {
            return indices.size() < limits.rowsMax
                    && together.items() <= limits.itemsMax
                    && together.bytes() <= limits.deltaBytesMax
                    && rowBytes + change.rowBytes <= limits.rowBytesMax;
        }
    }

    /// The steps, in as few as the limits allow without another order within a lane.
    public static List<Step> pack(List<Change> changes, int lanes, Limits limits) {
        List<Open> opened = new ArrayList<>();
        Open[] last = new Open[lanes];
        for (int index = 0; index < changes.size(); index++) {
            Change change = changes.get(index);
            int lane = DeltaId.lane(change.key, lanes);
            Open open = last[lane];
            ViewDeltas together = open == null ? change.deltas : open.deltas.plus(change.deltas);
            if (open == null || !open.fits(change, together, limits)) {
                open = new Open(lane);
                last[lane] = open;
                opened.add(open);
                together = change.deltas;
            }
            open.indices.add(index);
            open.deltas = together;
            open.rowBytes += change.rowBytes;
        }
        return opened.stream()
                .map(open -> new Step(open.lane, open.indices, open.deltas))
                .toList();
    }
}
