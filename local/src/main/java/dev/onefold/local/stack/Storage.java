package dev.onefold.local.stack;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onefold.local.template.Account;
import dev.onefold.local.template.StackTemplate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.CreateTableRequest;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.TableDescription;
import software.amazon.awssdk.services.kinesis.model.CreateStreamRequest;
import software.amazon.awssdk.services.sqs.model.CreateQueueRequest;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/// Makes the tables, streams and queues of a template on the servers, with its properties.
///
/// The servers keep nothing and encrypt nothing, so backups, encryption, retention, expiry and access to buckets are
/// left out,
/// each by its name: a property that is not known here is refused.
final class Storage {
    private static final ObjectMapper JSON = new ObjectMapper();

    private static final Set<String> TABLE_LEFT_OUT = Set.of(
            "PointInTimeRecoverySpecification",
            "SSESpecification",
            "DeletionProtectionEnabled",
            "TimeToLiveSpecification");
    private static final Set<String> STREAM_LEFT_OUT =
            Set.of("Name", "RetentionPeriodHours", "MaxRecordSizeInKiB", "StreamEncryption");
    private static final Set<String> QUEUE_LEFT_OUT = Set.of("QueueName", "SqsManagedSseEnabled");

    /// What a stream on demand begins with. The server knows no modes.
    private static final int ON_DEMAND_SHARDS = 4;

    private final StackTemplate template;
    private final Clients clients;

    Storage(StackTemplate template, Clients clients) {
        this.template = template;
        this.clients = clients;
    }

    /// Makes all of it, and tells the template what only the making tells.
    void make() {
        List<CompletableFuture<?>> made = new ArrayList<>();
        for (String table : template.resources("AWS::DynamoDB::Table")) {
            made.add(table(table));
        }
        for (String stream : template.resources("AWS::Kinesis::Stream")) {
            made.add(stream(stream));
        }
        List<String> queues = new ArrayList<>(template.resources("AWS::SQS::Queue"));
        // One that others pass on to must be there before them.
        queues.sort((a, b) -> Boolean.compare(passesOn(a), passesOn(b)));
        CompletableFuture<?> before = CompletableFuture.completedFuture(null);
        for (String queue : queues) {
            before = before.thenCompose(_ -> queue(queue));
        }
        made.add(before);
        CompletableFuture.allOf(made.toArray(CompletableFuture[]::new)).join();
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
                .thenCompose(_ -> clients.streams.waiter().waitUntilStreamExists(wait -> wait.streamName(name)));
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
