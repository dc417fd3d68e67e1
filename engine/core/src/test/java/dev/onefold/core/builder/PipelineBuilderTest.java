package dev.onefold.core.builder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Read;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.TimeType;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class PipelineBuilderTest {
    @Test
    void the_builder_builds_what_the_file_says() {
        Pipeline built = PipelineBuilder.named("trade-risk")
                .json()
                .key("TradeID")
                .version("Version")
                .time("Timestamp")
                .delete("op = 'delete'")
                .filter("status != \"TEST\"")
                .rollup(rollup -> rollup.levels("Hierarchy.RiskType", "Hierarchy.TradeDesk", "Hierarchy.Region")
                        .sum("value", "Value", 18, 2)
                        .count("trades"))
                .build();
        assertThat(built).isEqualTo(Read.pipeline("""
                        {"pipeline": "trade-risk",
                         "input": {"format": "json", "key": "TradeID", "version": "Version", "time": "Timestamp",
                                   "delete": "op = 'delete'", "filter": "status != 'TEST'"},
                         "rollup": {"levels": ["Hierarchy.RiskType", "Hierarchy.TradeDesk", "Hierarchy.Region"],
                                    "measures": {"value": "sum(Value) decimal(18,2)", "trades": "count()"}}}"""));
    }

    @Test
    void the_builder_says_all_that_a_file_can_say() {
        Pipeline built = PipelineBuilder.named("all")
                .csv("id", "at", "town", "mag")
                .delimiter('|')
                .id("id", "town")
                .horizon(Duration.ofDays(7))
                .time("at", TimeType.EPOCH_MILLIS)
                .rollup(
                        "by-town",
                        rollup -> rollup.level("where", "town missing 'unknown'")
                                .levels("bucket(at, 1h)", "step(mag, 0.5)", "prefix(id, 2)")
                                .average("average", "mag", 5, 3)
                                .min("least", "mag", 5, 3)
                                .max("most", "mag", 5, 3)
                                .distinct("towns", "town")
                                .measure("total", "sum(mag) decimal(18,3) missing ignore"))
                .rollup("all", rollup -> rollup.count("n"))
                .build();
        assertThat(built).isEqualTo(Read.pipeline("""
                        {"pipeline": "all",
                         "input": {"format": "csv", "columns": ["id", "at", "town", "mag"], "delimiter": "|",
                                   "id": ["id", "town"], "horizon": "7d",
                                   "time": {"field": "at", "type": "epoch-millis"}},
                         "rollups": {
                           "by-town": {
                             "levels": [{"field": "town", "name": "where", "missing": "unknown"},
                                        "bucket(at, 1h)", "step(mag, 0.5)", "prefix(id, 2)"],
                             "measures": {"average": "average(mag) decimal(5,3)", "least": "min(mag) decimal(5,3)",
                                          "most": "max(mag) decimal(5,3)", "towns": "distinct(town)",
                                          "total": "sum(mag) decimal(18,3) missing ignore"}},
                           "all": {"levels": [], "measures": {"n": "count()"}}}}"""));
    }

    @Test
    void groups_may_be_kept_for_a_time() {
        assertThat(PipelineBuilder.named("p")
                        .id("id")
                        .time("at")
                        .rollup(rollup -> rollup.levels("bucket(at, 1h)")
                                .keep(Duration.ofDays(90))
                                .count("n"))
                        .build())
                .isEqualTo(Read.pipeline("""
                        {"pipeline": "p", "input": {"id": "id", "time": "at"},
                         "rollup": {"levels": ["bucket(at, 1h)"], "keep": "90d", "measures": {"n": "count()"}}}"""));
    }

    @Test
    void a_version_may_be_a_time_and_csv_may_have_a_header() {
        assertThat(PipelineBuilder.named("p")
                        .csv()
                        .key("k")
                        .version("v", TimeType.ISO)
                        .rollup(rollup -> rollup.count("n"))
                        .build())
                .isEqualTo(Read.pipeline(Read.withInput(
                        "\"format\": \"csv\", \"key\": \"k\", \"version\": {\"field\": \"v\", \"type\": \"iso\"}")));
    }

    @Test
    void all_that_is_wrong_is_thrown_at_once() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> PipelineBuilder.named("Trades")
                        .json()
                        .csv()
                        .key("a b")
                        .horizon(Duration.ofMillis(500))
                        .version("v", TimeType.AUTO)
                        .rollup(rollup -> rollup.levels("x", "x").sum("sum", "x", 40, 2))
                        .build())
                .withMessage("The pipeline 'Trades' is not possible:\n"
                        + "  pipeline: 'Trades' is not a name;"
                        + " write letters a-z, digits and hyphens, at most 64, no hyphen first or last\n"
                        + "  input.format: 'format' is set twice; keep one of them\n"
                        + "  input.version.type: 'auto' leaves open how versions compare;"
                        + " write integer, iso, epoch-days, epoch-seconds, epoch-millis, epoch-micros, epoch-nanos, hlc, uuid7, ulid, dmy or mdy\n"
                        + "  input.horizon: 'PT0.5S' is not a time span;"
                        + " write a number and s, m, h or d, like 15m, from 1s to 36500d\n"
                        + "  input.horizon: is for pipelines with an id only; write id, or leave horizon out\n"
                        + "  rollups.main.levels[1]: 'x' is also the name of rollups.main.levels[0];"
                        + " give one of them another: {field: …, name: …}\n"
                        + "  input.key[0]: 'b' is unexpected; write one field alone; a name with a space is in double quotes,"
                        + " inside those of YAML: '\"a b\"'\n"
                        + "  rollups.main.measures.sum: '40' is not possible here; write a whole number from 1 to 38");
    }

    @Test
    void without_a_rollup_nothing_is_built() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> PipelineBuilder.named("p").json().build())
                .withMessage("The pipeline 'p' is not possible:\n"
                        + "  rollups: has no roll-up; write at least one, with a name");
    }

    @Test
    void nulls_are_refused_by_name() {
        assertThatThrownBy(() -> PipelineBuilder.named(null)).hasMessage("The pipeline's name is null");
        assertThatThrownBy(() -> PipelineBuilder.named("p").rollup(null)).hasMessage("What builds the roll-up is null");
        assertThatThrownBy(() -> PipelineText.read(null)).hasMessage("The text is null");
    }
}
