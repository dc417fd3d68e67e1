package dev.onefold.cli.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.template.BatchTemplate;
import dev.onefold.aws.template.Template;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/// What our templates require of values is checked before anything is made.
class TemplateValuesTest {
    private static final String STREAM = "arn:aws:kinesis:eu-central-1:123456789012:stream/in";
    private static final Map<String, String> CODE = Map.of("CodeBucket", "bucket", "CodeKey", "functions.zip");

    private static Pipeline pipeline(String rest) {
        String text = "{\"pipeline\":\"orders\",\"input\":{" + rest + "}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var read) -> read;
            case Reading.Refused refused -> throw new AssertionError(refused.toString());
        };
    }

    private static final Pipeline TOTALS =
            pipeline("\"key\":\"k\",\"version\":\"v\"},\"rollup\":{\"levels\":[\"city\"],"
                    + "\"measures\":{\"n\":\"count()\"}}");
    private static final Pipeline CHANGES = pipeline("\"format\":\"dynamodb-stream\",\"key\":\"k\"},\"rollup\":"
            + "{\"levels\":[\"city\"],\"measures\":{\"n\":\"count()\"}}");
    private static final Pipeline BATCHES = pipeline("\"id\":\"id\"},\"batch\":{\"size\":2,\"deliver\":{\"http\":"
            + "\"https://host/x\",\"authorization\":\"TOKEN\"},\"receiver\":\"idempotent\"}");

    private static String problem(String yaml, Map<String, String> given) {
        Map<String, String> all = new TreeMap<>(CODE);
        all.putAll(given);
        return new TemplateValues(yaml, all).problem().orElse("");
    }

    @Test
    void defaults_and_values_that_fit_are_taken_by_each_template() {
        for (Template.Input input : Template.Input.values()) {
            for (Template.Service service : Template.Service.values()) {
                if (input == Template.Input.TABLE && service == Template.Service.WRITE) {
                    continue; // It is refused: changes come from the table alone.
                }
                String arn = input == Template.Input.TABLE
                        ? "arn:aws:dynamodb:eu-central-1:123456789012:table/orders/stream/2026-11-29T00:00:00.000"
                        : STREAM;
                assertThat(problem(
                                Template.of(input == Template.Input.TABLE ? CHANGES : TOTALS, input, service)
                                        .yaml(),
                                Map.of("InputStreamArn", arn, "StateMemory", "10240", "Alarms", "none")))
                        .isEmpty();
            }
        }
        for (BatchTemplate.Input input : BatchTemplate.Input.values()) {
            Map<String, String> given = new TreeMap<>(Map.of(
                    "ReceiverSecret",
                    "s",
                    "InputStreamArn",
                    STREAM,
                    "InputQueueArn",
                    "arn:aws:sqs:eu-central-1:123456789012:in",
                    "MaximumBatchingWindow",
                    "1",
                    "VpcSubnetIds",
                    "subnet-0123abcd,subnet-0123abce",
                    "VpcSecurityGroupIds",
                    "sg-0123abcd"));
            given.put("InputRetentionHours", "24");
            assertThat(problem(BatchTemplate.of(BATCHES, input).yaml(), given)).isEmpty();
        }
    }

    @Test
    void a_value_that_does_not_fit_is_named_with_what_it_may_be() {
        String totals = Template.of(TOTALS, Template.Input.STREAM).yaml();
        assertThat(problem(totals, Map.of()))
                .startsWith("The template's parameter InputStreamArn has no value. It is: ARN of the Kinesis stream");
        Map<String, String> wrong = new TreeMap<>(Map.of("InputStreamArn", STREAM));
        for (String memory : new String[] {"abc", "", "511", "10241", "-1", "1e3", "1769.5", "9".repeat(40)}) {
            wrong.put("StateMemory", memory);
            assertThat(problem(totals, wrong))
                    .isEqualTo("The template's parameter StateMemory cannot be '" + memory
                            + "': it is a number from 512 to 10240.");
        }
        wrong.put("StateMemory", "1769");
        wrong.put("Alarms", "some");
        assertThat(problem(totals, wrong))
                .isEqualTo("The template's parameter Alarms cannot be 'some': it is one of all, few, none.");
        wrong.put("InputStreamArn", "arn:aws:sqs:eu-central-1:123456789012:in");
        assertThat(problem(totals, wrong))
                .contains("InputStreamArn cannot be 'arn:aws:sqs")
                .contains(":kinesis:");
    }

    @Test
    void values_that_break_a_rule_of_the_template_are_refused_in_its_words() {
        String batches =
                BatchTemplate.of(BATCHES, BatchTemplate.Input.NEW_QUEUE).yaml();
        String arn = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:a-b";
        assertThat(problem(batches, Map.of())).startsWith("Give the secret of the receiver as ReceiverSecret, or");
        assertThat(problem(batches, Map.of("ReceiverSecret", "s", "ReceiverSecretArn", arn)))
                .startsWith("Give ReceiverSecret or ReceiverSecretArn, not both.");
        assertThat(problem(batches, Map.of("ReceiverSecret", "x".repeat(100_000))))
                .contains("ReceiverSecret cannot be '…'");
        assertThat(problem(batches, Map.of("ReceiverSecret", "s", "VpcSubnetIds", "subnet-zz")))
                .contains("VpcSubnetIds cannot be 'subnet-zz'");
        assertThat(problem(batches, Map.of("ReceiverSecret", "s", "VpcSubnetIds", "subnet-0123abcd")))
                .startsWith("VpcSubnetIds and VpcSecurityGroupIds are given together");
        assertThat(problem(batches, Map.of("ReceiverSecret", "s", "MaximumBatchingWindow", "0")))
                .startsWith("A queue gives more than 10 messages");
        assertThat(problem(batches, Map.of("ReceiverSecret", "s", "MaximumBatchingWindow", "0", "BatchSize", "10")))
                .isEmpty();
        String totals = Template.of(TOTALS, Template.Input.NEW_STREAM).yaml();
        assertThat(problem(totals, Map.of("BillingMode", "PROVISIONED"))).startsWith("With BillingMode PROVISIONED");
    }
}
