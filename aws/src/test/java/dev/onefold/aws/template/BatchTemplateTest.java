package dev.onefold.aws.template;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onefold.aws.batch.FunctionReceivers;
import dev.onefold.aws.event.Invocation;
import dev.onefold.aws.store.WakeItem;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The template of batch pipelines; what goes for every template, [ReferencesTest] and [ValidatorTest] say.
class BatchTemplateTest {
    private final ReadTemplate template = Pipelines.template(BatchTemplate.Input.NEW_QUEUE);

    @ParameterizedTest
    @EnumSource
    void messages_that_are_not_collected_come_again_and_the_others_do_not(BatchTemplate.Input input) {
        JsonNode mapping = Pipelines.template(input).properties("InputMapping");
        assertThat(ReadTemplate.references(mapping.get("EventSourceArn")))
                .containsExactlyElementsOf(
                        isStream(input) ? List.of("InputConsumer", source(input)) : List.of(source(input)));
        assertThat(mapping.at("/FunctionName/Ref").asText()).isEqualTo("CollectAlias");
        assertThat(ReadTemplate.texts(mapping.get("FunctionResponseTypes"))).containsExactly("ReportBatchItemFailures");
        assertThat(mapping.at("/BatchSize/Ref").asText()).isEqualTo("BatchSize");
        assertThat(mapping.at("/MaximumBatchingWindowInSeconds/Ref").asText()).isEqualTo("MaximumBatchingWindow");
        assertThat(mapping.at(isStream(input) ? "/ParallelizationFactor/Ref" : "/ScalingConfig/MaximumConcurrency/Ref")
                        .asText())
                .isEqualTo(isStream(input) ? "ParallelizationFactor" : "MaximumConcurrency");
    }

    private static String source(BatchTemplate.Input input) {
        return switch (input) {
            case NEW_QUEUE -> "InputQueue";
            case QUEUE -> "InputQueueArn";
            case NEW_STREAM -> "InputStream";
            case STREAM -> "InputStreamArn";
        };
    }

    private static boolean isStream(BatchTemplate.Input input) {
        return input == BatchTemplate.Input.NEW_STREAM || input == BatchTemplate.Input.STREAM;
    }

    @ParameterizedTest
    @EnumSource(names = {"NEW_STREAM", "STREAM"})
    void records_of_a_stream_that_no_invocation_takes_are_read_again_and_hold_up_nothing(BatchTemplate.Input input) {
        ReadTemplate read = Pipelines.template(input);
        JsonNode mapping = read.properties("InputMapping");
        assertThat(mapping.get("BisectBatchOnFunctionError").asText()).isEqualTo("true");
        assertThat(mapping.get("StartingPosition").asText()).isEqualTo("TRIM_HORIZON");
        assertThat(mapping.get("MaximumRecordAgeInSeconds").asText()).isEqualTo("-1");
        assertThat(mapping.get("MaximumRetryAttempts").asText()).isEqualTo("-1");
        assertThat(mapping.at("/DestinationConfig/OnFailure/Destination/Fn::GetAtt")
                        .asText())
                .isEqualTo("Retries.Arn");
        JsonNode retries = read.properties("RetriesMapping");
        assertThat(retries.at("/EventSourceArn/Fn::GetAtt").asText()).isEqualTo("Retries.Arn");
        assertThat(retries.at("/FunctionName/Ref").asText()).isEqualTo("CollectAlias");
        assertThat(ReadTemplate.texts(retries.get("FunctionResponseTypes"))).containsExactly("ReportBatchItemFailures");
        assertThat(read.properties("Retries")
                        .at("/RedrivePolicy/deadLetterTargetArn/Fn::GetAtt")
                        .asText())
                .isEqualTo("RetriesAside.Arn");
        assertThat(read.properties("Collect")
                        .at("/Environment/Variables/ONEFOLD_INPUT")
                        .asText())
                .isEqualTo("stream");
        assertThat(template.properties("Collect")
                        .at("/Environment/Variables/ONEFOLD_INPUT")
                        .asText())
                .isEqualTo("queue");
    }

