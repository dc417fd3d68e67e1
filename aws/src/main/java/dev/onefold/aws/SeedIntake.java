package dev.onefold.aws;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.core.Counts;
import dev.onefold.core.Engine.Appended;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.tables.Seeder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Brings the records of a seeding to the rows of a deployment, from the process of a person, as the function
/// State brings those of the input. The functions reduce what it writes. One thread.
public final class SeedIntake implements Seeder.Intake {
    /// Rows that fill fifty transactions, which are under way at once.
    private static final int BATCH = 4_500;

    private final Store store;
    private final String source;
    private final RecordKind kind;
    private final long atMs;
    private final RecordEnds ends;
    private long taken;

    /// @param number of the seeding
    /// @param kind of its records
    public SeedIntake(Store store, Pipeline pipeline, long number, RecordKind kind) {
        this.kind = kind;
        this.store = store;
        ends = RecordEnds.of(pipeline);
        source = "seed/" + number;
        boolean hasHorizon = pipeline.input().identity() instanceof Identity.ById byId && byId.horizon() != null;
        // Rows are not late, and the delay that is shown is that of live records; a horizon wants a time.
        atMs = hasHorizon ? number : Arrival.NOT_KNOWN;
    }

    @Override
    public Appended append(byte[] lines, int length) {
        Counts counts = new Counts(0, 0, 0, 0, 0);
        List<Arrival> batch = new ArrayList<>();
        for (int from = 0, to; from < length; from = to) {
            to = ends.endAnyhow(lines, from, length);
            taken++;
            byte[] line = Arrays.copyOfRange(lines, from, lines[to - 1] == '\n' ? to - 1 : to);
            batch.add(new Arrival(source, Long.toString(taken), 0, line, atMs, kind));
            if (batch.size() == BATCH) {
                counts = counts.plus(take(batch));
                batch.clear();
            }
        }
        return new Appended(taken, batch.isEmpty() ? counts : counts.plus(take(batch)), List.of());
    }

    private Counts take(List<Arrival> batch) {
        List<Fate> fates = StateAndMap.process(store, batch);
        for (Fate fate : fates) {
            if (fate instanceof Fate.HandedBack(var why)) {
                throw why;
            }
        }
        return Fate.sum(fates).counts();
    }
}
