package dev.onefold.core.map;

import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.state.ContributionBytes;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Deltas as bytes, which are smaller and cheaper to write than attributes of their own.
///
///     deltas = format 1, number of views; per view: its number, cells, values, each with their number before
///     cell   = roll-up, leaf, rows signed, sums with their number before; a sum is its value and its signed count
///     value  = roll-up, leaf, measure, amount, signed count
public final class DeltaBytes {
    private static final int FORMAT = 1;

    private DeltaBytes() {}

    /// The bytes of deltas.
    public static byte[] of(ViewDeltas deltas) {
        BytesOut out = new BytesOut().octet(FORMAT).number(deltas.byView().size());
        deltas.byView().forEach((view, delta) -> write(delta, out.number(view)));
        return out.toBytes();
    }

    /// The deltas of these bytes.
    public static ViewDeltas read(byte[] bytes) {
        BytesIn in = new BytesIn(bytes);
        in.requireFormat(FORMAT);
        TreeMap<Integer, Delta> views = new TreeMap<>();
        for (long count = in.number(); count > 0; count--) {
            views.put((int) in.number(), delta(in));
        }
        in.requireEnd();
        return new ViewDeltas(views);
    }

    private static void write(Delta delta, BytesOut out) {
        out.number(delta.cells().size());
        for (Map.Entry<Delta.Cell, Delta.Sums> entry : delta.cells().entrySet()) {
            write(entry.getKey(), out);
            Delta.Sums sums = entry.getValue();
            out.signed(sums.rows()).number(sums.sums().size());
            for (int i = 0; i < sums.sums().size(); i++) {
                out.bytes(sums.sums().get(i).toByteArray()).signed(sums.counts().get(i));
            }
        }
        out.number(delta.values().size());
        for (Map.Entry<Delta.Value, Long> entry : delta.values().entrySet()) {
            write(entry.getKey().cell(), out);
            out.number(entry.getKey().measure());
            ContributionBytes.write(entry.getKey().amount(), out);
            out.signed(entry.getValue());
        }
    }

    private static Delta delta(BytesIn in) {
        TreeMap<Delta.Cell, Delta.Sums> cells = new TreeMap<>();
        for (long count = in.number(); count > 0; count--) {
            Delta.Cell cell = cell(in);
            long rows = in.signed();
            List<BigInteger> sums = new ArrayList<>();
            List<Long> counts = new ArrayList<>();
            for (long sum = in.number(); sum > 0; sum--) {
                sums.add(new BigInteger(in.bytes()));
                counts.add(in.signed());
            }
            cells.put(cell, new Delta.Sums(rows, sums, counts));
        }
        TreeMap<Delta.Value, Long> values = new TreeMap<>();
        for (long count = in.number(); count > 0; count--) {
            Delta.Cell cell = cell(in);
            int measure = (int) in.number();
            values.put(new Delta.Value(cell, measure, ContributionBytes.amount(in)), in.signed());
        }
        return new Delta(cells, values);
    }

    private static void write(Delta.Cell cell, BytesOut out) {
        out.number(cell.rollup()).bytes(cell.leaf().bytes());
    }

    private static Delta.Cell cell(BytesIn in) {
        int rollup = (int) in.number();
        return new Delta.Cell(rollup, new Tuple(in.bytes()));
    }
}
