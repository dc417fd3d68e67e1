package dev.onefold.s3;

import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Destination;
import dev.onefold.receivers.Context;
import dev.onefold.receivers.Handover;
import dev.onefold.receivers.Receiver;
import dev.onefold.receivers.Receivers;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.channels.ClosedByInterruptException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3AsyncClientBuilder;

/// Makes an object of each batch, and then its manifest beside it, which shows that the content is whole.
/// Both are put with `If-None-Match: *`, so no object is ever replaced: if there is one, its content decides.
///
/// Each attempt makes each request once. A request that the SDK repeats by itself would hide the answer to the first.
public final class S3Receiver implements Receiver {
    /// The longest delivery.
    public static final Duration TIMEOUT = Duration.ofMinutes(10);

    private static final Duration CONNECTING_MAX = Duration.ofSeconds(10);

    /// On a connection that was kept open for longer, a store that closes it leaves unknown whether a request was read.
    private static final Duration IDLE_MAX = Duration.ofSeconds(5);

    /// Without an answer or progress.
    private static final Duration SILENCE_MAX = Duration.ofMinutes(1);

    private final S3Address address;
    private final boolean hasManifest;
    private final AwsCredentialsProvider credentials;
    private final Bucket bucket;
    private final Optional<URI> endpoint;

    private S3Receiver(
            S3Address address,
            boolean hasManifest,
            AwsCredentialsProvider credentials,
            Bucket bucket,
            Optional<URI> endpoint) {
        this.address = address;
        this.hasManifest = hasManifest;
        this.credentials = credentials;
        this.bucket = bucket;
        this.endpoint = endpoint;
    }

    /// Opens the receiver. No request is made. Credentials, and the region if the pipeline file has none, are
    /// taken from the usual places of the SDK.
    ///
    /// @throws IllegalArgumentException if there is no region, or the endpoint is not an address
    public static Receiver open(Batching batching, Context context) {
        return open(batching, DefaultCredentialsProvider.builder().build());
    }

    /// Opens a receiver with credentials of the caller's.
    ///
    /// @throws IllegalArgumentException if there is no region, or the endpoint is not an address
    public static Receiver open(Batching batching, AwsCredentialsProvider credentials) {
        Destination destination = batching.deliver();
        Optional<URI> endpoint = destination.option("endpoint").map(S3Receiver::endpoint);
        S3AsyncClientBuilder client = S3AsyncClient.builder()
                .region(region(destination, endpoint.isPresent()))
                .credentialsProvider(credentials)
                .httpClientBuilder(NettyNioAsyncHttpClient.builder()
                        .eventLoopGroup(EventLoops.SHARED)
                        .maxConcurrency(batching.concurrency() + 1)
                        .connectionTimeout(CONNECTING_MAX)
                        .connectionAcquisitionTimeout(CONNECTING_MAX)
                        .connectionMaxIdleTime(IDLE_MAX)
                        .readTimeout(SILENCE_MAX)
                        .writeTimeout(SILENCE_MAX))
                .overrideConfiguration(override -> override.retryStrategy(AwsRetryStrategy.doNotRetry()));
        endpoint.ifPresent(uri -> client.endpointOverride(uri).forcePathStyle(true));
        S3Address address = S3Address.of(destination);
        return new S3Receiver(
                address,
                destination.hasManifest(),
                credentials,
                new Bucket(client.build(), address.bucket()),
                endpoint);
    }

    private static URI endpoint(String text) {
        if (!text.matches("https?://[^/].*")) {
            throw new IllegalArgumentException(
                    "'endpoint' is not an address: " + text + ". Write it like https://minio.example.com:9000");
        }
        return URI.create(text);
    }

    private static Region region(Destination destination, boolean hasEndpoint) {
        Optional<String> named = destination.option("region");
        if (named.isPresent()) {
            return Region.of(named.get());
        }
        try {
            return DefaultAwsRegionProviderChain.builder().build().getRegion();
        } catch (SdkClientException none) {
            if (hasEndpoint) {
                return Region.US_EAST_1; // The default of such a store.
            }
            throw new IllegalArgumentException(
                    "The region of the bucket " + S3Address.of(destination).bucket()
                            + " is not known. Write 'region' under 'deliver', or set AWS_REGION",
                    none);
        }
    }

    @Override
    public Optional<String> trouble() {
        return endpoint.map(URI::getHost).flatMap(Receivers::unknownHost);
    }

    @Override
    public Outcome deliver(Handover handover) throws InterruptedException {
        long end = System.nanoTime() + TIMEOUT.toNanos();
        Manifest manifest = handover.manifest();
        String key = address.key(manifest.number());
        String at = key;
        boolean isPerhapsIn = false;
        try {
            credentials.resolveCredentials();
        } catch (SdkClientException e) {
            return new Outcome.NotNow(
                    "There are no credentials for " + address.url(key) + ": " + firstSentence(e)
                            + ". Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
                    null);
        }
        try {
            Content content = new Content(handover::open, manifest.bytes(), manifest.sha256());
            boolean isMade = bucket.make(key, content, left(end));
            isPerhapsIn = true;
            if (!isMade && !bucket.has(key, content, left(end))) {
                return conflict(key, "batch " + manifest.id());
            }
            if (hasManifest) {
                int name = key.lastIndexOf('/') + 1;
                at = key.substring(0, name) + Receivers.manifestName(key.substring(name));
                Content text = text(manifest.in(key.substring(name)));
                if (!bucket.make(at, text, left(end)) && !bucket.has(at, text, left(end))) {
                    return conflict(at, "the manifest of batch " + manifest.id());
                }
            }
            return new Outcome.Done();
        } catch (ClosedByInterruptException e) {
            throw interrupted(e);
        } catch (SdkException | IOException e) {
            handover.verify(); // If its own content is damaged, that is the failure.
            Outcome failed = Failure.outcome(address.url(at), e);
            return isPerhapsIn ? Failure.behindContent(address.url(key), failed) : failed;
        }
    }

    /// The other sentences name all places in which the SDK has looked.
    private static String firstSentence(SdkClientException e) {
        String message = String.valueOf(e.getMessage());
        int end = message.indexOf(" from any of the providers");
        return end < 0 ? message : message.substring(0, end);
    }

    private static Duration left(long end) {
        return Duration.ofNanos(Math.max(1, end - System.nanoTime()));
    }

    private static Content text(Manifest manifest) {
        byte[] text = (manifest.toJson() + "\n").getBytes(StandardCharsets.UTF_8);
        return new Content(() -> new ByteArrayInputStream(text), text.length, Sha256.hex(text));
    }

    private Outcome conflict(String key, String what) {
        return new Outcome.Conflict(address.url(key) + " is there already, and is not " + what
                + ". Find out who wrote it; move it away before the batch is released");
    }

    private static InterruptedException interrupted(ClosedByInterruptException cause) {
        boolean _ = Thread.interrupted();
        InterruptedException interrupted = new InterruptedException("Interrupted while a batch was delivered");
        interrupted.initCause(cause);
        return interrupted;
    }

    @Override
    public void close() {
        bucket.close();
    }
}
