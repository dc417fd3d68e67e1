package dev.onefold.aws.resync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.LocalDynamoDb;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.upkeep.Restored;
import dev.onefold.core.EngineException;
import dev.onefold.core.Sync;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.form.RowLine;
import dev.onefold.core.pipeline.Pipeline;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Seedings, repairs and comparisons of a deployment, as those of every engine.
class AwsSyncTest {
    private static final Pipeline PIPELINE = PipelineBuilder.named("trades")
            .key("id")
            .version("v")
            .rollup(r -> r.count("trades"))
            .build();
    private static final LocalDynamoDb DYNAMO = new LocalDynamoDb();
    private static final byte[] RECORD = "{\"id\":\"a\",\"v\":1}\n".getBytes(StandardCharsets.UTF_8);

    @TempDir
    private Path folder;

    private Store store(String deployment) {
        Store store = DYNAMO.store(deployment);
        AwsEngine.open(store, PIPELINE, 2, 2);
        return store;
    }

    private Sync sync(Store store) {
        AwsSync.Way way = new AwsSync.Way(
                folder.resolve("seeds"),
                () -> {
                    throw new AssertionError("There is no stream");
                },
                () -> {
                    throw new AssertionError("There is no stream");
                },
                Optional::empty);
        return AwsEngine.deployed(store).syncing(way).sync();
    }

    @Test
    void a_seeding_that_was_interrupted_is_gone_on_with_at_its_marks() {
        Store store = store("sync-seeds");
        Sync sync = sync(store);
        Sync.Run first = sync.seed("file", Optional.empty(), false);
        assertThat(first.continued()).isZero();
        assertThat(sync.isRunning(Long.MAX_VALUE)).isTrue();
        assertThat(first.append(RECORD, RECORD.length).counts().accepted()).isOne();
        first.save(Map.of("0", "5"));
        first.close();
        assertThat(sync.isRunning(Long.MAX_VALUE)).isFalse();
        assertThat(AwsEngine.deployed(store).get(List.of("a"))).isPresent();
        try (Sync.Run second = sync.seed("file", Optional.empty(), false)) {
            assertThat(second.continued()).isEqualTo(first.number()).isLessThan(second.number());
            assertThat(second.marks()).isEqualTo(Map.of("0", "5"));
            assertThat(second.append(RECORD, RECORD.length).counts().duplicate())
                    .isOne();
            second.finish();
        }
        try (Sync.Run third = sync.seed("file", Optional.empty(), false)) {
            assertThat(third.continued()).isZero();
        }
    }

    @Test
    void rows_that_were_kept_are_below_each_seeding_and_repair_since() {
        Sync sync = sync(store("sync-kept"));
        Instant kept = Instant.now().minusSeconds(600);
        long repaired;
        try (Sync.Run repair = sync.repair()) {
            repaired = repair.number();
        }
        long first;
        try (Sync.Run seeding = sync.seed("export", Optional.of(kept), true)) {
            first = seeding.number();
            assertThat(first).isEqualTo(kept.toEpochMilli()).isLessThan(repaired);
        }
        try (Sync.Run seeding = sync.seed("export", Optional.of(kept), true)) {
            assertThat(seeding.number()).isEqualTo(first + 1);
        }
        try (Sync.Run seeding = sync.seed("file", Optional.empty(), true)) {
            assertThat(seeding.number()).isGreaterThan(repaired);
        }
    }

    @Test
    void one_repairs_at_a_time_and_comparisons_go_on() {
        Sync sync = sync(store("sync-repairs"));
        byte[] row = RowLine.of("{\"id\":\"b\",\"v\":1}".getBytes(StandardCharsets.UTF_8));
        byte[] line = (new String(row, StandardCharsets.UTF_8) + "\n").getBytes(StandardCharsets.UTF_8);
        try (Sync.Run repair = sync.repair()) {
            assertThatThrownBy(sync::repair)
                    .isInstanceOfSatisfying(
                            EngineException.class,
                            failure -> assertThat(failure.kind()).isEqualTo(EngineException.Kind.IN_USE))
                    .hasMessageContaining("one repairs at a time");
            assertThat(repair.appendRows(line, line.length).counts().accepted()).isOne();
            repair.finish();
        }
        try (Sync.Run repair = sync.repair();
                Sync.Run comparison = sync.compare()) {
            assertThat(comparison.number()).isGreaterThan(repair.number());
            comparison.finish();
        }
        assertThat(sync.cost()).isPresent();
    }

    @Test
    void what_came_before_a_restore_is_not_finished_and_not_gone_on_with() {
        Store store = store("sync-restored");
        Sync sync = sync(store);
        try (Sync.Run seeding = sync.seed("file", Optional.empty(), false);
                Sync.Run comparison = sync.compare()) {
            seeding.save(Map.of("0", "5"));
            Restored.takeOver(store);
            for (Sync.Run each : List.of(seeding, comparison)) {
                assertThatThrownBy(each::finish)
                        .isInstanceOf(EngineException.class)
                        .hasMessageContaining("was restored meanwhile");
            }
        }
        try (Sync.Run fresh = sync(store).seed("file", Optional.empty(), false)) {
            assertThat(fresh.continued()).isZero();
        }
    }
}
