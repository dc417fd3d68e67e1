package dev.onefold.aws.template;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/// What an owner of an account asks of a template: keys of their own, a network of their own, and secrets
/// where they keep them.
class OwnersTest {
    private static final Map<String, String> ENCRYPTED = Map.of(
            "AWS::DynamoDB::Table", "/SSESpecification",
            "AWS::Kinesis::Stream", "/StreamEncryption",
            "AWS::S3::Bucket", "/BucketEncryption",
            "AWS::SQS::Queue", "/KmsMasterKeyId",
            "AWS::Logs::LogGroup", "/KmsKeyId");

    @ParameterizedTest
    @MethodSource("dev.onefold.aws.template.Pipelines#templates")
    void a_key_of_ones_own_encrypts_whatever_holds_data_and_every_role_may_use_it_through_its_services(String yaml) {
        ReadTemplate template = new ReadTemplate(yaml);
        ENCRYPTED.forEach((type, property) -> template.resources(type)
                .forEach((name, resource) -> assertThat(ReadTemplate.references(resource.at("/Properties" + property)))
                        .as(name)
                        .contains("KeyArn")));
        Map<String, JsonNode> roles = template.resources("AWS::IAM::Role");
        assertThat(roles).isNotEmpty();
        roles.forEach((name, role) -> assertThat(
                        statement(role, "Key").get("Condition").toString())
                .as(name)
                .isEqualTo("{\"StringLike\":{\"kms:ViaService\":"
                        + "[\"dynamodb.*\",\"kinesis.*\",\"s3.*\",\"sqs.*\"]}}"));
        assertThat(template.root().at("/Parameters/KeyArn/Default").asText("-")).isEmpty();
    }

    private static JsonNode statement(JsonNode role, String sid) {
        return RolesTest.statements(role).stream()
                .filter(statement -> statement.get("Sid").asText().equals(sid))
                .findFirst()
                .orElseThrow(() -> new AssertionError("No statement " + sid));
    }

    @ParameterizedTest
    @EnumSource
    void the_function_that_delivers_alone_is_in_a_vpc_and_its_own_code_may_make_no_interface(
            BatchTemplate.Input input) {
        ReadTemplate template = Pipelines.template(input);
        template.resources("AWS::Lambda::Function")
                .forEach((name, function) -> assertThat(
                                function.get("Properties").has("VpcConfig"))
                        .as(name)
                        .isEqualTo(name.equals("Deliver")));
        JsonNode vpc = template.properties("Deliver").at("/VpcConfig/Fn::If");
        assertThat(vpc.get(0).asText()).isEqualTo("HasVpc");
        assertThat(vpc.get(1).toString())
                .isEqualTo("{\"SubnetIds\":{\"Fn::Split\":[\",\",{\"Ref\":\"VpcSubnetIds\"}]},"
                        + "\"SecurityGroupIds\":{\"Fn::Split\":[\",\",{\"Ref\":\"VpcSecurityGroupIds\"}]}}");
        template.resources("AWS::IAM::Role").forEach((name, role) -> {
            if (name.equals("DeliverRole")) {
                JsonNode network = statement(role, "Network");
                assertThat(network.get("Condition").toString())
                        .isEqualTo("{\"Null\":{\"lambda:SourceFunctionArn\":\"true\"}}");
                assertThat(ReadTemplate.texts(network.get("Action"))).allMatch(action -> action.startsWith("ec2:"));
            } else {
                assertThat(role.toString()).doesNotContain("ec2:");
            }
        });
    }

    @Test
    void one_secret_may_be_read_by_the_function_that_delivers_and_by_no_other() {
        ReadTemplate template =
                new ReadTemplate(BatchTemplate.of(Pipelines.batchesWithSecret(), BatchTemplate.Input.NEW_QUEUE)
                        .yaml());
        template.resources("AWS::IAM::Role").forEach((name, role) -> {
            if (!name.equals("DeliverRole")) {
                assertThat(role.toString()).doesNotContain("secretsmanager");
            }
        });
        Map<String, String> permissions = RolesTest.permissions(template.resource("DeliverRole"));
        assertThat(permissions)
                .containsEntry("ReceiverSecret", "ReceiverSecretArn secretsmanager:GetSecretValue")
                .containsEntry("ReceiverSecretKey", "ReceiverSecretKeyArn kms:Decrypt");
        Map<String, String> variables = new TreeMap<>();
        template.properties("Deliver")
                .at("/Environment/Variables")
                .properties()
                .forEach(variable -> variables.put(
                        variable.getKey(), String.join(" ", ReadTemplate.references(variable.getValue()))));
        assertThat(variables)
                .containsEntry("ONEFOLD_SECRET_ARN", "ReceiverSecretArn AWS::NoValue")
                .containsEntry("ONEFOLD_SECRET_FIELD", "ReceiverSecretField AWS::NoValue")
                .containsEntry("TOKEN", "AWS::NoValue ReceiverSecret");
        variables.put("ONEFOLD_PIPELINE", Environment.code(Pipelines.batchesWithSecret()));
        assertThat(Environment.of(variables).secret())
                .hasValueSatisfying(place -> assertThat(place.arn()).startsWith("ReceiverSecretArn"));
        variables.remove("ONEFOLD_SECRET_ARN");
        assertThat(Environment.of(variables).secret()).isEmpty();
    }

    @Test
    void records_of_a_stream_are_pushed_to_the_functions_that_take_them_if_that_is_wanted() {
        for (ReadTemplate template : List.of(
                Pipelines.template(BatchTemplate.Input.NEW_STREAM),
                Pipelines.template(BatchTemplate.Input.STREAM),
                Pipelines.template(Template.Input.NEW_STREAM),
                Pipelines.template(Template.Input.STREAM))) {
            JsonNode source = template.properties("InputMapping").at("/EventSourceArn/Fn::If");
            assertThat(source.get(0).asText()).isEqualTo("HasFanOut");
            assertThat(source.get(1).toString()).isEqualTo("{\"Ref\":\"InputConsumer\"}");
            assertThat(template.resource("InputConsumer").get("Condition").asText())
                    .isEqualTo("HasFanOut");
            assertThat(ReadTemplate.references(
                            template.properties("InputConsumer").get("StreamARN")))
                    .isEqualTo(ReadTemplate.references(source.get(2)));
            assertThat(Set.of("State", "Collect").stream()
                            .filter(template.names("Resources")::contains)
                            .map(name -> statement(template.resource(name + "Role"), "InputConsumer")
                                    .toString()))
                    .singleElement()
                    .asString()
                    .contains("kinesis:SubscribeToShard");
        }
    }
}
