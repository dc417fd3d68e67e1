package dev.onefold.local.stack;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onefold.local.template.Account;
import dev.onefold.local.template.StackTemplate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import software.amazon.awssdk.core.waiters.WaiterOverrideConfiguration;
import software.amazon.awssdk.retries.api.BackoffStrategy;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.CreateTableRequest;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.TableDescription;
import software.amazon.awssdk.services.kinesis.model.CreateStreamRequest;
import software.amazon.awssdk.services.sqs.model.CreateQueueRequest;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/// Makes the tables, streams, buckets and queues of a template on the servers, with its properties.
///
/// The servers keep nothing and encrypt nothing, so backups, encryption, retention, expiry and access to buckets are
/// left out, each by its name: a property that is not known here is refused.
public final class Storage {
    private static final String TABLE = "AWS::DynamoDB::Table";
    private static final String STREAM = "AWS::Kinesis::Stream";
    private static final String BUCKET = "AWS::S3::Bucket";
    private static final String QUEUE = "AWS::SQS::Queue";

    private static final ObjectMapper JSON = new ObjectMapper();

    private static final Set<String> TABLE_LEFT_OUT =
            Set.of("PointInTimeRecoverySpecification", "SSESpecification", "TimeToLiveSpecification");
    private static final Set<String> BUCKET_LEFT_OUT =
            Set.of("BucketEncryption", "LifecycleConfiguration", "OwnershipControls", "PublicAccessBlockConfiguration");
    private static final Set<String> STREAM_LEFT_OUT =
            Set.of("Name", "RetentionPeriodHours", "MaxRecordSizeInKiB", "StreamEncryption");
    private static final Set<String> QUEUE_LEFT_OUT = Set.of("QueueName", "SqsManagedSseEnabled");

    /// What a stream on demand begins with. The server knows no modes.
    private static final int ON_DEMAND_SHARDS = 4;

    private static final int LOOKS_MAX = 600;
    private static final Duration LOOK_AGAIN = Duration.ofMillis(50);

    private final StackTemplate template;
    private final Clients clients;

    /// Makes what a template says.
    ///
    /// @param clients of the servers themselves
    public Storage(StackTemplate template, Clients clients) {
        this.template = template;
        this.clients = clients;
    }

    /// The names of what it makes, each behind what it needs.
    public List<String> resources() {
        List<String> all = new ArrayList<>();
        all.addAll(template.resources(TABLE));
        all.addAll(template.resources(STREAM));
        all.addAll(template.resources(BUCKET));
        List<String> queues = new ArrayList<>(template.resources(QUEUE));
        // One that others pass on to must be there before them.
        queues.sort((a, b) -> Boolean.compare(passesOn(a), passesOn(b)));
        all.addAll(queues);
        return all;
    }

    /// Makes all of it, and tells the template what only the making tells.
    void make() {
        List<CompletableFuture<?>> made = new ArrayList<>();
        CompletableFuture<?> queues = CompletableFuture.completedFuture(null);
        for (String resource : resources()) {
            if (template.type(resource).equals(QUEUE)) {
                queues = queues.thenCompose(_ -> make(resource));
            } else {
                made.add(make(resource));
            }
        }
        made.add(queues);
        CompletableFuture.allOf(made.toArray(CompletableFuture[]::new)).join();
    }

    /// Makes one of them.
    ///
    /// @throws IllegalArgumentException if it has a property that is not known here
    public CompletableFuture<?> make(String resource) {
        return switch (template.type(resource)) {
            case TABLE -> table(resource);
            case STREAM -> stream(resource);
            case BUCKET -> bucket(resource);
            case QUEUE -> queue(resource);
            default -> throw new IllegalArgumentException(resource + " is nothing that is stored");
        };
    }

    /// Removes one of them. A table that is protected and a bucket that is not empty refuse it.
    public CompletableFuture<?> remove(String resource) {
        String name = template.value(resource);
        return switch (template.type(resource)) {
            case TABLE ->
                clients.tables
                        .deleteTable(request -> request.tableName(name))
                        .thenCompose(_ -> clients.tables
                                .waiter()
                                .waitUntilTableNotExists(wait -> wait.tableName(name), Storage::soon));
            case STREAM ->
                clients.streams
                        .deleteStream(request -> request.streamName(name).enforceConsumerDeletion(true))
                        .thenCompose(_ -> clients.streams
                                .waiter()
                                .waitUntilStreamNotExists(wait -> wait.streamName(name), Storage::soon));
            case BUCKET -> clients.objects.deleteBucket(request -> request.bucket(name));
            case QUEUE -> clients.queues.deleteQueue(request -> request.queueUrl(name));
            default -> throw new IllegalArgumentException(resource + " is nothing that is stored");
        };
    }

    /// Changes one of them that is there, as far as the servers know of it.
    ///
    /// @param changed the names of the properties that are others than before
    /// @throws IllegalArgumentException if one of them cannot be changed here
    public CompletableFuture<?> update(String resource, Set<String> changed) {
        Set<String> rest = new TreeSet<>(changed);
        rest.removeAll(
                switch (template.type(resource)) {
                    case TABLE -> TABLE_LEFT_OUT;
                    case STREAM -> STREAM_LEFT_OUT;
                    case BUCKET -> BUCKET_LEFT_OUT;
                    default -> QUEUE_LEFT_OUT;
                });
        boolean isProtection = template.type(resource).equals(TABLE) && rest.remove("DeletionProtectionEnabled");
        if (!rest.isEmpty()) {
            throw new IllegalArgumentException(
                    "The stand-in for CloudFormation does not change " + rest + " of " + resource);
        }
        return isProtection
                ? clients.tables.updateTable(request -> request.tableName(template.value(resource))
                        .deletionProtectionEnabled(Boolean.parseBoolean(
                                text(template.properties(resource).get("DeletionProtectionEnabled")))))
                : CompletableFuture.completedFuture(null);
    }

