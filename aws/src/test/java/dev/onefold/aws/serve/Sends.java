package dev.onefold.aws.serve;

import dev.onefold.fakes.aws.FakeClient;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.GetQueueUrlRequest;
import software.amazon.awssdk.services.sqs.model.GetQueueUrlResponse;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequest;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchResponse;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchResultEntry;
import software.amazon.awssdk.services.sqs.model.SqsException;

/// The sending side of a queue with the limits of SQS: it refuses a request of too many messages or bytes, and for the
/// time being those that contain a word. Any thread may call.
final class Sends implements SqsAsyncClient, FakeClient {
    static final String URL = "https://sqs.example/1/orders";

    private static final int MESSAGES_MAX = 10;
    private static final int BYTES_MAX = 1 << 20;

    final List<String> taken = new CopyOnWriteArrayList<>();
    volatile String refusedWord = "\0";
    volatile String code = "InternalError"; // Of what it refuses.
    volatile boolean isSendersFault;
    final AtomicInteger addresses = new AtomicInteger(); // How often its address was asked for.
    volatile boolean isLostOnce; // The next answer never comes, and the messages are in.

    @Override
    public CompletableFuture<GetQueueUrlResponse> getQueueUrl(GetQueueUrlRequest request) {
        addresses.incrementAndGet();
        return CompletableFuture.completedFuture(GetQueueUrlResponse.builder()
                .queueUrl("https://sqs.example/" + request.queueOwnerAWSAccountId() + "/" + request.queueName())
                .build());
    }

    @Override
    public CompletableFuture<SendMessageBatchResponse> sendMessageBatch(SendMessageBatchRequest request) {
        int bytes = request.entries().stream()
                .mapToInt(each -> each.messageBody().length())
                .sum();
        if (!request.queueUrl().equals(URL)
                || request.entries().isEmpty()
                || request.entries().size() > MESSAGES_MAX
                || bytes > BYTES_MAX) {
            return refused(400);
        }
        List<SendMessageBatchResultEntry> in = new ArrayList<>();
        List<BatchResultErrorEntry> out = new ArrayList<>();
        for (SendMessageBatchRequestEntry entry : request.entries()) {
            if (entry.messageBody().contains(refusedWord)) {
                out.add(BatchResultErrorEntry.builder()
                        .id(entry.id())
                        .senderFault(isSendersFault)
                        .code(code)
                        .build());
            } else {
                taken.add(entry.messageBody());
                in.add(SendMessageBatchResultEntry.builder()
                        .id(entry.id())
                        .messageId("m")
                        .build());
            }
        }
        if (isLostOnce) {
            isLostOnce = false;
            return refused(503);
        }
        return CompletableFuture.completedFuture(
                SendMessageBatchResponse.builder().successful(in).failed(out).build());
    }

    private static CompletableFuture<SendMessageBatchResponse> refused(int status) {
        return CompletableFuture.failedFuture(SqsException.builder()
                .message("Refused with " + status)
                .statusCode(status)
                .build());
    }
}
