package dev.onefold.cli.data;

import dev.onefold.aws.Connection;
import dev.onefold.cli.call.EndpointOption;
import java.net.URI;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/// Where the parts of AWS are that a command speaks to.
public final class PlaceOptions {
    @Option(
            names = "--region",
            scope = ScopeType.INHERIT,
            paramLabel = "REGION",
            description = "The AWS region, such as eu-central-1.")
    private @Nullable String region;

    @Option(
            names = "--profile",
            scope = ScopeType.INHERIT,
            paramLabel = "PROFILE",
            description = "The profile of the shared credentials file.")
    private @Nullable String profile;

    @Option(
            names = "--endpoint",
            converter = EndpointOption.class,
            scope = ScopeType.INHERIT,
            paramLabel = "URL",
            description = "Where DynamoDB is spoken to, if not at AWS, such as%nhttp://localhost:8000")
    private @Nullable URI endpoint;

    /// Whether the command line has one of them.
    boolean isGiven() {
        return region != null || profile != null || endpoint != null;
    }

    /// The place that they say.
    public Connection.Place place() {
        return new Connection.Place(region, profile, endpoint);
    }
}
