package dev.onefold.aws.template;

/// Where a deployed pipeline's records come from.
public enum Input {
    /// A Kinesis stream that the template makes.
    NEW_STREAM,
    /// A Kinesis stream that exists; a parameter of the template says which.
    STREAM,
    /// The change stream of a DynamoDB table that exists; a parameter of the template says which.
    TABLE
}
