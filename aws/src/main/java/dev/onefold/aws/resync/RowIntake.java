package dev.onefold.aws.resync;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.core.Counts;
import dev.onefold.core.Engine.Appended;
import dev.onefold.core.Fates;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/// Brings the records of a seeding or a repair to the rows of a deployment, from the process of a person, as
/// the function State brings those of the input. The functions reduce what it writes. One thread.
public final class RowIntake {
    /// Rows of a seeding that fill fifty transactions, which are under way at once.
    private static final int SEEDED = 4_500;

    /// Rows of a repair, of ten transactions or so.
    private static final int REPAIRED = 900;

    private final String source;
    private final RecordEnds ends;
    private final long atMs;
    private final int batchMax;
    private final Function<List<Arrival>, List<Fate>> rows;
    private long taken;

    private RowIntake(
            String source, RecordEnds ends, long atMs, int batchMax, Function<List<Arrival>, List<Fate>> rows) {
        this.source = source;
        this.ends = ends;
        this.atMs = atMs;
        this.batchMax = batchMax;
        this.rows = rows;
    }

    /// Of a seeding.
    ///
    /// @param number of the seeding
    public static RowIntake ofSeed(Store store, Pipeline pipeline, long number) {
        boolean hasHorizon = pipeline.input().identity() instanceof Identity.ById byId && byId.horizon() != null;
        // Rows are not late, and the delay that is shown is that of live records; a horizon wants a time.
        long atMs = hasHorizon ? number : Arrival.NOT_KNOWN;
        return new RowIntake("seed/" + number, RecordEnds.of(pipeline), atMs, SEEDED, batch -> {
            List<Fate> fates = StateAndMap.process(store, batch);
            for (Fate fate : fates) {
                if (fate instanceof Fate.HandedBack(var why)) {
                    throw why;
                }
            }
            return fates;
        });
    }

    /// Of a re-sync: each repair is made on condition that no later re-sync has begun.
    ///
    /// @param ends of the records in the lines
    public static RowIntake ofRepair(Store store, ResyncTurn turn, RecordEnds ends) {
        return new RowIntake("resync/" + turn.number(), ends, Arrival.NOT_KNOWN, REPAIRED, batch -> {
            turn.renew();
            try {
                return StateAndMap.repair(store, batch, turn::check);
            } catch (StateAndMap.Fenced fenced) {
                ResyncTurn.Overtaken overtaken = turn.overtaken();
                overtaken.initCause(fenced);
                throw overtaken;
            }
        });
    }

    /// Takes lines. They are durable when it returns.
    ///
    /// @throws ResyncTurn.Overtaken if a later re-sync has begun; some of these repairs may be in
    public Appended append(RecordKind kind, byte[] lines, int length) {
        Counts counts = Fates.NONE.counts();
        List<Arrival> batch = new ArrayList<>();
        for (int from = 0, to; from < length; from = to) {
            to = ends.endAnyhow(lines, from, length);
            taken++;
            byte[] line = Arrays.copyOfRange(lines, from, lines[to - 1] == '\n' ? to - 1 : to);
            batch.add(new Arrival(source, Long.toString(taken), 0, line, atMs, kind));
            if (batch.size() == batchMax || to == length) {
                counts = counts.plus(Fate.sum(rows.apply(batch)).counts());
                batch.clear();
            }
        }
        return new Appended(taken, counts, List.of());
    }
}
