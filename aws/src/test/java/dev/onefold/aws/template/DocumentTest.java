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
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// The page about AWS names everything that a user of the template meets. Its section on batches is of another
/// template.
class DocumentTest {
    private static final Path PAGE = Path.of("..", "docs", "aws.md");
    private static final String BATCHES = "\n## Batches on AWS\n";
    private static final Pattern NAME = Pattern.compile("`([A-Za-z]+)`");

    @Test
    void the_page_names_every_parameter_alarm_output_metric_and_thing_that_holds_something() throws IOException {
        Set<String> named = new TreeSet<>();
        NAME.matcher(ofTotals())
                .results()
                .map(MatchResult::group)
                .forEach(name -> named.add(name.substring(1, name.length() - 1)));
        List<ReadTemplate> templates = new ArrayList<>(List.of(published()));
        for (Input input : Input.values()) {
            templates.add(Pipelines.template(input));
        }
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

    @Test
    void the_page_names_the_alarms_that_a_few_leave_out() throws IOException {
        assertThat(leftOut(ofTotals()))
                .isEqualTo(ofAllAlarms(Pipelines.template(Input.NEW_STREAM)))
                .isEqualTo(ofAllAlarms(published()));
    }

    /// The alarms in the sentence about those that the value few of the parameter leaves out.
    static Set<String> leftOut(String text) {
        String sentence =
                text.replaceFirst("(?s).*`Alarms` few leaves out ", "").replaceFirst("(?s)\\.\\n.*", "");
        return NAME.matcher(sentence)
                .results()
                .map(name -> name.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    static Set<String> ofAllAlarms(ReadTemplate template) {
        return template.resources("AWS::CloudWatch::Alarm").entrySet().stream()
                .filter(alarm -> alarm.getValue().get("Condition").asText().equals("HasAllAlarms"))
                .map(Map.Entry::getKey)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String ofTotals() throws IOException {
        String page = Files.readString(PAGE);
        assertThat(page).containsOnlyOnce(BATCHES);
        return page.substring(0, page.indexOf(BATCHES) + 1);
    }

    /// The section on batches.
    static String ofBatches() throws IOException {
        return Files.readString(PAGE).substring(ofTotals().length());
    }

    /// The template with most in it.
    private static ReadTemplate published() {
        return new ReadTemplate(
                Template.of(Pipelines.published(), Input.TABLE, Service.READ).yaml());
    }

    @Test
    void the_page_names_no_alarm_that_there_is_not() throws IOException {
        Set<String> alarms = published().resources("AWS::CloudWatch::Alarm").keySet();
        assertThat(NAME.matcher(ofTotals()).results().map(name -> name.group(1)).filter(name -> name.endsWith("Alarm")))
                .allMatch(alarms::contains);
    }

    @Test
    void the_defaults_on_the_page_are_those_of_the_template() throws IOException {
        String page = ofTotals();
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
