package dev.onefold.core.aggregate;

import dev.onefold.core.map.Delta;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.state.Amount;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Reads a leaf of cells and values, as they are written, into the plain form.
public final class LeafReading {
    private LeafReading() {}

    /// The content of a leaf.
    public static Aggregate of(List<Measure> measures, int leaf, Values values, Cells... shards) {
        Aggregate aggregate = new Aggregate(measures);
        for (Cells shard : shards) {
            long[] cell = new long[shard.stride()];
            shard.addTo(cell, leaf);
            List<BigInteger> sums = new ArrayList<>();
            List<Long> counts = new ArrayList<>();
            for (int at = 1; at < cell.length; at += 3) {
                sums.add(Cells.integer(cell[at], cell[at + 1]));
                counts.add(cell[at + 2]);
            }
            aggregate.add(new Delta.Sums(cell[0], sums, counts));
        }
        addValues(aggregate, measures, leaf, values);
        return aggregate;
    }

    private static void addValues(Aggregate aggregate, List<Measure> measures, int leaf, Values values) {
        byte[] first = new byte[Values.VALUE_AT];
        Values.putPlace(leaf, 0, first);
        for (int part = 0; part < values.parts.length; part++) {
            Values.@Nullable Place place = values.write(new Values.Place(part, first), 0, (_, _, _) -> {});
            while (place != null && place.part() == part && Values.leaf(place.key()) == leaf) {
                place = values.write(place, 1, (key, length, count) -> {
                    int measure = values.measures[key[4]];
                    aggregate.add(measure, amount(measures.get(measure), key, length), count);
                });
            }
        }
    }

    private static Amount amount(Measure measure, byte[] key, int length) {
        return measure instanceof Measure.Numeric numeric
                ? new Amount.Number(new BigDecimal(
                        Values.number(key, length), numeric.input().type().scale()))
                : new Amount.Text(new String(key, Values.VALUE_AT, length - Values.VALUE_AT, StandardCharsets.UTF_8));
    }
}
