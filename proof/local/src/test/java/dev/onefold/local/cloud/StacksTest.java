package dev.onefold.local.cloud;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.services.cloudformation.model.AlreadyExistsException;
import software.amazon.awssdk.services.cloudformation.model.InsufficientCapabilitiesException;
import software.amazon.awssdk.services.cloudformation.model.LimitExceededException;
import software.amazon.awssdk.services.cloudformation.model.OnFailure;
import software.amazon.awssdk.services.cloudformation.model.Stack;
import software.amazon.awssdk.services.cloudformation.model.StackEvent;
import software.amazon.awssdk.services.cloudformation.model.StackResource;
import software.amazon.awssdk.services.cloudformation.model.StackStatus;
import software.amazon.awssdk.services.cloudwatch.model.Metric;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.ReturnConsumedCapacity;

/// What CloudFormation's stand-in does, asked by AWS's own client. All servers are opened once.
@Tag("campaign")
class StacksTest {
    private static final String TEMPLATE = """
            Description: 'A small one'
            Parameters:
              DeletionProtection: {Type: String, Default: 'false', AllowedValues: ['true', 'false']}
            Resources:
              Input:
                Type: AWS::Kinesis::Stream
                Properties: {Name: !Sub '${AWS::StackName}-input', StreamModeDetails: {StreamMode: PROVISIONED}, ShardCount: 1}
              Rows:
                Type: AWS::DynamoDB::Table
                Properties:
                  TableName: !Sub '${AWS::StackName}-rows'
                  AttributeDefinitions: [{AttributeName: k, AttributeType: S}]
                  KeySchema: [{AttributeName: k, KeyType: HASH}]
                  DeletionProtectionEnabled: !Ref DeletionProtection
                  BillingMode: PAY_PER_REQUEST
              Letters:
                Type: AWS::S3::Bucket
                Properties: {VersioningConfiguration: {Status: Enabled}}
              Retries:
                Type: AWS::SQS::Queue
                Properties: {MessageRetentionPeriod: 1209600}
            Outputs:
              Table: {Value: !Ref Rows}
              Queue: {Value: !Ref Retries}
              Bucket: {Value: !Ref Letters}
            """;

    private static LocalAccount account;

    @BeforeAll
    static void open() throws IOException {
        account = LocalAccount.open();
    }

    @AfterAll
    static void close() {
        account.close();
    }

    /// Nothing may be left for the next test, whatever became of this one.
    @AfterEach
    void clean() {
        account.stacks.describeStacks().join().stacks().forEach(stack -> account.delete(stack.stackId()));
        account.tables.listTables().join().tableNames().forEach(name -> {
            account.tables
                    .updateTable(request -> request.tableName(name).deletionProtectionEnabled(false))
                    .join();
            account.tables.deleteTable(request -> request.tableName(name)).join();
        });
        account.streams
                .listStreams()
                .join()
                .streamNames()
                .forEach(name -> account.streams
                        .deleteStream(request -> request.streamName(name))
                        .join());
        account.objects.listBuckets().join().buckets().forEach(bucket -> {
            WholeStackTest.empty(account, bucket.name());
            account.objects
                    .deleteBucket(request -> request.bucket(bucket.name()))
                    .join();
        });
        account.stacks.describeStacks().join().stacks().forEach(stack -> account.delete(stack.stackId()));
        account.queues
                .listQueues()
                .join()
                .queueUrls()
                .forEach(url -> account.queues
                        .deleteQueue(request -> request.queueUrl(url))
                        .join());
        assertThat(account.stored()).isEmpty();
    }

    private static Map<String, String> outputs(Stack stack) {
        Map<String, String> outputs = new java.util.TreeMap<>();
        stack.outputs().forEach(output -> outputs.put(output.outputKey(), output.outputValue()));
        return outputs;
    }

