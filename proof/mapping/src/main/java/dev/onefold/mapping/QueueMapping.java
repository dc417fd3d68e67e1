package dev.onefold.mapping;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.onefold.mapping.source.Futures;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;

/// The event source mapping of a queue: receives messages, invokes a function with them, and deletes what it has done.
/// What it has not done comes again when the queue shows it again, and how often the queue says.
///
/// No call waits. What is not said to be of any thread is touched by the actions of one [Scheduler] alone.
public final class QueueMapping implements AutoCloseable {
    private static final JsonFactory FACTORY = new JsonFactory();

    /// Messages of one request, received or deleted.
    private static final int REQUEST_MAX = 10;

    private static final int WAIT_SECONDS = 20;
    private static final int DELETES_MAX = 5;

    private final Scheduler scheduler;
    private final Queue queue;
    private final Invoker invoker;
    private final MappingSettings settings;
    private final MappingFaults faults;
    private final SplittableRandom random;
    private final List<Message> batch = new ArrayList<>();
    private @Nullable Instant windowEnd;
    private int failures;
    private volatile boolean closed;
    private volatile String lastProcessingResult = "No records processed";

    /// A queue.
    ///
    /// @param arn what events name it by, such as `arn:aws:sqs:eu-central-1:000000000000:retries`
    public record Queue(SqsAsyncClient client, String url, String arn) {}

    private QueueMapping(
            Scheduler scheduler, Queue queue, Invoker invoker, MappingSettings settings, MappingFaults faults) {
        this.scheduler = scheduler;
        this.queue = queue;
        this.invoker = invoker;
        this.settings = settings;
        this.faults = faults;
        random = new SplittableRandom(faults.seed());
        if (settings.batchSize() > REQUEST_MAX
                && settings.maximumBatchingWindow().isZero()) {
            throw new IllegalArgumentException("batchSize of a queue cannot be " + settings.batchSize()
                    + " without a maximumBatchingWindow: AWS refuses it");
        }
    }

    /// A mapping that receives from now on. Of the settings, a queue has `batchSize`, `maximumBatchingWindow` and
    /// `reportBatchItemFailures`; of the faults `twice` and `lostAnswer`.
    public static QueueMapping open(
            Scheduler scheduler, Queue queue, Invoker invoker, MappingSettings settings, MappingFaults faults) {
        QueueMapping mapping = new QueueMapping(scheduler, queue, invoker, settings, faults);
        mapping.after(Duration.ZERO, mapping::receive);
        return mapping;
    }

    /// What became of the last request or invocation: `OK`, or `PROBLEM: ` and what. Any thread.
    public String lastProcessingResult() {
        return lastProcessingResult;
    }

    /// Receives and invokes no more. An invocation that is under way ends as it likes, and its messages come again. Any
    /// thread.
    @Override
    public void close() {
        closed = true;
    }

    private void after(Duration delay, Runnable action) {
        scheduler.after(delay, () -> {
            if (!closed) {
                action.run();
            }
        });
    }

    private <T> void then(Supplier<CompletableFuture<T>> call, BiConsumer<@Nullable T, @Nullable Throwable> next) {
        // What the call throws at once is its failure, too.
        var _ = CompletableFuture.completedFuture(null)
                .thenCompose(_ -> call.get())
                .whenComplete((result, failure) -> after(
                        Duration.ZERO, () -> next.accept(result, failure == null ? null : Futures.cause(failure))));
    }

    private void problem(String what) {
        lastProcessingResult = "PROBLEM: " + what;
    }

    private void receive() {
        int wanted = Math.min(REQUEST_MAX, settings.batchSize() - batch.size());
        then(
                () -> queue.client()
                        .receiveMessage(request -> request.queueUrl(queue.url())
                                .maxNumberOfMessages(wanted)
                                .waitTimeSeconds(waitSeconds())
                                .messageSystemAttributeNames(MessageSystemAttributeName.ALL)),
                (answer, failure) -> {
                    if (failure != null || answer == null) {
                        problem("The queue " + queue.url() + " cannot be read: " + failure);
                        after(StreamMapping.pause(failures++), this::receive);
                        return;
                    }
                    failures = 0;
                    take(answer.messages());
                });
    }

    /// Not longer than a batch may wait.
    private int waitSeconds() {
        return windowEnd == null
                ? WAIT_SECONDS
                : Math.clamp(Duration.between(scheduler.instant(), windowEnd).toSeconds(), 0, WAIT_SECONDS);
    }

