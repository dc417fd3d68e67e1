package dev.onefold.mapping;

import software.amazon.awssdk.services.sqs.SqsAsyncClient;

/// The queue that is told where the records are that a mapping has given up.
public record Destination(SqsAsyncClient client, String queueUrl) {}
