package dev.onefold.embedded.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.aggregate.Cells;
import dev.onefold.core.aggregate.Values;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.map.Amounts;
import dev.onefold.core.map.Groups;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.embedded.disk.OutOfSpaceException;
import dev.onefold.fixtures.Seeds;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The groups and cells that a checkpoint names are those of its cut, whatever was written behind it.
class GroupLogsTest {
    private static final int SHARDS = 2;
    private static final Pipeline PIPELINE = PipelineBuilder.named("p")
            .rollup(r -> r.levels("g").count("rows").sum("sum", "n", 18, 0).max("most", "n", 18, 0))
            .build();

    @TempDir
    Path folder;

    /// Groups and cells in memory, with their logs.
    private static final class Life implements AutoCloseable {
        final Groups[] groups = {new Groups()};
        final Values[] values = {
            new Values(Rollups.of(PIPELINE).all().getFirst().measures(), 1, _ -> {})
        };
        final Cells[][] cells = new Cells[SHARDS][1];
        final GroupLogs logs;

        Life(Path directory, List<Checkpoint.Log> named) {
            for (Cells[] shard : cells) {
                shard[0] = new Cells(PIPELINE, 0, values[0]);
            }
            logs = new GroupLogs(directory, 42, groups, values);
            logs.load(named, cells);
        }

        void move(String group, int n, boolean add) {
            int leaf = groups[0].number(Tuple.of(List.of(group)));
            Amounts amounts = new Amounts(1, 1);
            amounts.counted = true;
            amounts.group[0] = leaf;
            amounts.present[0] = true;
            amounts.lo[0] = n;
            Amounts nothing = new Amounts(1, 1);
            cells[n % SHARDS][0].move(add ? nothing : amounts, add ? amounts : nothing);
        }

        /// Ends the groups that have no rows.
        void end() {
            BitSet ended = new BitSet();
            for (int leaf = 0; leaf < groups[0].size(); leaf++) {
                long[] cell = new long[cells[0][0].stride()];
                for (Cells[] shard : cells) {
                    shard[0].addTo(cell, leaf);
                }
                ended.set(leaf, cell[0] == 0);
            }
            groups[0] = groups[0].without(ended);
            for (Cells[] shard : cells) {
                shard[0].empty(ended);
            }
        }

        /// Rows, sum and maximum of each group that has rows.
        Map<String, List<Long>> totals() {
            Map<String, List<Long>> totals = new TreeMap<>();
            for (int leaf = 0; leaf < groups[0].size(); leaf++) {
                long[] cell = new long[cells[0][0].stride()];
                for (Cells[] shard : cells) {
                    shard[0].addTo(cell, leaf);
                }
                BigInteger most = values[0].extreme(leaf, 0, false);
                if (cell[0] > 0) {
                    totals.put(
                            String.valueOf(groups[0].tuple(leaf)),
                            List.of(cell[0], cell[2], most == null ? -1 : most.longValue()));
                }
            }
            return totals;
        }

        @Override
        public void close() {
            logs.close();
            values[0].close();
        }
    }

    /// The rows by hand.
    private static Map<String, List<Long>> totals(Map<String, List<Integer>> rows) {
        Map<String, List<Long>> totals = new TreeMap<>();
        rows.forEach((group, numbers) -> {
            if (!numbers.isEmpty()) {
                long sum = numbers.stream().mapToLong(Integer::longValue).sum();
                totals.put(String.valueOf(Tuple.of(List.of(group))), List.of((long) numbers.size(), sum, (long)
                        Collections.max(numbers)));
            }
        });
        return totals;
    }

    private static Map<String, List<Integer>> copy(Map<String, List<Integer>> rows) {
        Map<String, List<Integer>> copy = new TreeMap<>();
        rows.forEach((group, numbers) -> copy.put(group, new ArrayList<>(numbers)));
        return copy;
    }

    private static void change(Life life, Map<String, List<Integer>> rows, RandomGenerator random) {
        if (random.nextInt(15) == 0) {
            life.end();
        }
        String group = "g" + random.nextInt(30);
        List<Integer> numbers = rows.computeIfAbsent(group, _ -> new ArrayList<>());
        boolean add = numbers.isEmpty() || random.nextInt(3) > 0;
        int n = add ? random.nextInt(1_000) : numbers.getLast();
        if (add) {
            numbers.add(n);
        } else {
            numbers.removeLast();
        }
        life.move(group, n, add);
    }

