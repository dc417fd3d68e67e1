package dev.onefold.fakes.aws;

import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.CreateTableRequest;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// What the tests share: a service with a table `Table`, whose key is `pk` and `sk`, both texts, and a client.
final class Service {
    final VirtualTime time = new VirtualTime(Instant.parse("2030-01-01T00:00:00Z"));
    final SimulatedDynamoDb dynamo;
    final SimulatedClient client;

    Service(long seed) {
        dynamo = new SimulatedDynamoDb(time, seed);
        client = dynamo.client("test");
        run(it -> it.createTable(table("Table", ScalarAttributeType.S, ScalarAttributeType.S)));
    }

    /// Makes one call, and waits for its result.
    <R> R run(Function<DynamoDbAsyncClient, CompletableFuture<R>> call) {
        return time.runUntil(call.apply(client));
    }

    void put(Map<String, AttributeValue> item) {
        run(it -> it.putItem(request -> request.tableName("Table").item(item)));
    }

    /// The item as it is, in a consistent read.
    Map<String, AttributeValue> get(String pk) {
        return run(it -> it.getItem(
                        request -> request.tableName("Table").key(key(pk)).consistentRead(true)))
                .item();
    }

    static CreateTableRequest table(String name, ScalarAttributeType partition, @Nullable ScalarAttributeType sort) {
        CreateTableRequest.Builder request =
                CreateTableRequest.builder().tableName(name).billingMode(BillingMode.PAY_PER_REQUEST);
        AttributeDefinition pk = AttributeDefinition.builder()
                .attributeName("pk")
                .attributeType(partition)
                .build();
        KeySchemaElement hash = KeySchemaElement.builder()
                .attributeName("pk")
                .keyType(KeyType.HASH)
                .build();
        if (sort == null) {
            return request.attributeDefinitions(pk).keySchema(hash).build();
        }
        AttributeDefinition sk = AttributeDefinition.builder()
                .attributeName("sk")
                .attributeType(sort)
                .build();
        KeySchemaElement range = KeySchemaElement.builder()
                .attributeName("sk")
                .keyType(KeyType.RANGE)
                .build();
        return request.attributeDefinitions(pk, sk).keySchema(hash, range).build();
    }

    /// Adds one to a count.
    static TransactWriteItem add(String pk) {
        return TransactWriteItem.builder()
                .update(update -> update.tableName("Table")
                        .key(key(pk))
                        .updateExpression("ADD n :one")
                        .expressionAttributeValues(Map.of(":one", number(1))))
                .build();
    }

    static Map<String, AttributeValue> key(String pk) {
        return key(pk, "0");
    }

    static Map<String, AttributeValue> key(String pk, String sk) {
        return Map.of("pk", text(pk), "sk", text(sk));
    }

    /// An item with one more attribute.
    static Map<String, AttributeValue> item(String pk, String name, AttributeValue value) {
        Map<String, AttributeValue> item = new TreeMap<>(key(pk));
        item.put(name, value);
        return item;
    }

    static AttributeValue text(String text) {
        return AttributeValue.fromS(text);
    }

    static AttributeValue number(long number) {
        return AttributeValue.fromN(Long.toString(number));
    }
}
