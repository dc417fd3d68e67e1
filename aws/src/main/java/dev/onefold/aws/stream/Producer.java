package dev.onefold.aws.stream;

import dev.onefold.aws.store.Threads;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.kinesis.model.InvalidArgumentException;
import software.amazon.awssdk.services.kinesis.model.PutRecordsRequestEntry;
import software.amazon.awssdk.services.kinesis.model.PutRecordsResponse;
import software.amazon.awssdk.services.kinesis.model.PutRecordsResultEntry;
import software.amazon.awssdk.services.kinesis.model.ValidationException;

/// Puts records into a Kinesis stream, many requests at a time.
///
/// The entries of a request succeed or fail one by one, in no order. So a request holds at most one record of a
/// partition key, and the next one of that key waits until it is in: what the stream has of a key is in its
/// order, also when entries are refused and sent again. A request without an answer is sent again as well; if
/// it did go through, the stream has its records twice, which the pipeline takes for duplicates.
///
///     waiting   partition key -> its records, in their order; the first may be in a request
///     ready     keys whose first record is in no request; those that were refused come first
///
/// The service says how fast it will go: whenever it refuses, half as many requests are under way, and one more
/// whenever it takes all of one. Any thread may call; records of one key must come from one thread.
public final class Producer {
    /// Of one record, with its partition key, and of all records of a request together.
    public static final int REQUEST_BYTES_MAX = 10 * 1024 * 1024;

    static final int REQUEST_RECORDS_MAX = 500;
    static final int REQUESTS_MAX = 16;
    static final int ATTEMPTS_MAX = 50;

    /// For how long nothing of what is sent has to be answered until the stream is given up.
    static final Duration SILENCE_MAX = Duration.ofMinutes(1);

    /// The largest record for a stream that is not set up for larger ones. Such a stream refuses a whole
    /// request for one larger record, so larger ones go alone.
    private static final int USUAL_BYTES_MAX = 1024 * 1024;

    private static final int WAITING_RECORDS_MAX = 20_000;
    private static final long WAITING_BYTES_MAX = 64L * 1024 * 1024;
    private static final long PAUSE_MS_MIN = 20;
    private static final long PAUSE_MS_MAX = 2_000;

    private final KinesisAsyncClient client;
    private final String stream;
    private final Threads threads;
    private final RandomGenerator random;
    private final BiConsumer<StreamRecord, String> refused;

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Deque<Entry>> waiting = new HashMap<>();
    private final Deque<String> ready = new ArrayDeque<>();
    private final TreeSet<Long> outstanding = new TreeSet<>();
    private final CompletableFuture<Sent> finished = new CompletableFuture<>();
    private long waitingBytes;
    /// When an answer came last, or the first record after all others were in.
    private long heardNanos;

    private int underWay;
    private int pausing;
    private int allowed = REQUESTS_MAX;
    private boolean closed;
    private Sent sent = new Sent(0, 0, 0, 0, 0);
    private @Nullable CompletableFuture<Boolean> room;
    private @Nullable Throwable failure;

    /// The counts of the records that were put, and of the requests.
    ///
    /// @param records number of records that are in the stream, each counted once
    /// @param bytes of these
    /// @param requests number of requests, with those that failed
    /// @param retried number of entries that were sent again
    /// @param unanswered number of these that no answer came for, and which may be in the stream twice
    public record Sent(long records, long bytes, long requests, long retried, long unanswered) {
        private Sent plus(long moreRecords, long moreBytes, long moreRetried, long moreUnanswered) {
            return new Sent(
                    records + moreRecords,
                    bytes + moreBytes,
                    requests + 1,
                    retried + moreRetried,
                    unanswered + moreUnanswered);
        }
    }

    private static final class Entry {
        private final StreamRecord record;
        private int attempts;

        Entry(StreamRecord record) {
            this.record = record;
        }
    }

    /// @param stream its name or its ARN
    /// @param threads where each request waits for its answer
    /// @param random for jitter
    /// @param refused gets each record that this stream can never take, and why; on any thread
    public Producer(
            KinesisAsyncClient client,
            String stream,
            Threads threads,
            RandomGenerator random,
            BiConsumer<StreamRecord, String> refused) {
        this.client = client;
        this.stream = stream;
        this.threads = threads;
        this.random = random;
        this.refused = refused;
    }

