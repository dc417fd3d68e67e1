package dev.onefold.sqs;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;

/// Sends records to a queue, ten a request and several requests at a time; the queue has no order. A request
/// without an answer is sent again, so a record may come twice, as two messages. Not thread-safe.
public final class QueueSender implements AutoCloseable {
    /// Bytes of a message, and of all messages of a request together.
    public static final int REQUEST_BYTES_MAX = 1024 * 1024;

    private static final Set<String> REFUSALS = Set.of("InvalidMessageContents", "InvalidParameterValue");
    private static final int REQUEST_MAX = 10;
    private static final int REQUESTS_MAX = 16;
    private static final int ATTEMPTS_MAX = 12;
    private static final Duration PAUSE_MIN = Duration.ofMillis(50);

    private final SqsAsyncClient client;
    private final String url;
    private final int delaySeconds;
    private final BiConsumer<Long, String> refused;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Semaphore room = new Semaphore(REQUESTS_MAX);
    private final AtomicReference<RuntimeException> failure = new AtomicReference<>();
    private final AtomicLong sent = new AtomicLong();
    private final ConcurrentSkipListSet<Long> unanswered = new ConcurrentSkipListSet<>();
    private final List<CompletableFuture<Void>> underWay = new ArrayList<>();
    private List<Outgoing> waiting = new ArrayList<>();
    private long waitingBytes;

    private record Outgoing(long number, String body) {}

    /// @param delaySeconds time for which the queue hides each message at first; below 0: the setting of the
    ///     queue
    /// @param refused takes the number of a record that the queue cannot take, and the reason; any thread
    public QueueSender(SqsAsyncClient client, Queue queue, int delaySeconds, BiConsumer<Long, String> refused) {
        this.client = client;
        url = queue.url();
        this.delaySeconds = delaySeconds;
        this.refused = refused;
    }

    /// Records that are in the queue.
    public long sent() {
        return sent.get();
    }

    /// Number of the first record that is perhaps not in the queue; empty if all are, or were refused.
    public OptionalLong firstUnanswered() {
        return unanswered.stream().mapToLong(Long::longValue).findFirst();
    }

    /// Sends a record, perhaps later with others.
    ///
    /// @param number names the record in a refusal; not that of a record that is under way
    /// @throws RuntimeException if the queue takes no more
    public void add(long number, byte[] record) {
        String problem = problem(record);
        if (!problem.isEmpty()) {
            refused.accept(number, problem);
            return;
        }
        if (waiting.size() == REQUEST_MAX || waitingBytes + record.length > REQUEST_BYTES_MAX) {
            flush();
        }
        unanswered.add(number);
        waiting.add(new Outgoing(number, new String(record, StandardCharsets.UTF_8)));
        waitingBytes += record.length;
    }

    private static String problem(byte[] record) {
        if (record.length == 0) {
            return "it is empty, and a queue takes no empty message";
        }
        if (record.length > REQUEST_BYTES_MAX) {
            return "it has " + record.length + " bytes, and a message has at most " + REQUEST_BYTES_MAX;
        }
        String text = new String(record, StandardCharsets.UTF_8);
        boolean isText = java.util.Arrays.equals(text.getBytes(StandardCharsets.UTF_8), record)
                && text.chars()
                        .noneMatch(each -> each < ' ' && each != '\t' && each != '\n' && each != '\r'
                                || each == 0xfffe
                                || each == 0xffff);
        return isText ? "" : "it holds bytes that a message of SQS cannot have";
    }

    private void flush() {
        requireGoingOn();
        if (waiting.isEmpty()) {
            return;
        }
        List<Outgoing> request = waiting;
        waiting = new ArrayList<>();
        waitingBytes = 0;
        room.acquireUninterruptibly();
        underWay.removeIf(CompletableFuture::isDone);
        underWay.add(CompletableFuture.runAsync(() -> sendAll(request), threads).whenComplete((_, failed) -> {
            room.release();
            if (failed != null) {
                failure.compareAndSet(null, unwrapped(failed));
            }
        }));
    }

    private static RuntimeException unwrapped(Throwable failed) {
        Throwable cause =
                failed instanceof CompletionException && failed.getCause() != null ? failed.getCause() : failed;
        return cause instanceof RuntimeException known ? known : new IllegalStateException(cause);
    }

    private void requireGoingOn() {
        RuntimeException failed = failure.get();
        if (failed != null) {
            throw failed;
        }
    }

    private void sendAll(List<Outgoing> records) {
        List<Outgoing> left = records;
        Duration pause = PAUSE_MIN;
        for (int attempt = 1; !left.isEmpty(); attempt++) {
            left = send(left, attempt == ATTEMPTS_MAX);
            if (!left.isEmpty()) {
                pause(pause);
                pause = pause.multipliedBy(2);
            }
        }
    }

    /// Whether the queue never takes the record. Throttling and missing permissions are the sender's fault,
    /// too.
    private static boolean isRefusal(BatchResultErrorEntry failed) {
        String code = failed.code();
        return Boolean.TRUE.equals(failed.senderFault())
                && code != null
                && REFUSALS.contains(code.substring(code.lastIndexOf('.') + 1));
    }

    private static void pause(Duration pause) {
        try {
            Thread.sleep(pause);
        } catch (InterruptedException e) {
            throw new IllegalStateException("Interrupted while sending to a queue", e);
        }
    }

    /// @return those that are to be sent again
    private List<Outgoing> send(List<Outgoing> records, boolean isLast) {
        List<SendMessageBatchRequestEntry> entries = IntStream.range(0, records.size())
                .mapToObj(i -> SendMessageBatchRequestEntry.builder()
                        .id(Integer.toString(i))
                        .messageBody(records.get(i).body)
                        .delaySeconds(delaySeconds < 0 ? null : delaySeconds)
                        .build())
                .toList();
        var answer = client.sendMessageBatch(request -> request.queueUrl(url).entries(entries))
                .join();
        sent.addAndGet(answer.successful().size());
        answer.successful().forEach(in -> unanswered.remove(records.get(Integer.parseInt(in.id())).number));
        List<Outgoing> again = new ArrayList<>();
        for (BatchResultErrorEntry failed : answer.failed()) {
            Outgoing record = records.get(Integer.parseInt(failed.id()));
            if (isRefusal(failed)) {
                unanswered.remove(record.number);
                refused.accept(record.number, failed.code() + ": " + failed.message());
            } else if (isLast) {
                throw new IllegalStateException("The queue has refused a message " + ATTEMPTS_MAX + " times: "
                        + failed.code() + ": " + failed.message());
            } else {
                again.add(record);
            }
        }
        return again;
    }

    /// Sends the rest; when it returns, all records are in the queue or refused.
    ///
    /// @throws RuntimeException if the queue takes no more
    public void finish() {
        flush();
        underWay.forEach(each -> {
            try {
                each.join();
            } catch (CompletionException known) {
                failure.compareAndSet(null, unwrapped(known));
            }
        });
        underWay.clear();
        requireGoingOn();
    }

    @Override
    public void close() {
        threads.close();
    }
}
