package dev.onefold.aws.template;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.onefold.aws.template.Template.Input;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// What makes such systems count wrong or lose, as far as the way they are deployed has a part in it.
class HazardsOfDeploymentTest {
    @ParameterizedTest
    @EnumSource
    void hazard_23_what_counts_records_cannot_write_to_the_totals_and_what_writes_totals_counts_nothing_there(
            Input input) {
        ReadTemplate template = Pipelines.template(input);
        List<JsonNode> ofTotals = RolesTest.statements(template.resource("StateRole")).stream()
                .filter(statement ->
                        ReadTemplate.references(statement.get("Resource")).contains("Totals"))
                .toList();
        assertThat(ofTotals)
                .singleElement()
                .satisfies(statement -> assertThat(ReadTemplate.texts(statement.get("Action")))
                        .containsExactlyInAnyOrder("dynamodb:DescribeTable", "dynamodb:GetItem"));
        assertThat(template.properties("ReduceRole").toString()).doesNotContain("cloudwatch:");
    }

    @ParameterizedTest
    @EnumSource
    void hazard_25_what_an_on_failure_message_names_can_be_read_again_by_the_function_that_gets_it(Input input) {
        ReadTemplate template = Pipelines.template(input);
        String queue = template.properties("InputMapping")
                .at("/DestinationConfig/OnFailure/Destination/Fn::GetAtt")
                .asText();
        JsonNode mapping = template.properties("RetriesMapping");
        assertThat(mapping.at("/EventSourceArn/Fn::GetAtt").asText()).isEqualTo(queue);
        assertThat(mapping.at("/FunctionName/Ref").asText()).isEqualTo("StateAlias");
        assertThat(template.properties("StateRole").toString()).contains(":GetRecords", ":GetShardIterator");
    }

    @ParameterizedTest
    @EnumSource
    void hazard_26_dead_letters_lie_in_a_table_and_a_bucket_from_which_nothing_expires_and_in_no_queue(Input input) {
        ReadTemplate template = Pipelines.template(input);
        assertThat(template.properties("Letters").has("TimeToLiveSpecification"))
                .isFalse();
        assertThat(template.properties("LettersBucket").has("LifecycleConfiguration"))
                .isFalse();
        assertThat(template.resources("AWS::SQS::Queue").keySet()).containsExactly("Retries", "RetriesAside");
    }

    @ParameterizedTest
    @EnumSource
    void hazard_27_retries_of_the_input_are_not_off_and_do_not_end(Input input) {
        JsonNode mapping = Pipelines.template(input).properties("InputMapping");
        assertThat(mapping.get("MaximumRetryAttempts").asInt()).isEqualTo(-1);
        assertThat(mapping.get("MaximumRecordAgeInSeconds").asInt()).isEqualTo(-1);
    }

    @ParameterizedTest
    @EnumSource
    void hazard_31_no_stream_is_read_from_its_latest_record_on(Input input) {
        Map<String, JsonNode> mappings = Pipelines.template(input).resources("AWS::Lambda::EventSourceMapping");
        assertThat(mappings).hasSize(3);
        mappings.forEach((name, mapping) -> assertThat(
                        mapping.at("/Properties/StartingPosition").toString())
                .matches(position -> name.equals("RetriesMapping") == position.isEmpty())
                .doesNotContain("LATEST"));
    }

    @ParameterizedTest
    @EnumSource
    void hazard_33_no_delta_expires_and_what_reduce_removes_does_not_wake_it(Input input) {
        ReadTemplate template = Pipelines.template(input);
        assertThat(template.properties("Deltas").has("TimeToLiveSpecification")).isFalse();
        assertThat(template.properties("WakesMapping").path("FilterCriteria").toString())
                .contains("INSERT")
                .doesNotContain("REMOVE");
    }
}
