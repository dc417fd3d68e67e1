package dev.onefold.local.stack;

import dev.onefold.local.gate.Role;
import java.net.URI;
import java.time.Duration;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsAsyncClientBuilder;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.http.Protocol;
import software.amazon.awssdk.http.async.SdkAsyncHttpClient;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsAsyncClient;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;

/// The SDK's clients, with the credentials of one role. Any thread.
final class Clients implements AutoCloseable {
    private static final int CONNECTIONS_MAX = 200;
    private static final int WAITING_MAX = 50_000;
    private static final Duration READ_MAX = Duration.ofSeconds(30);

    static {
        // The gate reads what is asked for, and reads JSON.
        System.setProperty("aws.cborEnabled", "false");
    }

    private final SdkAsyncHttpClient http = NettyNioAsyncHttpClient.builder()
            .protocol(Protocol.HTTP1_1) // Kinesis would speak HTTP/2, which the gate does not.
            .maxConcurrency(CONNECTIONS_MAX)
            .maxPendingConnectionAcquires(WAITING_MAX)
            .connectionAcquisitionTimeout(READ_MAX)
            .readTimeout(READ_MAX)
            .build();
    private final AwsCredentialsProvider credentials;
    private final Region region;

    final DynamoDbAsyncClient tables;
    final DynamoDbStreamsAsyncClient changes;
    final KinesisAsyncClient streams;
    final SqsAsyncClient queues;

    /// Clients of services that are all at one place.
    Clients(Role role, URI uri, String region) {
        this(role, uri, uri, uri, region);
    }

    Clients(Role role, URI tablesUri, URI streamsUri, URI queuesUri, String region) {
        credentials = StaticCredentialsProvider.create(AwsBasicCredentials.create(role.accessKey(), "secret"));
        this.region = Region.of(region);
        tables = at(tablesUri, DynamoDbAsyncClient.builder()).build();
        changes = at(tablesUri, DynamoDbStreamsAsyncClient.builder()).build();
        streams = at(streamsUri, KinesisAsyncClient.builder()).build();
        queues = at(queuesUri, SqsAsyncClient.builder()).build();
    }

    private <B extends AwsClientBuilder<B, C> & AwsAsyncClientBuilder<B, C>, C> B at(URI place, B builder) {
        return builder.endpointOverride(place)
                .region(region)
                .credentialsProvider(credentials)
                .httpClient(http);
    }

    @Override
    public void close() {
        tables.close();
        changes.close();
        streams.close();
        queues.close();
        http.close();
    }
}
