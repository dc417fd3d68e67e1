package dev.onefold.aws.template;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/// The alarms, and a page that shows what they watch.
final class Alarms {
    private static final String LAMBDA = "AWS/Lambda";
    private static final String QUEUE = "AWS/SQS";

    /// Half of what a stream keeps at least, in milliseconds: time to act before input is lost.
    private static final String HALF_OF_RETENTION_MS = "43200000";

    /// An alarm costs 10 cents a month. These few tell of lost input, late or wrong totals, and waiting records.
    private static final Set<String> FEW =
            Set.of("InputLagAlarm", "OldestDeltaAlarm", "ReduceSilentAlarm", "DeadLettersAlarm", "AuditAlarm");

    private static final int MINUTES = 5;
    private static final int SILENT_TICKS = 3;

    /// What is watched.
    ///
    /// @param dimension name and value, as YAML
    /// @param over the alarm is raised at more than this
    /// @param minutes how many minutes of the last five
    private record Alarm(
            String name,
            String description,
            String namespace,
            String metric,
            String dimension,
            String statistic,
            String over,
            int minutes,
            String missing) {
        String yaml() {
            return """
                      %s:
                        Type: AWS::CloudWatch::Alarm
                        Condition: %s
                        Properties:
                          AlarmDescription: '%s'
                          Namespace: %s
                          MetricName: %s
                          Dimensions: [%s]
                          Statistic: %s
                          Period: %s
                          EvaluationPeriods: %d
                          DatapointsToAlarm: %d
                          ComparisonOperator: %s
                          Threshold: %s
                          TreatMissingData: %s
                          AlarmActions: !If [HasAlarmTopic, [!Ref AlarmTopicArn], !Ref AWS::NoValue]
                          OKActions: !If [HasAlarmTopic, [!Ref AlarmTopicArn], !Ref AWS::NoValue]
                    """.formatted(
                            name,
                            FEW.contains(name) ? "HasAlarms" : "HasAllAlarms",
                            description,
                            namespace,
                            metric,
                            dimension,
                            statistic,
                            isSilence() ? "!FindInMap [Tick, !Ref TickMinutes, Seconds]" : "60",
                            isSilence() ? SILENT_TICKS : MINUTES,
                            isSilence() ? SILENT_TICKS : minutes,
                            isSilence() ? "LessThanThreshold" : "GreaterThanThreshold",
                            over,
                            missing);
        }

        /// An alarm on what does not happen, at the pace of the ticks.
        private boolean isSilence() {
            return missing.equals("breaching");
        }
    }

    private static final List<Alarm> ALARMS = List.of(
            new Alarm(
                    "InputLagAlarm",
                    "State is behind the input.",
                    LAMBDA,
                    "IteratorAge",
                    function("State"),
                    "Maximum",
                    "!Ref AlarmLagMs",
                    3,
                    "notBreaching"),
            new Alarm(
                    "InputExpiringAlarm",
                    "State is 12 hours behind the input. A stream that keeps 24 hours will lose records.",
                    LAMBDA,
                    "IteratorAge",
                    function("State"),
                    "Maximum",
                    HALF_OF_RETENTION_MS,
                    1,
                    "notBreaching"),
            new Alarm(
                    "OldestDeltaAlarm",
                    "Totals are behind the rows.",
                    Metric.NAMESPACE,
                    Metric.OldestDeltaMs.name(),
                    stack(),
                    "Maximum",
                    "!Ref AlarmLagMs",
                    1,
                    "notBreaching"),
            new Alarm(
                    "ReduceSilentAlarm",
                    "Nothing invokes Reduce, neither the stream of the deltas nor the ticks.",
                    LAMBDA,
                    "Invocations",
                    function("Reduce"),
                    "Sum",
                    "1",
                    1,
                    "breaching"),
            new Alarm(
                    "DeadLettersAlarm",
                    "Records were rejected. They are kept.",
                    Metric.NAMESPACE,
                    Metric.DeadLetters.name(),
                    stack(),
                    "Sum",
                    "0",
                    1,
                    "notBreaching"),
            new Alarm(
                    "ConflictsAlarm",
                    "One version of a key came with two contents. The greater one counts, the other one is kept.",
                    Metric.NAMESPACE,
                    Metric.Conflicts.name(),
                    stack(),
                    "Sum",
                    "0",
                    1,
                    "notBreaching"),
            new Alarm(
                    "AuditAlarm",
                    "An audit found totals that differ from the rows.",
                    Metric.NAMESPACE,
                    Metric.AuditDifferences.name(),
                    stack(),
                    "Sum",
                    "0",
                    1,
                    "notBreaching"),
            new Alarm(
                    "PipelineRefusedAlarm",
                    "The deployed pipeline cannot be made of what the rows hold. The one before goes on.",
                    Metric.NAMESPACE,
                    Metric.PipelineRefused.name(),
                    stack(),
                    "Maximum",
                    "0",
                    1,
                    "notBreaching"),
            lambda("State", "Errors", "State fails. It is invoked again with the same records."),
            lambda("Reduce", "Errors", "Reduce fails. Deltas wait and are not lost."),
            lambda("Upkeep", "Errors", "Upkeep fails. Totals are right, and no audit or new pipeline goes on."),
            lambda("State", "Throttles", "State is throttled: the account allows no more concurrent functions."),
            lambda("Reduce", "Throttles", "Reduce is throttled: the account allows no more concurrent functions."),
            new Alarm(
                    "RetriesAsideAlarm",
                    "Records could not be read again from the stream. Their positions lie aside for 14 days.",
                    QUEUE,
                    "ApproximateNumberOfMessagesVisible",
                    "{Name: QueueName, Value: !GetAtt RetriesAside.QueueName}",
                    "Maximum",
                    "0",
                    1,
                    "notBreaching"));

