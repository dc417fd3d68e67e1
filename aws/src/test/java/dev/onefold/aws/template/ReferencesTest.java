package dev.onefold.aws.template;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.onefold.aws.template.Template.Input;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/// The template as a whole: what it refers to is there, what is there is referred to, and no limit is met.
class ReferencesTest {
    private static final Set<String> PSEUDO =
            Set.of("AWS::StackName", "AWS::Partition", "AWS::AccountId", "AWS::Region", "AWS::NoValue");

    private static final int LOGICAL_NAME_CHARACTERS_MAX = 255;
    private static final int DESCRIPTION_BYTES_MAX = 1_024;
    private static final int POLICY_CHARACTERS_MAX = 10_240;
    private static final int VERSION_DESCRIPTION_MAX = 256;
    private static final int CODE_KEY_MAX = 80;

    /// What is too long for a description, or secret: a number stands for it, and docs say that it is raised
    /// with it.
    private static final Map<String, String> NUMBERED = Map.of(
            "ReceiverSecret", "ReceiverSecretVersion",
            "ReceiverSecretArn", "ReceiverSecretVersion",
            "ReceiverSecretField", "ReceiverSecretVersion",
            "ServeJwtIssuer", "ServeJwtVersion",
            "ServeJwtAudience", "ServeJwtVersion",
            "ServeJwtKeys", "ServeJwtVersion");

    @ParameterizedTest
    @MethodSource("dev.onefold.aws.template.Pipelines#templates")
    void everything_that_is_referred_to_is_there(String yaml) {
        ReadTemplate template = new ReadTemplate(yaml);
        Set<String> known = new TreeSet<>(PSEUDO);
        known.addAll(template.names("Parameters"));
        known.addAll(template.names("Resources"));
        assertThat(known).containsAll(ReadTemplate.references(template.root()));
        ReadTemplate.forEachFunction(template.root(), (function, argument) -> {
            switch (function) {
                case "Fn::If" ->
                    assertThat(template.names("Conditions"))
                            .contains(argument.get(0).asText());
                case "Fn::FindInMap" ->
                    assertThat(template.names("Mappings"))
                            .contains(argument.get(0).asText());
                case "Fn::GetAtt" ->
                    assertThat(template.names("Resources"))
                            .contains(argument.asText().replaceFirst("\\..*", ""));
                case "Ref",
                        "Fn::Sub",
                        "Fn::Not",
                        "Fn::Equals",
                        "Fn::Join",
                        "Fn::Select",
                        "Fn::Split",
                        "Fn::And",
                        "Fn::Or" -> {}
                default -> throw new AssertionError("Nobody checks " + function);
            }
        });
        template.root().path("Resources").forEach(resource -> {
            if (resource.has("DependsOn")) {
                assertThat(template.names("Resources"))
                        .contains(resource.get("DependsOn").asText());
            }
        });
    }

    @ParameterizedTest
    @MethodSource("dev.onefold.aws.template.Pipelines#templates")
    void every_parameter_and_condition_is_used_grouped_and_explained(String yaml) {
        ReadTemplate template = new ReadTemplate(yaml);
        assertThat(ReadTemplate.references(template.root())).containsAll(template.names("Parameters"));
        List<String> grouped = new ArrayList<>();
        template.root()
                .at("/Metadata/AWS::CloudFormation::Interface/ParameterGroups")
                .forEach(group -> grouped.addAll(ReadTemplate.texts(group.get("Parameters"))));
        assertThat(grouped).containsExactlyInAnyOrderElementsOf(template.names("Parameters"));
        template.root()
                .path("Parameters")
                .forEach(parameter ->
                        assertThat(parameter.path("Description").asText()).endsWith("."));
        Set<String> conditions = new TreeSet<>();
        ReadTemplate.forEachFunction(template.root(), (function, argument) -> {
            if (function.equals("Fn::If")) {
                conditions.add(argument.get(0).asText());
            }
        });
        template.root().path("Resources").forEach(resource -> {
            if (resource.has("Condition")) {
                conditions.add(resource.get("Condition").asText());
            }
        });
        assertThat(conditions).containsExactlyInAnyOrderElementsOf(template.names("Conditions"));
    }

