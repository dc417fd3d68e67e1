package dev.onefold.cli.aws;

import java.net.URI;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;

/// Which stream of Kinesis a command is about.
final class StreamOptions {
    /// What the template puts behind the deployment's name.
    private static final String SUFFIX = "-input";

    @Option(
            names = "--stream",
            paramLabel = "NAME",
            description = "Name or ARN of the Kinesis stream. Default: the one that the template makes, which is called"
                    + " as the deployment is, and -input.")
    private @Nullable String stream;

    @Option(
            names = "--kinesis-endpoint",
            paramLabel = "URL",
            description = "Where Kinesis is spoken to, if not at AWS: http://localhost:4567")
    private @Nullable URI endpoint;

    /// Its name or ARN.
    String stream(String deployment) {
        return stream == null ? deployment + SUFFIX : stream;
    }

    KinesisAsyncClient client(AwsCommand aws) {
        return aws.kinesis(endpoint);
    }
}
