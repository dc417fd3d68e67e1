package dev.onefold.cli.aws;

import dev.onefold.aws.event.StreamName;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.EndpointOption;
import java.net.URI;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;

/// Which stream a command is about.
final class StreamOptions {
    /// The suffix that the template adds to the deployment's name to name the stream.
    private static final String SUFFIX = "-input";

    @Option(
            names = "--stream",
            paramLabel = "NAME",
            description =
                    "Name or ARN of the Kinesis stream; for replay, ARN of a table's change stream as well. Default:"
                            + " the one that the template makes, which is called as the deployment is, and -input; for replay,"
                            + " the one that the deployment reads.")
    private @Nullable String stream;

    @Option(
            names = "--kinesis-endpoint",
            converter = EndpointOption.class,
            paramLabel = "URL",
            description = "Where Kinesis is spoken to, if not at AWS, such as%nhttp://localhost:4567")
    private @Nullable URI endpoint;

    /// Whether a stream or its place was said.
    boolean isSaid() {
        return stream != null || endpoint != null;
    }

    /// The name or ARN of one that takes records.
    String target(String deployment) {
        if (stream != null && StreamName.isTable(stream)) {
            throw CommandFailure.usage("--stream is the change stream of a table, which takes nothing but what happens"
                    + " to the table's items: " + stream);
        }
        return of(deployment, Optional.empty());
    }

    /// The name or ARN of one that is read.
    ///
    /// @param input what the deployment reads, if it has said so
    String of(String deployment, Optional<String> input) {
        return stream == null ? input.orElse(deployment + SUFFIX) : stream;
    }

    KinesisAsyncClient client(AwsCommand aws) {
        return aws.kinesis(endpoint);
    }
}