    /// Takes a record, and waits until there is room for the next one.
    ///
    /// @throws RuntimeException why nothing more can be put
    public void add(StreamRecord record) {
        if (record.bytes() > REQUEST_BYTES_MAX) {
            refused.accept(
                    record,
                    "it has " + record.bytes() + " bytes with its partition key, and Kinesis takes at most "
                            + REQUEST_BYTES_MAX);
            return;
        }
        CompletableFuture<Boolean> next = locked(() -> {
            if (closed) {
                throw new IllegalStateException("A record is added after the last one");
            }
            if (failure != null) {
                return CompletableFuture.failedFuture(failure);
            }
            Deque<Entry> before = waiting.get(record.partitionKey());
            if (before == null) {
                waiting.put(record.partitionKey(), new ArrayDeque<>(List.of(new Entry(record))));
                ready.addLast(record.partitionKey());
            } else {
                before.addLast(new Entry(record));
            }
            heardNanos = outstanding.isEmpty() ? threads.nanoTime() : heardNanos;
            outstanding.add(record.number());
            waitingBytes += record.bytes();
            if (isFull() && room == null) {
                room = new CompletableFuture<>();
            }
            return room == null ? CompletableFuture.completedFuture(true) : room;
        });
        pump();
        threads.await(next);
    }

    /// No record follows. Returns when all are in; throws if one could not be put, when no request is under way
    /// any more.
    public Sent finish() {
        locked(() -> closed = true);
        pump();
        return threads.await(finished);
    }

    /// The counts so far.
    public Sent sent() {
        return locked(() -> sent);
    }

    /// The least number of a record that was added and is not known to be in: from it on nothing is certain.
    public OptionalLong firstNotPut() {
        return locked(() -> outstanding.isEmpty() ? OptionalLong.empty() : OptionalLong.of(outstanding.first()));
    }

    /// The numbers of the records that were added and are not known to be in, in their order.
    public List<Long> notPut() {
        return locked(() -> List.copyOf(outstanding));
    }

    /// Sends nothing more. What is under way may still succeed; [#finish] waits for that and fails with the
    /// reason.
    public void giveUp(String reason) {
        stop(new IllegalStateException(reason));
        settle();
    }

    private <T> T locked(Supplier<T> action) {
        lock.lock();
        try {
            return action.get();
        } finally {
            lock.unlock();
        }
    }

    private boolean isFull() {
        return outstanding.size() >= WAITING_RECORDS_MAX || waitingBytes >= WAITING_BYTES_MAX;
    }

    /// Sends what can be sent, each request on a thread of its own.
    private void pump() {
        for (List<Entry> request = take(); !request.isEmpty(); request = take()) {
            List<Entry> next = request;
            try {
                threads.execute(() -> send(next));
            } catch (RuntimeException | Error noThread) {
                fail(noThread);
            }
        }
        settle();
    }

    /// The entries of the next request; none if there is nothing to send now.
    private List<Entry> take() {
        return locked(() -> {
            List<Entry> request = new ArrayList<>();
            if (failure != null || underWay >= allowed) {
                return request;
            }
            int bytes = 0;
            while (!ready.isEmpty() && request.size() < REQUEST_RECORDS_MAX) {
                Entry first =
                        Objects.requireNonNull(waiting.get(ready.getFirst())).getFirst();
                int more = first.record.bytes();
                boolean alone = more > USUAL_BYTES_MAX;
                if (!request.isEmpty() && (alone || bytes + more > REQUEST_BYTES_MAX)) {
                    break;
                }
                ready.removeFirst();
                first.attempts++;
                request.add(first);
                bytes += more;
                if (alone) {
                    break;
                }
            }
            underWay += request.isEmpty() ? 0 : 1;
            return request;
        });
    }

    private void send(List<Entry> request) {
        List<PutRecordsRequestEntry> entries = request.stream()
                .map(entry -> PutRecordsRequestEntry.builder()
                        .partitionKey(entry.record.partitionKey())
                        .data(SdkBytes.fromByteArrayUnsafe(entry.record.data()))
                        .build())
                .toList();
        boolean isArn = stream.startsWith("arn:");
        try {
            PutRecordsResponse response = null;
            try {
                response = threads.await(client.putRecords(put ->
                        put.records(entries).streamName(isArn ? null : stream).streamARN(isArn ? stream : null)));
            } catch (SdkException failed) {
                failed(request, failed);
            }
            if (response != null) {
                answered(request, response);
            }
        } catch (RuntimeException | Error bug) {
            fail(bug);
        }
        pump();
    }

    private void answered(List<Entry> request, PutRecordsResponse response) {
        heard();
        List<PutRecordsResultEntry> results = response.records();
        if (results.size() != request.size()) {
            fail(new IllegalStateException("Kinesis answered " + results.size() + " results for " + request.size()
                    + " records; which of them are in is not known"));
            return;
        }
        List<Entry> again = new ArrayList<>();
        String reason = "";
        long bytes = 0;
        int unanswered = 0;
        for (int i = 0; i < results.size(); i++) {
            String error = results.get(i).errorCode();
            if (error != null) {
                again.add(request.get(i));
                unanswered += error.equals("InternalFailure") ? 1 : 0;
                reason = error + " " + results.get(i).errorMessage();
            } else {
                bytes += request.get(i).record.data().length;
                done(request.get(i));
            }
        }
        ended(new Answer(request.size() - again.size(), bytes, again, unanswered, reason));
    }