    @Test
    void a_message_stays_hidden_for_six_timeouts_of_collect_and_is_kept_for_14_days() {
        JsonNode queue = template.properties("InputQueue");
        assertThat(queue.path("VisibilityTimeout").toString())
                .isEqualTo("{\"Fn::FindInMap\":[\"Visibility\",{\"Ref\":\"CollectTimeout\"},\"Seconds\"]}");
        for (String timeout : ReadTemplate.texts(template.root().at("/Parameters/CollectTimeout/AllowedValues"))) {
            assertThat(template.root()
                            .at("/Mappings/Visibility/" + timeout + "/Seconds")
                            .asInt())
                    .isEqualTo(6 * Integer.parseInt(timeout));
        }
        assertThat(queue.at("/RedrivePolicy/deadLetterTargetArn/Fn::GetAtt").asText())
                .isEqualTo("InputAside.Arn");
        assertThat(queue.at("/RedrivePolicy/maxReceiveCount/Ref").asText()).isEqualTo("MaxReceiveCount");
        for (JsonNode each : List.of(queue, template.properties("InputAside"))) {
            assertThat(each.get("MessageRetentionPeriod").asInt()).isEqualTo(14 * 24 * 3_600);
        }
    }

    @Test
    void what_is_collected_wakes_seal_what_is_sealed_wakes_deliver_and_each_minute_wakes_both() {
        Map<String, String> lists = Map.of("Seal", WakeItem.LIST, "Deliver", "open");
        lists.forEach((function, list) -> {
            JsonNode mapping = template.properties(function + "Mapping");
            assertThat(mapping.at("/EventSourceArn/Fn::GetAtt").asText()).isEqualTo("Deltas.StreamArn");
            assertThat(mapping.at("/FunctionName/Ref").asText()).isEqualTo(function + "Alias");
            assertThat(mapping.get("StartingPosition").asText()).isEqualTo("TRIM_HORIZON");
            assertThat(mapping.at("/FilterCriteria/Filters/0/Pattern").asText())
                    .isEqualTo(
                            "{\"eventName\":[\"INSERT\"],\"dynamodb\":{\"Keys\":{\"l\":{\"S\":[\"" + list + "\"]}}}}");
        });
        assertThat(template.properties("Tick").get("ScheduleExpression").asText())
                .isEqualTo("rate(1 minute)");
        for (JsonNode target : template.properties("Tick").get("Targets")) {
            String function = target.get("Id").asText();
            assertThat(lists).containsKey(function);
            assertThat(target.at("/Arn/Ref").asText()).isEqualTo(function + "Alias");
            assertThat(Invocation.read(target.get("Input").asText().getBytes(StandardCharsets.UTF_8)))
                    .isEqualTo(new Invocation.Tick());
            assertThat(template.properties(function + "Permission")
                            .at("/FunctionName/Ref")
                            .asText())
                    .isEqualTo(function + "Alias");
        }
    }

