package dev.onefold.aws.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.onefold.aws.event.Invocation;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class FunctionsTest {
    private static final String TICK = "{\"Fn::FindInMap\":[\"Tick\",{\"Ref\":\"TickMinutes\"},\"Rate\"]}";

    private final ReadTemplate template = Pipelines.template(Input.NEW_STREAM);

    @ParameterizedTest
    @ValueSource(strings = {"State", "Reduce", "Upkeep"})
    void a_function_runs_java_25_on_arm_from_a_snapshot_and_logs_where_logs_end(String name) {
        JsonNode function = template.properties(name);
        assertThat(function.get("Runtime").asText()).isEqualTo("java25");
        assertThat(ReadTemplate.texts(function.get("Architectures"))).containsExactly("arm64");
        assertThat(function.at("/SnapStart/ApplyOn").asText()).isEqualTo("PublishedVersions");
        assertThat(function.at("/LoggingConfig/LogGroup/Ref").asText()).isEqualTo(name + "Logs");
        assertThat(template.properties(name + "Logs").at("/RetentionInDays/Ref").asText())
                .isEqualTo("LogRetentionDays");
        for (String timeout : ReadTemplate.texts(template.root().at("/Parameters/" + name + "Timeout/AllowedValues"))) {
            assertThat(Integer.parseInt(timeout)).isBetween(1, 900);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"State", "Reduce", "Upkeep"})
    void whatever_changes_a_function_publishes_a_version_of_it(String name) {
        JsonNode version = template.properties(name + "Version");
        List<String> parameters = ReadTemplate.references(template.properties(name)).stream()
                .filter(template.names("Parameters")::contains)
                .distinct()
                .filter(parameter -> !parameter.equals("CodeBucket")) // The key alone says which archive it is.
                .toList();
        assertThat(ReadTemplate.references(version.get("Description"))).containsExactlyInAnyOrderElementsOf(parameters);
        Pipeline other = PipelineBuilder.named("trade-risk")
                .key("TradeID")
                .version("Version")
                .rollup(rollup -> rollup.count("trades"))
                .build();
        JsonNode changed = new ReadTemplate(Template.of(other, Input.NEW_STREAM).yaml()).properties(name + "Version");
        assertThat(changed.get("Description")).isNotEqualTo(version.get("Description"));
        assertThat(template.properties(name + "Alias")
                        .at("/FunctionVersion/Fn::GetAtt")
                        .asText())
                .isEqualTo(name + "Version.Version");
    }

    @ParameterizedTest
    @EnumSource
    void functions_are_invoked_through_their_alias_only(Input input) {
        ReadTemplate read = Pipelines.template(input);
        Map<String, String> invoked = new TreeMap<>();
        read.resources("AWS::Lambda::EventSourceMapping")
                .forEach((name, mapping) -> invoked.put(
                        name, mapping.at("/Properties/FunctionName/Ref").asText()));
        invoked.put(
                "Tick",
                read.properties("Tick").at("/Targets").get(0).at("/Arn/Ref").asText());
        invoked.put(
                "TickPermission",
                read.properties("TickPermission").at("/FunctionName/Ref").asText());
        assertThat(invoked)
                .isEqualTo(Map.of(
                        "InputMapping", "StateAlias",
                        "RetriesMapping", "StateAlias",
                        "WakesMapping", "ReduceAlias",
                        "Tick", "ReduceAlias",
                        "TickPermission", "ReduceAlias"));
    }

    @ParameterizedTest
    @EnumSource
    void the_input_is_read_from_its_beginning_and_nothing_of_it_is_given_up(Input input) {
        JsonNode mapping = Pipelines.template(input).properties("InputMapping");
        String stream = input == Input.NEW_STREAM ? "InputStream" : "InputStreamArn";
        assertThat(ReadTemplate.references(mapping.get("EventSourceArn")))
                .containsExactlyInAnyOrderElementsOf(
                        input == Input.TABLE ? List.of(stream) : List.of("InputConsumer", stream));
        assertThat(mapping.get("StartingPosition").toString())
                .isEqualTo(
                        input == Input.TABLE
                                ? "\"TRIM_HORIZON\""
                                : "{\"Fn::If\":[\"HasInputTime\",\"AT_TIMESTAMP\",\"TRIM_HORIZON\"]}");
        assertThat(mapping.get("MaximumRecordAgeInSeconds").asInt()).isEqualTo(-1);
        assertThat(mapping.get("MaximumRetryAttempts").asInt()).isEqualTo(-1);
        assertThat(mapping.get("BisectBatchOnFunctionError").asText()).isEqualTo("true");
        assertThat(ReadTemplate.texts(mapping.get("FunctionResponseTypes"))).containsExactly("ReportBatchItemFailures");
        assertThat(mapping.at("/DestinationConfig/OnFailure/Destination/Fn::GetAtt")
                        .asText())
                .isEqualTo("Retries.Arn");
        assertThat(mapping.at("/BatchSize/Ref").asText()).isEqualTo("BatchSize");
        assertThat(mapping.at("/MaximumBatchingWindowInSeconds/Ref").asText()).isEqualTo("MaximumBatchingWindow");
        assertThat(mapping.at("/ParallelizationFactor/Ref").asText()).isEqualTo("ParallelizationFactor");
    }

    @Test
    void a_stream_mapping_says_where_it_begins_and_a_queue_mapping_takes_no_more_than_a_queue_gives() {
        template.resources("AWS::Lambda::EventSourceMapping").values().forEach(mapping -> {
            JsonNode properties = mapping.get("Properties");
            if (properties.at("/EventSourceArn/Fn::GetAtt").asText().equals("Retries.Arn")) {
                assertThat(properties.has("StartingPosition")).isFalse();
                assertThat(properties.get("BatchSize").asInt()).isLessThanOrEqualTo(10);
                assertThat(ReadTemplate.texts(properties.get("FunctionResponseTypes")))
                        .containsExactly("ReportBatchItemFailures");
            } else {
                assertThat(properties.get("StartingPosition").toString()).contains("TRIM_HORIZON");
            }
        });
    }

    @Test
    void new_deltas_and_each_minute_wake_reduce_and_what_it_removes_does_not() {
        JsonNode wakes = template.properties("WakesMapping");
        assertThat(wakes.at("/EventSourceArn/Fn::GetAtt").asText()).isEqualTo("Deltas.StreamArn");
        assertThat(wakes.at("/FilterCriteria/Filters").get(0).get("Pattern").asText())
                .isEqualTo("{\"eventName\":[\"INSERT\"]}");
        assertThat(Invocation.read(template.properties("Tick")
                        .at("/Targets/0/Input")
                        .asText()
                        .getBytes(StandardCharsets.UTF_8)))
                .isEqualTo(new Invocation.Tick());
        assertThat(template.properties("Tick").get("ScheduleExpression").toString())
                .isEqualTo(TICK);
        assertThat(template.properties("TickPermission")
                        .at("/SourceArn/Fn::GetAtt")
                        .asText())
                .isEqualTo("Tick.Arn");
        assertThat(template.properties("ReduceOnce").at("/Qualifier").asText())
                .isEqualTo(template.properties("ReduceAlias").at("/Name").asText());
    }

    @Test
    void upkeep_goes_on_with_each_tick_and_audits_each_day() {
        assertThat(template.properties("UpkeepTick").at("/Targets/0/Input").asText())
                .isEqualTo("{}");
        assertThat(template.properties("UpkeepTick").at("/Targets/0/Arn/Ref").asText())
                .isEqualTo("UpkeepAlias");
        assertThat(template.properties("UpkeepTick").get("ScheduleExpression").toString())
                .isEqualTo(TICK);
        assertThat(template.properties("Audit").at("/Targets/0/Input/Fn::Sub").asText())
                .isEqualTo("{\"audit\": ${AuditOneIn}}");
        assertThat(template.properties("Audit").get("ScheduleExpression").asText())
                .isEqualTo("rate(1 day)");
    }

    @ParameterizedTest
    @ValueSource(strings = {"State", "Reduce", "Upkeep"})
    void a_function_gets_the_variables_that_it_reads(String name) {
        Map<String, String> variables = new TreeMap<>();
        template.properties(name)
                .at("/Environment/Variables")
                .properties()
                .forEach(variable -> variables.put(
                        variable.getKey(),
                        variable.getValue().isTextual()
                                ? variable.getValue().asText()
                                : variable.getValue().get("Ref").asText()));
        if (!name.equals("Upkeep")) {
            assertThat(variables.remove("ONEFOLD_FAIL_PERCENT")).isEqualTo("Fail" + name + "Percent");
        }
        assertThat(variables.keySet())
                .containsExactlyInAnyOrder(
                        "ONEFOLD_STACK",
                        "ONEFOLD_ROWS",
                        "ONEFOLD_DELTAS",
                        "ONEFOLD_TOTALS",
                        "ONEFOLD_LETTERS",
                        "ONEFOLD_BUCKET",
                        "ONEFOLD_CODE",
                        "ONEFOLD_LANES",
                        "ONEFOLD_GATES",
                        "ONEFOLD_PIPELINE");
        assertThat(variables.replace("ONEFOLD_LANES", "4")).isEqualTo("Lanes");
        assertThat(variables.replace("ONEFOLD_GATES", "64")).isEqualTo("Gates");
        Environment environment = Environment.of(variables);
        assertThat(environment.stack()).isEqualTo("AWS::StackName");
        assertThat(environment.tables().rows()).isEqualTo("Rows");
        assertThat(environment.tables().deltas()).isEqualTo("Deltas");
        assertThat(environment.tables().totals()).isEqualTo("Totals");
        assertThat(environment.tables().letters()).isEqualTo("Letters");
        assertThat(environment.bucket()).isEqualTo("LettersBucket");
        assertThat(environment.layout()).isEqualTo(new Layout(4, 64));
        assertThat(environment.pipeline()).isEqualTo(Pipelines.trades());
    }

    /// Two transactions that check one gate at the same time conflict: with one gate all of them would.
    @Test
    void a_deployment_has_no_fewer_gates_than_a_batch_needs() {
        JsonNode gates = Pipelines.template(Input.NEW_STREAM).root().at("/Parameters/Gates");
        assertThat(gates.get("MinValue").asInt()).isEqualTo(64);
        assertThat(new Layout(8, gates.get("MinValue").asInt()).gates()).isEqualTo(64);
        assertThatThrownBy(() -> new Layout(8, 63))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("A deployment has 1 to 40 lanes and 64 to 4096 gates, not 8 and 63");
    }
}
