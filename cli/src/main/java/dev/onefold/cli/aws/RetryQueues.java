package dev.onefold.cli.aws;

import dev.onefold.aws.resync.RetryQueue;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.sqs.Queue;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.SqsAsyncClientBuilder;

/// Finds the retry queue of a deployment.
final class RetryQueues {
    private RetryQueues() {}

    /// The queue of this URL.
    static RetryQueue of(AwsCommand aws, String url) {
        Queue queue;
        try {
            queue = Queue.of(url);
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage("--retries: " + e.getMessage() + ".");
        }
        return new RetryQueue(aws.queue(queue), url);
    }

    /// The queue that the template makes, which is called as the stack is; empty if there is none.
    ///
    /// @throws SdkException if nobody says
    static Optional<RetryQueue> find(AwsCommand aws, String deployment) {
        SqsAsyncClientBuilder builder = SqsAsyncClient.builder();
        @Nullable String region = aws.place().region();
        @Nullable String profile = aws.place().profile();
        if (region != null) {
            builder.region(Region.of(region));
        }
        if (profile != null) {
            builder.credentialsProvider(
                    DefaultCredentialsProvider.builder().profileName(profile).build());
        }
        SqsAsyncClient client = builder.build();
        try {
            List<String> urls = client.listQueues(request -> request.queueNamePrefix(deployment + "-Retries-"))
                    .join()
                    .queueUrls();
            if (urls.size() == 1) {
                return Optional.of(new RetryQueue(client, urls.getFirst()));
            }
            client.close();
            return Optional.empty();
        } catch (CompletionException e) {
            client.close();
            throw e.getCause() instanceof SdkException failure ? failure : e;
        }
    }
}
