package dev.onefold.sqs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequest;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchResponse;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchResultEntry;

class QueueSenderTest {
    private static final Queue QUEUE = Queue.of("https://sqs.eu-central-1.amazonaws.com/123456789012/orders");

    private final List<String> taken = new CopyOnWriteArrayList<>();
    private final List<String> refused = new CopyOnWriteArrayList<>();

    /// A queue that refuses the record `b` with a code, some times, and says that its sender is at fault.
    private SqsAsyncClient client(String code, int times) {
        int[] left = {times};
        return (SqsAsyncClient) Proxy.newProxyInstance(
                QueueSenderTest.class.getClassLoader(), new Class<?>[] {SqsAsyncClient.class}, (_, _, arguments) -> {
                    SendMessageBatchRequest.Builder request = SendMessageBatchRequest.builder();
                    @SuppressWarnings("unchecked")
                    Consumer<SendMessageBatchRequest.Builder> filled =
                            (Consumer<SendMessageBatchRequest.Builder>) arguments[0];
                    filled.accept(request);
                    return CompletableFuture.completedFuture(answer(request.build(), code, left));
                });
    }

    private SendMessageBatchResponse answer(SendMessageBatchRequest request, String code, int[] left) {
        List<SendMessageBatchResultEntry> in = new ArrayList<>();
        List<BatchResultErrorEntry> out = new ArrayList<>();
        for (SendMessageBatchRequestEntry entry : request.entries()) {
            if (entry.messageBody().equals("b") && left[0]-- > 0) {
                out.add(BatchResultErrorEntry.builder()
                        .id(entry.id())
                        .code(code)
                        .senderFault(true)
                        .build());
            } else {
                taken.add(entry.messageBody());
                in.add(SendMessageBatchResultEntry.builder().id(entry.id()).build());
            }
        }
        return SendMessageBatchResponse.builder().successful(in).failed(out).build();
    }

    private long send(String code, int times) {
        try (QueueSender sender =
                new QueueSender(client(code, times), QUEUE, -1, (number, why) -> refused.add(number + " " + why))) {
            for (String record : List.of("a", "b", "c")) {
                sender.add(record.charAt(0), record.getBytes(StandardCharsets.UTF_8));
            }
            sender.finish();
            return sender.sent();
        }
    }

    @Test
    void a_record_that_is_throttled_is_sent_again_whoever_is_said_to_be_at_fault() {
        assertThat(send("RequestThrottled", 2)).isEqualTo(3);
        assertThat(taken).containsExactly("a", "c", "b");
        assertThat(refused).isEmpty();
    }

    @Test
    void a_record_that_the_queue_finds_wrong_is_refused_and_the_others_are_sent() {
        assertThat(send("InvalidMessageContents", 1)).isEqualTo(2);
        assertThat(taken).containsExactly("a", "c");
        assertThat(refused).containsExactly("98 InvalidMessageContents: null");
    }
}
