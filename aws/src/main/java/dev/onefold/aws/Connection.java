package dev.onefold.aws;

import dev.onefold.aws.content.StoredSecret;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.Threads;
import dev.onefold.aws.stream.Streams;
import dev.onefold.s3.EventLoops;
import java.net.URI;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsAsyncClientBuilder;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.http.Protocol;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClientBuilder;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsAsyncClient;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3AsyncClientBuilder;
import software.amazon.awssdk.services.s3.S3Configuration;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;

/// How a process of ours speaks to the service: with the settings that every AWS tool takes.
public final class Connection {
    /// Transactions in flight, and how many wait their turn. A batch of Kinesis has at most 10,000 records.
    private static final int REQUESTS_MAX = 100;

    private static final int WAITING_MAX = 20_000;

    /// Below the time-out of a function, so that an outcome that is not known is looked up by the same
    /// invocation.
    private static final Duration CALL_MAX = Duration.ofSeconds(15);

    private static final Duration ATTEMPT_MAX = Duration.ofSeconds(5);

    /// A request to a stream or a bucket may carry 10 MiB.
    private static final Duration STREAM_CALL_MAX = Duration.ofSeconds(25);

    private static final Duration STREAM_ATTEMPT_MAX = Duration.ofSeconds(20);

    /// Lambda ends an initialization after ten seconds.
    private static final Duration PRIMING_MAX = Duration.ofSeconds(2);

    private Connection() {}

    /// The threads of this machine.
    public static final Threads THREADS = new Threads() {
        @Override
        public void execute(Runnable task) {
            Thread.startVirtualThread(task);
        }

        /// To its end also for a caller that is interrupted: what a pause stands before must not be left half
        /// done.
        @Override
        public void pause(Duration pause) {
            long end = System.nanoTime() + pause.toNanos();
            boolean interrupted = false;
            for (long left = pause.toNanos(); left > 0; left = end - System.nanoTime()) {
                try {
                    Thread.sleep(Duration.ofNanos(left));
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    };

    /// Where the service is, and who asks. What is `null` is taken from the environment, as the SDK does.
    public record Place(
            @Nullable String region,
            @Nullable String profile,
            @Nullable URI endpoint) {
        /// All from the environment.
        public static final Place ENVIRONMENT = new Place(null, null, null);

        /// The same account and region at another address.
        public Place at(@Nullable URI other) {
            return new Place(region, profile, other);
        }
    }

    /// The tables that a function of the deployment works on, with the bucket where it keeps what it rejects.
    public static Store store(Store.Tables tables, String bucket) {
        Store store = store(tables, Place.ENVIRONMENT);
        return store.with(new Store.Bucket(store.bucket().client(), Optional.of(bucket)));
    }

    /// The tables of a deployment.
    public static Store store(Store.Tables tables, Place place) {
        DynamoDbAsyncClient client = tables(place);
        Supplier<S3AsyncClient> objects = new Lazy<>(() -> objects(place.at(null)));
        return new Store(client, tables, THREADS, new SecureRandom(), InstantSource.system())
                .with(new Store.Bucket(objects, Optional.empty()));
    }

    /// Tables of a user's.
    public static DynamoDbAsyncClient tables(Place place) {
        return client(DynamoDbAsyncClient.builder(), http(), CALL_MAX, ATTEMPT_MAX, place);
    }

    /// Tables at an address that knows nobody.
    static DynamoDbAsyncClient tablesOfNobody(URI address) {
        DynamoDbAsyncClientBuilder builder = DynamoDbAsyncClient.builder()
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("none", "none")));
        return client(builder, http(), PRIMING_MAX, PRIMING_MAX, new Place("us-east-1", null, address));
    }

    /// Objects go as one signed piece: their hash goes with them, so that pieces with a sum each add nothing.
    public static S3AsyncClient objects(Place place) {
        S3AsyncClientBuilder builder = S3AsyncClient.builder()
                .serviceConfiguration(
                        S3Configuration.builder().chunkedEncodingEnabled(false).build())
                .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED);
        return client(builder, http(), STREAM_CALL_MAX, STREAM_ATTEMPT_MAX, place);
    }

    /// Made once, when it is asked for the first time.
    private static final class Lazy<T> implements Supplier<T> {
        private final Supplier<T> maker;
        private @Nullable T made;

