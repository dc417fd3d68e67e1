package dev.onefold.aws.template;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.aws.template.Template.Service;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RolesTest {
    private static final List<String> WITHOUT_NAMES = List.of(
            "{\"Fn::Sub\":\"${LettersBucket.Arn}/*\"}",
            "{\"Fn::Sub\":\"${Deltas.Arn}/stream/*\"}",
            "{\"Fn::Join\":[\"\",[{\"Fn::Select\":[\"0\",{\"Fn::Split\":[\"/stream/\",{\"Ref\":\"InputStreamArn\"}]}]},\"/stream/*\"]]}");

    static List<JsonNode> statements(JsonNode role) {
        List<JsonNode> statements = new ArrayList<>();
        for (JsonNode policy : role.at("/Properties/Policies")) {
            for (JsonNode statement : policy.at("/PolicyDocument/Statement")) {
                statements.add(statement.has("Fn::If") ? statement.get("Fn::If").get(1) : statement);
            }
        }
        return statements;
    }

    @ParameterizedTest
    @EnumSource
    void each_function_has_a_role_of_its_own_that_lambda_alone_may_take(Input input) {
        ReadTemplate template = Pipelines.template(input);
        assertThat(template.resources("AWS::IAM::Role").keySet())
                .containsExactly("ReduceRole", "StateRole", "UpkeepRole");
        template.resources("AWS::Lambda::Function")
                .forEach((name, function) -> assertThat(
                                function.at("/Properties/Role/Fn::GetAtt").asText())
                        .isEqualTo(name + "Role.Arn"));
        template.resources("AWS::IAM::Role").values().forEach(role -> {
            JsonNode trust = role.at("/Properties/AssumeRolePolicyDocument/Statement");
            assertThat(trust).hasSize(1);
            assertThat(trust.get(0).path("Principal").toString()).isEqualTo("{\"Service\":\"lambda.amazonaws.com\"}");
            assertThat(role.at("/Properties").has("ManagedPolicyArns")).isFalse();
        });
    }

    @ParameterizedTest
    @EnumSource
    void no_action_is_a_wildcard_and_no_resource_that_has_a_name(Input input) {
        Pipelines.template(input).resources("AWS::IAM::Role").values().forEach(role -> {
            assertThat(statements(role)).isNotEmpty();
            for (JsonNode statement : statements(role)) {
                assertThat(statement.get("Effect").asText()).isEqualTo("Allow");
                assertThat(statement.has("NotAction") || statement.has("NotResource"))
                        .isFalse();
                assertThat(ReadTemplate.texts(statement.get("Action")))
                        .isNotEmpty()
                        .allMatch(action -> action.matches("[a-z0-9]+:[A-Za-z]+"));
                assertThat(statement.get("Resource")).isNotEmpty().allSatisfy(resource -> {
                    if (!WITHOUT_NAMES.contains(resource.toString())) {
                        assertThat(resource.isObject()).isTrue();
                        assertThat(resource.toString()).doesNotContain("*");
                    }
                });
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_role_may_do_this_and_nothing_else(Input input) {
        ReadTemplate template = Pipelines.template(input);
        Map<String, String> state = permissions(template.resource("StateRole"));
        Map<String, String> expected = new TreeMap<>(Map.of(
                "Logs", "StateLogs logs:CreateLogStream logs:PutLogEvents",
                "Rows",
                        "Rows dynamodb:BatchGetItem dynamodb:ConditionCheckItem dynamodb:DescribeTable"
                                + " dynamodb:GetItem dynamodb:PutItem dynamodb:UpdateItem",
                "Deltas", "Deltas dynamodb:DescribeTable dynamodb:PutItem",
                "Totals", "Totals dynamodb:DescribeTable dynamodb:GetItem",
                "Letters", "Letters dynamodb:DescribeTable dynamodb:GetItem dynamodb:PutItem dynamodb:UpdateItem",
                "LettersBytes", "LettersBucket s3:PutObject",
                "Retries", "Retries sqs:DeleteMessage sqs:GetQueueAttributes sqs:ReceiveMessage sqs:SendMessage"));
        String kinesis = " kinesis:DescribeStream kinesis:DescribeStreamSummary kinesis:GetRecords"
                + " kinesis:GetShardIterator kinesis:ListShards";
        String changes = " dynamodb:DescribeStream dynamodb:GetRecords dynamodb:GetShardIterator";
        switch (input) {
            case NEW_STREAM -> expected.put("Input", "InputStream" + kinesis);
            case STREAM -> expected.put("Input", "InputStreamArn" + kinesis);
            case TABLE -> {
                expected.put("Input", "InputStreamArn" + changes);
                expected.put("InputStreams", "InputStreamArn dynamodb:ListStreams");
            }
        }
        if (input != Input.NEW_STREAM) {
            expected.put("InputKey", "InputStreamKeyArn kms:Decrypt");
        }
        if (input != Input.TABLE) {
            expected.put("InputConsumer", "InputConsumer kinesis:SubscribeToShard");
        }
        assertThat(state).isEqualTo(expected);
        assertThat(permissions(template.resource("ReduceRole")))
                .isEqualTo(Map.of(
                        "Logs", "ReduceLogs logs:CreateLogStream logs:PutLogEvents",
                        "Deltas", "Deltas dynamodb:DeleteItem dynamodb:DescribeTable dynamodb:GetItem dynamodb:Query",
                        "Rows", "Rows dynamodb:DescribeTable dynamodb:GetItem",
                        "Totals",
                                "Totals dynamodb:BatchGetItem dynamodb:DescribeTable dynamodb:GetItem"
                                        + " dynamodb:PutItem dynamodb:UpdateItem",
                        "Letters", "Letters dynamodb:DescribeTable",
                        "Wakes", "Deltas" + changes,
                        "WakesStreams", "Deltas dynamodb:ListStreams"));
    }

    @ParameterizedTest
    @EnumSource
    void the_role_of_upkeep_may_do_this_and_nothing_else(Input input) {
        ReadTemplate template = Pipelines.template(input);
        assertThat(permissions(template.resource("UpkeepRole")))
                .isEqualTo(Map.of(
                        "Logs",
                        "UpkeepLogs logs:CreateLogStream logs:PutLogEvents",
                        "Deltas",
                        "Deltas dynamodb:DeleteItem dynamodb:DescribeTable dynamodb:GetItem dynamodb:PutItem"
                                + " dynamodb:Query",
                        "Rows",
                        "Rows dynamodb:BatchGetItem dynamodb:ConditionCheckItem dynamodb:DescribeTable dynamodb:GetItem"
                                + " dynamodb:PutItem dynamodb:Scan dynamodb:UpdateItem",
                        "Letters",
                        "Letters dynamodb:ConditionCheckItem dynamodb:DeleteItem dynamodb:DescribeTable dynamodb:GetItem"
                                + " dynamodb:PutItem dynamodb:Query dynamodb:UpdateItem",
                        "LettersBytes",
                        "LettersBucket s3:DeleteObject s3:GetObject s3:PutObject",
                        "Totals",
                        "Totals dynamodb:BatchGetItem dynamodb:BatchWriteItem dynamodb:DescribeTable dynamodb:GetItem"
                                + " dynamodb:PutItem dynamodb:Query dynamodb:UpdateItem"));
    }

    @Test
    void the_role_that_publishes_reads_totals_and_writes_what_is_published_and_nothing_else() {
        ReadTemplate template =
                new ReadTemplate(Template.of(Pipelines.published(), Input.TABLE).yaml());
        assertThat(permissions(template.resource("PublishRole")))
                .isEqualTo(Map.of(
                        "Logs", "PublishLogs logs:CreateLogStream logs:PutLogEvents",
                        "Published",
                                "Published dynamodb:BatchGetItem dynamodb:ConditionCheckItem dynamodb:DeleteItem"
                                        + " dynamodb:DescribeTable dynamodb:GetItem dynamodb:PutItem dynamodb:Scan",
                        "Totals",
                                "Totals dynamodb:BatchGetItem dynamodb:DescribeTable dynamodb:GetItem"
                                        + " dynamodb:PutItem dynamodb:Query dynamodb:UpdateItem",
                        "Rows", "Rows dynamodb:DescribeTable dynamodb:GetItem",
                        "Deltas", "Deltas dynamodb:DescribeTable dynamodb:Query",
                        "Letters", "Letters dynamodb:DescribeTable",
                        "Wakes", "Deltas dynamodb:DescribeStream dynamodb:GetRecords dynamodb:GetShardIterator",
                        "WakesStreams", "Deltas dynamodb:ListStreams"));
        assertThat(template.properties("PublishMapping")
                        .at("/FilterCriteria/Filters/0/Pattern")
                        .asText())
                .isEqualTo("{\"eventName\":[\"REMOVE\"]}");
        assertThat(template.properties("PublishTick").at("/Targets/0/Arn/Ref").asText())
                .isEqualTo("PublishAlias");
    }

    @Test
    void the_role_that_serves_reads_and_puts_records_where_they_are_taken_and_nothing_else() {
        Map<String, String> read =
                permissions(Pipelines.template(Input.NEW_STREAM, Service.READ).resource("ServeRole"));
        assertThat(read)
                .isEqualTo(Map.of(
                        "Logs", "ServeLogs logs:CreateLogStream logs:PutLogEvents",
                        "Totals",
                                "Totals dynamodb:BatchGetItem dynamodb:DescribeTable dynamodb:GetItem"
                                        + " dynamodb:PutItem dynamodb:Query dynamodb:UpdateItem",
                        "Rows", "Rows dynamodb:BatchGetItem dynamodb:DescribeTable dynamodb:GetItem",
                        "Deltas", "Deltas dynamodb:DescribeTable dynamodb:Query",
                        "Letters", "Letters dynamodb:DescribeTable dynamodb:GetItem dynamodb:Query",
                        "LettersBytes", "LettersBucket s3:GetObject"));
        Map<String, String> write = new TreeMap<>(read);
        write.put("Records", "InputStream kinesis:PutRecords");
        assertThat(permissions(
                        Pipelines.template(Input.NEW_STREAM, Service.WRITE).resource("ServeRole")))
                .isEqualTo(write);
        write.put("Records", "InputStreamArn kinesis:PutRecords");
        write.put("RecordsKey", "InputStreamKeyArn kms:GenerateDataKey");
        assertThat(permissions(Pipelines.template(Input.STREAM, Service.WRITE).resource("ServeRole")))
                .isEqualTo(write);
    }

    static Map<String, String> permissions(JsonNode role) {
        Map<String, String> permissions = new TreeMap<>();
        for (JsonNode statement : statements(role)) {
            permissions.put(
                    statement.get("Sid").asText(),
                    String.join(" ", ReadTemplate.references(statement.get("Resource"))) + " "
                            + String.join(" ", ReadTemplate.texts(statement.get("Action"))));
        }
        assertThat(permissions.remove("Key"))
                .as("the key of the tables, which every function opens")
                .isEqualTo("KeyArn kms:Decrypt kms:DescribeKey kms:Encrypt kms:GenerateDataKey kms:ReEncryptFrom"
                        + " kms:ReEncryptTo");
        return permissions;
    }
}
