package dev.onefold.aws.serve;

import dev.onefold.aws.store.Threads;
import dev.onefold.core.bytes.Utf8;
import dev.onefold.core.pipeline.Pipeline;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchResponse;

/// Sends the lines of a request to the queue of a deployment: ten in a request of SQS, some of these at a time.
public final class QueueIntake implements Intake {
    /// Bytes of a message, and of all messages of a request together.
    static final int REQUEST_BYTES_MAX = 1 << 20;

    private static final int REQUEST_MESSAGES_MAX = 10;
    private static final int REQUESTS_MAX = 16;
    private static final Duration PAUSE_MIN = Duration.ofMillis(50);
    private static final Duration PAUSE_MAX = Duration.ofSeconds(2);
    private static final Set<String> REFUSALS = Set.of("InvalidMessageContents", "InvalidParameterValue");
    private static final String ARN = "arn:";
    private static final int ARN_ACCOUNT = 4;
    private static final int ARN_NAME = 5;

    private final Supplier<SqsAsyncClient> client;
    private final String queue;
    private final Threads threads;
    private final RandomGenerator random;
    private volatile @Nullable String address; // Known once it was asked for, and then for ever.

    /// @param client made when the first request needs it
    /// @param queue its address or its ARN
    /// @param random for jitter; any thread may call
    public QueueIntake(Supplier<SqsAsyncClient> client, String queue, Threads threads, RandomGenerator random) {
        this.client = client;
        this.queue = queue;
        this.threads = threads;
        this.random = random;
        address = queue.startsWith(ARN) ? null : queue;
    }

    @Override
    public String noun() {
        return "queue";
    }

    @Override
    public String refuses() {
        return "they are empty, have more than " + REQUEST_BYTES_MAX
                + " bytes, or characters that no message of SQS has";
    }

    @Override
    public Outcome put(Pipeline pipeline, List<String> lines, Duration most) {
        Sending sending = new Sending(lines, System.nanoTime() + most.toNanos());
        if (sending.knowsAddress()) {
            threads.each(Math.min(REQUESTS_MAX, sending.requests.size()), _ -> sending.sendAll());
        }
        return sending.outcome();
    }

    private static boolean isTaken(String line, int bytes) {
        return bytes > 0
                && bytes <= REQUEST_BYTES_MAX
                && line.chars()
                        .noneMatch(each -> each < ' ' && each != '\t' && each != '\n' && each != '\r'
                                || each == 0xfffe
                                || each == 0xffff);
    }

    /// Whether the queue never takes the message. Being throttled, or having no leave, is the sender's fault, too.
    private static boolean isRefusal(BatchResultErrorEntry failed) {
        String code = failed.code();
        return Boolean.TRUE.equals(failed.senderFault())
                && code != null
                && REFUSALS.contains(code.substring(code.lastIndexOf('.') + 1));
    }

    private record Message(long number, String body) {}

    /// The lines of one request. Any thread may send some of them.
    private final class Sending {
        final Queue<List<Message>> requests = new ArrayDeque<>();
        private final int lines;
        private final long deadlineNanos;
        private final SortedSet<Long> refused = new TreeSet<>();
        private final TreeSet<Long> notPut = new TreeSet<>();
        private final AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();
        private String to = "";

        Sending(List<String> all, long deadlineNanos) {
            this.deadlineNanos = deadlineNanos;
            lines = all.size();
            List<Message> request = new ArrayList<>();
            long bytes = 0;
            long number = 0;
            for (String line : all) {
                number++;
                int length = Utf8.encode("A line", line).length;
                if (!isTaken(line, length)) {
                    refused.add(number);
                    continue;
                }
                if (request.size() == REQUEST_MESSAGES_MAX || bytes + length > REQUEST_BYTES_MAX) {
                    requests.add(request);
                    request = new ArrayList<>();
                    bytes = 0;
                }
                request.add(new Message(number, line));
                notPut.add(number);
                bytes += length;
            }
            if (!request.isEmpty()) {
                requests.add(request);
            }
        }

        /// Whether there is something to send and a place for it.
        boolean knowsAddress() {
            try {
                to = requests.isEmpty() ? "" : address();
            } catch (RuntimeException failed) {
                failure.set(failed);
            }
            return !to.isEmpty();
        }

        void sendAll() {
            for (List<Message> request = next(); request != null; request = next()) {
                try {
                    sendUntilAllAreIn(request);
                } catch (RuntimeException failed) {
                    failure.compareAndSet(null, failed);
                }
            }
        }

        private synchronized @Nullable List<Message> next() {
            return failure.get() == null ? requests.poll() : null;
        }

        private void sendUntilAllAreIn(List<Message> request) {
            List<Message> left = request;
            Duration pause = PAUSE_MIN;
            while (true) {
                left = send(left);
                if (left.isEmpty()) {
                    return;
                }
                if (System.nanoTime() - deadlineNanos > -pause.toNanos()) {
                    throw new IllegalStateException("The queue has not taken all lines in time");
                }
                threads.pause(pause.plusNanos(random.nextLong(pause.toNanos())));
                pause = pause.multipliedBy(2).compareTo(PAUSE_MAX) < 0 ? pause.multipliedBy(2) : PAUSE_MAX;
            }
        }

        /// @return those that are to be sent again
        private List<Message> send(List<Message> messages) {
            if (System.nanoTime() - deadlineNanos > 0) {
                throw new IllegalStateException("The queue has not taken all lines in time");
            }
            List<SendMessageBatchRequestEntry> entries = IntStream.range(0, messages.size())
                    .mapToObj(i -> SendMessageBatchRequestEntry.builder()
                            .id(Integer.toString(i))
                            .messageBody(messages.get(i).body)
                            .build())
                    .toList();
            SendMessageBatchResponse answer = threads.await(client.get()
                    .sendMessageBatch(request -> request.queueUrl(to).entries(entries)));
            answer.successful().forEach(in -> isDone(messages.get(Integer.parseInt(in.id())), false));
            List<Message> again = new ArrayList<>();
            for (BatchResultErrorEntry failed : answer.failed()) {
                Message message = messages.get(Integer.parseInt(failed.id()));
                if (isRefusal(failed)) {
                    isDone(message, true);
                } else {
                    again.add(message);
                }
            }
            return again;
        }

        private synchronized void isDone(Message message, boolean isRefused) {
            notPut.remove(message.number);
            if (isRefused) {
                refused.add(message.number);
            }
        }

        synchronized Outcome outcome() {
            return new Outcome(lines - notPut.size() - refused.size(), List.copyOf(notPut), refused, failure.get());
        }
    }

    private String address() {
        String known = address;
        if (known == null) {
            String[] parts = queue.split(":", -1);
            known = threads.await(client.get()
                            .getQueueUrl(request ->
                                    request.queueName(parts[ARN_NAME]).queueOwnerAWSAccountId(parts[ARN_ACCOUNT])))
                    .queueUrl();
            address = known;
        }
        return known;
    }
}
