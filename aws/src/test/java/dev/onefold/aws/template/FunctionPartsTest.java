package dev.onefold.aws.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.keyed.Steps;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.LoadedFunction;
import java.util.List;
import org.junit.jupiter.api.Test;

class FunctionPartsTest {
    private static Pipeline pipeline(String rollups) {
        String text = "{\"pipeline\":\"p\",\"input\":{\"key\":\"k\",\"version\":\"v\"},\"process\":{\"class\":\"X\","
                + "\"order\":\"latest\",\"tables\":{\"latest\":\"k\",\"buckets\":[\"bucket\",\"k\"]}}" + rollups + "}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(Pipeline read) -> read;
            case Reading.Refused refused -> throw new AssertionError(refused.toString());
        };
    }

    @Test
    void each_table_of_a_function_is_one_of_its_own_that_state_and_upkeep_may_write() {
        Pipeline bound = LoadedFunction.of(pipeline(""), new Steps()).pipeline();
        ReadTemplate template =
                new ReadTemplate(Template.of(bound, Input.NEW_STREAM).yaml());
        JsonNode table = template.resource("FunctionTable2").get("Properties");
        assertThat(table.at("/TableName/Fn::Sub").asText()).isEqualTo("${AWS::StackName}-table-buckets");
        assertThat(table.get("KeySchema").toString())
                .isEqualTo("[{\"AttributeName\":\"k\",\"KeyType\":\"HASH\"},"
                        + "{\"AttributeName\":\"bucket\",\"KeyType\":\"RANGE\"}]");
        assertThat(table.get("AttributeDefinitions").toString())
                .isEqualTo("[{\"AttributeName\":\"k\",\"AttributeType\":\"S\"},"
                        + "{\"AttributeName\":\"bucket\",\"AttributeType\":\"N\"}]");
        assertThat(template.resources("AWS::DynamoDB::Table")).hasSize(6);
        for (String role : List.of("StateRole", "UpkeepRole")) {
            assertThat(RolesTest.statements(template.resource(role)).stream()
                            .filter(statement -> statement.get("Sid").asText().equals("FunctionTables"))
                            .findFirst()
                            .orElseThrow()
                            .toString())
                    .as(role)
                    .contains("FunctionTable1.Arn", "FunctionTable2.Arn", "dynamodb:PutItem");
            assertThat(RolesTest.permissions(template.resource(role)))
                    .containsEntry("WithdrawnLetters", "Letters dynamodb:ConditionCheckItem dynamodb:DeleteItem");
        }
    }

    @Test
    void the_service_reads_the_tables_of_a_function_and_does_nothing_else_with_them() {
        Pipeline bound = LoadedFunction.of(pipeline(""), new Steps()).pipeline();
        ReadTemplate template = new ReadTemplate(
                Template.of(bound, Input.NEW_STREAM, Template.Service.WRITE).yaml());
        assertThat(RolesTest.permissions(template.resource("ServeRole")))
                .containsEntry("FunctionTables", "FunctionTable1 FunctionTable2 dynamodb:GetItem dynamodb:Query");
        assertThat(template.properties("Serve").at("/Environment/Variables/ONEFOLD_PIPELINE"))
                .isEqualTo(template.properties("State").at("/Environment/Variables/ONEFOLD_PIPELINE"));
    }

    @Test
    void what_cannot_be_on_aws_is_refused_with_the_reason() {
        assertThatThrownBy(() -> Template.of(pipeline(""), Input.NEW_STREAM))
                .hasMessageContaining("without its function");
        String totals = ",\"rollups\":{\"all\":{\"of\":\"latest\",\"levels\":[\"k\"],\"measures\":{\"a\":\"max(trail)"
                + " decimal(9,0)\",\"b\":\"min(trail) decimal(9,0)\",\"c\":\"distinct(trail)\"}}}";
        Pipeline wide = LoadedFunction.of(pipeline(totals), new Steps()).pipeline();
        assertThatThrownBy(() -> Template.of(wide, Input.NEW_STREAM)).hasMessageContaining("at most 2");
    }
}
