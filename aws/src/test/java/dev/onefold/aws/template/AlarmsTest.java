package dev.onefold.aws.template;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.NullNode;
import dev.onefold.aws.template.Template.Input;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class AlarmsTest {
    private final ReadTemplate template = Pipelines.template(Input.NEW_STREAM);

    @Test
    void these_are_watched() {
        Map<String, String> watched = new TreeMap<>();
        template.resources("AWS::CloudWatch::Alarm").forEach((name, alarm) -> {
            JsonNode properties = alarm.get("Properties");
            JsonNode dimension = properties.get("Dimensions").get(0);
            watched.put(
                    name,
                    properties.get("Namespace").asText() + " "
                            + properties.get("MetricName").asText() + " "
                            + String.join("", ReadTemplate.references(dimension)));
        });
        assertThat(watched)
                .isEqualTo(Map.ofEntries(
                        Map.entry("InputLagAlarm", "AWS/Lambda IteratorAge State"),
                        Map.entry("InputExpiringAlarm", "AWS/Lambda IteratorAge State"),
                        Map.entry("OldestDeltaAlarm", "Onefold OldestDeltaMs AWS::StackName"),
                        Map.entry("ReduceSilentAlarm", "AWS/Lambda Invocations Reduce"),
                        Map.entry("DeadLettersAlarm", "Onefold DeadLetters AWS::StackName"),
                        Map.entry("KeysAsideAlarm", "Onefold KeysAside AWS::StackName"),
                        Map.entry("ConflictsAlarm", "Onefold Conflicts AWS::StackName"),
                        Map.entry("StateErrorsAlarm", "AWS/Lambda Errors State"),
                        Map.entry("ReduceErrorsAlarm", "AWS/Lambda Errors Reduce"),
                        Map.entry("StateThrottlesAlarm", "AWS/Lambda Throttles State"),
                        Map.entry("ReduceThrottlesAlarm", "AWS/Lambda Throttles Reduce"),
                        Map.entry("RetriesAsideAlarm", "AWS/SQS ApproximateNumberOfMessagesVisible RetriesAside"),
                        Map.entry("AuditAlarm", "Onefold AuditDifferences AWS::StackName"),
                        Map.entry("PipelineRefusedAlarm", "Onefold PipelineRefused AWS::StackName"),
                        Map.entry("UpkeepErrorsAlarm", "AWS/Lambda Errors Upkeep")));
    }

    @Test
    void every_metric_of_ours_is_watched_but_those_that_only_say_how_much_and_how_late_or_what_was_wanted() {
        assertThat(template.resources("AWS::CloudWatch::Alarm").values().stream()
                        .map(alarm -> alarm.at("/Properties"))
                        .filter(alarm -> alarm.get("Namespace").asText().equals(Metric.NAMESPACE))
                        .map(alarm -> alarm.get("MetricName").asText()))
                .containsExactlyInAnyOrderElementsOf(
                        EnumSet.complementOf(EnumSet.of(Metric.Records, Metric.DelayMs, Metric.InjectedFailures))
                                .stream()
                                .filter(metric -> !metric.isOfBatches())
                                .map(Metric::name)
                                .toList());
    }

    @Test
    void silence_of_reduce_is_an_alarm_and_silence_of_anything_else_is_not() {
        template.resources("AWS::CloudWatch::Alarm")
                .forEach((name, alarm) -> assertThat(
                                alarm.at("/Properties/TreatMissingData").asText())
                        .isEqualTo(
                                switch (name) {
                                    case "ReduceSilentAlarm" -> "breaching";
                                    default -> "notBreaching";
                                }));
    }

    @Test
    void a_few_alarms_are_there_by_default_all_where_they_are_asked_for_and_no_dashboard() {
        assertThat(template.root().at("/Parameters/Alarms/Default").asText()).isEqualTo("few");
        assertThat(template.root().at("/Parameters/Dashboard/Default").asText()).isEqualTo("false");
        assertThat(template.resource("Operations").get("Condition").asText()).isEqualTo("HasDashboard");
        Map<String, List<String>> byCondition = new TreeMap<>();
        template.resources("AWS::CloudWatch::Alarm")
                .forEach((name, alarm) -> byCondition
                        .computeIfAbsent(alarm.get("Condition").asText(), _ -> new ArrayList<>())
                        .add(name));
        assertThat(byCondition.keySet()).containsExactly("HasAlarms", "HasAllAlarms");
        assertThat(byCondition.get("HasAlarms"))
                .containsExactly(
                        "AuditAlarm",
                        "DeadLettersAlarm",
                        "InputLagAlarm",
                        "KeysAsideAlarm",
                        "OldestDeltaAlarm",
                        "ReduceSilentAlarm",
                        "RetriesAsideAlarm",
                        "StateErrorsAlarm",
                        "UpkeepErrorsAlarm");
    }

    @Test
    void an_alarm_goes_to_the_topic_if_there_is_one() {
        String action = "{\"Fn::If\":[\"HasTopic\",[{\"Ref\":\"AlarmTopicArn\"}],[]]}";
        template.resources("AWS::CloudWatch::Alarm").values().forEach(alarm -> {
            assertThat(alarm.at("/Properties/AlarmActions").toString()).isEqualTo(action);
            assertThat(alarm.at("/Properties/OKActions").toString()).isEqualTo(action);
            int minutes = alarm.at("/Properties/DatapointsToAlarm").asInt();
            assertThat(minutes)
                    .isBetween(1, alarm.at("/Properties/EvaluationPeriods").asInt());
        });
    }

    @Test
    void the_dashboard_is_json_whose_widgets_do_not_overlap() throws Exception {
        JsonNode widgets = widgets();
        List<String> places = widgets.valueStream()
                .map(widget -> widget.get("x").asInt() + "," + widget.get("y").asInt())
                .toList();
        assertThat(places).hasSize(8).doesNotHaveDuplicates();
        assertThat(widgets).allSatisfy(widget -> {
            assertThat(widget.at("/properties/title").asText()).isNotEmpty();
            assertThat(widget.at("/properties/metrics")).allMatch(AlarmsTest::isMetricOrExpression);
        });
    }

    @Test
    void every_metric_of_ours_in_an_alarm_or_on_the_dashboard_is_one_that_functions_write() throws Exception {
        template.resources("AWS::CloudWatch::Alarm").values().stream()
                .map(alarm -> alarm.get("Properties"))
                .filter(alarm -> alarm.get("Namespace").asText().equals(Metric.NAMESPACE))
                .forEach(alarm ->
                        assertThat(alarm.at("/Dimensions/0/Name").asText()).isEqualTo(Metric.DIMENSION));
        List<JsonNode> ours = widgets()
                .valueStream()
                .flatMap(widget -> widget.at("/properties/metrics").valueStream())
                .filter(metric ->
                        !metric.get(0).isObject() && !metric.get(0).asText().startsWith("AWS/"))
                .toList();
        assertThat(ours).allSatisfy(metric -> {
            assertThat(metric.get(0).asText()).isEqualTo(Metric.NAMESPACE);
            assertThat(metric.get(2).asText()).isEqualTo(Metric.DIMENSION);
        });
        assertThat(ours.stream().map(metric -> Metric.valueOf(metric.get(1).asText())))
                .containsOnly(Arrays.stream(Metric.values())
                        .filter(metric -> !metric.isOfBatches())
                        .toArray(Metric[]::new));
    }

    /// The widgets, with the fields that CloudWatch takes over from the metric before: "." is one, "..." all
    /// but the last.
    private JsonNode widgets() throws Exception {
        String body =
                template.properties("Operations").at("/DashboardBody/Fn::Sub").asText();
        JsonNode widgets = new ObjectMapper().readTree(body).get("widgets");
        widgets.forEach(widget -> {
            JsonNode before = NullNode.getInstance();
            for (JsonNode each : widget.at("/properties/metrics")) {
                ArrayNode metric = (ArrayNode) each;
                if (metric.get(0).asText().equals("...")) {
                    metric.remove(0);
                    for (int i = 2; i >= 0; i--) {
                        metric.insert(0, before.get(i));
                    }
                }
                for (int i = 0; i < metric.size(); i++) {
                    if (metric.get(i).asText().equals(".")) {
                        metric.set(i, before.get(i));
                    }
                }
                before = metric;
            }
        });
        return widgets;
    }

    /// Namespace, metric, name and value of the dimension, then perhaps properties; or an expression alone.
    private static boolean isMetricOrExpression(JsonNode metric) {
        return metric.size() == 1
                ? metric.get(0).has("expression")
                : metric.size() == 4 || metric.size() == 5 && metric.get(4).isObject();
    }

    @Test
    void the_dashboard_begins_with_records_a_second_of_20_seconds_and_with_mean_p99_and_longest_delay()
            throws Exception {
        JsonNode rate = widgets().at("/0/properties");
        assertThat(rate.get("period").asInt()).isEqualTo(20);
        assertThat(rate.at("/metrics/0/0/expression").asText()).isEqualTo("records/20");
        assertThat(rate.at("/metrics/1/1").asText()).isEqualTo(Metric.Records.name());
        assertThat(rate.at("/metrics/1/4/id").asText()).isEqualTo("records");
        assertThat(rate.get("stat").asText()).isEqualTo("Sum");
        assertThat(Metric.Records.resolution()).isEqualTo(1); // Otherwise CloudWatch has no period below a minute.
        JsonNode delay = widgets().at("/1/properties");
        assertThat(delay.get("stat").asText()).isEqualTo("Average");
        assertThat(delay.get("metrics")
                        .valueStream()
                        .map(metric -> metric.at("/4/label").asText() + " "
                                + metric.at("/4/stat").asText("")))
                .containsExactly("mean ", "p99 p99", "longest Maximum");
    }
}
