package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.Causes;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Stale, conflicting and silent records are counted by their causes, across lives of a data directory.
class CausesTest {
    @TempDir
    Path data;

    private void assertCauses(Pipeline pipeline, List<String> records, Map<String, Long> expected) {
        try (EmbeddedEngine engine = EmbeddedEngine.open(data, pipeline, Settings.defaults())) {
            engine.append("log", records);
            assertThat(engine.status().causes().counts()).isEqualTo(expected);
        }
        try (EmbeddedEngine again =
                EmbeddedEngine.open(data, pipeline, Settings.defaults().withShards(3))) {
            assertThat(again.status().causes().counts()).isEqualTo(expected);
            assertThat(again.causes()).isEqualTo(again.status().causes());
        }
    }

    @Test
    void a_row_that_is_inserted_again_with_versions_from_the_beginning_is_stale_behind_its_delete() {
        Pipeline carts = PipelineBuilder.named("carts")
                .key("cart")
                .version("version")
                .delete("deleted = true")
                .rollup(rollup -> rollup.measure("carts", "count()"))
                .build();
        assertCauses(
                carts,
                List.of(
                        "{\"cart\":\"u1\",\"version\":1}",
                        "{\"cart\":\"u1\",\"version\":0}",
                        "{\"cart\":\"u1\",\"version\":2,\"deleted\":true}",
                        "{\"cart\":\"u1\",\"version\":0}",
                        "{\"cart\":\"u1\",\"version\":1}"),
                Map.of(Causes.BEHIND_DELETE, 2L));
    }

    private static String seat(String price, long millis, String more) {
        return "{\"eventName\":\"MODIFY\",\"tableName\":\"Seats\",\"dynamodb\":{\"ApproximateCreationDateTime\":"
                + millis + more
                + ",\"Keys\":{\"pk\":{\"S\":\"A\"}},\"NewImage\":{\"pk\":{\"S\":\"A\"},\"price\":{\"N\":\""
                + price + "\"}}}}";
    }

    @Test
    void two_changes_of_an_item_within_one_millisecond_are_a_conflict_of_that_name() {
        Pipeline seats = PipelineBuilder.named("seats")
                .dynamoDbStream()
                .table("Seats")
                .key("pk")
                .rollup(rollup -> rollup.measure("price", "sum(price) decimal(9,2)"))
                .build();
        String micros = ",\"ApproximateCreationDateTimePrecision\":\"MICROSECOND\"";
        assertCauses(
                seats,
                List.of(
                        seat("8", 1714550400005L, ""),
                        seat("5", 1714550400005L, ""),
                        seat("7", 1714550400006L, ""),
                        seat("1", 1714550400007001L, micros),
                        seat("2", 1714550400007001L, micros)),
                Map.of(Causes.WITHIN_MILLISECOND, 1L));
    }

    @Test
    void silent_records_are_counted_by_their_cause_and_table() {
        Pipeline orders = PipelineBuilder.named("orders")
                .debezium("public.orders")
                .key("id")
                .rollup(rollup -> rollup.measure("orders", "count()"))
                .build();
        String crew = "{\"op\":\"u\",\"after\":{\"id\":1},\"source\":{\"schema\":\"public\",\"table\":\"crew\"}}";
        assertCauses(
                orders, List.of(crew, "null", crew), Map.of("silent: of public.crew", 2L, "silent: tombstone", 1L));
    }
}
