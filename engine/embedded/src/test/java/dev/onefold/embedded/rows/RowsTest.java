package dev.onefold.embedded.rows;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.Counts;
import dev.onefold.core.aggregate.Values;
import dev.onefold.core.event.Version;
import dev.onefold.core.map.Groups;
import dev.onefold.core.map.Keep;
import dev.onefold.core.map.RandomContributions;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.state.Key;
import dev.onefold.core.state.Row;
import dev.onefold.core.state.Transition;
import dev.onefold.fixtures.Seeds;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class RowsTest {
    private static final Pipeline PIPELINE = RandomContributions.PIPELINE;
    private static final int SOURCE = 3;
    private static final int BATCH = 1_000;

    private final Groups[] groups = new Groups[Rollups.of(PIPELINE).all().size()];
    private final Values[] values = new Values[groups.length];
    private final Memory memory = new Memory(Long.MAX_VALUE);

    private Rows rows() {
        Arrays.setAll(groups, _ -> new Groups());
        Arrays.setAll(
                values,
                rollup -> new Values(Rollups.of(PIPELINE).all().get(rollup).measures(), 1, memory::change));
        return new Rows(PIPELINE, groups, values, memory, number -> "source" + number);
    }

    private static Row row(RandomGenerator random, long offset) {
        long version = random.nextInt(4) == 0 ? random.nextLong() : random.nextInt(-2, 3);
        return new Row(
                List.of("key" + random.nextInt(5)),
                new Version(BigInteger.valueOf(version), Version.Kind.NUMBER),
                RandomContributions.contribution(random),
                "source" + SOURCE,
                offset);
    }

    /// Plain rows, to which [Transition] is applied one after the other.
    private static final class Plain {
        final Map<List<String>, Row> rows = new HashMap<>();
        final List<Transition.Settled> settled = new ArrayList<>();
        Counts counts = new Counts(0, 0, 0, 0, 0);

        void apply(Row arrived) {
            counts = counts.plus(
                    switch (Transition.of(rows.get(arrived.key()), arrived, false)) {
                        case Transition.Changed(var _, var after) -> {
                            rows.put(after.key(), after);
                            yield new Counts(1, 0, 0, 0, 0);
                        }
                        case Transition.Duplicate _ -> new Counts(0, 1, 0, 0, 0);
                        case Transition.Stale _ -> new Counts(0, 0, 1, 0, 0);
                        case Transition.Settled conflict -> {
                            settled.add(conflict);
                            rows.put(arrived.key(), conflict.winner());
                            yield new Counts(0, 0, 0, 1, 0);
                        }
                    });
        }
    }

    @Test
    @Tag("campaign")
    void rows_as_bytes_are_decided_as_their_values_are() {
        Seeds.forAllSeeds(300, random -> {
            Rows dense = rows();
            Plain plain = new Plain();
            List<Transition.Settled> settled = new ArrayList<>();
            List<Row> earlier = new ArrayList<>();
            for (int batches = 0; batches < 4; batches++) {
                RowBatch batch = new RowBatch();
                for (int i = random.nextInt(40); i > 0; i--) {
                    Row arrived = !earlier.isEmpty() && random.nextInt(4) == 0
                            ? earlier.get(random.nextInt(earlier.size()))
                            : row(random, earlier.size());
                    earlier.add(arrived);
                    batch.add(arrived, PIPELINE, groups, SOURCE);
                    plain.apply(arrived);
                }
                dense.apply(batch, Keep.NOTHING_SEEN, settled::add);
            }
            assertThat(settled).isEqualTo(plain.settled);
            assertThat(dense.counts()).isEqualTo(plain.counts);
            assertThat(dense.count()).isEqualTo(plain.rows.size());
            plain.rows.forEach((key, row) -> {
                byte[] bytes = Key.bytes(PIPELINE, key);
                assertThat(dense.get(new RowBatch.EncodedKey().set(bytes, 0, bytes.length)))
                        .hasValue(row);
            });
        });
    }

    private void applyMany(Rows rows, int keys, long from, RandomGenerator random) {
        RowBatch batch = new RowBatch();
        for (long version = from; version < from + BATCH; version++) {
            Row row = new Row(
                    List.of("key" + (version < keys ? version : random.nextInt(keys))),
                    new Version(BigInteger.valueOf(version), Version.Kind.NUMBER),
                    RandomContributions.contribution(random),
                    "source" + SOURCE,
                    version);
            batch.add(row, PIPELINE, groups, SOURCE);
        }
        rows.apply(batch, Keep.NOTHING_SEEN, _ -> {});
    }

    @Test
    void the_cleaner_takes_a_part_at_a_time_and_keeps_up() {
        RandomGenerator random = new SplittableRandom(1);
        Rows rows = rows();
        RowStore store = rows.store();
        List<Segment> released = List.of();
        long cleaned = 0;
        for (int i = 0; i < 500; i++) {
            long before = store.appendedBytes;
            applyMany(rows, 40_000, (long) i * BATCH, random);
            long applied = store.appendedBytes;
            rows.clean();
            long copied = store.appendedBytes - applied;
            assertThat(copied).isLessThan(5 * (applied - before) + Segment.BYTES / 100);
            cleaned += copied;
            if (i % 10 == 9) { // Rows that are not persisted are not cleaned.
                released.forEach(store::free);
                released = rows.cut().released();
            }
        }
        assertThat(cleaned).isPositive();
        for (int i = 0; i < 2; i++) {
            rows.cut();
            rows.clean();
        }
        assertThat(store.isTooMuchDead()).isFalse();
    }

    @Test
    void records_by_place_leave_nothing_for_a_checkpoint_to_write() {
        Rows rows = rows();
        RowBatch batch = new RowBatch();
        batch.add(row(new SplittableRandom(1), 0), PIPELINE, groups, SOURCE);
        for (int i = 0; i < 3; i++) {
            rows.applyByPlace(batch);
            assertThat(rows.cut().written()).isEmpty();
        }
    }
}
