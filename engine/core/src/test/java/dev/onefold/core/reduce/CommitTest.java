package dev.onefold.core.reduce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.map.RandomContributions;
import dev.onefold.core.map.ViewDeltas;
import dev.onefold.core.reduce.Commit.PendingDelta;
import dev.onefold.fixtures.Seeds;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class CommitTest {
    private static PendingDelta delta(RandomGenerator random, int number, Set<DeltaId> after) {
        return new PendingDelta(new DeltaId(0, "d" + number), after, RandomContributions.deltas(random));
    }

    /// Deltas of which each may retract earlier ones, in any order: ids sort only roughly by time.
    private static List<PendingDelta> deltas(RandomGenerator random) {
        List<PendingDelta> deltas = new ArrayList<>();
        for (int number = 0; number < 1 + random.nextInt(20); number++) {
            Set<DeltaId> after = new HashSet<>();
            for (int i = random.nextInt(3); i > 0 && !deltas.isEmpty(); i--) {
                after.add(deltas.get(random.nextInt(deltas.size())).id());
            }
            deltas.add(delta(random, number, after));
        }
        Collections.shuffle(deltas, Random.from(random));
        return deltas;
    }

    @Test
    void commit_after_commit_takes_each_delta_once_and_none_before_what_it_retracts() {
        Seeds.forAllSeeds(500, random -> {
            List<PendingDelta> left = deltas(random);
            ViewDeltas all = left.stream().map(PendingDelta::deltas).reduce(ViewDeltas.NOTHING, ViewDeltas::plus);
            Commit.Limits limits =
                    new Commit.Limits(1 + random.nextInt(8), 2 + random.nextInt(60), 50 + random.nextInt(2_000));
            Set<DeltaId> added = new HashSet<>();
            ViewDeltas sum = ViewDeltas.NOTHING;
            while (!left.isEmpty()) {
                Commit commit = Commit.of(left, added, limits);
                assertThat(commit.deltas()).isNotEmpty();
                assertThat(commit.blockers()).isEmpty();
                if (commit.deltas().size() > 1) {
                    assertThat(commit.deltas().size()).isLessThanOrEqualTo(limits.deltasMax());
                    assertThat(commit.deltas().size() + commit.sum().items()).isLessThanOrEqualTo(limits.itemsMax());
                    assertThat(commit.sum().bytes()).isLessThanOrEqualTo(limits.bytesMax());
                }
                for (PendingDelta delta : commit.deltas()) {
                    assertThat(added).containsAll(delta.after()).doesNotContain(delta.id());
                    added.add(delta.id());
                }
                left.removeAll(commit.deltas());
                sum = sum.plus(commit.sum());
            }
            assertThat(sum).isEqualTo(all);
        });
    }

    @Test
    void a_delta_that_waits_for_one_that_was_not_read_names_it_and_stays() {
        Seeds.forAllSeeds(50, random -> {
            PendingDelta unread = delta(random, 0, Set.of());
            PendingDelta waits = delta(random, 1, Set.of(unread.id()));
            PendingDelta free = delta(random, 2, Set.of());
            Commit.Limits limits = new Commit.Limits(10, 100, 1_000_000);
            Commit commit = Commit.of(List.of(waits, free), Set.of(), limits);
            assertThat(commit.deltas()).containsExactly(free);
            assertThat(commit.blockers()).containsExactly(unread.id());
            assertThat(Commit.of(List.of(waits, free), Set.of(unread.id()), limits)
                            .deltas())
                    .containsExactly(waits, free);
        });
    }

    @Test
    void a_commit_is_filled_to_its_limits_and_not_beyond() {
        Seeds.forAllSeeds(100, random -> {
            PendingDelta one = delta(random, 0, Set.of());
            PendingDelta other = delta(random, 1, Set.of());
            ViewDeltas both = one.deltas().plus(other.deltas());
            int items = 2 + both.items();
            assertThat(taken(one, other, new Commit.Limits(2, items, both.bytes())))
                    .isEqualTo(2);
            for (Commit.Limits less : List.of(
                    new Commit.Limits(1, items, both.bytes()),
                    new Commit.Limits(2, items - 1, both.bytes()),
                    new Commit.Limits(2, items, both.bytes() - 1))) {
                assertThat(taken(one, other, less)).isEqualTo(1);
            }
        });
    }

    private static int taken(PendingDelta one, PendingDelta other, Commit.Limits limits) {
        return Commit.of(List.of(one, other), Set.of(), limits).deltas().size();
    }
}
