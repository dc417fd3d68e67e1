package dev.onefold.simulator.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.Verification;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.fakes.disk.SimulatedDisk;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Names of groups, cells and values are read again from logs that were shortened while they went on growing.
class GroupLogsTest {
    private static final String PIPELINE = """
            pipeline: p
            input: {key: id, version: v}
            rollups:
              one:
                levels: [g]
                measures: {texts: "distinct(t)", least: "min(n) decimal(18,2)", rows: count()}
              other:
                levels: [h, g]
                measures: {most: "max(n) decimal(18,2)", sum: "sum(n) decimal(18,2)"}
            """;

    private final SimulatedDisk disk = SimulatedDisk.empty();

    private EmbeddedEngine opened(SimulatedDisk on, int shards) {
        return EmbeddedEngine.open(Trades.directory(on), PipelineYaml.read(PIPELINE), Trades.settings(shards));
    }

    private static List<String> records(int from, int to, int version) {
        List<String> records = new ArrayList<>();
        for (int i = from; i < to; i++) {
            int value = i * version;
            records.add("{\"id\":%d,\"v\":%d,\"g\":\"group %d\",\"h\":\"%d\",\"t\":\"%s\",\"n\":%d}"
                    .formatted(i, version, i / 2 + version, i % 3, "ä".repeat(value % 40) + value, value));
        }
        return records;
    }

    /// Appends the records, some for each checkpoint.
    private static void append(EmbeddedEngine engine, List<String> records) {
        for (int from = 0; from < records.size(); from += 25) {
            engine.append("s", records.subList(from, Math.min(records.size(), from + 25)));
            engine.checkpointNow();
        }
    }

    @Test
    void groups_and_values_that_come_while_older_ones_are_written_again_are_read_as_they_were() {
        EmbeddedEngine engine = opened(disk, 2);
        append(engine, records(0, 400, 1));
        append(engine, records(0, 400, 2));
        for (int i = 0; i < 300; i++) { // Until all has been written again.
            engine.append("t", records(400 + i, 401 + i, 1));
            engine.checkpointNow();
        }
        Map<String, String> before = Trades.totals(engine);
        SimulatedDisk killed = disk.kill();
        assertThat(killed.fileSizes().keySet().stream().map(Object::toString).filter(name -> name.contains("groups-")))
                .noneMatch(name -> name.endsWith("groups-1"));
        try (EmbeddedEngine again = opened(killed, 2)) {
            assertThat(Trades.totals(again)).isEqualTo(before);
            assertThat(again.verify().isEqual()).isTrue();
        }
    }

    @Test
    void other_shards_and_a_rebuild_write_all_cells_anew_and_values_as_they_are() {
        try (EmbeddedEngine engine = opened(disk, 3)) {
            append(engine, records(0, 400, 1));
            append(engine, records(0, 300, 2));
        }
        Map<String, String> before;
        try (EmbeddedEngine engine = opened(disk, 2)) {
            before = Trades.totals(engine);
            Verification rebuilt = engine.rebuild();
            assertThat(rebuilt.isEqual()).isTrue();
            append(engine, records(300, 400, 2));
            append(engine, records(300, 400, 3));
        }
        SimulatedDisk killed = disk.kill();
        try (EmbeddedEngine engine = opened(killed, 5)) {
            assertThat(engine.verify().isEqual()).isTrue();
            assertThat(Trades.totals(engine)).isNotEqualTo(before);
        }
        SimulatedDisk fresh = SimulatedDisk.empty();
        try (EmbeddedEngine engine = opened(fresh, 1);
                EmbeddedEngine other = opened(killed, 1)) {
            engine.append("s", records(0, 300, 2));
            engine.append("s", records(300, 400, 3));
            assertThat(Trades.totals(engine)).isEqualTo(Trades.totals(other));
        }
    }
}
