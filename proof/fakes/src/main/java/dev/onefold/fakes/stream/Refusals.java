package dev.onefold.fakes.stream;

import dev.onefold.fakes.aws.Wire;
import software.amazon.awssdk.services.kinesis.model.ExpiredIteratorException;
import software.amazon.awssdk.services.kinesis.model.InternalFailureException;
import software.amazon.awssdk.services.kinesis.model.InvalidArgumentException;
import software.amazon.awssdk.services.kinesis.model.KinesisException;
import software.amazon.awssdk.services.kinesis.model.ProvisionedThroughputExceededException;
import software.amazon.awssdk.services.kinesis.model.ResourceInUseException;
import software.amazon.awssdk.services.kinesis.model.ResourceNotFoundException;

/// How Kinesis says no.
final class Refusals {
    private Refusals() {}

    static KinesisException invalid(String message) {
        return (KinesisException)
                Wire.filled(InvalidArgumentException.builder(), "InvalidArgumentException", 400, message)
                        .build();
    }

    static KinesisException notFound(String message) {
        return (KinesisException)
                Wire.filled(ResourceNotFoundException.builder(), "ResourceNotFoundException", 400, message)
                        .build();
    }

    static KinesisException inUse(String message) {
        return (KinesisException) Wire.filled(ResourceInUseException.builder(), "ResourceInUseException", 400, message)
                .build();
    }

    static KinesisException expired(String message) {
        return (KinesisException)
                Wire.filled(ExpiredIteratorException.builder(), "ExpiredIteratorException", 400, message)
                        .build();
    }

    static KinesisException throttled() {
        return (KinesisException) Wire.filled(
                        ProvisionedThroughputExceededException.builder(),
                        "ProvisionedThroughputExceededException",
                        400,
                        "Rate exceeded for a shard of the stream.")
                .build();
    }

    static KinesisException failed() {
        return (KinesisException)
                Wire.filled(InternalFailureException.builder(), "InternalFailure", 500, "The service has failed.")
                        .build();
    }
}
