package dev.onefold.server;

import dev.onefold.api.Request;
import dev.onefold.api.Response;
import dev.onefold.api.Routes;
import dev.onefold.server.flow.Spool;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Makes the answers that may be large, on a few threads of the platform: half as many as there are
/// processors make one at a time, so that readers leave the other half, and all carriers of virtual threads,
/// to intake.
///
/// An answer is made once for all callers that asked for it before its cut. A later caller gets a later cut,
/// so that it finds its own records. Pipelines, and streams beside single answers, take turns. Any thread may
/// call.
///
/// An answer that is sent as it is made has a thread of its own, and does not wait for the threads that make
/// others: it holds memory that they may wait for.
final class Makers implements AutoCloseable {
    private static final Duration WAIT_MAX = Duration.ofSeconds(60);

    private final Routes routes;
    private final ExecutorService threads = Executors.newCachedThreadPool(
            Thread.ofPlatform().name("onefold-answers-", 0).daemon().factory());

    /// Questions whose cut is not made yet, of each lane in their order; the lane whose turn it is comes
    /// first. Guarded by `this`.
    private final Map<Lane, ArrayDeque<Job>> lanes = new LinkedHashMap<>();

    private final Map<Question, Job> open = new HashMap<>(); // The same, by their questions.
    private final int workersMax;
    private final Duration waitMax;
    private int workers; // Without those that send answers as they make them.

    Makers(Routes routes) {
        this(routes, WAIT_MAX);
    }

    /// @param waitMax time for an answer until it is begun
    Makers(Routes routes, Duration waitMax) {
        this.routes = routes;
        this.waitMax = waitMax;
        workersMax = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
    }

    /// The form in which answers are written, and the memory that keeps them. Equal to itself alone.
    interface Form {
        Spool.Memory memory();

        /// @param tag of the answer; `null` if nobody may ask for it
        void write(Response answer, @Nullable String tag, OutputStream to) throws IOException;
    }

    /// A caller that waits for an answer.
    interface Reader {
        /// Whether it has the answer with this tag: if all have it, the content is not written.
        boolean has(String tag);

        /// Opens the way for an answer that is too large to be kept. Another thread calls it, and writes to the way,
        /// while the reader waits.
        OutputStream open(Response answer, @Nullable String tag) throws IOException;
    }

    private record Lane(String pipeline, Form form) {}

    private record Question(Form form, List<String> path, Map<String, List<String>> parameters) {
        Lane lane() {
            return new Lane(path.get(1), form);
        }
    }

    private record Waiting(Reader reader, CompletableFuture<Made> made) {}

    private record Job(Question question, List<Waiting> readers) {}

    /// An answer that is made. Each reader closes it.
    static final class Made implements AutoCloseable {
        private final Response answer;
        private final @Nullable String tag;
        private final Spool content;
        private final AtomicInteger readers;

        private Made(Response answer, @Nullable String tag, Spool content, int readers) {
            this.answer = answer;
            this.tag = tag;
            this.content = content;
            this.readers = new AtomicInteger(readers);
        }

        /// Its head; the content of a failure is in it, too.
        Response answer() {
            return answer;
        }

        @Nullable
        String tag() {
            return tag;
        }

        /// Whether the reader has it already, because it was too large to be kept.
        boolean isSent() {
            return content.isFlowing();
        }

        Spool content() {
            return content;
        }

        @Override
        public void close() {
            if (readers.decrementAndGet() == 0) {
                content.release();
            }
        }
    }

