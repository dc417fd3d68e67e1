package dev.onefold.sqs;

import dev.onefold.core.EngineException;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.source.QueueBatch;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;

/// Brings the messages of a queue to an engine.
///
/// A message is deleted from the queue only after the engine's journal was forced with it. A crash before that loses
/// nothing, because the queue shows the message again; a crash after it counts nothing twice, because the engine knows
/// the message's id or the event's own. While the engine holds a message back (a full disk, a view that is being
/// filled), the message stays hidden from other readers.
///
/// Receivers are virtual threads. One of them polls while the queue is empty; the others join it as long as there are
/// messages.
public final class QueueIntake {
    private static final int REQUEST_MAX = 10;
    private static final int POLL_SECONDS = 20;
    private static final long STOP_POLL_MS = 50;

    /// A poll that waits for longer has found no messages, so a stop gives up none that it hides.
    private static final Duration ANSWER_MAX = Duration.ofMillis(500);

    private static final int DELETES_MAX = 5;
    private static final Duration UNDELETED_NOTE_PAUSE = Duration.ofMinutes(1);
    private static final Duration PAUSE_MIN = Duration.ofMillis(200);
    private static final Duration PAUSE_MAX = Duration.ofSeconds(20);
    private static final long SHOW_SECONDS_MAX = 2;

    private final SqsAsyncClient client;
    private final Queue queue;
    private final EmbeddedEngine engine;
    private final Settings settings;
    private final ReentrantLock idle = new ReentrantLock();
    private final Set<Held> held = ConcurrentHashMap.newKeySet();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final AtomicBoolean unreadable = new AtomicBoolean();
    private volatile boolean wasRead;
    private final AtomicLong records = new AtomicLong();
    private long undeleted; // Under this object's lock.
    private long undeletedNotedAt; // The same.

    /// The settings of an intake.
    ///
    /// @param maximumConcurrency receivers at a time
    /// @param visibilityTimeout how long a message is hidden when it is received; it is hidden again before
    ///     that ends
    /// @param untilEmpty whether the intake ends when a long poll brings no message
    /// @param notes takes messages for a person, such as that the queue cannot be reached for now
    public record Settings(
            int maximumConcurrency, Duration visibilityTimeout, boolean untilEmpty, Consumer<String> notes) {
        public static final int CONCURRENCY_DEFAULT = 8;
        public static final int CONCURRENCY_MAX = 64;
        public static final Duration VISIBILITY_DEFAULT = Duration.ofSeconds(30);
        private static final Duration VISIBILITY_MIN = Duration.ofSeconds(3);
        private static final Duration VISIBILITY_MAX = Duration.ofHours(12);

        public Settings {
            if (maximumConcurrency < 1 || maximumConcurrency > CONCURRENCY_MAX) {
                throw new IllegalArgumentException("The maximum concurrency of a queue is 1 to " + CONCURRENCY_MAX
                        + ", not " + maximumConcurrency);
            }
            if (visibilityTimeout.compareTo(VISIBILITY_MIN) < 0 || visibilityTimeout.compareTo(VISIBILITY_MAX) > 0) {
                throw new IllegalArgumentException("The visibility timeout of a queue is " + VISIBILITY_MIN.toSeconds()
                        + "s to " + VISIBILITY_MAX.toHours() + "h, not " + visibilityTimeout.toSeconds() + "s");
            }
        }
    }

    /// Messages that are received and not deleted.
    private static final class Held {
        private final List<Message> messages;
        private volatile long sinceNanos = System.nanoTime();

        Held(List<Message> messages) {
            this.messages = messages;
        }
    }

    public QueueIntake(SqsAsyncClient client, Queue queue, EmbeddedEngine engine, Settings settings) {
        this.client = client;
        this.queue = queue;
        this.engine = engine;
        this.settings = settings;
    }

    /// Messages that the engine has taken so far. Any thread.
    public long records() {
        return records.get();
    }

    /// Whether the queue has answered: it exists, and its URL and the credentials are right. Any thread.
    public boolean wasRead() {
        return wasRead;
    }

    /// Takes messages until a stop is requested, or the queue is empty if the settings say so. Messages that
    /// were received by then are taken and deleted first; a poll that is under way is abandoned.
    ///
    /// @throws RuntimeException if the queue does not exist or is not allowed, or the engine cannot continue
    public void run(BooleanSupplier stop) {
        List<Thread> receivers = new ArrayList<>();
        BooleanSupplier ends = () -> stop.getAsBoolean() || failure.get() != null;
        for (int i = 0; i < settings.maximumConcurrency; i++) {
            receivers.add(Thread.ofVirtual().name("queue-" + i).start(() -> guarded(() -> receive(ends, stop))));
        }
        Thread keeper = Thread.ofVirtual().name("queue-visibility").start(() -> guarded(this::keepHidden));
        try {
            receivers.forEach(QueueIntake::join);
        } finally {
            end(keeper);
        }
        switch (failure.get()) {
            case null -> {}
            case RuntimeException failed -> throw failed;
            case Error failed -> throw failed;
            case Throwable failed -> throw new IllegalStateException(failed);
        }
    }

