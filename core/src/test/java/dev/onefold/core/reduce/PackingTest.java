package dev.onefold.core.reduce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.map.RandomContributions;
import dev.onefold.core.map.ViewDeltas;
import dev.onefold.fixtures.Seeds;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class PackingTest {
    private static List<Packing.Change> changes(RandomGenerator random) {
        List<Packing.Change> changes = new ArrayList<>();
        for (int i = random.nextInt(40); i > 0; i--) {
            byte[] key = ("key" + random.nextInt(20)).getBytes(StandardCharsets.UTF_8);
            changes.add(new Packing.Change(key, RandomContributions.deltas(random), random.nextInt(500)));
        }
        return changes;
    }

    @Test
    void each_change_is_in_one_step_of_its_lane_in_its_order_and_within_the_limits() {
        Seeds.forAllSeeds(500, random -> {
            List<Packing.Change> changes = changes(random);
            int lanes = 1 + random.nextInt(4);
            Packing.Limits limits = new Packing.Limits(
                    1 + random.nextInt(9), 1 + random.nextInt(40), 1 + random.nextInt(2_000), random.nextInt(2_000));
            List<Integer> seen = new ArrayList<>();
            int[] last = new int[lanes];
            for (Packing.Step step : Packing.pack(changes, lanes, limits)) {
                ViewDeltas sum = ViewDeltas.NOTHING;
                long bytes = 0;
                for (int index : step.indices()) {
                    Packing.Change change = changes.get(index);
                    assertThat(DeltaId.lane(change.key(), lanes)).isEqualTo(step.lane());
                    assertThat(index).isGreaterThanOrEqualTo(last[step.lane()]);
                    last[step.lane()] = index;
                    sum = sum.plus(change.deltas());
                    bytes += change.rowBytes();
                }
                assertThat(step.deltas()).isEqualTo(sum);
                if (step.indices().size() > 1) {
                    assertThat(step.indices().size()).isLessThanOrEqualTo(limits.rowsMax());
                    assertThat(sum.items()).isLessThanOrEqualTo(limits.itemsMax());
                    assertThat(sum.bytes()).isLessThanOrEqualTo(limits.deltaBytesMax());
                    assertThat(bytes).isLessThanOrEqualTo(limits.rowBytesMax());
                }
                seen.addAll(step.indices());
            }
            assertThat(seen).hasSize(changes.size()).doesNotHaveDuplicates();
        });
    }

    /// Deltas that wait in a table name their lane.
    @Test
    void a_key_has_the_lane_that_it_always_had() {
        assertThat(DeltaId.lane("trade-1".getBytes(StandardCharsets.UTF_8), 8)).isEqualTo(3);
    }
}