    private void take(List<Message> messages) {
        batch.addAll(messages);
        if (batch.isEmpty()) {
            receive();
            return;
        }
        Instant now = scheduler.instant();
        if (windowEnd == null) {
            windowEnd = now.plus(settings.maximumBatchingWindow());
        }
        if (batch.size() < settings.batchSize() && now.isBefore(windowEnd)) {
            receive();
            return;
        }
        windowEnd = null;
        List<Message> whole = List.copyOf(batch);
        batch.clear();
        invoke(whole);
    }

    private void invoke(List<Message> messages) {
        List<byte[]> records = messages.stream().map(this::json).toList();
        int bytes = EventBytes.empty();
        int count = 0;
        while (count < records.size()
                && (count == 0 || bytes + EventBytes.with(records.get(count).length) <= EventBytes.MAX)) {
            bytes += EventBytes.with(records.get(count++).length);
        }
        List<Message> now = messages.subList(0, count);
        List<Message> later = messages.subList(count, messages.size());
        byte[] event = EventBytes.of(records.subList(0, count));
        if (random.nextDouble() < faults.twice()) {
            // The other one's answer says how it ends.
            then(() -> invoker.invoke(event), (_, _) -> {});
        }
        boolean isLost = random.nextDouble() < faults.lostAnswer();
        then(() -> invoker.invoke(event), (answer, failure) -> {
            if (failure != null || isLost) {
                problem("The function failed for messages of " + queue.url() + ": "
                        + (failure == null ? "the answer was lost" : failure));
                goOn(later);
            } else {
                delete(done(now, answer == null ? new byte[0] : answer), 0, () -> goOn(later));
            }
        });
    }

    private void goOn(List<Message> later) {
        if (later.isEmpty()) {
            receive();
        } else {
            invoke(later);
        }
    }

    private List<Message> done(List<Message> messages, byte[] answer) {
        Optional<Set<String>> failed =
                settings.failing().reportBatchItemFailures() ? BatchAnswer.failures(answer) : Optional.of(Set.of());
        List<Message> done = failed.isEmpty()
                ? List.of()
                : messages.stream()
                        .filter(message -> !failed.get().contains(message.messageId()))
                        .toList();
        if (done.size() == messages.size()) {
            lastProcessingResult = "OK";
        } else {
            problem("The function reported " + (messages.size() - done.size()) + " messages of " + queue.url()
                    + " as failed");
        }
        return done;
    }

    /// What cannot be deleted comes again.
    private void delete(List<Message> messages, int attempt, Runnable next) {
        if (messages.isEmpty()) {
            next.run();
            return;
        }
        List<Message> some = messages.subList(0, Math.min(REQUEST_MAX, messages.size()));
        List<Message> others = messages.subList(some.size(), messages.size());
        then(
                () -> queue.client()
                        .deleteMessageBatch(
                                request -> request.queueUrl(queue.url()).entries(entries(some))),
                (answer, failure) -> {
                    boolean isDone =
                            failure == null && answer != null && answer.failed().isEmpty();
                    if (!isDone) {
                        problem("Messages of " + queue.url() + " cannot be deleted: "
                                + (failure != null || answer == null ? failure : answer.failed()));
                    }
                    if (isDone || attempt == DELETES_MAX) {
                        delete(others, 0, next);
                    } else {
                        after(StreamMapping.pause(attempt), () -> delete(messages, attempt + 1, next));
                    }
                });
    }

    private static List<DeleteMessageBatchRequestEntry> entries(List<Message> messages) {
        return IntStream.range(0, messages.size())
                .mapToObj(i -> DeleteMessageBatchRequestEntry.builder()
                        .id(Integer.toString(i))
                        .receiptHandle(messages.get(i).receiptHandle())
                        .build())
                .toList();
    }

    private byte[] json(Message message) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator json = FACTORY.createGenerator(bytes)) {
            json.writeStartObject();
            json.writeStringField("messageId", message.messageId());
            json.writeStringField("receiptHandle", message.receiptHandle());
            json.writeStringField("body", message.body());
            json.writeObjectFieldStart("attributes");
            for (Map.Entry<String, String> attribute :
                    message.attributesAsStrings().entrySet()) {
                json.writeStringField(attribute.getKey(), attribute.getValue());
            }
            json.writeEndObject();
            json.writeObjectFieldStart("messageAttributes");
            json.writeEndObject();
            json.writeStringField("md5OfBody", message.md5OfBody());
            json.writeStringField("eventSource", "aws:sqs");
            json.writeStringField("eventSourceARN", queue.arn());
            json.writeStringField("awsRegion", queue.arn().split(":", 6)[3]);
            json.writeEndObject();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return bytes.toByteArray();
    }
}
