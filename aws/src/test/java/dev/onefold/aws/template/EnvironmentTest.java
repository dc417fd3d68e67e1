package dev.onefold.aws.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.pipeline.Pipeline;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EnvironmentTest {
    /// What CloudFormation makes of a stack's name and a resource's, at most: stack, resource, 12 letters.
    private static final int STACK_CHARACTERS_MAX = 128;

    private static final int SUFFIX_CHARACTERS = 14;
    private static final int BUCKET_CHARACTERS_MAX = 63;
    private static final int STREAM_CHARACTERS_MAX = 128;

    private static final int CODE_KEY_CHARACTERS_MAX = 80;

    private static Map<String, String> variables(String pipeline) {
        Map<String, String> variables = new HashMap<>();
        for (String name : List.of(
                Environment.STACK,
                Environment.ROWS,
                Environment.DELTAS,
                Environment.TOTALS,
                Environment.LETTERS,
                Environment.BUCKET)) {
            variables.put(name, "x");
        }
        variables.put(Environment.LANES, "8");
        variables.put(Environment.GATES, "2048");
        variables.put(Environment.PIPELINE, pipeline);
        return variables;
    }

    @Test
    void a_pipeline_comes_back_as_it_was() {
        assertThat(Environment.of(variables(Environment.code(Pipelines.changes())))
                        .pipeline())
                .isEqualTo(Pipelines.changes());
    }

    @Test
    void a_missing_variable_is_named() {
        Map<String, String> variables = variables(Environment.code(Pipelines.trades()));
        variables.remove(Environment.TOTALS);
        assertThatThrownBy(() -> Environment.of(variables).tables())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no variable ONEFOLD_TOTALS")
                .hasMessageContaining("onefold aws template");
    }

    @ParameterizedTest
    @ValueSource(strings = {"eight", "0", "65"})
    void a_number_of_lanes_that_cannot_be_is_named(String lanes) {
        Map<String, String> variables = variables(Environment.code(Pipelines.trades()));
        variables.put(Environment.LANES, lanes);
        assertThatThrownBy(() -> Environment.of(variables).layout())
                .hasMessageContaining(lanes.equals("eight") ? "LANES" : lanes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "####", "AAAA", "q1YqSVWyUkpMSVWqBQA"})
    void a_variable_that_holds_no_pipeline_is_named(String code) {
        assertThatThrownBy(() -> Environment.of(variables(code)).pipeline())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("ONEFOLD_PIPELINE");
    }

    @Test
    void all_variables_fit_into_a_functions_environment_whatever_the_stack_is_called() {
        int characters = Environment.PIPELINE.length() + Environment.PIPELINE_CHARACTERS_MAX;
        characters += Environment.STACK.length() + STACK_CHARACTERS_MAX;
        for (String table : List.of("Rows", "Deltas", "Totals", "Letters")) {
            // CloudFormation cuts the name, where it would be longer than a table's may be, which is 255.
            characters += "ONEFOLD_".length() + 2 * table.length() + STACK_CHARACTERS_MAX + SUFFIX_CHARACTERS;
        }
        characters += Environment.BUCKET.length() + BUCKET_CHARACTERS_MAX;
        characters += Environment.FAIL_PERCENT.length() + 8;
        characters += "ONEFOLD_CODE".length() + CODE_KEY_CHARACTERS_MAX;
        characters += Environment.LANES.length() + 2 + Environment.GATES.length() + 4;
        assertThat(characters).isLessThanOrEqualTo(Environment.CHARACTERS_MAX);
    }

    @Test
    void all_variables_fit_into_the_environment_of_the_function_that_serves_whatever_its_tokens_are() {
        JsonNode template = Pipelines.template(Template.Input.STREAM, Template.Service.WRITE)
                .root();
        int characters = Environment.PIPELINE.length() + Environment.SERVED_CHARACTERS_MAX;
        for (String table : List.of("Rows", "Deltas", "Totals", "Letters")) {
            characters += "ONEFOLD_".length() + 2 * table.length() + STACK_CHARACTERS_MAX + SUFFIX_CHARACTERS;
        }
        characters += Environment.BUCKET.length() + BUCKET_CHARACTERS_MAX;
        characters += "ONEFOLD_SERVE_STREAM".length()
                + "arn:aws-us-gov:kinesis:ap-southeast-5:123456789012:stream/".length()
                + STREAM_CHARACTERS_MAX;
        characters += "ONEFOLD_CODE".length() + CODE_KEY_CHARACTERS_MAX + 10; // And the version of the tokens.
        for (String name : List.of("Issuer", "Audience", "Keys")) {
            characters += "ONEFOLD_SERVE_".length()
                    + name.length()
                    + template.at("/Parameters/ServeJwt" + name + "/MaxLength").asInt();
        }
        assertThat(characters).isBetween(Environment.CHARACTERS_MAX - 100, Environment.CHARACTERS_MAX);
    }

    @Test
    void all_variables_fit_into_the_environment_of_the_function_that_delivers_whatever_its_secret_is() {
        // Texts that do not compress: pipelines that fill the room, and one that leaves enough for every secret.
        for (int letters : List.of(10, 1_000, 2_000, 2_800)) {
            Random random = new Random(letters);
            String address = random.ints(letters, 'a', 'z' + 1)
                    .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                    .toString();
            Pipeline pipeline = Pipelines.batches(
                    "{\"http\":\"https://host/" + address + "\",\"authorization\":\"TOKEN\"},\"receiver\":\"once\"");
            ReadTemplate template = new ReadTemplate(
                    BatchTemplate.of(pipeline, BatchTemplate.Input.STREAM).yaml());
            int secret =
                    template.root().at("/Parameters/ReceiverSecret/MaxLength").asInt();
            JsonNode variables = template.properties("Deliver").at("/Environment/Variables");
            int characters = secret + Environment.code(pipeline).length();
            int inSecretsManager = 0;
            for (String name : List.of("Arn", "Field")) {
                String variable = "ONEFOLD_SECRET_" + name.toUpperCase(Locale.ROOT);
                assertThat(variables.has(variable)).isTrue();
                ((ObjectNode) variables).remove(variable);
                inSecretsManager += variable.length()
                        + template.root()
                                .at("/Parameters/ReceiverSecret" + name + "/MaxLength")
                                .asInt();
            }
            assertThat(inSecretsManager).isLessThan(secret);
            for (String name : ReadTemplate.names(variables)) {
                characters += name.length() + CHARACTERS_OF_DELIVER.get(name);
            }
            assertThat(characters).as(letters + " letters").isLessThanOrEqualTo(Environment.CHARACTERS_MAX);
            assertThat(secret).as(letters + " letters").isBetween(600, 1_000);
        }
    }

    /// The longest values, but for those of pipeline and secret.
    private static final Map<String, Integer> CHARACTERS_OF_DELIVER = Map.of(
            "ONEFOLD_STACK",
            STACK_CHARACTERS_MAX,
            "ONEFOLD_ROWS",
            STACK_CHARACTERS_MAX + "-rows".length(),
            "ONEFOLD_DELTAS",
            STACK_CHARACTERS_MAX + "-deltas".length(),
            "ONEFOLD_LETTERS",
            STACK_CHARACTERS_MAX + "-letters".length(),
            "ONEFOLD_BUCKET",
            BUCKET_CHARACTERS_MAX,
            "ONEFOLD_LANES",
            2,
            "ONEFOLD_FAIL_PERCENT",
            3,
            "ONEFOLD_CODE",
            CODE_KEY_CHARACTERS_MAX + " secret 1000000, ".length(),
            "ONEFOLD_PIPELINE",
            0,
            "TOKEN",
            0);

    @Test
    void a_pipeline_that_leaves_no_room_for_tokens_is_not_served_and_says_so() {
        String code = "x".repeat(Environment.SERVED_CHARACTERS_MAX + 1);
        ServeParts.Target target = new ServeParts.Target(false, false, true, "");
        assertThatThrownBy(() -> ServeParts.added("Resources:\n", Template.Service.READ, target, code))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("1821 characters", "without '--serve'");
    }

    @ParameterizedTest
    @CsvSource({"0,0", "1,10000", "2.5,25000", "0.0001,1", "100,1000000"})
    void invocations_that_fail_on_purpose_are_so_many_of_a_hundred(String percent, int ofMillion) {
        Map<String, String> variables = variables(Environment.code(Pipelines.trades()));
        assertThat(Environment.of(variables).failOfMillion()).isZero();
        variables.put(Environment.FAIL_PERCENT, percent);
        assertThat(Environment.of(variables).failOfMillion()).isEqualTo(ofMillion);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "101", "100.1", "NaN", "1e9", "", "0.00001"})
    void a_share_of_failures_that_cannot_be_is_refused_by_the_function_that_reads_it(String percent) {
        Map<String, String> variables = variables(Environment.code(Pipelines.trades()));
        variables.put(Environment.FAIL_PERCENT, percent);
        assertThatThrownBy(() -> Environment.of(variables).failOfMillion())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("a number from 0 to 100")
                .hasMessageContaining("not " + percent + ".")
                .hasMessageContaining("FailStatePercent");
    }

    @Test
    void a_large_pipeline_takes_little_room() {
        PipelineBuilder builder = PipelineBuilder.named("large").key("id").version("version");
        for (int i = 0; i < 8; i++) {
            String field = "some.field.number-" + i;
            builder.rollup("by-field-number-" + i, rollup -> {
                rollup.levels(field, field + ".below", "bucket(Timestamp, 1h)");
                for (int j = 0; j < 12; j++) {
                    rollup.sum("sum-of-" + j, "amounts.amount-" + j, 18, 2);
                }
            });
        }
        Pipeline large = builder.build();
        assertThat(PipelineText.write(large).length()).isGreaterThan(4_096);
        assertThat(Environment.code(large).length()).isLessThan(Environment.PIPELINE_CHARACTERS_MAX / 2);
    }
}