    private Alarms() {}

    static String yaml() {
        return ALARMS.stream().map(Alarm::yaml).collect(Collectors.joining()) + dashboard();
    }

    private static Alarm lambda(String function, String metric, String description) {
        return new Alarm(
                function + metric + "Alarm",
                description,
                LAMBDA,
                metric,
                function(function),
                "Sum",
                "0",
                function.equals("Upkeep") ? 1 : 3, // Only the ticks invoke it, which may be minutes apart.
                "notBreaching");
    }

    private static String function(String name) {
        return "{Name: FunctionName, Value: !Ref " + name + "}";
    }

    private static String stack() {
        return "{Name: " + Metric.DIMENSION + ", Value: !Ref AWS::StackName}";
    }

    private static String dashboard() {
        String widgets = String.join(
                ",",
                rate(0),
                delay(1),
                widget(
                        2,
                        "Lag of the input and of the totals, ms",
                        "Maximum",
                        lambdaMetric("IteratorAge", "State"),
                        ownMetric(Metric.OldestDeltaMs)),
                widget(
                        3,
                        "Dead letters, conflicts, audits",
                        "Sum",
                        ownMetric(Metric.DeadLetters),
                        ownMetric(Metric.Conflicts),
                        ownMetric(Metric.AuditDifferences),
                        ownMetric(Metric.PipelineRefused)),
                widget(
                        4,
                        "Invocations",
                        "Sum",
                        lambdaMetric("Invocations", "State"),
                        lambdaMetric("Invocations", "Reduce")),
                widget(
                        5,
                        "Errors and throttles",
                        "Sum",
                        lambdaMetric("Errors", "State"),
                        lambdaMetric("Errors", "Reduce"),
                        lambdaMetric("Errors", "Upkeep"),
                        lambdaMetric("Throttles", "State"),
                        lambdaMetric("Throttles", "Reduce")),
                widget(6, "Duration, ms", "p99", lambdaMetric("Duration", "State"), lambdaMetric("Duration", "Reduce")),
                widget(7, "Write units", "Sum", writeUnits("Rows"), writeUnits("Deltas"), writeUnits("Totals")));
        return """
                  Operations:
                    Type: AWS::CloudWatch::Dashboard
                    Condition: HasDashboard
                    Properties:
                      DashboardBody: !Sub '{"widgets":[%s]}'
                """.formatted(widgets);
    }

    /// Records of 20 seconds, a second's share of them.
    private static String rate(int place) {
        return widget(
                place,
                "Records a second, over 20 seconds",
                "Sum",
                20,
                "[{\"expression\":\"records/20\",\"label\":\"records/s\",\"period\":20}]",
                ownMetric(Metric.Records, "{\"id\":\"records\",\"visible\":false}"));
    }

    private static String delay(int place) {
        return widget(
                place,
                "Delay from arrival to visible, ms",
                "Average",
                60,
                ownMetric(Metric.DelayMs, "{\"label\":\"mean\"}"),
                ownMetric(Metric.DelayMs, "{\"label\":\"p99\",\"stat\":\"p99\"}"),
                ownMetric(Metric.DelayMs, "{\"label\":\"longest\",\"stat\":\"Maximum\"}"));
    }

    private static String widget(int place, String title, String statistic, String... metrics) {
        return widget(place, title, statistic, 60, metrics);
    }

    private static String widget(int place, String title, String statistic, int seconds, String... metrics) {
        return """
                {"type":"metric","x":%d,"y":%d,"width":12,"height":6,"properties":{"title":"%s","region":"${AWS::Region}",\
                "stat":"%s","period":%d,"metrics":[%s]}}""".formatted(place % 2 * 12, place / 2 * 6, title, statistic, seconds, String.join(",", metrics));
    }

    private static String ownMetric(Metric metric, String properties) {
        return "[\"%s\",\"%s\",\"%s\",\"${AWS::StackName}\",%s]"
                .formatted(Metric.NAMESPACE, metric, Metric.DIMENSION, properties);
    }

    private static String lambdaMetric(String metric, String function) {
        return "[\"%s\",\"%s\",\"FunctionName\",\"${%s}\"]".formatted(LAMBDA, metric, function);
    }

    private static String ownMetric(Metric metric) {
        return "[\"%s\",\"%s\",\"%s\",\"${AWS::StackName}\"]".formatted(Metric.NAMESPACE, metric, Metric.DIMENSION);
    }

    private static String writeUnits(String table) {
        return "[\"AWS/DynamoDB\",\"ConsumedWriteCapacityUnits\",\"TableName\",\"${%s}\"]".formatted(table);
    }
}
