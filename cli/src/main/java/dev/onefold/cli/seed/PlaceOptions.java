package dev.onefold.cli.seed;

import dev.onefold.aws.Connection;
import dev.onefold.cli.call.EndpointOption;
import java.net.URI;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Where a table of DynamoDB is, for commands that are not about a deployment.
final class PlaceOptions {
    @Option(names = "--region", paramLabel = "REGION", description = "The AWS region, such as eu-central-1.")
    private @Nullable String region;

    @Option(names = "--profile", paramLabel = "PROFILE", description = "The profile of the shared credentials file.")
    private @Nullable String profile;

    @Option(
            names = "--endpoint",
            converter = EndpointOption.class,
            paramLabel = "URL",
            description = "Where DynamoDB is spoken to, if not at AWS, such as%nhttp://localhost:8000")
    private @Nullable URI endpoint;

    Connection.Place place() {
        return new Connection.Place(region, profile, endpoint);
    }
}