    @Test
    void the_function_that_delivers_has_time_for_an_attempt_and_lambda_has_so_much() {
        for (String timeout : List.of("10s", "1m", "10m", "13m")) {
            ReadTemplate read = new ReadTemplate(BatchTemplate.of(
                            Pipelines.batches("{\"http\":\"https://host/x\",\"timeout\":\"" + timeout
                                    + "\"},\"receiver\":\"once\""),
                            BatchTemplate.Input.NEW_QUEUE)
                    .yaml());
            Batching batching = (Batching) Pipelines.batches(
                            "{\"http\":\"https://host/x\",\"timeout\":\"" + timeout + "\"},\"receiver\":\"once\"")
                    .fold();
            assertThat(read.properties("Deliver").get("Timeout").asLong())
                    .isBetween(FunctionReceivers.limits(batching).attempt().toSeconds() + 60, 900L);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_role_may_do_this_and_nothing_else(BatchTemplate.Input input) {
        ReadTemplate read = Pipelines.template(input);
        String changes = "Deltas dynamodb:DescribeStream dynamodb:GetRecords dynamodb:GetShardIterator";
        Map<String, String> collect = new TreeMap<>(Map.of(
                "Logs",
                "CollectLogs logs:CreateLogStream logs:PutLogEvents",
                "Rows",
                "Rows dynamodb:BatchGetItem dynamodb:DescribeTable dynamodb:GetItem dynamodb:PutItem",
                "Deltas",
                "Deltas dynamodb:DescribeTable dynamodb:PutItem",
                "Letters",
                "Letters dynamodb:DescribeTable dynamodb:GetItem dynamodb:PutItem dynamodb:UpdateItem",
                "Bytes",
                "LettersBucket s3:PutObject"));
        String queue = " sqs:DeleteMessage sqs:GetQueueAttributes sqs:ReceiveMessage";
        if (isStream(input)) {
            collect.put("Retries", "Retries" + queue + " sqs:SendMessage");
            collect.put("InputConsumer", "InputConsumer kinesis:SubscribeToShard");
            collect.put(
                    "Input",
                    source(input) + " kinesis:DescribeStream kinesis:DescribeStreamSummary kinesis:GetRecords"
                            + " kinesis:GetShardIterator kinesis:ListShards");
        } else {
            collect.put("Input", source(input) + queue);
        }
        if (input == BatchTemplate.Input.QUEUE || input == BatchTemplate.Input.STREAM) {
            collect.put("InputKey", source(input).replace("Arn", "KeyArn") + " kms:Decrypt");
        }
        assertThat(RolesTest.permissions(read.resource("CollectRole"))).isEqualTo(collect);
        assertThat(RolesTest.permissions(read.resource("SealRole")))
                .isEqualTo(Map.of(
                        "Logs", "SealLogs logs:CreateLogStream logs:PutLogEvents",
                        "Rows",
                                "Rows dynamodb:BatchGetItem dynamodb:ConditionCheckItem dynamodb:DeleteItem"
                                        + " dynamodb:DescribeTable dynamodb:GetItem dynamodb:PutItem"
                                        + " dynamodb:UpdateItem",
                        "Deltas", "Deltas dynamodb:DeleteItem dynamodb:DescribeTable dynamodb:PutItem dynamodb:Query",
                        "Letters", "Letters dynamodb:DescribeTable",
                        "Bytes", "LettersBucket LettersBucket s3:DeleteObject",
                        "Wakes", changes,
                        "WakesStreams", "Deltas dynamodb:ListStreams"));
        assertThat(RolesTest.permissions(read.resource("DeliverRole")))
                .isEqualTo(Map.of(
                        "Logs", "DeliverLogs logs:CreateLogStream logs:PutLogEvents",
                        "Rows", "Rows dynamodb:DescribeTable dynamodb:GetItem dynamodb:PutItem",
                        "Deltas", "Deltas dynamodb:DeleteItem dynamodb:DescribeTable dynamodb:PutItem dynamodb:Query",
                        "Letters", "Letters dynamodb:DescribeTable",
                        "Bytes", "LettersBucket s3:GetObject",
                        "Wakes", changes,
                        "WakesStreams", "Deltas dynamodb:ListStreams",
                        "Network",
                                " ec2:AssignPrivateIpAddresses ec2:CreateNetworkInterface ec2:DeleteNetworkInterface"
                                        + " ec2:DescribeNetworkInterfaces ec2:DescribeSubnets"
                                        + " ec2:UnassignPrivateIpAddresses"));
        assertThat(read.resources("AWS::IAM::Role").keySet()).containsExactly("CollectRole", "DeliverRole", "SealRole");
    }

    @Test
    void versions_of_objects_that_seal_removes_go_by_a_rule_of_the_bucket() {
        List<String> prefixes = new ArrayList<>();
        for (JsonNode rule : template.properties("LettersBucket").at("/LifecycleConfiguration/Rules")) {
            assertThat(rule.at("/NoncurrentVersionExpiration/NoncurrentDays").asInt())
                    .isEqualTo(7);
            prefixes.add(rule.get("Prefix").asText());
        }
        List<String> removable = new ArrayList<>();
        for (JsonNode statement : RolesTest.statements(template.resource("SealRole"))) {
            if (ReadTemplate.texts(statement.get("Action")).contains("s3:DeleteObject")) {
                statement
                        .get("Resource")
                        .forEach(resource -> removable.add(resource.get("Fn::Sub")
                                .asText()
                                .replace("${LettersBucket.Arn}/", "")
                                .replace("*", "")));
            }
        }
        assertThat(removable).isNotEmpty().isEqualTo(prefixes);
    }

    /// The statements of Deliver's role that it has for its receiver.
    private static Map<String, JsonNode> added(Pipeline pipeline, BatchTemplate.Input input) {
        ReadTemplate read = new ReadTemplate(BatchTemplate.of(pipeline, input).yaml());
        Map<String, JsonNode> statements = new TreeMap<>();
        RolesTest.statements(read.resource("DeliverRole"))
                .forEach(statement -> statements.put(statement.get("Sid").asText(), statement));
        statements
                .keySet()
                .removeAll(RolesTest.permissions(Pipelines.template(input).resource("DeliverRole"))
                        .keySet());
        statements.remove("Key"); // Of every role.
        assertThat(statements.keySet()).containsExactly("Contents", "Receiver");
        return statements;
    }

    private static void assertAllows(JsonNode statement, String resource, String... actions) {
        assertThat(ReadTemplate.texts(statement.get("Action"))).containsExactly(actions);
        assertThat(statement.get("Resource").toString()).isEqualTo("[" + resource + "]");
    }

    @ParameterizedTest
    @EnumSource
    void a_receiver_of_s3_gives_the_role_of_deliver_its_prefix_and_nothing_else(BatchTemplate.Input input) {
        Map<String, JsonNode> added = added(Pipelines.batchesToS3(), input);
        assertAllows(
                added.get("Contents"),
                "{\"Fn::Sub\":\"${LettersBucket.Arn}/contents/*\"}",
                "s3:GetObject",
                "s3:PutObject");
        assertAllows(
                added.get("Receiver"),
                "{\"Fn::Sub\":\"arn:${AWS::Partition}:s3:::warehouse/in/orders-*\"}",
                "s3:GetObject",
                "s3:PutObject");
    }

    @ParameterizedTest
    @EnumSource
    void a_function_as_receiver_gives_the_role_of_deliver_one_function_and_nothing_else(BatchTemplate.Input input) {
        Map<String, JsonNode> added = added(Pipelines.batchesToFunction("load:live"), input);
        assertAllows(added.get("Contents"), "{\"Fn::Sub\":\"${LettersBucket.Arn}/contents/*\"}", "s3:PutObject");
        assertAllows(
                added.get("Receiver"),
                "{\"Fn::Sub\":\"arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:load:live\"}",
                "lambda:InvokeFunction");
        String arn = "arn:aws:lambda:eu-west-1:123456789012:function:load";
        assertAllows(
                added(Pipelines.batchesToFunction(arn), input).get("Receiver"),
                "\"" + arn + "\"",
                "lambda:InvokeFunction");
    }

    @ParameterizedTest
    @EnumSource
    void many_messages_of_a_queue_need_a_window(BatchTemplate.Input input) {
        JsonNode rule = Pipelines.template(input).root().at("/Rules/WindowOfLargeBatches");
        if (input == BatchTemplate.Input.NEW_STREAM || input == BatchTemplate.Input.STREAM) {
            assertThat(rule.isMissingNode()).isTrue();
            return;
        }
        assertThat(rule.path("RuleCondition").toString())
                .isEqualTo("{\"Fn::Equals\":[{\"Ref\":\"MaximumBatchingWindow\"},\"0\"]}");
        List<String> sizes = new ArrayList<>();
        rule.at("/Assertions/0/Assert/Fn::Or").forEach(size -> {
            assertThat(size.at("/Fn::Equals/0/Ref").asText()).isEqualTo("BatchSize");
            sizes.add(size.at("/Fn::Equals/1").asText());
        });
        assertThat(sizes).containsExactly("1", "2", "3", "4", "5", "6", "7", "8", "9", "10");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Collect", "Seal", "Deliver"})
    void whatever_changes_a_function_publishes_a_version_of_it(String name) {
        for (BatchTemplate.Input input : BatchTemplate.Input.values()) {
            for (Pipeline pipeline : List.of(Pipelines.batchesWithSecret(), Pipelines.directWithSecret())) {
                assertVersioned(
                        name,
                        input,
                        new ReadTemplate(BatchTemplate.of(pipeline, input).yaml()));
            }
        }
    }

    private static void assertVersioned(String name, BatchTemplate.Input input, ReadTemplate read) {
        List<String> parameters = ReadTemplate.references(read.properties(name)).stream()
                .filter(read.names("Parameters")::contains)
                .filter(parameter -> !parameter.equals("CodeBucket")) // The key alone says which archive it is.
                // A secret must not be in a description, so its number is.
                .map(parameter -> parameter.startsWith("ReceiverSecret") ? "ReceiverSecretVersion" : parameter)
                .distinct()
                .toList();
        JsonNode description = read.properties(name + "Version").get("Description");
        assertThat(ReadTemplate.references(description)).containsExactlyInAnyOrderElementsOf(parameters);
        assertThat(Pipelines.template(input).properties(name + "Version").get("Description"))
                .as("another pipeline")
                .isNotEqualTo(description);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Collect", "Seal", "Deliver"})
    void a_function_gets_the_variables_that_it_reads_and_its_handler_is_there(String name) throws Exception {
        JsonNode function = template.properties(name);
        assertThat(Class.forName(function.get("Handler").asText()).getSimpleName())
                .isEqualTo(name + "Function");
        Map<String, String> variables = new TreeMap<>();
        function.at("/Environment/Variables")
                .properties()
                .forEach(variable -> variables.put(
                        variable.getKey(),
                        variable.getValue().isTextual()
                                ? variable.getValue().asText()
                                : variable.getValue().path("Ref").asText()));
        assertThat(variables.replace("ONEFOLD_LANES", "64")).isEqualTo("Lanes");
        Environment environment = Environment.of(variables);
        assertThat(environment.stack()).isEqualTo("AWS::StackName");
        assertThat(environment.tables().rows()).isEqualTo("Rows");
        assertThat(environment.tables().deltas()).isEqualTo("Deltas");
        assertThat(environment.tables().letters()).isEqualTo("Letters");
        assertThat(environment.bucket()).isEqualTo("LettersBucket");
        assertThat(environment.pipeline()).isEqualTo(Pipelines.batches());
    }

    @Test
    void a_stream_keeps_records_for_a_shorter_time_than_ids_are_remembered_and_marks_expire() {
        String forgets = "{\"http\":\"https://host/x\"},\"receiver\":\"once\",\"forget\":";
        for (BatchTemplate.Input input : List.of(BatchTemplate.Input.NEW_STREAM, BatchTemplate.Input.STREAM)) {
            ReadTemplate read = new ReadTemplate(BatchTemplate.of(Pipelines.batches(forgets + "\"5d\""), input)
                    .yaml());
            String parameter = input == BatchTemplate.Input.STREAM ? "InputRetentionHours" : "StreamRetentionHours";
            assertThat(read.root().at("/Parameters/" + parameter + "/MaxValue").asInt())
                    .isEqualTo(119);
            assertThat(read.properties("Collect")
                            .at("/Environment/Variables/ONEFOLD_REDELIVERY_HOURS/Ref")
                            .asText())
                    .isEqualTo(parameter);
            assertThat(ReadTemplate.references(read.properties("CollectVersion").get("Description")))
                    .contains(parameter);
        }
        assertThat(Pipelines.template(BatchTemplate.Input.STREAM).names("Parameters"))
                .doesNotContain("InputRetentionHours");
        assertThat(template.properties("Collect")
                        .at("/Environment/Variables/ONEFOLD_REDELIVERY_HOURS")
                        .asInt())
                .isEqualTo(14 * 24);
        assertThat(template.properties("Rows")
                        .at("/TimeToLiveSpecification/AttributeName")
                        .asText())
                .isEqualTo("ttl");
    }

    @Test
    void a_secret_is_in_the_environment_of_the_function_that_delivers_alone_and_is_not_echoed() {
        ReadTemplate read =
                new ReadTemplate(BatchTemplate.of(Pipelines.batchesWithSecret(), BatchTemplate.Input.NEW_QUEUE)
                        .yaml());
        assertThat(read.root().at("/Parameters/ReceiverSecret/NoEcho").asText()).isEqualTo("true");
        assertThat(read.properties("Deliver")
                        .at("/Environment/Variables/TOKEN/Fn::If/2/Ref")
                        .asText())
                .isEqualTo("ReceiverSecret");
        assertThat(ReadTemplate.references(read.properties("Collect"))).doesNotContain("ReceiverSecret");
        assertThat(template.names("Parameters")).noneMatch(name -> name.startsWith("ReceiverSecret"));
    }

    @Test
    void every_metric_of_batches_is_watched_and_silence_of_seal_is_an_alarm() throws Exception {
        assertThat(template.resources("AWS::CloudWatch::Alarm").values().stream()
                        .map(alarm -> alarm.at("/Properties"))
                        .filter(alarm -> alarm.get("Namespace").asText().equals(Metric.NAMESPACE))
                        .map(alarm -> Metric.valueOf(alarm.get("MetricName").asText()))
                        .filter(Metric::isOfBatches))
                .containsExactlyInAnyOrderElementsOf(Arrays.stream(Metric.values())
                        .filter(Metric::isOfBatches)
                        .toList());
        template.resources("AWS::CloudWatch::Alarm")
                .forEach((name, alarm) -> assertThat(
                                alarm.at("/Properties/TreatMissingData").asText())
                        .isEqualTo(name.equals("SilentAlarm") ? "breaching" : "notBreaching"));
        String body =
                template.properties("Operations").at("/DashboardBody/Fn::Sub").asText();
        assertThat(new ObjectMapper().readTree(body).get("widgets")).hasSize(6);
        for (Metric metric : Metric.values()) {
            if (metric.isOfBatches()) {
                assertThat(body).contains("\"" + metric.name() + "\"");
            }
        }
    }

    @Test
    void the_page_names_every_parameter_alarm_output_and_metric_and_no_alarm_that_there_is_not() throws Exception {
        String page = Files.readString(Path.of("..", "docs", "aws.md"));
        Set<String> named = new TreeSet<>();
        Pattern.compile("`([A-Za-z]+)`").matcher(page).results().forEach(name -> named.add(name.group(1)));
        Set<String> alarms = new TreeSet<>();
        for (BatchTemplate.Input input : BatchTemplate.Input.values()) {
            ReadTemplate read = new ReadTemplate(
                    BatchTemplate.of(Pipelines.batchesWithSecret(), input).yaml());
            assertThat(named).containsAll(read.names("Parameters")).containsAll(read.names("Outputs"));
            alarms.addAll(read.resources("AWS::CloudWatch::Alarm").keySet());
            for (String type : List.of(
                    "AWS::DynamoDB::Table",
                    "AWS::S3::Bucket",
                    "AWS::SQS::Queue",
                    "AWS::Kinesis::Stream",
                    "AWS::Lambda::Function",
                    "AWS::Lambda::EventSourceMapping",
                    "AWS::IAM::Role")) {
                assertThat(named).containsAll(read.resources(type).keySet());
            }
        }
        Set<String> inSection = new TreeSet<>();
        Pattern.compile("`([A-Za-z]+Alarm)`")
                .matcher(DocumentTest.ofBatches())
                .results()
                .forEach(name -> inSection.add(name.group(1)));
        assertThat(inSection).isEqualTo(alarms);
        assertThat(named)
                .containsAll(Arrays.stream(Metric.values())
                        .filter(Metric::isOfBatches)
                        .map(Metric::name)
                        .toList());
    }

    @Test
    void the_page_names_the_alarms_of_batches_that_a_few_leave_out() throws Exception {
        assertThat(DocumentTest.leftOut(DocumentTest.ofBatches())).isEqualTo(DocumentTest.ofAllAlarms(template));
    }

    @Test
    void the_defaults_on_the_page_are_those_of_the_template() throws Exception {
        String page = Files.readString(Path.of("..", "docs", "aws.md"));
        for (BatchTemplate.Input input : BatchTemplate.Input.values()) {
            ReadTemplate read = new ReadTemplate(
                    BatchTemplate.of(Pipelines.batchesWithSecret(), input).yaml());
            read.root().path("Parameters").properties().forEach(parameter -> {
                String value = parameter.getValue().path("Default").asText();
                boolean followsPipeline = parameter.getKey().matches("MaximumBatchingWindow|AlarmUnsealedMs");
                if (!value.isEmpty() && !followsPipeline) {
                    assertThat(page)
                            .containsPattern(
                                    "\\| [^|\n]*`" + parameter.getKey() + "`[^|\n]*\\|[^|\n]*\\| " + value + " \\|");
                }
            });
        }
    }

    @Test
    void no_comment_condition_or_name_of_a_value_stays_in_the_text() {
        Pipelines.texts()
                .forEach((name, text) -> assertThat(text.lines())
                        .as(name)
                        .noneMatch(line -> line.stripLeading().startsWith("#") || line.matches(".*<[a-z ]+>.*")));
    }
}
