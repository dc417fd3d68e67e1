package dev.onefold.simulator.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.core.process.Steps;
import dev.onefold.fakes.aws.Tally;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// What events of a user's function cost, counted on the simulated service.
class FunctionCostsTest {
    private static final String LATEST = "\"order\":\"latest\"";

    /// Per event.
    private record Costs(double transactions, double writeUnits, double readUnits) {}

    /// Events of as many keys, or of one.
    private static Costs costs(String process, int batch, int events, boolean oneKey) {
        Functions functions = new Functions(Deployment.calm(), Functions.load(process, "", new Steps()));
        List<Arrival> all = new ArrayList<>();
        for (int i = 0; i < events; i++) {
            all.add(functions.arrival(oneKey ? "a" : "k" + i, i, 2 * i + 1, "put"));
        }
        Store store = functions.function();
        Tally tally = functions.deployment.dynamo.tally();
        long writes = tally.writeUnits();
        long reads = tally.readUnits();
        long transactions = tally.requests().getOrDefault(Tally.Operation.TRANSACT_WRITE_ITEMS, 0L);
        for (int from = 0; from < events; from += batch) {
            StateAndMap.process(store, all.subList(from, Math.min(events, from + batch)));
        }
        double count = events;
        return new Costs(
                (tally.requests().get(Tally.Operation.TRANSACT_WRITE_ITEMS) - transactions) / count,
                (tally.writeUnits() - writes) / count,
                (tally.readUnits() - reads) / count);
    }

    @Test
    void events_of_a_batch_share_transactions() {
        Costs one = costs(LATEST, 1, 50, false);
        Costs hundred = costs(LATEST, 100, 300, false);
        Costs thousand = costs(LATEST, 1_000, 1_000, false);
        assertThat(one.writeUnits()).isLessThanOrEqualTo(6);
        assertThat(hundred.transactions()).isLessThanOrEqualTo(0.08);
        assertThat(thousand.transactions()).isLessThanOrEqualTo(0.04);
        assertThat(thousand.writeUnits()).isLessThanOrEqualTo(4.1);
    }

    @Test
    void what_an_event_above_all_others_costs_does_not_grow_with_keep() {
        Costs few = costs("\"order\":\"in-order\",\"keep\":1", 1, 300, true);
        Costs some = costs("\"order\":\"in-order\",\"keep\":100", 1, 300, true);
        Costs many = costs("\"order\":\"in-order\",\"keep\":1000", 1, 300, true);
        assertThat(some.writeUnits()).isLessThanOrEqualTo(few.writeUnits());
        assertThat(many.writeUnits()).isLessThanOrEqualTo(few.writeUnits());
        assertThat(many.readUnits()).isLessThanOrEqualTo(few.readUnits());
    }
}
