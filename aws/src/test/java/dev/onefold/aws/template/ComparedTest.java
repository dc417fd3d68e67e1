package dev.onefold.aws.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.onefold.aws.comparison.Comparing;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// The parts of the template that compare the rows with their source.
class ComparedTest {
    private static final Compared FAVOURITES = new Compared("Favourites", true);

    private static Pipeline pipeline(String input) {
        return ((Reading.Read) PipelineText.read("{\"pipeline\":\"p\",\"input\":" + input
                        + ",\"rollup\":{\"levels\":[\"city\"],\"measures\":{\"n\":\"count()\"}}}"))
                .pipeline();
    }

    @ParameterizedTest
    @EnumSource
    void they_are_added_and_nothing_else_changes(Input input) {
        String plain = Template.of(Pipelines.favourites(), input).yaml();
        String more = Pipelines.compared(input, true);
        assertThat(plain).doesNotContain("Compare");
        assertThat(more.lines())
                .noneMatch(line -> line.contains("#") || line.contains("<") || line.endsWith("\\"))
                .containsAll(plain.lines().toList());
        assertThat(more.length()).isLessThan(Template.BYTES_MAX);
    }

    @ParameterizedTest
    @EnumSource
    void the_role_reads_the_source_and_writes_rows_as_state_does_and_may_do_nothing_else(Input input) {
        ReadTemplate template = new ReadTemplate(Pipelines.compared(input, true));
        String kinesis =
                " kinesis:DescribeStreamSummary kinesis:GetRecords kinesis:GetShardIterator kinesis:ListShards";
        String sent = input == Input.TABLE ? "" : "dynamodb:DescribeKinesisStreamingDestination ";
        Map<String, String> expected = new TreeMap<>(Map.of(
                "Logs", "CompareLogs logs:CreateLogStream logs:PutLogEvents",
                "Source", "AWS::Partition AWS::Region AWS::AccountId " + sent + "dynamodb:DescribeTable dynamodb:Scan",
                "SourceKey", "CompareKeyArn kms:Decrypt",
                "Rows",
                        "Rows dynamodb:BatchGetItem dynamodb:ConditionCheckItem dynamodb:DescribeTable"
                                + " dynamodb:GetItem dynamodb:PutItem dynamodb:Scan dynamodb:UpdateItem",
                "Deltas", "Deltas dynamodb:DescribeTable dynamodb:PutItem",
                "Totals", "Totals dynamodb:DescribeTable",
                "Letters",
                        "Letters dynamodb:DeleteItem dynamodb:DescribeTable dynamodb:GetItem dynamodb:PutItem"
                                + " dynamodb:Query dynamodb:UpdateItem",
                "LettersBytes", "LettersBucket s3:GetObject s3:PutObject",
                "Retries", "Retries sqs:GetQueueAttributes"));
        switch (input) {
            case NEW_STREAM -> expected.put("Input", "InputStream" + kinesis);
            case STREAM -> expected.put("Input", "InputStreamArn" + kinesis);
            case TABLE ->
                expected.put(
                        "Input",
                        "InputStreamArn dynamodb:DescribeStream dynamodb:GetRecords dynamodb:GetShardIterator");
        }
        if (input != Input.NEW_STREAM) {
            expected.put("InputKey", "InputStreamKeyArn kms:Decrypt");
        }
        assertThat(RolesTest.permissions(template.resource("CompareRole"))).isEqualTo(expected);
        assertThat(template.properties("Compare").at("/Role/Fn::GetAtt").asText())
                .isEqualTo("CompareRole.Arn");
        for (JsonNode statement : RolesTest.statements(template.resource("CompareRole"))) {
            assertThat(ReadTemplate.texts(statement.get("Action"))).noneMatch(action -> action.contains("*"));
            assertThat(statement.get("Resource").toString().replace("${LettersBucket.Arn}/*", ""))
                    .doesNotContain("*");
        }
    }

    @Test
    void a_clock_wakes_the_function_and_says_which_stream_is_read() {
        ReadTemplate table = new ReadTemplate(Pipelines.compared(Input.TABLE, true));
        JsonNode target = table.properties("CompareTick").at("/Targets/0");
        assertThat(target.at("/Arn/Ref").asText()).isEqualTo("CompareAlias");
        assertThat(target.at("/Input/Fn::Sub").asText()).isEqualTo("{\"input\": \"${InputStreamArn}\"}");
        assertThat(table.properties("CompareTick").get("ScheduleExpression").toString())
                .isEqualTo("{\"Fn::FindInMap\":[\"Tick\",{\"Ref\":\"TickMinutes\"},\"Rate\"]}");
        assertThat(table.properties("CompareTickPermission")
                        .at("/SourceArn/Fn::GetAtt")
                        .asText())
                .isEqualTo("CompareTick.Arn");
        assertThat(table.properties("CompareOnce").get("MaximumRetryAttempts").asInt())
                .isZero();
        assertThat(new ReadTemplate(Pipelines.compared(Input.NEW_STREAM, true))
                        .properties("CompareTick")
                        .at("/Targets/0/Input/Fn::Sub")
                        .asText())
                .isEqualTo("{\"input\": \"${InputStream.Arn}\"}");
    }