    private static Stack made(String yaml, Map<String, String> parameters) {
        Stack stack = account.settled(account.create("small", yaml, parameters, OnFailure.ROLLBACK));
        assertThat(stack.stackStatus())
                .as("%s", account.failures(stack.stackId()))
                .isEqualTo(StackStatus.CREATE_COMPLETE);
        return stack;
    }

    private static String text(String template, String from, String to) {
        assertThat(template).contains(from);
        return template.replace(from, to);
    }

    @Test
    void a_stack_is_made_described_and_deleted_and_nothing_is_left() {
        Stack stack = made(TEMPLATE, Map.of());
        assertThat(stack.description()).isEqualTo("A small one");
        assertThat(outputs(stack)).containsEntry("Table", "small-rows");
        assertThat(account.stored())
                .containsExactly(
                        "table small-rows",
                        "stream small-input",
                        "queue " + outputs(stack).get("Queue"),
                        "bucket " + outputs(stack).get("Bucket"));
        assertThat(account.stacks
                        .describeStackResources(request -> request.stackName("small"))
                        .join()
                        .stackResources())
                .extracting(StackResource::logicalResourceId, StackResource::resourceStatusAsString)
                .contains(org.assertj.core.groups.Tuple.tuple("Rows", "CREATE_COMPLETE"))
                .hasSize(4);
        assertThat(account.delete(stack.stackId()).stackStatus()).isEqualTo(StackStatus.DELETE_COMPLETE);
        assertThat(account.stored()).isEmpty();
        assertThatThrownBy(() -> account.describe("small")).hasMessageContaining("Stack with id small does not exist");
        assertThat(account.events(stack.stackId()))
                .extracting(StackEvent::resourceStatusAsString)
                .startsWith("DELETE_COMPLETE")
                .endsWith("CREATE_IN_PROGRESS");
    }

    @Test
    void a_protected_table_and_a_bucket_with_versions_fail_the_deletion_and_the_rest_is_gone() {
        Stack stack = made(TEMPLATE, Map.of("DeletionProtection", "true"));
        String bucket = String.valueOf(outputs(stack).get("Bucket"));
        account.objects
                .putObject(request -> request.bucket(bucket).key("letter"), AsyncRequestBody.fromString("bytes"))
                .join();
        account.objects
                .deleteObject(request -> request.bucket(bucket).key("letter"))
                .join();
        Stack failed = account.delete(stack.stackId());
        assertThat(failed.stackStatus()).isEqualTo(StackStatus.DELETE_FAILED);
        assertThat(failed.stackStatusReason()).contains("Rows", "Letters").doesNotContain("Input", "Retries");
        assertThat(account.failures(stack.stackId()).get("Rows")).contains("protected against deletion");
        assertThat(account.failures(stack.stackId()).get("Letters")).contains("delete all versions");
        assertThat(account.stored()).containsExactly("table small-rows", "bucket " + bucket);
        account.tables
                .updateTable(request -> request.tableName("small-rows").deletionProtectionEnabled(false))
                .join();
        WholeStackTest.empty(account, bucket);
        assertThat(account.delete(stack.stackId()).stackStatus()).isEqualTo(StackStatus.DELETE_COMPLETE);
        assertThat(account.stored()).isEmpty();
    }

    @Test
    void what_is_retained_outlives_its_stack_and_keeps_the_next_one_from_its_name() {
        String yaml =
                text(TEMPLATE, "Type: AWS::DynamoDB::Table", "Type: AWS::DynamoDB::Table\n    DeletionPolicy: Retain");
        Stack stack = made(yaml, Map.of());
        assertThat(account.delete(stack.stackId()).stackStatus()).isEqualTo(StackStatus.DELETE_COMPLETE);
        assertThat(account.stored()).containsExactly("table small-rows");
        assertThat(account.events(stack.stackId()))
                .extracting(StackEvent::resourceStatusAsString)
                .contains("DELETE_SKIPPED");
        String next = account.create("small", yaml);
        Stack failed = account.settled(next);
        assertThat(failed.stackStatus()).isEqualTo(StackStatus.ROLLBACK_COMPLETE);
        assertThat(account.failures(next)).containsOnlyKeys("Rows");
        assertThat(account.stored()).containsExactly("table small-rows");
    }