        Lazy(Supplier<T> maker) {
            this.maker = maker;
        }

        @Override
        public synchronized T get() {
            T value = made;
            if (value == null) {
                value = maker.get();
                made = value;
            }
            return value;
        }
    }

    /// The streams of Kinesis.
    public static KinesisAsyncClient kinesis(Place place) {
        // Only a stand-in without encryption could not speak the newer protocol, which is needed for nothing here.
        NettyNioAsyncHttpClient.Builder http = http().protocol(Protocol.HTTP1_1);
        return client(KinesisAsyncClient.builder(), http, STREAM_CALL_MAX, STREAM_ATTEMPT_MAX, place);
    }

    /// The change streams of tables.
    public static DynamoDbStreamsAsyncClient changes(Place place) {
        return client(DynamoDbStreamsAsyncClient.builder(), http(), STREAM_CALL_MAX, STREAM_ATTEMPT_MAX, place);
    }

    /// The queues that a function asks.
    public static SqsAsyncClient queues() {
        return client(SqsAsyncClient.builder(), http(), CALL_MAX, ATTEMPT_MAX, Place.ENVIRONMENT);
    }

    /// The stream that a function puts records into; its client is made when one is asked for.
    public static Supplier<KinesisAsyncClient> stream() {
        return new Lazy<>(() -> kinesis(Place.ENVIRONMENT));
    }

    /// The same of a queue.
    public static Supplier<SqsAsyncClient> queue() {
        return new Lazy<>(Connection::queues);
    }

    /// The streams that a function reads again; their clients are made when one is asked for, which is seldom.
    public static Supplier<Streams> streams() {
        return new Lazy<>(() -> new Streams(kinesis(Place.ENVIRONMENT), changes(Place.ENVIRONMENT)));
    }

    /// The secret of a receiver, at the address in `AWS_ENDPOINT_URL_SECRETS_MANAGER` if there is one.
    public static StoredSecret secret(StoredSecret.Place place) {
        DefaultCredentialsProvider credentials =
                DefaultCredentialsProvider.builder().build();
        String address = System.getenv("AWS_ENDPOINT_URL_SECRETS_MANAGER");
        return address == null
                ? StoredSecret.of(place, credentials, InstantSource.system())
                : StoredSecret.at(place, URI.create(address), credentials, InstantSource.system());
    }

    /// Looks for credentials where the clients do.
    ///
    /// @throws software.amazon.awssdk.core.exception.SdkException if there are none
    public static void requireCredentials(Place place) {
        DefaultCredentialsProvider.Builder builder = DefaultCredentialsProvider.builder();
        if (place.profile() != null) {
            builder.profileName(place.profile());
        }
        try (DefaultCredentialsProvider credentials = builder.build()) {
            credentials.resolveCredentials();
        }
    }

    /// A service that no function speaks to.
    public static <B extends AwsClientBuilder<B, C> & AwsAsyncClientBuilder<B, C>, C> C service(
            B builder, Place place) {
        return client(builder, http().protocol(Protocol.HTTP1_1), STREAM_CALL_MAX, STREAM_ATTEMPT_MAX, place);
    }

    private static NettyNioAsyncHttpClient.Builder http() {
        return NettyNioAsyncHttpClient.builder()
                .eventLoopGroup(EventLoops.SHARED)
                .maxConcurrency(REQUESTS_MAX)
                .maxPendingConnectionAcquires(WAITING_MAX)
                .connectionAcquisitionTimeout(CALL_MAX);
    }

    private static <B extends AwsClientBuilder<B, C> & AwsAsyncClientBuilder<B, C>, C> C client(
            B builder, NettyNioAsyncHttpClient.Builder http, Duration callMax, Duration attemptMax, Place place) {
        builder.httpClientBuilder(http)
                .overrideConfiguration(
                        override -> override.apiCallTimeout(callMax).apiCallAttemptTimeout(attemptMax));
        if (place.region() != null) {
            builder.region(Region.of(place.region()));
        }
        if (place.profile() != null) {
            builder.credentialsProvider(DefaultCredentialsProvider.builder()
                    .profileName(place.profile())
                    .build());
        }
        if (place.endpoint() != null) {
            builder.endpointOverride(place.endpoint());
        }
        return builder.build();
    }
}