    private void failed(List<Entry> request, Throwable cause) {
        boolean isRefusal = cause instanceof InvalidArgumentException || cause instanceof ValidationException;
        if (isRefusal && request.size() == 1 && request.getFirst().record.bytes() > USUAL_BYTES_MAX) {
            refused.accept(request.getFirst().record, String.valueOf(cause.getMessage()));
            done(request.getFirst());
            ended(new Answer(0, 0, List.of(), 0, ""));
            return;
        }
        boolean isUnknown = Failure.isUnknown(cause);
        if (!isUnknown) {
            heard();
        }
        Duration silence = Duration.ofNanos(threads.nanoTime() - locked(() -> heardNanos));
        if (isUnknown && silence.compareTo(SILENCE_MAX) >= 0) {
            fail(new IllegalStateException(
                    "Stream " + stream + " has not answered for " + silence.toSeconds() + " s; the last time: "
                            + cause.getMessage(),
                    cause));
        } else if (isUnknown || Failure.isBusy(cause)) {
            ended(new Answer(0, 0, request, isUnknown ? request.size() : 0, String.valueOf(cause.getMessage())));
        } else {
            fail(cause);
        }
    }

    private void heard() {
        locked(() -> heardNanos = threads.nanoTime());
    }

    /// The result of a request.
    private record Answer(int records, long bytes, List<Entry> again, int unanswered, String reason) {}

    /// The record is in, or can never be; the next one of its key may go.
    private void done(Entry entry) {
        lock.lock();
        try {
            String key = entry.record.partitionKey();
            Deque<Entry> same = Objects.requireNonNull(waiting.get(key));
            same.removeFirst();
            if (same.isEmpty()) {
                waiting.remove(key);
            } else {
                ready.addLast(key);
            }
            outstanding.remove(entry.record.number());
            waitingBytes -= entry.record.bytes();
        } finally {
            lock.unlock();
        }
    }

    private void ended(Answer answer) {
        int attempts =
                answer.again().stream().mapToInt(entry -> entry.attempts).max().orElse(0);
        boolean isEnough = attempts >= ATTEMPTS_MAX;
        if (isEnough) {
            stop(refusal(answer, attempts));
        }
        boolean pauses = !answer.again().isEmpty() && !isEnough;
        locked(() -> {
            sent = sent.plus(
                    answer.records(),
                    answer.bytes(),
                    pauses ? answer.again().size() : 0,
                    pauses ? answer.unanswered() : 0);
            allowed = pauses ? Math.max(1, allowed / 2) : Math.min(REQUESTS_MAX, allowed + 1);
            pausing += pauses ? 1 : 0;
            return underWay--;
        });
        if (pauses) {
            pause(answer.again(), Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN << Math.min(attempts, 10)));
        }
    }

    private IllegalStateException refusal(Answer answer, int attempts) {
        return new IllegalStateException(
                answer.unanswered() > 0
                        ? "Stream " + stream + " has not answered " + attempts + " times; the last time: "
                                + answer.reason()
                        : "Stream " + stream + " has refused a record " + attempts + " times; the last time it said: "
                                + answer.reason() + ". Give it more shards, or go on more slowly.");
    }

    /// The entries are sent again after a while. Their request is under way no more.
    private void pause(List<Entry> again, long mostMs) {
        try {
            pump(); // The requests of other keys do not wait.
            threads.pause(Duration.ofMillis(locked(() -> 1 + random.nextLong(mostMs))));
        } catch (RuntimeException | Error bug) {
            stop(bug);
        }
        locked(() -> {
            again.reversed().forEach(entry -> ready.addFirst(entry.record.partitionKey()));
            return pausing--;
        });
    }

    /// A request has failed for good.
    private void fail(Throwable cause) {
        locked(() -> {
            sent = sent.plus(0, 0, 0, 0);
            return underWay--;
        });
        stop(cause);
    }

    /// Nothing more is sent; what is under way may still succeed.
    private void stop(Throwable cause) {
        locked(() -> failure = failure == null ? cause : failure);
    }

    /// Tells those who wait what has become true.
    private void settle() {
        CompletableFuture<Boolean> open = null;
        CompletableFuture<Sent> end = null;
        Throwable cause;
        Sent all;
        lock.lock();
        try {
            cause = failure;
            all = sent;
            if (room != null && (cause != null || !isFull())) {
                open = room;
                room = null;
            }
            boolean isStill = underWay <= 0 && pausing == 0;
            if (closed && isStill && (cause != null || outstanding.isEmpty())) {
                end = finished;
            }
        } finally {
            lock.unlock();
        }
        complete(open, true, cause);
        complete(end, all, cause);
    }

    private static <T> void complete(@Nullable CompletableFuture<T> future, T value, @Nullable Throwable cause) {
        if (future != null && cause != null) {
            future.completeExceptionally(cause);
        } else if (future != null) {
            future.complete(value);
        }
    }
}
