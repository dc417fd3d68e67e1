package dev.onefold.sqs;

import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.http.nio.netty.SdkEventLoopGroup;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.SqsAsyncClientBuilder;

/// A queue by its URL, from which its place is known, too.
///
/// @param url as SQS gives it: `https://sqs.eu-central-1.amazonaws.com/123456789012/orders`
/// @param name account and queue, such as `123456789012/orders`
/// @param region empty if the URL does not say it
public record Queue(String url, String name, String region) {
    /// Threads of all clients. One with threads of its own waits at its end until they were quiet for two seconds.
    private static final SdkEventLoopGroup LOOPS = SdkEventLoopGroup.builder()
            .threadFactory(Thread.ofPlatform().daemon().name("sqs-", 0).factory())
            .build();

    private static final Pattern AT_AWS =
            Pattern.compile("(?:sqs\\.)?([a-z0-9-]+?)(?:\\.queue)?\\.(?:amazonaws\\.com|api\\.aws)(?:\\.cn)?");
    private static final Pattern NAME = Pattern.compile("/(?:queue/)?([A-Za-z0-9_-]+/[A-Za-z0-9_.-]+)");
    private static final String FIFO = ".fifo";
    private static final int REQUESTS_MAX = 100;

    /// Longer than a long poll.
    private static final Duration CALL_MAX = Duration.ofSeconds(40);

    /// @throws IllegalArgumentException if this is not the URL of a standard queue
    public static Queue of(String url) {
        URI uri;
        try {
            uri = new URI(url);
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException(notOne(url), e);
        }
        Matcher path = NAME.matcher(uri.getPath() == null ? "" : uri.getPath());
        if (uri.getHost() == null || !path.matches()) {
            throw new IllegalArgumentException(notOne(url));
        }
        if (path.group(1).endsWith(FIFO)) {
            throw new IllegalArgumentException(
                    "The queue " + url + " is a FIFO queue, and only standard queues can be an"
                            + " input: Onefold needs neither their order nor their deduplication.");
        }
        Matcher host = AT_AWS.matcher(uri.getHost());
        return new Queue(url, path.group(1), host.matches() ? host.group(1) : "");
    }

    private static String notOne(String url) {
        return "'" + url + "' is not the URL of a queue. Write it as SQS shows it, such as"
                + " https://sqs.eu-central-1.amazonaws.com/123456789012/orders";
    }

    /// The name of the queue as a source.
    public String source() {
        return "sqs:" + name;
    }

    /// A queue that is not at AWS is in no region, but a request must be signed for one.
    private static Region regionOrAny() {
        try {
            return DefaultAwsRegionProviderChain.builder().build().getRegion();
        } catch (SdkClientException none) {
            return Region.US_EAST_1;
        }
    }

    /// A client for it. A URL that is not at AWS is used as the endpoint.
    ///
    /// @param profile of the shared credentials file; `null`: the one of the environment
    public SqsAsyncClient client(@Nullable String profile) {
        SqsAsyncClientBuilder builder = SqsAsyncClient.builder()
                .httpClientBuilder(
                        NettyNioAsyncHttpClient.builder().eventLoopGroup(LOOPS).maxConcurrency(REQUESTS_MAX))
                .overrideConfiguration(
                        override -> override.apiCallTimeout(CALL_MAX).apiCallAttemptTimeout(CALL_MAX));
        if (region.isEmpty()) {
            URI uri = URI.create(url);
            builder.endpointOverride(URI.create(uri.getScheme() + "://" + uri.getAuthority()))
                    .region(regionOrAny());
        } else {
            builder.region(Region.of(region));
        }
        if (profile != null) {
            builder.credentialsProvider(
                    DefaultCredentialsProvider.builder().profileName(profile).build());
        }
        return builder.build();
    }
}
