package dev.onefold.cli.aws;

import dev.onefold.aws.resync.RetryQueue;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Reason;
import dev.onefold.sqs.Queue;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.SqsAsyncClientBuilder;

/// Finds the retry queue of a deployment.
public final class RetryQueues {
    private static final String PREFIX = "-Retries";

    private RetryQueues() {}

    /// The queue of this URL.
    public static RetryQueue of(AwsCommand aws, String url) {
        Queue queue;
        try {
            queue = Queue.of(url);
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage("--retries: " + e.getMessage() + ".");
        }
        return new RetryQueue(aws.queue(queue), url);
    }

    /// The queue that must be empty when rows are compared; empty if DynamoDB is not at AWS.
    ///
    /// @param url of the queue; `null` if it is looked for
    /// @throws CommandFailure if it is not found
    static Optional<RetryQueue> compared(Caller caller, AwsCommand aws, String deployment, @Nullable String url) {
        if (url != null) {
            return Optional.of(of(aws, url));
        }
        if (aws.place().endpoint() != null) {
            caller.note("DynamoDB is not at AWS, so the retry queue is not looked for; --retries names it.");
            return Optional.empty();
        }
        try {
            return Optional.of(find(aws, deployment)
                    .orElseThrow(() -> new CommandFailure(
                            ExitCode.DIRECTORY,
                            "No retry queue is called " + deployment
                                    + "-Retries-…, or several are: what it names is not in the rows yet, and would look"
                                    + " like differences. Say which one it is with --retries.")));
        } catch (SdkException e) {
            throw new CommandFailure(
                    ExitCode.DIRECTORY,
                    "The retry queue of deployment " + deployment + " cannot be looked for: " + Reason.of(e)
                            + "\nSay which one it is with --retries.",
                    e);
        }
    }

    /// The queue that the template makes, which is called as the stack is; empty if there is none.
    ///
    /// @throws SdkException if nobody says
    private static Optional<RetryQueue> find(AwsCommand aws, String deployment) {
        SqsAsyncClient client = client(aws);
        try {
            List<String> urls = urls(client, deployment + PREFIX + "-");
            if (urls.size() == 1) {
                return Optional.of(new RetryQueue(client, urls.getFirst()));
            }
            client.close();
            return Optional.empty();
        } catch (SdkException e) {
            client.close();
            throw e;
        }
    }

    /// The queue, and the one for what it has put aside, as far as they are there.
    ///
    /// @throws SdkException if nobody says
    public static List<RetryQueue> all(AwsCommand aws, String deployment) {
        SqsAsyncClient client = client(aws);
        Pattern name = Pattern.compile(".*/" + Pattern.quote(deployment + PREFIX) + "(Aside)?-[A-Za-z0-9]+");
        try {
            return urls(client, deployment + PREFIX).stream()
                    .filter(url -> name.matcher(url).matches())
                    .map(url -> new RetryQueue(client, url))
                    .toList();
        } catch (SdkException e) {
            client.close();
            throw e;
        }
    }

    private static List<String> urls(SqsAsyncClient client, String prefix) {
        try {
            return client.listQueues(request -> request.queueNamePrefix(prefix))
                    .join()
                    .queueUrls();
        } catch (CompletionException e) {
            throw e.getCause() instanceof SdkException failure ? failure : e;
        }
    }

    private static SqsAsyncClient client(AwsCommand aws) {
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
        return builder.build();
    }
}
