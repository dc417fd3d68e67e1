package dev.onefold.aws.resync;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.PurgeQueueInProgressException;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/// The queue that names records which the mapping has given up. One thread.
///
/// @param client closed with this object
public record RetryQueue(SqsAsyncClient client, String url) implements AutoCloseable {
    private static final List<QueueAttributeName> COUNTS = List.of(
            QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES,
            QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE,
            QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_DELAYED);

    /// About how many messages there are, those that are being worked on included.
    public long size() {
        try {
            Map<QueueAttributeName, String> counts = client.getQueueAttributes(
                            request -> request.queueUrl(url).attributeNames(COUNTS))
                    .join()
                    .attributes();
            return counts.values().stream().mapToLong(Long::parseLong).sum();
        } catch (CompletionException e) {
            throw e.getCause() instanceof SdkException failure ? failure : e;
        }
    }

    /// Deletes all messages. SQS takes up to a minute.
    ///
    /// @return false if somebody has purged it within the last minute, perhaps before the last message
    ///     came: try again
    public boolean purge() {
        try {
            client.purgeQueue(request -> request.queueUrl(url)).join();
            return true;
        } catch (CompletionException e) {
            if (e.getCause() instanceof PurgeQueueInProgressException) {
                return false;
            }
            throw e.getCause() instanceof SdkException failure ? failure : e;
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
