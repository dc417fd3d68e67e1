package dev.onefold.embedded.delivery;

import dev.onefold.core.EngineException;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.batch.Members;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.seal.DeliveryRules;
import dev.onefold.core.seal.DeliveryRules.Attempt;
import dev.onefold.embedded.batches.Batches;
import dev.onefold.embedded.guard.Guard;
import java.io.InputStream;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// Delivers sealed batches. One thread decides which deliveries are due, in the order of numbers. Each attempt
/// has a thread of its own, so a slow receiver delays only its own next batches, and never intake.
///
/// The courier notes the result of an attempt before anything follows from it: a start mark is durable before
/// an effect that cannot be repeated, and a content is released only when its end is durable.
final class Courier implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("dev.onefold.embedded");

    private static final long TURN_MS_MAX = 200;
    private static final long FORCE_NANOS_MIN = 100_000_000; // Ends are forced together: a lost one is delivered again.
    private static final int AHEAD = 3;
    private static final long CLOSE_SECONDS_MAX = 10;

    private final Batching batching;
    private final String pipeline;
    private final Batches batches;
    private final Contents contents;
    private final Ledger ledger;
    private final DeliveryRules rules;
    private final Endings endings;
    private final Notices notices;
    private final FirstTries firstTries;
    private @Nullable Carrier carrier; // None: nothing is begun.
    private final InstantSource clock;
    private final Guard guard;
    private final String owner;
    private final ReadyContents ready;
    private final TapeUse tapeUse;
    private final Turns turns;
    private final Set<BatchNumber> active = new HashSet<>();
    private final List<BatchNumber> ended = new ArrayList<>(); // Their contents are deleted once the ledger is forced.
    private final Semaphore wakes = new Semaphore(0);
    private final @Nullable ExecutorService threads;
    private final @Nullable Thread thread;
    private long forcedNanos;
    private volatile boolean closed; // Set under the lock.

    /// The parts of a courier.
    ///
    /// @param owner name of this process, for start marks
    /// @param undeliveredBytesMax undelivered bytes above which intake waits
    public record Parts(
            Pipeline pipeline,
            Batching batching,
            Batches batches,
            Contents contents,
            Ledger ledger,
            InstantSource clock,
            Guard guard,
            String owner,
            long undeliveredBytesMax) {}

    /// @param isThreaded false: deliveries are made by [#step] alone, on the thread of its caller
    /// @param isReading whether nothing may be changed
    Courier(Parts parts, boolean isThreaded, boolean isReading) {
        batching = parts.batching;
        pipeline = parts.pipeline.name();
        batches = parts.batches;
        contents = parts.contents;
        ledger = parts.ledger;
        clock = parts.clock;
        guard = parts.guard;
        owner = parts.owner;
        Duration remembers = batching.deliver().span("remembers").orElse(null);
        rules = new DeliveryRules(batching, remembers);
        firstTries = new FirstTries(rules);
        endings = new Endings(batching, batches, ledger);
        notices = new Notices(pipeline, batching.order());
        if (!isReading) {
            recover();
            endings.note();
        }
        turns = new Turns(parts.pipeline, batching, contents, ledger, firstTries);
        ready = new ReadyContents(contents::prepare, isThreaded);
        tapeUse = new TapeUse(batches, ledger, contents, parts.undeliveredBytesMax, clock);
        threads = isThreaded ? Executors.newVirtualThreadPerTaskExecutor() : null;
        thread = isThreaded
                ? Thread.ofPlatform().daemon().name("onefold-deliveries").unstarted(this::run)
                : null;
        if (thread != null) {
            thread.start();
        }
    }

    /// Notes for each started delivery that its owner is gone, because this process owns the directory now.
    private synchronized void recover() {
        for (Handled handled : List.copyOf(ledger.begun().values())) {
            if (handled.delivery() instanceof Delivery.Started started) {
                ledger.put(handled.with(
                        rules.ownerIsGone(started, "The process ended during the delivery", clock.millis())));
            }
        }
        ledger.force();
        contents.deleteAllBut(ledger.begun().values());
    }

    private void run() {
        while (!closed && !guard.hasFailed()) {
            guarded(() -> {
                while (turn()) {
                    pause();
                }
            });
        }
    }

    /// Begins the deliveries that are due; false when it is closed.
    private synchronized boolean turn() {
        if (guard.hasFailed()) {
            return false; // The notes may be on no disk, and another force would not bring them there.
        }
        if (System.nanoTime() - forcedNanos >= FORCE_NANOS_MIN) {
            settle();
            forcedNanos = System.nanoTime();
        }
        if (carrier != null && !closed) {
            long to = Math.min(batches.durableNumber(), ledger.next() + AHEAD + batching.concurrency());
            if (batching.order() != Batching.Order.KEY) { // The next one may wait for long.
                ready.makeAhead(ledger.next(), to, this::guarded, this::wake);
            }
            begin();
        }
        return !closed;
    }

    private void pause() {
        try {
            if (wakes.tryAcquire(TURN_MS_MAX, TimeUnit.MILLISECONDS)) {
                wakes.drainPermits();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("Nobody interrupts the thread of deliveries", e);
        }
    }

    /// From now on batches are delivered.
    synchronized void begin(Carrier receiver) {
        firstTries.begin(ledger.begun().values(), clock.millis());
        turns.begin(); // It fails if a batch cannot be read: then nothing is delivered that may have to wait for it.
        carrier = receiver;
        wake();
    }

    /// Notes that a delivery may be due.
    public void wake() {
        wakes.release();
    }

    /// Makes all attempts that are due now, one after the other, on the caller's thread; returns their number.
    public synchronized int step() {
        int attempts = 0;
        for (Handled due = carrier == null ? null : due(); due != null; due = due()) {
            active.add(due.number());
            attempt(due);
            attempts++;
        }
        settle();
        return attempts;
    }

    /// Makes the notes durable, and deletes the contents of ended deliveries.
    private void settleEnds() {
        ledger.force();
        endings.note();
        for (BatchNumber number : ended) {
            ready.letGo(number);
            contents.delete(number);
        }
        ended.clear();
    }

    /// Makes the notes durable, and releases everything that is no longer needed.
    private void settle() {
        settleEnds();
        ready.forgetHashes(ledger::isHashNeeded);
        ExecutorService own = threads;
        if (!closed) {
            tapeUse.letGo(active, own == null ? Runnable::run : work -> own.execute(() -> guarded(work)));
        }
    }

    private void guarded(Runnable work) {
        try {
            guard.beside(() -> {
                try {
                    work.run();
                } catch (EngineException e) {
                    if (!isStopped(e)) {
                        throw e;
                    }
                }
                return true;
            });
        } catch (EngineException e) {
            if (e.kind() != EngineException.Kind.STOPPED) {
                LOG.log(System.Logger.Level.ERROR, "A delivery of " + pipeline + " has failed: " + e.getMessage());
            }
        } catch (OutOfMemoryError e) {
            LOG.log(
                    System.Logger.Level.ERROR,
                    "The Java heap is too small for deliveries of " + pipeline + ", which are tried again: "
                            + e.getMessage() + ". Allow a larger heap (-Xmx).");
            pause();
        }
    }

    /// Whether a thread was interrupted in the reading of a file, because the time of the last attempts was
    /// over.
    private boolean isStopped(EngineException failure) {
        return closed && failure.getCause() instanceof ClosedByInterruptException;
    }

    private void begin() {
        ExecutorService own = threads;
        while (own != null && active.size() < batching.concurrency()) {
            Handled due = due();
            if (due == null) {
                return;
            }
            active.add(due.number());
            own.execute(() -> guarded(() -> attemptAlone(due)));
        }
    }

    /// The next delivery to be tried; `null` if none is due.
    private @Nullable Handled due() {
        return turns.next(active, ready::has, clock.instant().toEpochMilli());
    }

    /// Makes one attempt. After any failure in it, the batch can be attempted again.
    private void attemptAlone(Handled handled) {
        try {
            attempt(handled);
        } finally {
            synchronized (this) {
                active.remove(handled.number());
            }
        }
    }

    /// Makes one attempt and notes its outcome.
    private void attempt(Handled handled) {
        Contents.Prepared content = content(handled);
        String previous = previous(handled); // Before the lock, because a content may be made for it.
        Handled tried;
        Delivery.Started started;
        synchronized (this) {
            Handled now = ledger.begun().get(handled.number());
            boolean isOver = closed || guard.hasFailed();
            if (isOver
                    || now == null
                    || !(now.delivery() instanceof Delivery.Waiting waiting)
                    || isGivenUp(now, waiting, content)) {
                active.remove(handled.number());
                return;
            }
            tried = now.prepared(content.sha256(), content.bytes(), previous);
            started = rules.begin(waiting, owner, clock.instant().toEpochMilli());
            boolean isBroughtForward = firstTries.take(handled.number());
            if (rules.needsStartMark()) {
                ledger.put(tried.with(started));
                ledger.force(); // A start mark must survive a power cut, because the effect may.
            } else if (isBroughtForward) {
                ledger.put(tried.with(rules.broughtForward(waiting, clock.millis())));
                ledger.force();
            }
        }
        Outcome outcome = outcome(tried, started, content);
        synchronized (this) {
            active.remove(handled.number());
            if (guard.hasFailed()) {
                return; // Its end could not be made durable.
            }
            Members members = members(tried, content);
            long nowMs = clock.instant().toEpochMilli();
            Attempt made = new Attempt(tried.number(), members, started, some -> turns.halves(tried.number(), some));
            Delivery after = rules.after(made, outcome, nowMs);
            ledger.put(tried.with(after));
            turns.note(tried.with(after));
            notices.tell(tried.number(), after);
            if (after.isEnded() || after instanceof Delivery.Divided) {
                ended.add(tried.number());
            } else if (after.awaitsPerson()) {
                ready.letGo(tried.number());
            }
            if (after instanceof Delivery.Divided) {
                ledger.force(); // Before a part is delivered: the whole batch must not be delivered after that.
            } else if (rules.needsStartMark()) {
                ledger.forceEnd();
            }
            wake();
        }
    }

    /// Ends, without an attempt, a delivery that the receiver may have already and would not recognize.
    private boolean isGivenUp(Handled now, Delivery.Waiting waiting, Contents.Prepared content) {
        long nowMs = clock.instant().toEpochMilli();
        Delivery after = rules.tooLate(waiting, owner, nowMs).orElse(null);
        Handled left = now;
        if (after == null && waiting.tries().isPerhapsIn() && isOther(now, content)) {
            after = new Delivery.Aside(
                    waiting.tries(),
                    nowMs,
                    "An earlier attempt may have arrived, and its bytes were others: the compression has changed since",
                    false);
            left = now.prepared("", 0, now.previous()); // A person who releases it wants the bytes of today.
        }
        if (after == null) {
            return false;
        }
        ledger.put(left.with(after));
        ledger.force();
        notices.tell(now.number(), after);
        ready.letGo(now.number());
        return true;
    }

    private static boolean isOther(Handled handled, Contents.Prepared content) {
        return !handled.sha256().isEmpty() && !handled.sha256().equals(content.sha256());
    }

    /// The content. If it differs from that of earlier attempts, its file may be damaged, so it is made again
    /// from the tape.
    private Contents.Prepared content(Handled handled) {
        Contents.Prepared made = ready.get(handled.number(), handled.members());
        if (!isOther(handled, made)) {
            return made;
        }
        ready.letGo(handled.number());
        contents.delete(handled.number());
        return ready.get(handled.number(), handled.members());
    }

    /// The hash that the manifest chains to: of the batch before, or of the whole batch of a part.
    private String previous(Handled handled) {
        long before = handled.number().number() - 1;
        if (!handled.previous().isEmpty() || !handled.number().isWhole() || before == 0) {
            return handled.previous();
        }
        String known;
        synchronized (this) {
            known = ledger.hash(before);
        }
        return known == null ? ready.hash(before) : known;
    }

    private static Members members(Handled handled, Contents.Prepared content) {
        Members members = handled.members();
        return members == null ? Members.all(content.sealed().records()) : members;
    }

    private Outcome outcome(Handled handled, Delivery.Started started, Contents.Prepared content) {
        try {
            return Objects.requireNonNull(carrier)
                    .deliver(
                            handled.manifest(pipeline, content), started.tries().count(), content.content());
        } catch (InterruptedException e) {
            return new Outcome.Unknown("The process was stopped during the delivery");
        } catch (EngineException e) {
            if (isStopped(e)) {
                return new Outcome.Unknown("The process was stopped during the delivery");
            }
            throw e;
        } catch (RuntimeException | Error e) { // A receiver of the user's may throw anything.
            return new Outcome.Unknown("The receiver failed: " + e);
        }
    }

    /// The state of the deliveries at a moment.
    ///
    /// @param begun the deliveries that were begun and have not ended
    /// @param next number of the first batch whose delivery was never begun
    /// @param active numbers of those that are being delivered
    /// @param decisions of people, by number
    /// @param waits those that wait for an earlier one of their keys, each with one that it waits for
    /// @param isFull whether no further delivery is begun
    record Now(
            List<Handled> begun,
            long next,
            Set<BatchNumber> active,
            NavigableMap<BatchNumber, Decision> decisions,
            Map<BatchNumber, BatchNumber> waits,
            boolean isFull) {}

    synchronized Now now() {
        return new Now(
                ledger.begun().values().stream().map(firstTries::timed).toList(),
                ledger.next(),
                Set.copyOf(active),
                new TreeMap<>(ledger.decisions()),
                turns.waits(),
                turns.isFull());
    }

    /// The records of a batch, or of a part of one, as they were sealed.
    InputStream records(BatchNumber number, @Nullable Handled handled) {
        Members members = handled == null ? null : handled.members();
        return contents.records(batches.sealed(number.number()), members);
    }

    /// A person decides about a delivery; durable when this returns.
    ///
    /// @throws IllegalArgumentException if there is nothing to decide
    synchronized Handled decide(BatchNumber number, UnaryOperator<Delivery> decision) {
        if (closed) {
            throw new EngineException(EngineException.Kind.STOPPED, "The engine is closed");
        }
        Handled handled = ledger.begun().get(number);
        if (handled == null) {
            throw new IllegalArgumentException("It is not begun, or is done");
        }
        Handled decided = handled.with(decision.apply(handled.delivery()));
        if (Decision.isOne(decided)) {
            ledger.put(Decision.of(decided, batches.sealed(number.number())));
        } else {
            ledger.put(decided);
        }
        turns.note(decided);
        ledger.force();
        endings.note();
        if (decided.delivery().isEnded()) {
            ended.add(number);
        }
        wake();
        return decided;
    }

    /// Ends the deliveries. Attempts that are under way have ten seconds; then they are interrupted.
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            wake();
        }
        ready.close(CLOSE_SECONDS_MAX);
        if (thread != null && threads != null) {
            ReadyContents.end(threads, CLOSE_SECONDS_MAX);
            join(thread);
        }
        synchronized (this) {
            if (!guard.hasFailed()) {
                settleEnds();
            }
            ledger.close();
        }
    }

    /// Waits for the end of a thread, however often the caller is interrupted.
    static void join(Thread thread) {
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
}