    @Test
    void the_function_gets_the_variables_that_it_reads_and_a_change_of_one_publishes_a_version() {
        ReadTemplate template = new ReadTemplate(Pipelines.compared(Input.TABLE, true));
        Map<String, String> variables = new TreeMap<>();
        template.properties("Compare").at("/Environment/Variables").properties().forEach(variable -> {
            JsonNode value = variable.getValue();
            variables.put(
                    variable.getKey(),
                    value.isTextual() ? value.asText() : value.get("Ref").asText());
        });
        variables.replace("ONEFOLD_COMPARE_HOURS", "CompareHours", "24");
        variables.replace("ONEFOLD_COMPARE_UNITS", "CompareReadUnits", "2000");
        CompareEnvironment environment = CompareEnvironment.of(variables);
        assertThat(environment.settings())
                .isEqualTo(new Comparing.Settings("Favourites", true, Duration.ofHours(24), 2_000, Comparing.LAG));
        assertThat(environment.retries()).isEqualTo("Retries");
        assertThat(environment.tables().rows()).isEqualTo("Rows");
        assertThat(environment.stack()).isEqualTo("AWS::StackName");
        List<String> parameters = ReadTemplate.references(template.properties("Compare")).stream()
                .filter(template.names("Parameters")::contains)
                .distinct()
                .filter(parameter -> !parameter.equals("CodeBucket"))
                .toList();
        JsonNode version = template.properties("CompareVersion").get("Description");
        assertThat(ReadTemplate.references(version)).containsExactlyInAnyOrderElementsOf(parameters);
        assertThat(new ReadTemplate(Pipelines.compared(Input.TABLE, false))
                        .properties("CompareVersion")
                        .get("Description"))
                .isNotEqualTo(version);
    }

    @Test
    void differences_and_comparisons_that_fail_or_do_not_come_are_alarms() {
        ReadTemplate template = new ReadTemplate(Pipelines.compared(Input.TABLE, true));
        JsonNode differences = template.properties("RowDifferencesAlarm");
        assertThat(differences.get("MetricName").asText()).isEqualTo(Metric.RowDifferences.name());
        assertThat(differences.get("Threshold").asInt()).isZero();
        assertThat(differences.at("/Period/Fn::FindInMap/0").asText()).isEqualTo("Tick"); // Each wake-up counts again.
        JsonNode errors = template.properties("CompareErrorsAlarm");
        assertThat(errors.at("/Dimensions/0/Value/Ref").asText()).isEqualTo("Compare");
        assertThat(errors.get("TreatMissingData").asText()).isEqualTo("breaching");
        assertThat(errors.at("/Period/Fn::FindInMap/0").asText()).isEqualTo("Tick");
        for (String alarm : List.of("RowDifferencesAlarm", "CompareErrorsAlarm")) {
            assertThat(template.resource(alarm).get("Condition").asText()).isEqualTo("HasAlarms");
        }
    }

    @Test
    void what_cannot_be_compared_with_a_table_is_refused_with_the_reason() {
        assertThatThrownBy(() -> Template.of(Pipelines.changes(), Input.TABLE, Optional.of(FAVOURITES)))
                .hasMessageContaining("Write 'format: dynamodb-stream'");
        assertThatThrownBy(() -> Template.of(
                        pipeline(
                                "{\"format\":\"csv\",\"columns\":[\"id\",\"v\",\"city\"],\"key\":\"id\",\"version\":\"v\"}"),
                        Input.STREAM,
                        Optional.of(FAVOURITES)))
                .hasMessageContaining("reads CSV");
        assertThatThrownBy(() -> Template.of(
                        pipeline("{\"format\":\"debezium\",\"table\":\"t\",\"key\":\"id\"}"),
                        Input.STREAM,
                        Optional.of(FAVOURITES)))
                .hasMessageContaining("reads the changes of a database");
        assertThatThrownBy(() -> Template.of(pipeline("{\"id\":\"id\"}"), Input.STREAM, Optional.of(FAVOURITES)))
                .hasMessageContaining("keeps no rows with versions");
        assertThatThrownBy(() -> new Compared("a/b", false)).hasMessageContaining("is not the name of a table");
        assertThat(Template.of(
                                pipeline("{\"key\":\"id\",\"version\":\"v\"}"),
                                Input.STREAM,
                                Optional.of(new Compared("Shops", false)))
                        .yaml())
                .contains("table/Shops'", "ONEFOLD_REPAIRS: 'false'")
                .doesNotContain("DescribeKinesisStreamingDestination");
    }
}