    private static List<Checkpoint.Log> checkpoint(Life life, boolean durable) throws OutOfSpaceException {
        GroupLogs.Cut cut = life.logs.cut(life.cells);
        List<Checkpoint.Log> named = life.logs.write(cut);
        if (durable) {
            life.logs.release(cut);
        }
        return named;
    }

    @Test
    void a_life_that_ends_at_any_cut_goes_on_from_the_last_one_that_a_checkpoint_names() {
        Seeds.forAllSeeds(40, random -> {
            Path directory = Files.createTempDirectory(folder, "life");
            Map<String, List<Integer>> rows = new TreeMap<>();
            Map<String, List<Integer>> durable = new TreeMap<>();
            List<Checkpoint.Log> named = List.of();
            Life life = new Life(directory, named);
            for (int step = 0; step < 60; step++) {
                switch (random.nextInt(10)) {
                    case 0 -> {
                        named = checkpoint(life, true);
                        durable = copy(rows);
                    }
                    case 1 -> { // It dies behind the write of a cut, or before, and no checkpoint names it.
                        if (random.nextBoolean()) {
                            checkpoint(life, false);
                        }
                        life.close();
                        life = new Life(directory, named);
                        rows = copy(durable);
                        assertThat(life.totals()).isEqualTo(totals(rows));
                    }
                    case 2 -> { // As after a rebuild: all is written again, and earlier entries no longer count.
                        Optional<GroupLogs.Cut> pending =
                                random.nextBoolean() ? Optional.of(life.logs.cut(life.cells)) : Optional.empty();
                        life.logs.beginAnew();
                        for (Cells[] shard : life.cells) {
                            shard[0].touch(0, life.groups[0].size());
                        }
                        if (pending.isPresent()) { // It was being written by another thread.
                            named = life.logs.write(pending.get());
                            life.logs.release(pending.get());
                            durable = copy(rows);
                        }
                    }
                    default -> change(life, rows, random);
                }
            }
            assertThat(life.totals()).isEqualTo(totals(rows));
            life.close();
        });
    }

    @Test
    void a_log_that_has_grown_large_is_written_again_and_the_older_one_goes() throws Exception {
        Map<String, List<Integer>> rows = new TreeMap<>();
        List<Checkpoint.Log> named;
        try (Life life = new Life(folder, List.of())) {
            for (int i = 0; i < 900; i++) {
                String group = i + "x".repeat(20_000);
                rows.put(group, List.of(i));
                life.move(group, i, true);
            }
            assertThat(checkpoint(life, true)).hasSize(1);
            life.move("late", 7, true);
            rows.put("late", List.of(7));
            named = checkpoint(life, true);
        }
        assertThat(named).singleElement().extracting(Checkpoint.Log::sequence).isEqualTo(2L);
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).containsExactly(folder.resolve("groups-2"));
        }
        try (Life again = new Life(folder, named)) {
            assertThat(again.totals()).isEqualTo(totals(rows));
        }
    }

    @Test
    void a_log_that_is_gone_cut_or_changed_is_refused() throws Exception {
        List<Checkpoint.Log> named;
        try (Life life = new Life(folder, List.of())) {
            life.move("g", 1, true);
            named = checkpoint(life, true);
        }
        Path file = folder.resolve("groups-1");
        byte[] whole = Files.readAllBytes(file);
        for (int at = 0; at < whole.length; at++) {
            byte[] changed = whole.clone();
            changed[at] ^= 1;
            refused(file, changed, named);
        }
        refused(file, java.util.Arrays.copyOf(whole, whole.length - 1), named);
        Files.delete(file);
        assertThatThrownBy(() -> new Life(folder, named)).hasMessageContaining("groups-1", "the file is gone");
    }

    private void refused(Path file, byte[] content, List<Checkpoint.Log> named) throws IOException {
        Files.write(file, content);
        assertThatThrownBy(() -> new Life(folder, named)).hasMessageContaining("groups-1");
    }
}
