package dev.onefold.aws.stream;

import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsAsyncClient;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;

/// The services that give records again: streams of Kinesis, and change streams of tables.
public record Streams(KinesisAsyncClient kinesis, DynamoDbStreamsAsyncClient changes) {}
