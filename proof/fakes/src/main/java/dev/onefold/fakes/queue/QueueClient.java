package dev.onefold.fakes.queue;

import dev.onefold.fakes.aws.FakeClient;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Wire;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityRequest;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityResponse;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequest;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchResponse;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchResultEntry;
import software.amazon.awssdk.services.sqs.model.DeleteMessageRequest;
import software.amazon.awssdk.services.sqs.model.DeleteMessageResponse;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageRequest;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;
import software.amazon.awssdk.services.sqs.model.SendMessageRequest;
import software.amazon.awssdk.services.sqs.model.SendMessageResponse;
import software.amazon.awssdk.services.sqs.model.SqsException;

/// The SDK's client, as one process has it. When the process is killed, nothing that it waits for ever completes.
///
/// An operation that is not overridden here fails, as the SDK's interface has it.
public final class QueueClient implements SqsAsyncClient, FakeClient {
    private static final int BODY_BYTES_MAX = 1024 * 1024;
    private static final int MESSAGES_MAX = 10;
    private static final Duration LOOK_AGAIN = Duration.ofSeconds(1);

    private final SimulatedQueues service;
    private final Wire wire;

    QueueClient(SimulatedQueues service) {
        this.service = service;
        wire = new Wire(
                service.time,
                service.random,
                service::faults,
                new Wire.Refusals(() -> refused("ThrottlingException", 400), () -> refused("InternalError", 500)));
    }

    private static SqsException refused(String code, int status) {
        return (SqsException) Wire.filled(SqsException.builder(), code, status, "Refused: " + code)
                .build();
    }

    /// Kills the process. What it has sent still arrives.
    public void kill() {
        wire.kill();
    }

    @Override
    public CompletableFuture<SendMessageResponse> sendMessage(SendMessageRequest request) {
        return wire.call(() -> {
            int bytes = request.messageBody().getBytes(StandardCharsets.UTF_8).length;
            if (bytes == 0 || bytes > BODY_BYTES_MAX) {
                throw refused("InvalidParameterValue", 400);
            }
            Duration delay = Duration.ofSeconds(request.delaySeconds() == null ? 0 : request.delaySeconds());
            UUID id = new UUID(service.random.nextLong(), service.random.nextLong());
            return SendMessageResponse.builder()
                    .messageId(service.queue(request.queueUrl())
                            .add(id, request.messageBody(), service.time.instant(), delay))
                    .md5OfMessageBody(md5(request.messageBody()))
                    .build();
        });
    }

    @Override
    public CompletableFuture<ReceiveMessageResponse> receiveMessage(ReceiveMessageRequest request) {
        long seconds = request.waitTimeSeconds() == null ? 0 : request.waitTimeSeconds();
        return receive(request, service.time.instant().plusSeconds(seconds));
    }

    private CompletableFuture<ReceiveMessageResponse> receive(ReceiveMessageRequest request, Instant end) {
        return wire.call(() -> take(request)).thenCompose(answer -> {
            Instant again = service.time.instant().plus(LOOK_AGAIN);
            return answer.hasMessages() && !answer.messages().isEmpty() || again.isAfter(end)
                    ? CompletableFuture.completedFuture(answer)
                    : service.time.after(LOOK_AGAIN).thenCompose(_ -> receive(request, end));
        });
    }

    private ReceiveMessageResponse take(ReceiveMessageRequest request) {
        int max = request.maxNumberOfMessages() == null ? 1 : request.maxNumberOfMessages();
        if (max < 1 || max > MESSAGES_MAX) {
            throw refused("InvalidParameterValue", 400);
        }
        StoredQueue queue = service.queue(request.queueUrl());
        Instant now = service.time.instant();
        List<StoredQueue.Stored> visible = queue.visible(now);
        List<Message> messages = new ArrayList<>();
        while (messages.size() < max && !visible.isEmpty()) {
            StoredQueue.Stored message = visible.remove(service.random.nextInt(visible.size()));
            queue.receive(message, now, !service.faults().strikes(Fault.UNPROCESSED, service.random));
            messages.add(Message.builder()
                    .messageId(message.id)
                    .receiptHandle(message.receipt())
                    .body(message.body)
                    .md5OfBody(md5(message.body))
                    .attributes(java.util.Map.of(
                            MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT,
                            Integer.toString(message.receives()),
                            MessageSystemAttributeName.SENT_TIMESTAMP,
                            Long.toString(message.sent.toEpochMilli()),
                            MessageSystemAttributeName.APPROXIMATE_FIRST_RECEIVE_TIMESTAMP,
                            Long.toString(message.firstReceived().toEpochMilli()),
                            MessageSystemAttributeName.SENDER_ID,
                            "simulated"))
                    .build());
        }
        return ReceiveMessageResponse.builder().messages(messages).build();
    }

    @Override
    public CompletableFuture<DeleteMessageResponse> deleteMessage(DeleteMessageRequest request) {
        return wire.call(() -> {
            service.queue(request.queueUrl()).delete(request.receiptHandle());
            return DeleteMessageResponse.builder().build();
        });
    }

    @Override
    public CompletableFuture<DeleteMessageBatchResponse> deleteMessageBatch(DeleteMessageBatchRequest request) {
        return wire.call(() -> {
            if (request.entries().isEmpty() || request.entries().size() > MESSAGES_MAX) {
                throw refused("AWS.SimpleQueueService.TooManyEntriesInBatchRequest", 400);
            }
            List<DeleteMessageBatchResultEntry> done = new ArrayList<>();
            List<BatchResultErrorEntry> failed = new ArrayList<>();
            for (DeleteMessageBatchRequestEntry entry : request.entries()) {
                if (service.faults().strikes(Fault.UNPROCESSED, service.random)) {
                    failed.add(BatchResultErrorEntry.builder()
                            .id(entry.id())
                            .code("InternalError")
                            .senderFault(false)
                            .build());
                } else {
                    service.queue(request.queueUrl()).delete(entry.receiptHandle());
                    done.add(DeleteMessageBatchResultEntry.builder()
                            .id(entry.id())
                            .build());
                }
            }
            return DeleteMessageBatchResponse.builder()
                    .successful(done)
                    .failed(failed)
                    .build();
        });
    }

    @Override
    public CompletableFuture<ChangeMessageVisibilityResponse> changeMessageVisibility(
            ChangeMessageVisibilityRequest request) {
        return wire.call(() -> {
            service.queue(request.queueUrl())
                    .hide(request.receiptHandle(), service.time.instant().plusSeconds(request.visibilityTimeout()));
            return ChangeMessageVisibilityResponse.builder().build();
        });
    }

    private static String md5(String body) {
        try {
            byte[] digest = MessageDigest.getInstance("MD5").digest(body.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("This Java has no MD5, which every one must have", missing);
        }
    }
}