    private static void join(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /// Interrupts a thread until it ends: a request that it sends may clear the interrupt.
    private static void end(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            thread.interrupt();
            try {
                thread.join(STOP_POLL_MS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void guarded(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error failed) {
            failure.compareAndSet(null, failed);
        }
    }

    private void receive(BooleanSupplier ends, BooleanSupplier stop) {
        boolean isIdle = true;
        Duration pause = PAUSE_MIN;
        while (!ends.getAsBoolean()) {
            List<Message> messages;
            try {
                messages = isIdle ? pollAlone(ends) : poll(ends);
                pause = PAUSE_MIN;
                unreadable.set(false);
                wasRead = true;
            } catch (SdkException refused) {
                requireAnotherTry(refused);
                if (!unreadable.getAndSet(true)) {
                    settings.notes.accept("Queue " + queue.name() + " cannot be read for now, and is tried again: "
                            + Reason.of(refused));
                }
                sleep(pause, ends);
                pause = pause.multipliedBy(2).compareTo(PAUSE_MAX) < 0 ? pause.multipliedBy(2) : PAUSE_MAX;
                continue;
            }
            if (messages == null) {
                return;
            }
            isIdle = messages.isEmpty();
            if (isIdle && settings.untilEmpty) {
                return;
            }
            if (!isIdle) {
                take(messages, stop);
            }
        }
    }

    /// The queue is empty for all that this receiver knows, so one poll at a time is enough.
    private @Nullable List<Message> pollAlone(BooleanSupplier ends) {
        while (!ends.getAsBoolean()) {
            try {
                if (idle.tryLock(STOP_POLL_MS, TimeUnit.MILLISECONDS)) {
                    try {
                        return poll(ends);
                    } finally {
                        idle.unlock();
                    }
                }
            } catch (InterruptedException e) {
                return null;
            }
        }
        return null;
    }

    /// @return `null` if the intake ends
    private @Nullable List<Message> poll(BooleanSupplier ends) {
        CompletableFuture<ReceiveMessageResponse> answer =
                client.receiveMessage(request -> request.queueUrl(queue.url())
                        .maxNumberOfMessages(REQUEST_MAX)
                        .waitTimeSeconds(settings.untilEmpty ? 1 : POLL_SECONDS)
                        .visibilityTimeout((int) settings.visibilityTimeout.toSeconds())
                        .messageSystemAttributeNames(MessageSystemAttributeName.SENT_TIMESTAMP));
        long asked = System.nanoTime();
        while (true) {
            try {
                return answer.get(STOP_POLL_MS, TimeUnit.MILLISECONDS).messages();
            } catch (TimeoutException waiting) {
                if (ends.getAsBoolean() && System.nanoTime() - asked > ANSWER_MAX.toNanos()) {
                    answer.cancel(true);
                    return null;
                }
            } catch (InterruptedException | CancellationException ended) {
                answer.cancel(true);
                return null;
            } catch (ExecutionException e) {
                throw unwrapped(e);
            }
        }
    }

    private void take(List<Message> messages, BooleanSupplier stop) {
        Held now = new Held(messages);
        held.add(now);
        try {
            engine.append(new QueueBatch(
                    queue.source(), messages.stream().map(QueueIntake::message).toList()));
            records.addAndGet(messages.size());
            delete(messages);
        } catch (EngineException e) {
            if (stop.getAsBoolean()) {
                held.remove(now); // Otherwise it would be hidden again.
                hide(messages, 0)
                        .orTimeout(SHOW_SECONDS_MAX, TimeUnit.SECONDS)
                        .exceptionally(_ -> null)
                        .join();
            }
            throw e;
        } finally {
            held.remove(now);
        }
    }

    private static QueueBatch.Message message(Message message) {
        String sent = message.attributes().get(MessageSystemAttributeName.SENT_TIMESTAMP);
        if (sent == null) {
            throw new IllegalStateException("Message " + message.messageId() + " does not say when it was sent");
        }
        return new QueueBatch.Message(
                message.messageId(), Long.parseLong(sent), message.body().getBytes(StandardCharsets.UTF_8));
    }

    /// A message that cannot be deleted comes again, and changes nothing then.
    private void delete(List<Message> messages) {
        Left left = new Left(messages, "");
        for (int attempt = 1; !left.messages.isEmpty() && attempt <= DELETES_MAX; attempt++) {
            left = deleteOnce(left.messages);
        }
        if (!left.messages.isEmpty()) {
            noteUndeleted(left);
        }
    }

    /// Logs it at once, and then at most once a minute.
    private synchronized void noteUndeleted(Left left) {
        undeleted += left.messages.size();
        long now = System.nanoTime();
        if (undeletedNotedAt == 0 || now - undeletedNotedAt > UNDELETED_NOTE_PAUSE.toNanos()) {
            undeletedNotedAt = now;
            settings.notes.accept(
                    "Messages of queue " + queue.name() + " that could not be deleted so far: " + undeleted
                            + (left.why.isEmpty() ? "" : " (" + left.why + ")")
                            + ". They are counted, come again, and change nothing then.");
        }
    }

    /// Messages that are not deleted, and the reason of the last one.
    private record Left(List<Message> messages, String why) {}

    private Left deleteOnce(List<Message> messages) {
        List<DeleteMessageBatchRequestEntry> entries = IntStream.range(0, messages.size())
                .mapToObj(i -> DeleteMessageBatchRequestEntry.builder()
                        .id(Integer.toString(i))
                        .receiptHandle(messages.get(i).receiptHandle())
                        .build())
                .toList();
        try {
            List<BatchResultErrorEntry> failed = client.deleteMessageBatch(
                            request -> request.queueUrl(queue.url()).entries(entries))
                    .join()
                    .failed();
            return new Left(
                    failed.stream()
                            .map(each -> messages.get(Integer.parseInt(each.id())))
                            .toList(),
                    failed.isEmpty()
                            ? ""
                            : Stream.of(
                                            failed.getLast().message(),
                                            failed.getLast().code())
                                    .filter(Objects::nonNull)
                                    .findFirst()
                                    .orElse("the queue gives no reason"));
        } catch (CompletionException e) {
            RuntimeException failure = unwrapped(e);
            requireAnotherTry(failure);
            return new Left(messages, Reason.of(failure));
        }
    }

    /// Hides messages again that the engine has not taken yet.
    private void keepHidden() {
        long third = settings.visibilityTimeout.toNanos() / 3;
        while (!Thread.currentThread().isInterrupted()) {
            try {
                Thread.sleep(Duration.ofNanos(third / 2));
            } catch (InterruptedException e) {
                return;
            }
            for (Held each : held) {
                if (System.nanoTime() - each.sinceNanos >= third) {
                    hideAgain(each);
                }
            }
        }
    }

    /// Hides messages for some seconds from now on; with 0 they can be received at once.
    private CompletableFuture<?> hide(List<Message> messages, int seconds) {
        List<ChangeMessageVisibilityBatchRequestEntry> entries = IntStream.range(0, messages.size())
                .mapToObj(i -> ChangeMessageVisibilityBatchRequestEntry.builder()
                        .id(Integer.toString(i))
                        .receiptHandle(messages.get(i).receiptHandle())
                        .visibilityTimeout(seconds)
                        .build())
                .toList();
        return client.changeMessageVisibilityBatch(
                request -> request.queueUrl(queue.url()).entries(entries));
    }

    private void hideAgain(Held messages) {
        try {
            hide(messages.messages, (int) settings.visibilityTimeout.toSeconds())
                    .join();
            messages.sinceNanos = System.nanoTime();
        } catch (CompletionException e) { // They come again, and change nothing then.
            settings.notes.accept("Messages of queue " + queue.name() + " could not be hidden longer: "
                    + unwrapped(e).getMessage());
        }
    }

    /// Ends the intake if another try cannot help.
    ///
    /// @throws RuntimeException if `refused` is not an error of the SDK, or is an error that stays
    private void requireAnotherTry(RuntimeException refused) {
        if (!(refused instanceof SdkException)) {
            throw refused;
        }
        boolean isFinal = refused instanceof AwsServiceException answer
                && answer.statusCode() >= 400
                && answer.statusCode() < 500
                && !answer.isThrottlingException();
        boolean isUnsent = !(refused instanceof AwsServiceException) && records.get() == 0;
        if (isFinal || isUnsent && String.valueOf(refused.getMessage()).contains("credentials")) {
            throw new IllegalStateException("Queue " + queue.url() + " cannot be read: " + Reason.of(refused), refused);
        }
    }

    private static RuntimeException unwrapped(Exception failed) {
        return switch (failed.getCause()) {
            case RuntimeException cause -> cause;
            case Error cause -> throw cause;
            case null, default -> new IllegalStateException(failed);
        };
    }

    private static void sleep(Duration pause, BooleanSupplier ends) {
        long end = System.nanoTime() + pause.toNanos();
        while (System.nanoTime() < end && !ends.getAsBoolean()) {
            try {
                Thread.sleep(STOP_POLL_MS);
            } catch (InterruptedException e) {
                return;
            }
        }
    }
}