    @ParameterizedTest
    @EnumSource
    void only_what_nobody_can_guess_must_be_said_when_it_is_deployed(Input input) {
        ReadTemplate template = Pipelines.template(input);
        List<String> required = new ArrayList<>();
        template.root().path("Parameters").properties().forEach(parameter -> {
            if (!parameter.getValue().has("Default")) {
                required.add(parameter.getKey());
            }
        });
        assertThat(required)
                .containsExactlyInAnyOrderElementsOf(
                        input == Input.NEW_STREAM
                                ? List.of("CodeBucket", "CodeKey")
                                : List.of("CodeBucket", "CodeKey", "InputStreamArn"));
    }

    @ParameterizedTest
    @MethodSource("dev.onefold.aws.template.Pipelines#templates")
    void defaults_are_values_that_are_allowed(String yaml) {
        new ReadTemplate(yaml).root().path("Parameters").properties().forEach(entry -> {
            JsonNode parameter = entry.getValue();
            if (!parameter.has("Default")) {
                return;
            }
            String value = parameter.get("Default").asText();
            if (parameter.has("AllowedValues")) {
                assertThat(ReadTemplate.texts(parameter.get("AllowedValues"))).contains(value);
            }
            if (parameter.has("AllowedPattern")) {
                assertThat(value).matches(parameter.get("AllowedPattern").asText());
            }
            if (parameter.has("MinValue")) {
                assertThat(Long.parseLong(value))
                        .isGreaterThanOrEqualTo(parameter.get("MinValue").asLong());
            }
            if (parameter.has("MaxValue")) {
                assertThat(Long.parseLong(value))
                        .isLessThanOrEqualTo(parameter.get("MaxValue").asLong());
            }
        });
    }

    @Test
    void only_a_template_with_a_published_table_and_the_service_needs_a_bucket() {
        Pipelines.texts()
                .forEach((name, yaml) -> assertThat(yaml.getBytes(StandardCharsets.UTF_8).length > Template.BYTES_MAX)
                        .as(name)
                        .isEqualTo(name.equals("PUBLISHED_SERVED")));
    }

    @ParameterizedTest
    @MethodSource("dev.onefold.aws.template.Pipelines#templates")
    void names_and_texts_keep_within_the_limits_of_the_services(String yaml) {
        ReadTemplate template = new ReadTemplate(yaml);
        assertThat(template.root().path("Description").asText()).hasSizeLessThan(DESCRIPTION_BYTES_MAX);
        for (String section : List.of("Parameters", "Resources", "Outputs", "Mappings", "Conditions")) {
            assertThat(template.names(section))
                    .allSatisfy(name -> assertThat(name)
                            .matches("[a-zA-Z0-9]+")
                            .hasSizeLessThanOrEqualTo(LOGICAL_NAME_CHARACTERS_MAX));
        }
        assertThat(template.names("Parameters")).hasSizeLessThanOrEqualTo(200);
        assertThat(template.names("Outputs")).hasSizeLessThanOrEqualTo(200);
        assertThat(template.names("Resources")).hasSizeLessThanOrEqualTo(500);
        template.resources("AWS::IAM::Role")
                .values()
                .forEach(role ->
                        assertThat(role.at("/Properties/Policies").toString()).hasSizeLessThan(POLICY_CHARACTERS_MAX));
        template.resources("AWS::CloudWatch::Alarm")
                .values()
                .forEach(alarm -> assertThat(
                                alarm.at("/Properties/AlarmDescription").asText())
                        .hasSizeLessThan(DESCRIPTION_BYTES_MAX)
                        .endsWith("."));
        assertThat(template.root().at("/Parameters/CodeKey/MaxLength").asInt()).isEqualTo(CODE_KEY_MAX);
    }

