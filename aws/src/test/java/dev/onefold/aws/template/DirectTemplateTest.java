package dev.onefold.aws.template;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.onefold.core.pipeline.Pipeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// The template of a pipeline whose records Collect hands over.
class DirectTemplateTest {
    @ParameterizedTest
    @EnumSource
    void where_records_are_handed_over_directly_collect_may_and_has_what_deliver_has(BatchTemplate.Input input) {
        for (Pipeline pipeline : List.of(
                Pipelines.directWithSecret(), Pipelines.direct("{\"lambda\":\"load\"},\"receiver\":\"idempotent\""))) {
            ReadTemplate read =
                    new ReadTemplate(BatchTemplate.of(pipeline, input).yaml());
            for (String sid : List.of("Receiver", "ReceiverSecret", "ReceiverSecretKey", "Network")) {
                assertThat(statement(read, "CollectRole", sid)).as(sid).isEqualTo(statement(read, "DeliverRole", sid));
            }
            assertThat(statement(read, "CollectRole", "Contents")).isEmpty();
            assertThat(statement(read, "DeliverRole", "Contents")).isEmpty();
            JsonNode collect = read.properties("Collect");
            JsonNode deliver = read.properties("Deliver");
            assertThat(collect.get("VpcConfig")).isNotNull().isEqualTo(deliver.get("VpcConfig"));
            for (String variable : List.of("TOKEN", "ONEFOLD_SECRET_ARN", "ONEFOLD_SECRET_FIELD", "ONEFOLD_CODE")) {
                assertThat(collect.at("/Environment/Variables/" + variable))
                        .as(variable)
                        .isEqualTo(deliver.at("/Environment/Variables/" + variable));
            }
        }
        ReadTemplate collected = Pipelines.template(input);
        assertThat(statement(collected, "CollectRole", "Network")).isEmpty();
        assertThat(collected.properties("Collect").has("VpcConfig")).isFalse();
    }

    private static List<JsonNode> statement(ReadTemplate read, String role, String sid) {
        List<JsonNode> found = new ArrayList<>();
        RolesTest.statements(read.resource(role)).forEach(statement -> {
            if (statement.findValuesAsText("Sid").contains(sid)) {
                found.add(statement);
            }
        });
        return found;
    }

    @Test
    void collect_has_time_for_an_attempt_a_move_to_a_lane_and_its_end() {
        Map<String, List<String>> allowed = Map.of(
                "1s", List.of("60", "60", "120", "300", "900"),
                "30s", List.of("60", "60", "120", "300", "900"),
                "31s", List.of("120", "120", "300", "900"),
                "13m", List.of("900", "900"));
        allowed.forEach((timeout, seconds) -> {
            JsonNode parameter = new ReadTemplate(BatchTemplate.of(
                                    Pipelines.direct("{\"http\":\"https://host/x\",\"timeout\":\"" + timeout
                                            + "\"},\"receiver\":\"once\""),
                                    BatchTemplate.Input.NEW_QUEUE)
                            .yaml())
                    .root()
                    .at("/Parameters/CollectTimeout");
            List<String> found =
                    new ArrayList<>(List.of(parameter.get("Default").asText()));
            found.addAll(ReadTemplate.texts(parameter.get("AllowedValues")));
            assertThat(found).as(timeout).isEqualTo(seconds);
        });
    }
}
