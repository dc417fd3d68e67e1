package dev.onefold.local.stack;

import dev.onefold.local.gate.Role;
import dev.onefold.local.gate.Service;
import java.net.URI;
import java.util.function.Function;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsAsyncClientBuilder;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsAsyncClient;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;

/// The SDK's clients, with the credentials of one role. Any thread.
public final class Clients implements AutoCloseable {
    static {
        // The gate reads what is asked for, and reads JSON.
        System.setProperty("aws.cborEnabled", "false");
    }

    private final Connections connections;
    private final AwsCredentialsProvider credentials;
    private final Region region;

    public final DynamoDbAsyncClient tables;
    public final DynamoDbStreamsAsyncClient changes;
    public final KinesisAsyncClient streams;
    public final SqsAsyncClient queues;
    public final S3AsyncClient objects;

    /// Clients of services that are all at one place.
    public Clients(Connections connections, Role role, URI uri, String region) {
        this(connections, role, _ -> uri, region);
    }

    /// @param place of a service
    public Clients(Connections connections, Role role, Function<Service, URI> place, String region) {
        this.connections = connections;
        credentials = StaticCredentialsProvider.create(AwsBasicCredentials.create(role.accessKey(), "secret"));
        this.region = Region.of(region);
        tables =
                at(place.apply(Service.DYNAMODB), DynamoDbAsyncClient.builder()).build();
        changes = at(place.apply(Service.STREAMS), DynamoDbStreamsAsyncClient.builder())
                .build();
        streams = at(place.apply(Service.KINESIS), KinesisAsyncClient.builder()).build();
        queues = at(place.apply(Service.SQS), SqsAsyncClient.builder()).build();
        objects = at(place.apply(Service.S3), S3AsyncClient.builder()).build();
    }

    private <B extends AwsClientBuilder<B, C> & AwsAsyncClientBuilder<B, C>, C> B at(URI place, B builder) {
        return builder.endpointOverride(place)
                .region(region)
                .credentialsProvider(credentials)
                .httpClient(connections.http());
    }

    @Override
    public void close() {
        tables.close();
        changes.close();
        streams.close();
        queues.close();
        objects.close();
    }
}
