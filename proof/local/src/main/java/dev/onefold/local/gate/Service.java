package dev.onefold.local.gate;

/// The services that are stood in for.
public enum Service {
    DYNAMODB("dynamodb"),
    STREAMS("dynamodb"),
    KINESIS("kinesis"),
    SQS("sqs"),
    S3("s3"),
    LAMBDA("lambda"),
    CLOUDFORMATION("cloudformation"),
    CLOUDWATCH("cloudwatch");

    /// What actions of it begin with.
    final String prefix;

    Service(String prefix) {
        this.prefix = prefix;
    }
}