    /// The servers take milliseconds, and not the ten seconds after which AWS's own clients look again.
    private static void soon(WaiterOverrideConfiguration.Builder wait) {
        wait.maxAttempts(LOOKS_MAX).backoffStrategyV2(BackoffStrategy.fixedDelayWithoutJitter(LOOK_AGAIN));
    }

    private CompletableFuture<?> bucket(String resource) {
        Map<String, Object> properties = without(template.properties(resource), BUCKET_LEFT_OUT);
        Object versions = properties.remove("VersioningConfiguration");
        refuse(resource, properties);
        String name = template.value(resource);
        CompletableFuture<?> made = clients.objects.createBucket(request -> request.bucket(name));
        return versions == null
                ? made
                : made.thenCompose(_ -> clients.objects.putBucketVersioning(request -> request.bucket(name)
                        .versioningConfiguration(versioning ->
                                versioning.status(text(Properties.map(versions).get("Status"))))));
    }

    private boolean passesOn(String queue) {
        return template.properties(queue).containsKey("RedrivePolicy");
    }

    private static Map<String, Object> without(Map<String, Object> properties, Set<String> leftOut) {
        Map<String, Object> rest = new TreeMap<>(properties);
        rest.keySet().removeAll(leftOut);
        return rest;
    }

    private static void refuse(String resource, Map<String, Object> unknown) {
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException(
                    "The template gives " + resource + " " + unknown.keySet() + ", which is not known here");
        }
    }

    private CompletableFuture<?> table(String resource) {
        Map<String, Object> properties = without(template.properties(resource), TABLE_LEFT_OUT);
        CreateTableRequest.Builder request = CreateTableRequest.builder()
                .tableName(text(properties.remove("TableName")))
                .billingMode(text(properties.remove("BillingMode")))
                .attributeDefinitions(Properties.list(properties.remove("AttributeDefinitions")).stream()
                        .map(item -> AttributeDefinition.builder()
                                .attributeName(text(item.get("AttributeName")))
                                .attributeType(text(item.get("AttributeType")))
                                .build())
                        .toList())
                .keySchema(Properties.list(properties.remove("KeySchema")).stream()
                        .map(item -> KeySchemaElement.builder()
                                .attributeName(text(item.get("AttributeName")))
                                .keyType(text(item.get("KeyType")))
                                .build())
                        .toList());
        Object isProtected = properties.remove("DeletionProtectionEnabled");
        request.deletionProtectionEnabled(isProtected != null && Boolean.parseBoolean(text(isProtected)));
        if (properties.containsKey("StreamSpecification")) {
            String view = text(
                    Properties.map(properties.remove("StreamSpecification")).get("StreamViewType"));
            request.streamSpecification(stream -> stream.streamEnabled(true).streamViewType(view));
        }
        refuse(resource, properties);
        return clients.tables.createTable(request.build()).thenAccept(response -> {
            TableDescription table = response.tableDescription();
            if (table.latestStreamArn() != null) {
                template.learn(resource + ".StreamArn", Account.LOCAL.own(table.latestStreamArn()));
            }
        });
    }

    private CompletableFuture<?> stream(String resource) {
        Map<String, Object> properties = without(template.properties(resource), STREAM_LEFT_OUT);
        String name = template.value(resource);
        String mode =
                text(Properties.map(properties.remove("StreamModeDetails")).get("StreamMode"));
        int shards =
                mode.equals("ON_DEMAND") ? ON_DEMAND_SHARDS : Integer.parseInt(text(properties.remove("ShardCount")));
        refuse(resource, properties);
        CreateStreamRequest request = CreateStreamRequest.builder()
                .streamName(name)
                .shardCount(shards)
                .build();
        return clients.streams
                .createStream(request)
                .thenCompose(_ ->
                        clients.streams.waiter().waitUntilStreamExists(wait -> wait.streamName(name), Storage::soon));
    }

    private CompletableFuture<?> queue(String resource) {
        Map<String, Object> properties = without(template.properties(resource), QUEUE_LEFT_OUT);
        Map<QueueAttributeName, String> attributes = properties.entrySet().stream()
                .collect(Collectors.toMap(
                        entry -> QueueAttributeName.fromValue(entry.getKey()), entry -> attribute(entry.getValue())));
        if (attributes.containsKey(QueueAttributeName.UNKNOWN_TO_SDK_VERSION)) {
            refuse(resource, properties);
        }
        return clients.queues
                .createQueue(CreateQueueRequest.builder()
                        .queueName(template.value(resource + ".QueueName"))
                        .attributes(attributes)
                        .build())
                .thenAccept(response -> template.learn(resource, response.queueUrl()));
    }

    private static String attribute(Object value) {
        try {
            return value instanceof Map ? JSON.writeValueAsString(value) : text(value);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("Not to be written as JSON: " + value, e);
        }
    }

    private static String text(@org.jspecify.annotations.Nullable Object value) {
        return String.format(Locale.ROOT, "%s", value);
    }
}
