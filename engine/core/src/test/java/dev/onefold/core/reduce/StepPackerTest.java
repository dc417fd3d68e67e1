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

class StepPackerTest {
    private static List<StepPacker.Change> changes(RandomGenerator random) {
        List<StepPacker.Change> changes = new ArrayList<>();
        for (int i = random.nextInt(40); i > 0; i--) {
            byte[] key = ("key" + random.nextInt(20)).getBytes(StandardCharsets.UTF_8);
            changes.add(new StepPacker.Change(key, RandomContributions.deltas(random), random.nextInt(500)));
        }
        return changes;
    }

    @Test
    void each_change_is_in_one_step_of_its_lane_in_its_order_and_within_the_limits() {
        Seeds.forAllSeeds(500, random -> {
            List<StepPacker.Change> changes = changes(random);
            int lanes = 1 + random.nextInt(4);
            StepPacker.Limits limits = new StepPacker.Limits(
                    1 + random.nextInt(9), 1 + random.nextInt(40), 1 + random.nextInt(2_000), random.nextInt(2_000));
            List<Integer> seen = new ArrayList<>();
            int[] last = new int[lanes];
            for (StepPacker.Step step : StepPacker.pack(changes, lanes, limits)) {
                ViewDeltas sum = ViewDeltas.NOTHING;
                long bytes = 0;
                for (int index : step.indices()) {
                    StepPacker.Change change = changes.get(index);
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

    @Test
    void a_step_is_filled_to_its_limits_and_not_beyond() {
        Seeds.forAllSeeds(100, random -> {
            byte[] key = "key".getBytes(StandardCharsets.UTF_8);
            StepPacker.Change one =
                    new StepPacker.Change(key, RandomContributions.deltas(random), 1 + random.nextInt(500));
            StepPacker.Change other =
                    new StepPacker.Change(key, RandomContributions.deltas(random), 1 + random.nextInt(500));
            ViewDeltas both = one.deltas().plus(other.deltas());
            long rowBytes = one.rowBytes() + other.rowBytes();
            assertThat(steps(one, other, new StepPacker.Limits(2, both.items(), both.bytes(), rowBytes)))
                    .isEqualTo(1);
            for (StepPacker.Limits less : List.of(
                    new StepPacker.Limits(1, both.items(), both.bytes(), rowBytes),
                    new StepPacker.Limits(2, both.items() - 1, both.bytes(), rowBytes),
                    new StepPacker.Limits(2, both.items(), both.bytes() - 1, rowBytes),
                    new StepPacker.Limits(2, both.items(), both.bytes(), rowBytes - 1))) {
                assertThat(steps(one, other, less)).isEqualTo(2);
            }
        });
    }

    private static int steps(StepPacker.Change one, StepPacker.Change other, StepPacker.Limits limits) {
        return StepPacker.pack(List.of(one, other), 3, limits).size();
    }
}
