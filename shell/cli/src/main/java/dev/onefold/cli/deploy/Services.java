package dev.onefold.cli.deploy;

import dev.onefold.aws.Connection;
import dev.onefold.cli.aws.AwsCommand;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Reason;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.cloudformation.CloudFormationAsyncClient;
import software.amazon.awssdk.services.cloudwatch.CloudWatchAsyncClient;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;

/// The services of an account, or what stands in for them.
public record Services(
        Connection.Place place,
        CloudFormationAsyncClient stacks,
        CloudWatchAsyncClient metrics,
        S3AsyncClient objects,
        KinesisAsyncClient streams,
        SqsAsyncClient queues)
        implements AutoCloseable {
    /// Those of a place.
    ///
    /// @throws CommandFailure if there is no region, or nobody to ask as
    public static Services at(AwsCommand aws, Connection.Place place) {
        try {
            Connection.requireCredentials(place);
            return new Services(
                    place,
                    aws.answering(Connection.service(CloudFormationAsyncClient.builder(), place)),
                    aws.answering(Connection.service(CloudWatchAsyncClient.builder(), place)),
                    aws.answering(Connection.objects(place)),
                    aws.answering(Connection.kinesis(place)),
                    aws.answering(Connection.service(SqsAsyncClient.builder(), place)));
        } catch (SdkException e) {
            throw new CommandFailure(
                    ExitCode.DIRECTORY,
                    "AWS cannot be reached: " + Reason.of(e)
                            + "\nSay where it is with --region and --profile, and check the credentials.",
                    e);
        }
    }

    @Override
    public void close() {
        stacks.close();
        metrics.close();
        objects.close();
        streams.close();
        queues.close();
    }
}
