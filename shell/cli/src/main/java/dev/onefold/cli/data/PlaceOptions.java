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

    private final Comparing comparing = new Comparing();

    /// The options of verbs that compare a deployment's rows with a table, beside the other ones.
    public static final class Comparing {
        @Option(
                names = "--retries",
                paramLabel = "URL",
                description = "With --against, of a deployment: the retry queue, which must be empty. Default: the one"
                        + " that the template makes, found by the name of the stack.")
        private @Nullable String retries;

        @Option(
                names = "--kinesis-endpoint",
                converter = EndpointOption.class,
                paramLabel = "URL",
                description = "With --against, of a deployment: where Kinesis is spoken to, if not at AWS, such as"
                        + "%nhttp://localhost:4567")
        private @Nullable URI kinesis;

        boolean isGiven() {
            return retries != null || kinesis != null;
        }

        /// URL of the retry queue; `null` if it is looked for.
        public @Nullable String retries() {
            return retries;
        }

        /// Where Kinesis is; `null` if it is at AWS.
        public @Nullable URI kinesis() {
            return kinesis;
        }
    }

    /// The options of a comparison; they have values in verbs that compare.
    public Comparing comparing() {
        return comparing;
    }

    /// Whether the command line has one of them.
    boolean isGiven() {
        return region != null || profile != null || endpoint != null;
    }

    /// The place that they say.
    public Connection.Place place() {
        return new Connection.Place(region, profile, endpoint);
    }
}
