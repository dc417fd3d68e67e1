package dev.onefold.aws.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.aws.template.Template.Service;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import org.junit.jupiter.api.Test;

/// What the service adds to the template.
class ServeTemplateTest {
    @Test
    void without_the_service_nothing_of_it_is_there() {
        assertThat(Template.of(Pipelines.trades(), Input.NEW_STREAM).yaml())
                .isEqualTo(Template.of(Pipelines.trades(), Input.NEW_STREAM, Service.NONE)
                        .yaml())
                .doesNotContain("  Serve:", "AWS::Lambda::Url");
    }

    @Test
    void the_service_changes_no_line_of_what_is_there_without_it() {
        String plain = Template.of(Pipelines.trades(), Input.NEW_STREAM).yaml();
        String served =
                Template.of(Pipelines.trades(), Input.NEW_STREAM, Service.WRITE).yaml();
        assertThat(served.lines()).containsSubsequence(plain.lines().toList());
        assertThat(served.lines()).noneMatch(line -> line.contains("#") || line.contains("<"));
    }

    @Test
    void the_url_is_checked_by_aws_unless_an_issuer_is_given() {
        ReadTemplate template = Pipelines.template(Input.NEW_STREAM, Service.READ);
        assertThat(template.properties("ServeUrl").at("/AuthType").toString())
                .isEqualTo("{\"Fn::If\":[\"ServesByToken\",\"NONE\",\"AWS_IAM\"]}");
        assertThat(template.root().at("/Conditions/ServesByToken").toString())
                .isEqualTo("{\"Fn::Not\":[{\"Fn::Equals\":[{\"Ref\":\"ServeJwtIssuer\"},\"\"]}]}");
        assertThat(template.root().at("/Parameters/ServeJwtIssuer/Default").asText())
                .isEmpty();
        template.resources("AWS::Lambda::Permission").forEach((name, permission) -> {
            if (permission.at("/Properties/Principal").asText().equals("*")) {
                assertThat(permission.path("Condition").asText()).as(name).isEqualTo("ServesByToken");
            }
        });
    }

    @Test
    void an_issuer_without_audience_or_keys_is_refused_when_it_is_deployed() {
        JsonNode rule =
                Pipelines.template(Input.NEW_STREAM, Service.READ).root().at("/Rules/ServeTokens");
        assertThat(ReadTemplate.references(rule.path("RuleCondition")))
                .containsExactly("ServeJwtIssuer", "ServeJwtAudience", "ServeJwtKeys");
        assertThat(ReadTemplate.references(rule.at("/Assertions/0/Assert")))
                .containsExactly("ServeJwtIssuer", "ServeJwtAudience", "ServeJwtKeys");
    }

    @Test
    void records_go_to_the_stream_that_is_read() {
        assertThat(stream(Input.NEW_STREAM, Service.WRITE)).isEqualTo("InputStream");
        assertThat(stream(Input.STREAM, Service.WRITE)).isEqualTo("InputStreamArn");
        assertThat(stream(Input.STREAM, Service.READ)).isEmpty();
    }

    private static String stream(Input input, Service service) {
        return Pipelines.template(input, service)
                .properties("Serve")
                .at("/Environment/Variables/ONEFOLD_SERVE_STREAM/Ref")
                .asText();
    }

    @Test
    void records_of_batches_go_to_the_queue_or_the_stream_that_is_read() {
        assertThat(batches(BatchTemplate.Input.NEW_QUEUE)
                        .at("/ONEFOLD_SERVE_QUEUE/Ref")
                        .asText())
                .isEqualTo("InputQueue");
        assertThat(batches(BatchTemplate.Input.QUEUE)
                        .at("/ONEFOLD_SERVE_QUEUE/Ref")
                        .asText())
                .isEqualTo("InputQueueArn");
        assertThat(batches(BatchTemplate.Input.NEW_STREAM)
                        .at("/ONEFOLD_SERVE_STREAM/Ref")
                        .asText())
                .isEqualTo("InputStream");
        assertThat(batches(BatchTemplate.Input.STREAM)
                        .at("/ONEFOLD_SERVE_STREAM/Ref")
                        .asText())
                .isEqualTo("InputStreamArn");
        assertThat(batches(BatchTemplate.Input.NEW_QUEUE).has("ONEFOLD_TOTALS")).isFalse();
    }

    @Test
    void the_service_changes_no_line_of_a_batch_template() {
        for (BatchTemplate.Input input : BatchTemplate.Input.values()) {
            String served = served(input)
                    .lines()
                    .peek(line -> assertThat(line).doesNotContain("#", "<"))
                    .toList()
                    .toString();
            assertThat(served(input).lines())
                    .containsSubsequence(BatchTemplate.of(Pipelines.batches(), input)
                            .yaml()
                            .lines()
                            .toList());
            assertThat(served).contains("ServeUrl");
        }
    }

    private static String served(BatchTemplate.Input input) {
        return BatchTemplate.of(Pipelines.batches(), input, Service.WRITE).yaml();
    }

    private static JsonNode batches(BatchTemplate.Input input) {
        return new ReadTemplate(served(input)).properties("Serve").at("/Environment/Variables");
    }

    @Test
    void a_pipeline_that_reads_a_table_takes_no_records_and_says_what_to_do() {
        assertThatThrownBy(() -> Template.of(Pipelines.changes(), Input.TABLE, Service.WRITE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("reads the changes of a table")
                .hasMessageContaining("--serve read");
    }

    @Test
    void records_that_a_repeated_request_would_count_twice_are_not_taken() {
        Pipeline messages = PipelineBuilder.named("clicks")
                .idOfMessage()
                .rollup(rollup -> rollup.levels("page").count("clicks"))
                .build();
        assertThatThrownBy(() -> Template.of(messages, Input.NEW_STREAM, Service.WRITE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("would count twice")
                .hasMessageContaining("Name a field with 'id'");
        assertThat(Template.of(messages, Input.NEW_STREAM, Service.READ).yaml()).contains("ServeUrl:");
    }

    @Test
    void records_whose_ids_are_forgotten_when_they_are_delivered_are_not_taken() {
        Pipeline forgets =
                Pipelines.batches("{\"http\":\"https://host/x\"},\"receiver\":\"once\",\"forget\":\"after-delivery\"");
        assertThatThrownBy(() -> BatchTemplate.of(forgets, BatchTemplate.Input.NEW_QUEUE, Service.WRITE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("would be delivered twice")
                .hasMessageContaining("--serve read");
        assertThat(BatchTemplate.of(forgets, BatchTemplate.Input.NEW_QUEUE, Service.READ)
                        .yaml())
                .contains("ServeUrl:");
    }
}