    @Test
    void a_property_that_is_not_known_fails_the_stack_and_its_reason_is_told() {
        for (Map.Entry<OnFailure, StackStatus> end : Map.of(
                        OnFailure.ROLLBACK, StackStatus.ROLLBACK_COMPLETE,
                        OnFailure.DO_NOTHING, StackStatus.CREATE_FAILED,
                        OnFailure.DELETE, StackStatus.DELETE_COMPLETE)
                .entrySet()) {
            String yaml = text(TEMPLATE, "MessageRetentionPeriod: 1209600", "Wings: 2");
            String id = account.create("small", yaml, Map.of(), end.getKey());
            Stack stack = account.settled(id);
            assertThat(stack.stackStatus()).isEqualTo(end.getValue());
            assertThat(account.failures(id).get("Retries")).contains("Wings");
            assertThat(account.stored()).hasSize(end.getKey() == OnFailure.DO_NOTHING ? 3 : 0);
            account.delete(id);
            assertThat(account.stored()).isEmpty();
        }
    }

    @Test
    void a_stack_is_deleted_while_it_is_made_and_nothing_is_left() {
        for (int round = 0; round < 5; round++) {
            String id = account.create("small", TEMPLATE);
            int wanted = round;
            account.settled(id, _ -> account.stored().size() >= Math.min(wanted, 4));
            assertThat(account.delete(id).stackStatus()).isEqualTo(StackStatus.DELETE_COMPLETE);
            assertThat(account.stored()).isEmpty();
        }
    }

    @Test
    void whoever_asks_at_the_same_time_sees_a_stack_on_its_way() {
        String id = account.create("small", TEMPLATE);
        List<CompletableFuture<Void>> asking = new ArrayList<>();
        for (int asker = 0; asker < 8; asker++) {
            asking.add(CompletableFuture.runAsync(
                    () -> {
                        Stack stack = account.settled(id);
                        assertThat(stack.stackStatus()).isEqualTo(StackStatus.CREATE_COMPLETE);
                        assertThat(outputs(stack)).hasSize(3);
                        assertThat(account.events(id)).isNotEmpty();
                    },
                    Thread::startVirtualThread));
        }
        asking.forEach(CompletableFuture::join);
    }

    @Test
    void what_cannot_be_is_refused_at_once_in_the_words_of_aws() {
        assertThatThrownBy(() -> account.create("small", "Resources: {A: {Type: 'AWS::SNS::Topic'}}"))
                .hasMessageContaining("Unrecognized resource types: [AWS::SNS::Topic]");
        assertThatThrownBy(() -> account.create("small", "Resources: {A: {Type: 'AWS::Kinesis::StreamConsumer'}}"))
                .hasMessageContaining("enhanced fan-out");
        assertThatThrownBy(() -> account.create("small", TEMPLATE, Map.of("Nobody", "1"), OnFailure.ROLLBACK))
                .hasMessageContaining("has no parameter Nobody");
        assertThatThrownBy(() ->
                        account.create("small", TEMPLATE, Map.of("DeletionProtection", "perhaps"), OnFailure.ROLLBACK))
                .hasMessageContaining("DeletionProtection cannot be 'perhaps'");
        assertThatThrownBy(() -> account.stacks
                        .createStack(request ->
                                request.stackName("small").templateBody("Resources: {R: {Type: 'AWS::IAM::Role'}}"))
                        .join())
                .hasCauseInstanceOf(InsufficientCapabilitiesException.class);
        assertThatThrownBy(() -> account.create("small", "Resources: {\"A")).hasMessageContaining("Status Code: 400");
        made(TEMPLATE, Map.of());
        assertThatThrownBy(() -> account.create("small", TEMPLATE)).hasCauseInstanceOf(AlreadyExistsException.class);
        assertThatThrownBy(() -> account.create("other", TEMPLATE)).hasCauseInstanceOf(LimitExceededException.class);
        account.stacks.deleteStack(request -> request.stackName("nobody")).join(); // As on AWS, that is no error.
    }

