package dev.onefold.local.function;

import dev.onefold.local.meter.Meters;
import dev.onefold.mapping.Invoker;
import dev.onefold.mapping.source.Futures;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/// The sandboxes of one function. One that has answered is used again; where none is free another one is started, up to
/// a limit, and beyond it invocations wait. Any thread may call.
public final class Sandboxes implements Invoker, AutoCloseable {
    private static final long NANOS_PER_MS = 1_000_000;

    private final FunctionSettings settings;
    private final List<Path> classPath;
    private final FunctionFaults faults;
    private final Random random;
    private final Optional<Meters> meters;
    private final Deque<Sandbox> idle = new ArrayDeque<>();
    private final List<Sandbox> all = new ArrayList<>();
    private final Deque<Waiting> waiting = new ArrayDeque<>();
    private int busy;
    private long answered;
    private boolean closed;
    private Counts counts = new Counts(0, 0, 0, 0, 0);

    private record Waiting(byte[] event, CompletableFuture<byte[]> answer) {}

    /// What happened so far.
    ///
    /// @param coldStarts processes that were started
    /// @param failed invocations without an answer, of whatever cause
    /// @param killed processes that were killed
    /// @param lost answers
    public record Counts(long invocations, long coldStarts, long failed, long killed, long lost) {}

    /// Starts nothing yet.
    ///
    /// @param classPath of the function, as its archive has it
    public Sandboxes(FunctionSettings settings, List<Path> classPath, FunctionFaults faults, long seed) {
        this(settings, classPath, faults, seed, Optional.empty());
    }

    /// The same.
    ///
    /// @param meters count the invocations
    public Sandboxes(
            FunctionSettings settings,
            List<Path> classPath,
            FunctionFaults faults,
            long seed,
            Optional<Meters> meters) {
        this.settings = settings;
        this.meters = meters;
        this.classPath = List.copyOf(classPath);
        this.faults = faults;
        random = new Random(seed);
    }

    @Override
    public CompletableFuture<byte[]> invoke(byte[] event) {
        CompletableFuture<byte[]> answer = new CompletableFuture<>();
        synchronized (this) {
            waiting.addLast(new Waiting(event, answer));
        }
        dispatch();
        return answer;
    }

    private void dispatch() {
        while (true) {
            Waiting next;
            Sandbox sandbox;
            FunctionFaults.Fate fate;
            synchronized (this) {
                if (closed || waiting.isEmpty() || busy >= settings.sandboxesMax()) {
                    return;
                }
                next = waiting.removeFirst();
                sandbox = idleOrNew();
                busy++;
                fate = faults.draw(random);
                counts = new Counts(
                        counts.invocations() + 1, counts.coldStarts(), counts.failed(), counts.killed(), counts.lost());
            }
            run(next, sandbox, fate);
        }
    }

    private Sandbox idleOrNew() {
        while (!idle.isEmpty()) {
            Sandbox sandbox = idle.removeLast();
            if (sandbox.isAlive()) {
                return sandbox;
            }
        }
        try {
            Sandbox sandbox =
                    Sandbox.start(settings, classPath, line -> meters.ifPresent(all -> LoggedMetrics.count(line, all)));
            all.removeIf(old -> !old.isAlive());
            all.add(sandbox);
            counts = new Counts(
                    counts.invocations(), counts.coldStarts() + 1, counts.failed(), counts.killed(), counts.lost());
            return sandbox;
        } catch (IOException e) {
            throw new UncheckedIOException("A process for " + settings.name() + " cannot be started", e);
        }
    }

    private void run(Waiting next, Sandbox sandbox, FunctionFaults.Fate fate) {
        // The start of a process is no part of what CloudWatch calls a duration.
        CompletableFuture<Long> began = meters.isEmpty()
                ? CompletableFuture.completedFuture(0L)
                : sandbox.ready().thenApply(_ -> System.nanoTime());
        CompletableFuture<byte[]> result = switch (fate) {
            case FunctionFaults.Fate.Refused _ -> failed("failed before it began");
            case FunctionFaults.Fate.Lost _ ->
                sandbox.invoke(next.event()).thenCompose(_ -> failed("answered; it was lost"));
            case FunctionFaults.Fate.Fine _ -> sandbox.invoke(next.event());
            case FunctionFaults.Fate.Killed(int afterMs) -> {
                CompletableFuture.delayedExecutor(afterMs, TimeUnit.MILLISECONDS)
                        .execute(sandbox::kill);
                yield sandbox.invoke(next.event());
            }
        };
        var _ = result.whenComplete((answer, failure) -> {
            meters.ifPresent(counting -> meter(counting, began, failure != null));
            synchronized (this) {
                busy--;
                boolean killed = fate instanceof FunctionFaults.Fate.Killed;
                if (!killed && sandbox.isAlive()) {
                    idle.addLast(sandbox);
                }
                counts = new Counts(
                        counts.invocations(),
                        counts.coldStarts(),
                        counts.failed() + (failure == null ? 0 : 1),
                        counts.killed() + (killed ? 1 : 0),
                        counts.lost() + (fate instanceof FunctionFaults.Fate.Lost ? 1 : 0));
                answered += failure == null ? 1 : 0;
                if (failure == null && faults.answersPerKill() > 0 && answered % faults.answersPerKill() == 0) {
                    killOne();
                }
            }
            if (failure == null) {
                next.answer().complete(answer);
            } else {
                next.answer().completeExceptionally(Futures.cause(failure));
            }
            dispatch();
        });
    }

    private void meter(Meters counting, CompletableFuture<Long> began, boolean isFailed) {
        long endNanos = System.nanoTime();
        long beginNanos = began.isCompletedExceptionally() ? endNanos : began.getNow(endNanos);
        counting.add(metric("Duration"), (double) Math.ceilDiv(endNanos - beginNanos, NANOS_PER_MS));
        counting.add(metric("Invocations"), 1);
        counting.add(metric("Errors"), isFailed ? 1 : 0);
    }

    private Meters.Metric metric(String name) {
        return new Meters.Metric("AWS/Lambda", name, "FunctionName", settings.name());
    }

    private CompletableFuture<byte[]> failed(String how) {
        return CompletableFuture.failedFuture(new FunctionFailure(settings.name() + " " + how + " (injected)"));
    }

    private void killOne() {
        List<Sandbox> alive = all.stream().filter(Sandbox::isAlive).toList();
        if (alive.isEmpty()) {
            return;
        }
        Sandbox sandbox = alive.get(random.nextInt(alive.size()));
        idle.remove(sandbox); // It takes a moment to die, and is not to be used in it.
        sandbox.kill();
        counts = new Counts(
                counts.invocations(), counts.coldStarts(), counts.failed(), counts.killed() + 1, counts.lost());
    }

    /// What happened so far.
    public synchronized Counts counts() {
        return counts;
    }

    @Override
    public void close() {
        List<Sandbox> last;
        synchronized (this) {
            closed = true;
            last = List.copyOf(all);
            waiting.clear();
        }
        last.stream().filter(sandbox -> !sandbox.isLearning()).forEach(Sandbox::kill);
        try {
            for (Sandbox sandbox : last) {
                if (sandbox.isLearning()) {
                    sandbox.end();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        last.forEach(Sandbox::close);
    }
}