    /// The answer to a request without content that the caller may send.
    ///
    /// @throws IOException if the answer was too large to be kept, and the reader is gone
    /// @throws Spool.Crowded if there is no memory for it now, or too many others wait before it
    /// @throws Ended if answers of this form are made no more
    Made ask(Request request, Form form, Reader reader) throws IOException {
        Question question = new Question(form, request.path(), request.parameters());
        Waiting waiting = new Waiting(reader, new CompletableFuture<>());
        add(question, List.of(waiting));
        boolean isInterrupted = false; // An interrupt does not end the wait: others may use memory of the caller.
        try {
            while (true) {
                try {
                    return waiting.made.get(waitMax.toNanos(), TimeUnit.NANOSECONDS);
                } catch (TimeoutException e) {
                    if (leaves(question, waiting)) {
                        throw new Spool.Crowded();
                    }
                } catch (InterruptedException e) {
                    isInterrupted = true;
                } catch (ExecutionException e) {
                    throw failure(e);
                }
            }
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static IOException failure(ExecutionException e) {
        return switch (e.getCause()) {
            case IOException failure -> failure;
            case RuntimeException failure -> throw failure;
            case Error failure -> throw failure;
            case null, default -> throw new IllegalStateException(e);
        };
    }

    /// Takes back a question whose answer is not begun; returns whether that was so.
    private synchronized boolean leaves(Question question, Waiting waiting) {
        Job job = open.get(question);
        if (job == null || !job.readers.remove(waiting)) {
            return false;
        }
        if (job.readers.isEmpty()) {
            open.remove(question);
            ArrayDeque<Job> jobs = Objects.requireNonNull(lanes.get(question.lane()));
            jobs.remove(job);
            if (jobs.isEmpty()) {
                lanes.remove(question.lane());
            }
        }
        return true;
    }

    private synchronized void add(Question question, List<Waiting> readers) {
        open.computeIfAbsent(question, _ -> {
                    Job job = new Job(question, new ArrayList<>());
                    lanes.computeIfAbsent(question.lane(), _ -> new ArrayDeque<>())
                            .add(job);
                    return job;
                })
                .readers
                .addAll(readers);
        if (workers < workersMax) {
            workers++;
            try {
                start();
            } catch (IOException | RuntimeException | Error e) {
                workers--;
                if (workers == 0) {
                    failAll(e); // Nobody else would make them.
                }
            }
        }
    }

    private void start() throws Ended {
        try {
            threads.execute(this::work);
        } catch (RejectedExecutionException e) {
            throw new Ended();
        }
    }

    private synchronized void failAll(Throwable failure) {
        List<Job> jobs = lanes.values().stream().flatMap(ArrayDeque::stream).toList();
        lanes.clear();
        open.clear();
        jobs.forEach(job -> fail(job.readers, failure));
    }

    private static void fail(List<Waiting> readers, Throwable failure) {
        readers.forEach(each -> each.made.completeExceptionally(failure));
    }

    /// The job whose turn it is: from now on no caller joins it. Empty if there is none: the worker ends.
    private synchronized Optional<Job> next() {
        if (lanes.isEmpty()) {
            workers--;
            return Optional.empty();
        }
        Lane lane = lanes.keySet().iterator().next();
        ArrayDeque<Job> jobs = Objects.requireNonNull(lanes.remove(lane));
        Job job = jobs.remove();
        if (!jobs.isEmpty()) {
            lanes.put(lane, jobs); // Behind the others.
        }
        open.remove(job.question);
        return Optional.of(job);
    }

    private void work() {
        Optional<Job> job = next();
        while (job.isPresent() && makes(job.get())) {
            job = next();
        }
    }

    /// Whether the worker continues: it was not replaced.
    private boolean makes(Job job) {
        Making making;
        try {
            making = new Making(job);
        } catch (RuntimeException | Error e) {
            fail(job.readers, e);
            return true;
        }
        making.run();
        return !making.isReplaced;
    }

    /// One job under way. Used by one thread.
    private final class Making {
        private final Question question;
        private final Spool content;
        private List<Waiting> readers;
        private @Nullable Response answer;
        private @Nullable String tag;
        private boolean isReplaced;

        Making(Job job) {
            question = job.question;
            readers = List.copyOf(job.readers);
            content = new Spool(question.form.memory(), this::flow);
        }

        void run() {
            try {
                routes.answer(
                        new Request("GET", question.path, question.parameters, new byte[0]),
                        (_, _) -> true, // Each reader was asked for its permission.
                        this::write);
                if (content.isFlowing()) {
                    content.close();
                }
                Made made = new Made(Objects.requireNonNull(answer), tag, content, readers.size());
                readers.forEach(each -> each.made.complete(made));
            } catch (IOException | RuntimeException | Error e) {
                content.release();
                fail(readers, e);
            }
        }

        private void write(Response made) throws IOException {
            answer = made;
            Supplier<String> computed = made.tag();
            String known = computed == null ? null : computed.get();
            tag = known;
            if (known == null || readers.stream().anyMatch(each -> !each.reader.has(known))) {
                question.form.write(made, tag, content);
            }
        }

        /// The first reader gets this answer as it is made; it is made again for the others.
        private OutputStream flow() throws IOException {
            start(); // This worker waits for its reader from now on.
            isReplaced = true;
            List<Waiting> others = readers.subList(1, readers.size());
            readers = readers.subList(0, 1);
            if (!others.isEmpty()) {
                add(question, others);
            }
            return readers.getFirst().reader.open(Objects.requireNonNull(answer), tag);
        }
    }

    /// The service ends.
    static final class Ended extends IOException {
        private static final long serialVersionUID = 1;
    }

    /// Makes no more of the answers of a form that are not begun.
    synchronized void end(Form form) {
        for (Lane lane : List.copyOf(lanes.keySet())) {
            if (lane.form.equals(form)) {
                for (Job job : Objects.requireNonNull(lanes.remove(lane))) {
                    open.remove(job.question);
                    fail(job.readers, new Ended());
                }
            }
        }
    }

    @Override
    public void close() {
        threads.shutdown();
    }
}