    @Test
    void a_template_is_read_from_a_bucket_and_checked() {
        account.objects.createBucket(request -> request.bucket("templates")).join();
        account.objects
                .putObject(
                        request -> request.bucket("templates").key("a/t.yaml"), AsyncRequestBody.fromString(TEMPLATE))
                .join();
        String url = account.cloud.endpoint() + "/templates/a/t.yaml";
        assertThat(account.stacks
                        .validateTemplate(request -> request.templateURL(url))
                        .join()
                        .parameters())
                .hasSize(1);
        String id = account.stacks
                .createStack(request -> request.stackName("small").templateURL(url))
                .join()
                .stackId();
        assertThat(account.settled(id).stackStatus()).isEqualTo(StackStatus.CREATE_COMPLETE);
        assertThatThrownBy(() -> account.stacks
                        .validateTemplate(request -> request.templateURL(url + "x"))
                        .join())
                .hasMessageContaining("S3 error");
    }

    private static double sum(String namespace, String metric, String dimension, String resource) {
        return WholeStackTest.sum(account, namespace, metric, dimension, resource);
    }

    @Test
    void what_passes_is_counted_and_nobody_gets_an_answer_that_was_not_asked_for() {
        Stack stack = made(TEMPLATE, Map.of());
        String table = "small-rows";
        Map<String, AttributeValue> item = Map.of("k", AttributeValue.fromS("x".repeat(2_000)));
        assertThat(account.tables
                        .putItem(request -> request.tableName(table).item(item))
                        .join()
                        .consumedCapacity())
                .isNull();
        assertThat(sum("AWS/DynamoDB", "ConsumedWriteCapacityUnits", "TableName", table))
                .isEqualTo(2);
        assertThat(account.tables
                        .putItem(request -> request.tableName(table)
                                .item(item)
                                .returnConsumedCapacity(ReturnConsumedCapacity.TOTAL))
                        .join()
                        .consumedCapacity()
                        .capacityUnits())
                .isEqualTo(2);
        assertThatThrownBy(() -> account.tables
                        .putItem(request ->
                                request.tableName(table).item(item).conditionExpression("attribute_not_exists(k)"))
                        .join())
                .hasCauseInstanceOf(ConditionalCheckFailedException.class);
        assertThat(sum("AWS/DynamoDB", "ConsumedWriteCapacityUnits", "TableName", table))
                .isEqualTo(5);
        account.tables.getItem(request -> request.tableName(table).key(item)).join();
        assertThat(sum("AWS/DynamoDB", "ConsumedReadCapacityUnits", "TableName", table))
                .isEqualTo(0.5);
        account.streams
                .putRecord(request ->
                        request.streamName("small-input").partitionKey("abc").data(SdkBytes.fromUtf8String("hello")))
                .join();
        assertThat(sum("AWS/Kinesis", "IncomingBytes", "StreamName", "small-input"))
                .isEqualTo(8);
        String queue = String.valueOf(outputs(stack).get("Queue"));
        account.queues
                .sendMessage(request -> request.queueUrl(queue).messageBody("one"))
                .join();
        account.queues.receiveMessage(request -> request.queueUrl(queue)).join();
        assertThat(sum("AWS/SQS", "NumberOfMessagesReceived", "QueueName", queue.substring(queue.lastIndexOf('/') + 1)))
                .isEqualTo(1);
        assertThat(account.metrics
                        .listMetrics(request -> request.namespace("AWS/SQS"))
                        .join()
                        .metrics())
                .extracting(Metric::metricName)
                .contains("NumberOfMessagesSent", "NumberOfMessagesReceived");
        assertThatThrownBy(() -> account.metrics.describeAlarms().join()).hasMessageContaining("DescribeAlarms");
    }
}
