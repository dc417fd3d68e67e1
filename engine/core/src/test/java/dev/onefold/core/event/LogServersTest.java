package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Derivation;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The binary logs of two servers of MySQL have positions without a common order: the pipeline file names the server.
class LogServersTest {
    private static final Pattern ADVICE = Pattern.compile("'logs: \\[([^]]*)]'");

    private static PipelineBuilder builder(String... logs) {
        return PipelineBuilder.named("orders")
                .debezium("shop.orders", logs)
                .key("id")
                .rollup(rollup -> rollup.count("n"));
    }

    private static Pipeline orders(String... logs) {
        return builder(logs).build();
    }

    private static String change(String log, String server, String op) {
        return "{\"op\":\"" + op + "\",\"after\":{\"id\":1},\"source\":{\"connector\":\"mysql\",\"name\":\"" + log
                + "\",\"server_id\":" + server + ",\"db\":\"shop\",\"table\":\"orders\",\"file\":\"mysql-bin.000003\","
                + "\"pos\":805,\"row\":0,\"ts_ms\":1700000000000}}";
    }

    private static String said(Pipeline pipeline, String record) {
        Decoding decoding = Decoding.of(pipeline);
        Malformed malformed = decoding.decode(record);
        return malformed == null
                ? Version.of(pipeline, decoding.versionBytes(record)).toString()
                : malformed.message();
    }

    private static String[] advice(String refused, int which) {
        return ADVICE.matcher(refused)
                .results()
                .map(MatchResult::group)
                .map(found -> found.replaceAll("'logs: \\[|]'", ""))
                .toList()
                .get(which)
                .split(", ");
    }

    @Test
    void a_change_of_a_server_that_the_file_does_not_name_is_refused_with_the_line_to_write() {
        for (Pipeline open : new Pipeline[] {orders(), orders("old", "grid")}) {
            String refused = said(open, change("grid", "223344", "u"));
            assertThat(refused).contains("the pipeline file names no server");
            Pipeline right = orders(advice(refused, 0));
            assertThat(said(right, change("grid", "223344", "u"))).doesNotContain("server");
            assertThat(Derivation.of(open, right)).isInstanceOf(Derivation.Possible.class);
        }
    }

    @Test
    void a_change_of_another_server_than_the_named_one_is_refused_and_a_new_log_is_above() {
        Pipeline one = orders("grid/1");
        String refused = said(one, change("grid", "2", "u"));
        assertThat(refused).contains("input.logs has grid/1", "have no order");
        Pipeline failedOver = orders(advice(refused, 0));
        Pipeline replica = orders(advice(refused, 1));
        assertThat(said(failedOver, change("grid-2", "2", "u"))).startsWith("1/");
        assertThat(said(failedOver, change("grid", "2", "u"))).contains("have no order");
        assertThat(said(replica, change("grid", "2", "u"))).startsWith("0/");
        assertThat(said(replica, change("grid", "1", "u"))).startsWith("0/");
        Stream.of(failedOver, replica)
                .forEach(next -> assertThat(Derivation.of(one, next))
                        .isInstanceOfSatisfying(
                                Derivation.Possible.class,
                                possible -> assertThat(possible.doubt()).isEmpty()));
        assertThat(Derivation.of(failedOver, one)).isInstanceOf(Derivation.Impossible.class);
    }

    @Test
    void rows_of_a_snapshot_changes_without_a_server_and_data_from_before_name_none() {
        assertThat(said(orders(), change("grid", "0", "r"))).startsWith("0/0/");
        assertThat(said(orders("grid/1"), change("grid", "0", "r"))).startsWith("0/0/");
        assertThat(said(orders(), change("grid", "null", "u"))).startsWith("0/");
        for (int edition = 1; edition <= 2; edition++) {
            assertThat(said(builder().edition(edition).build(), change("grid", "223344", "u")))
                    .startsWith("0/");
        }
        assertThat(said(builder().version("id").build(), change("grid", "223344", "u")))
                .isEqualTo("1");
    }
}
