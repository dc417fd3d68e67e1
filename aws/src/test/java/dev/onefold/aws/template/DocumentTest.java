package dev.onefold.aws.template;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.template.Template.Input;
import dev.onefold.aws.template.Template.Service;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// The page about AWS names everything that a user of the template meets.
class DocumentTest {
    private static final Path PAGE = Path.of("..", "docs", "aws.md");
    private static final Pattern NAME = Pattern.compile("`([A-Za-z]+)`");

    @Test
    void the_page_names_every_parameter_alarm_output_metric_and_thing_that_holds_something() throws IOException {
        Set<String> named = new TreeSet<>();
        NAME.matcher(Files.readString(PAGE))
                .results()
                .map(MatchResult::group)
                .forEach(name -> named.add(name.substring(1, name.length() - 1)));
        List<ReadTemplate> templates = new ArrayList<>(List.of(published()));
        for (Input input : Input.values()) {
            templates.add(Pipelines.template(input));
        }
        templates.add(new ReadTemplate(Pipelines.compared(Input.TABLE, true)));
        for (ReadTemplate template : templates) {
            assertThat(named).containsAll(template.names("Parameters"));
            assertThat(named).containsAll(template.names("Outputs"));
            for (String type : new String[] {
                "AWS::CloudWatch::Alarm",
                "AWS::DynamoDB::Table",
                "AWS::S3::Bucket",
                "AWS::SQS::Queue",
                "AWS::Kinesis::Stream",
                "AWS::Lambda::Function",
                "AWS::Lambda::EventSourceMapping",
                "AWS::IAM::Role"
            }) {
                assertThat(named).containsAll(template.resources(type).keySet());
            }
        }
        assertThat(named)
                .containsAll(Arrays.stream(Metric.values())
                        .filter(metric -> !metric.isOfBatches())
                        .map(Metric::name)
                        .toList());
    }

    /// The template with most in it.
    private static ReadTemplate published() {
        return new ReadTemplate(
                Template.of(Pipelines.published(), Input.TABLE, Service.READ).yaml());
    }

    @Test
    void the_page_names_no_alarm_that_there_is_not() throws IOException {
        Set<String> alarms =
                new TreeSet<>(published().resources("AWS::CloudWatch::Alarm").keySet());
        alarms.addAll(new ReadTemplate(Pipelines.compared(Input.TABLE, true))
                .resources("AWS::CloudWatch::Alarm")
                .keySet());
        assertThat(NAME.matcher(Files.readString(PAGE))
                        .results()
                        .map(name -> name.group(1))
                        .filter(name -> name.endsWith("Alarm")))
                .allMatch(alarms::contains);
    }

    @Test
    void the_defaults_on_the_page_are_those_of_the_template() throws IOException {
        String page = Files.readString(PAGE);
        ReadTemplate template = Pipelines.template(Input.NEW_STREAM, Service.WRITE);
        template.root().path("Parameters").properties().forEach(parameter -> {
            String value = parameter.getValue().path("Default").asText();
            if (!value.isEmpty()) {
                assertThat(page)
                        .containsPattern(
                                "\\| [^|\n]*`" + parameter.getKey() + "`[^|\n]*\\|[^|\n]*\\| " + value + " \\|");
            }
        });
    }
}
