package dev.onefold.aws.resync;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.core.Counts;
import dev.onefold.core.Engine.Appended;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.tables.Seeder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Brings the repairs of a re-sync to the rows of a deployment, each on condition that no later re-sync has
/// begun. The functions reduce what it writes. One thread.
public final class RepairIntake implements Seeder.Intake {
    /// Rows of ten transactions or so, which are under way at once.
    private static final int BATCH = 900;

    private final Store store;
    private final ResyncTurn turn;
    private final RecordEnds ends;
    private long taken;

    /// @param ends of the records in the lines
    public RepairIntake(Store store, ResyncTurn turn, RecordEnds ends) {
        this.store = store;
        this.turn = turn;
        this.ends = ends;
    }

    /// @throws ResyncTurn.Overtaken if a later re-sync has begun; some of these repairs may be in
    @Override
    public Appended append(byte[] lines, int length) {
        Counts counts = new Counts(0, 0, 0, 0, 0);
        List<Arrival> batch = new ArrayList<>();
        for (int from = 0, to; from < length; from = to) {
            to = ends.endAnyhow(lines, from, length);
            taken++;
            byte[] line = Arrays.copyOfRange(lines, from, lines[to - 1] == '\n' ? to - 1 : to);
            batch.add(new Arrival(
                    "resync/" + turn.number(), Long.toString(taken), 0, line, Arrival.NOT_KNOWN, RecordKind.ROW));
            if (batch.size() == BATCH) {
                counts = counts.plus(take(batch));
                batch.clear();
            }
        }
        return new Appended(taken, batch.isEmpty() ? counts : counts.plus(take(batch)), List.of());
    }

    private Counts take(List<Arrival> batch) {
        turn.renew();
        try {
            return Fate.sum(StateAndMap.repair(store, batch, turn::check)).counts();
        } catch (StateAndMap.Fenced fenced) {
            ResyncTurn.Overtaken overtaken = turn.overtaken();
            overtaken.initCause(fenced);
            throw overtaken;
        }
    }
}