    /// Lambda publishes a version only if something of it changes, and of a parameter that is its description.
    @ParameterizedTest
    @MethodSource("dev.onefold.aws.template.Pipelines#templates")
    void a_version_names_each_parameter_of_its_function(String yaml) {
        ReadTemplate template = new ReadTemplate(yaml);
        Map<String, JsonNode> functions = template.resources("AWS::Lambda::Function");
        assertThat(functions).isNotEmpty();
        functions.forEach((name, function) -> {
            ObjectNode properties = ((ObjectNode) function.path("Properties")).deepCopy();
            properties.remove("ReservedConcurrentExecutions"); // Of the function itself, whatever its version.
            Set<String> parameters = new TreeSet<>(ReadTemplate.references(properties));
            parameters.retainAll(template.names("Parameters"));
            parameters.remove("CodeBucket"); // The key alone says which archive it is.
            NUMBERED.forEach((parameter, number) -> {
                if (parameters.remove(parameter)) {
                    parameters.add(number);
                }
            });
            assertThat(ReadTemplate.references(
                            template.properties(name + "Version").path("Description")))
                    .as(name)
                    .containsAll(parameters);
        });
    }

    @ParameterizedTest
    @MethodSource("dev.onefold.aws.template.Pipelines#templates")
    void a_versions_description_is_short_enough_whatever_the_parameters_are(String yaml) {
        ReadTemplate template = new ReadTemplate(yaml);
        template.resources("AWS::Lambda::Version")
                .forEach((name, version) -> assertThat(longest(template, version.at("/Properties/Description")))
                        .as(name)
                        .matches("[a-z].{100,}")
                        .hasSizeLessThanOrEqualTo(VERSION_DESCRIPTION_MAX));
    }

    /// The longest text that something of a template can become.
    private static String longest(ReadTemplate template, JsonNode node) {
        if (node.isTextual()) {
            return node.asText();
        }
        String function = ReadTemplate.names(node).getFirst();
        JsonNode argument = node.get(function);
        return switch (function) {
            case "Ref" -> longestOf(template.root().path("Parameters").path(argument.asText()));
            case "Fn::Sub" ->
                Pattern.compile("\\$\\{(\\w+)}")
                        .matcher(argument.asText())
                        .replaceAll(found ->
                                longestOf(template.root().path("Parameters").path(found.group(1))));
            case "Fn::Join" -> {
                if (argument.get(1).has("Fn::Split")) { // What every item begins with is cut off.
                    JsonNode split = argument.get(1).get("Fn::Split");
                    yield longest(template, split.get(1))
                            .replace(split.get(0).asText(), argument.get(0).asText());
                }
                List<String> parts = new ArrayList<>();
                argument.get(1).forEach(part -> parts.add(longest(template, part)));
                yield String.join(argument.get(0).asText(), parts);
            }
            case "Fn::Select" -> {
                JsonNode split = argument.get(1).get("Fn::Split");
                yield longest(template, split.get(1))
                        .split(split.get(0).asText(), -1)[argument.get(0).asInt()];
            }
            default -> throw new AssertionError("Nobody measures " + function);
        };
    }

    private static String longestOf(JsonNode parameter) {
        String pattern = parameter.path("AllowedPattern").asText();
        if (pattern.contains(":kinesis:")) {
            return "arn:aws-us-gov:kinesis:ap-southeast-5:123456789012:stream/" + "s".repeat(128);
        }
        if (pattern.contains("subnet-") || pattern.contains("sg-")) {
            String each = (pattern.contains("subnet-") ? "subnet-" : "sg-") + "0".repeat(17);
            String all = String.join(",", each, each, each);
            assertThat(all).matches(pattern).hasSize(parameter.get("MaxLength").asInt());
            return all;
        }
        if (pattern.contains(":sqs:")) {
            return "arn:aws-us-gov:sqs:ap-southeast-5:123456789012:" + "q".repeat(80);
        }
        if (parameter.has("MaxLength")) {
            return "x".repeat(parameter.get("MaxLength").asInt());
        }
        if (parameter.has("AllowedValues")) {
            return Collections.max(
                    ReadTemplate.texts(parameter.get("AllowedValues")), Comparator.comparingInt(String::length));
        }
        if (parameter.path("Type").asText().equals("Number")) {
            return parameter.path("MaxValue").asText("2147483647");
        }
        throw new AssertionError("Nobody measures " + parameter);
    }

    @ParameterizedTest
    @EnumSource
    void the_same_pipeline_gives_the_same_text(Input input) {
        assertThat(Template.of(Pipelines.of(input), input).yaml())
                .isEqualTo(Template.of(Pipelines.of(input), input).yaml());
    }
}
