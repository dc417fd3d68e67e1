package dev.onefold.embedded.fold;

import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.Status;
import dev.onefold.core.keyed.Arrival;
import dev.onefold.core.keyed.Change;
import dev.onefold.core.keyed.Change.Letter;
import dev.onefold.core.keyed.StepFunction;
import dev.onefold.core.keyed.Verdict;
import dev.onefold.core.process.Impurity;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.embedded.rows.Keys;
import dev.onefold.embedded.rows.RowBatch;
import dev.onefold.process.Step;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Calls the user's function, and bounds the time of each call.
///
/// The events of a shard are folded by a thread that is for the function alone, while the shard's worker
/// watches: a call costs no exchange between threads. If a call does not return in time, the worker abandons
/// its thread with one compare-and-set, and a fresh thread continues with the same event, whose call counts
/// as failed. When the abandoned call returns, its thread finds that it lost the exchange, and ends without
/// touching the engine. Without threads of the engine's own the time of a call is not bounded.
///
/// It is one idea: a call of the user's function, and its end.
final class KeyFolder implements AutoCloseable {
    /// Of one call.
    static final long CALL_NANOS_MAX = TimeUnit.SECONDS.toNanos(1);

    /// Threads whose calls have not returned, at once.
    static final int ABANDONED_MAX = 8;

    private static final System.Logger LOG = System.getLogger("dev.onefold.embedded");
    private static final int IMPURITIES_LOGGED_MAX = 10;
    private static final int RESULT_LENGTH_MAX = 2_000;
    private static final long LOOK_MS = 50;

    private final LoadedFunction loaded;
    private final boolean isBounded;
    private final @Nullable Runner[] runners; // Per shard.
    private final @Nullable StepFunction[] direct; // Per shard, without a runner.
    private final List<Thread> abandoned = new ArrayList<>();
    private long impureCalls;
    private @Nullable Impurity lastImpure;

    KeyFolder(LoadedFunction loaded, int shards, boolean isBounded) {
        this.loaded = loaded;
        this.isBounded = isBounded && loaded.command().isEmpty(); // A command bounds its calls itself.
        runners = new Runner[shards];
        direct = new StepFunction[shards];
    }

    /// A note about an event, beside the state that its shard stores: a letter, or the withdrawal of its
    /// letter.
    sealed interface Note {
        byte[] key();

        byte[] version();

        byte[] content();

        Keys.Origin origin();

        /// @param content of the letter's event
        record Kept(byte[] key, Letter letter, byte[] content, Keys.Origin origin) implements Note {
            @Override
            public byte[] version() {
                return Objects.requireNonNull(letter.version(), "A folded event has a version");
            }
        }

        record Withdrawn(byte[] key, Change.Withdrawn event, Keys.Origin origin) implements Note {
            @Override
            public byte[] version() {
                return event.version();
            }

            @Override
            public byte[] content() {
                return event.content();
            }
        }
    }

    /// Folds the events that the chunks have for a shard.
    void fold(int shard, Keys keys, List<Chunk> chunks, List<Note> notes) {
        run(shard, new Work(new Progress(shard, keys, chunks, notes)::next));
    }

    /// Folds the events of all shards in the order in which they came, on one thread.
    void foldAll(Keys[] shards, List<Chunk> chunks, List<Note> notes) {
        run(0, new Work(new Arriving(shards, chunks, notes)::next));
    }

    /// Whether the event that a chunk has for a shard, if it has one, would not be rejected. Changes nothing.
    boolean accepts(int shard, Keys keys, Chunk chunk) {
        int[] next = new int[1];
        boolean[] accepts = {true};
        run(shard, new Work(function -> {
            if (next[0] == chunk.rows[shard].count()) {
                return false;
            }
            Keys.Folded folded = keys.fold(function, chunk.rows[shard], next[0], Arrival.Way.REDRIVEN);
            accepts[0] = folded.verdict() != Verdict.REJECTED;
            next[0]++;
            return true;
        }));
        return accepts[0];
    }

    /// Does something for each key of a shard.
    void forEach(int shard, List<byte[]> keys, KeyVisitor visitor) {
        int[] next = new int[1];
        run(shard, new Work(function -> {
            if (next[0] == keys.size()) {
                return false;
            }
            visitor.visit(function, keys.get(next[0]));
            next[0]++;
            return true;
        }));
    }

    /// Called for a key; again if a call of the function did not return.
    interface KeyVisitor {
        void visit(StepFunction function, byte[] key);
    }

    /// The progress of a shard's events.
    private static final class Progress {
        private final int shard;
        private final Keys keys;
        private final List<Chunk> chunks;
        private final List<Note> notes;
        private int chunk;
        private int at;
        private int askedTo; // Of the chunk's events.

        Progress(int shard, Keys keys, List<Chunk> chunks, List<Note> notes) {
            this.shard = shard;
            this.keys = keys;
            this.chunks = chunks;
            this.notes = notes;
        }

        boolean next(StepFunction function) {
            while (chunk < chunks.size() && at == chunks.get(chunk).rows[shard].count()) {
                chunk++;
                at = 0;
                askedTo = 0;
            }
            if (chunk == chunks.size()) {
                return false;
            }
            Chunk each = chunks.get(chunk);
            if (at == askedTo && each.progresses) {
                keys.lookAhead(each.rows[shard], at);
                askedTo = keys.askAhead(function, each.rows[shard], at);
            }
            note(fold(function, keys, each, each.rows[shard], at), keys, notes);
            at++;
            return true;
        }
    }

    /// The progress of the events of all shards, in the order in which they came.
    private static final class Arriving {
        private final Keys[] shards;
        private final List<Chunk> chunks;
        private final List<Note> notes;
        private int chunk;
        private int at;
        private int[] atOfShard;

        Arriving(Keys[] shards, List<Chunk> chunks, List<Note> notes) {
            this.shards = shards;
            this.chunks = chunks;
            this.notes = notes;
            atOfShard = new int[shards.length];
        }

        boolean next(StepFunction function) {
            while (chunk < chunks.size() && at == chunks.get(chunk).arrivals().count) {
                chunk++;
                at = 0;
                atOfShard = new int[shards.length];
            }
            if (chunk == chunks.size()) {
                return false;
            }
            Chunk each = chunks.get(chunk);
            int shard = each.arrivals().shard[at];
            note(fold(function, shards[shard], each, each.rows[shard], atOfShard[shard]), shards[shard], notes);
            atOfShard[shard]++;
            at++;
            return true;
        }
    }

    private static Keys.Folded fold(StepFunction function, Keys keys, Chunk chunk, RowBatch batch, int at) {
        keys.lookAhead(batch, at);
        Keys.Folded folded = keys.fold(function, batch, at, way(chunk, batch, at));
        keys.store(folded, function);
        chunk.redriven = chunk.progresses ? null : redriven(folded.verdict());
        return folded;
    }

    private static void note(Keys.Folded folded, Keys keys, List<Note> notes) {
        Change change = folded.change();
        if (change != null && hasNotes(change)) {
            note(keys.owner(), change, folded.arrival().content(), notes);
        }
    }

    private static Arrival.Way way(Chunk chunk, RowBatch batch, int number) {
        if (!chunk.progresses) {
            return Arrival.Way.REDRIVEN;
        }
        return switch (chunk.fate(batch, number)) {
            case FAILED -> Arrival.Way.FAILED;
            case LOST -> Arrival.Way.LOST;
            case PURGED, OPEN -> Arrival.Way.ARRIVED;
        };
    }

    private static Redriven redriven(Verdict verdict) {
        return switch (verdict) {
            case ACCEPTED -> Redriven.ACCEPTED;
            case DUPLICATE -> Redriven.DUPLICATE;
            case STALE -> Redriven.STALE;
            case CONFLICTING -> Redriven.CONFLICTING;
            case REJECTED -> Redriven.REJECTED;
        };
    }

    private static boolean hasNotes(Change change) {
        return !change.letters().isEmpty() || !change.withdrawn().isEmpty();
    }

    private static void note(byte[] key, Change change, byte[] arrived, List<Note> notes) {
        for (Change.Withdrawn event : change.withdrawn()) {
            notes.add(new Note.Withdrawn(key, event, Keys.Origin.of(event.origin())));
        }
        for (Letter letter : change.letters()) {
            byte[] content = letter.content();
            notes.add(new Note.Kept(key, letter, content == null ? arrived : content, Keys.Origin.of(letter.origin())));
        }
    }

    /// Brings the keys of a shard to this version of the function.
    void upgrade(int shard, Keys keys, List<Note> notes) {
        forEach(
                shard,
                keys.keys(),
                (function, key) ->
                        keys.upgrade(function, key).ifPresent(change -> note(key, change, new byte[0], notes)));
    }

    /// The same for the keys of all shards in the order of their bytes, which decides whose rows come first.
    void upgradeAll(Keys[] shards, List<Note> notes) {
        SortedMap<byte[], Keys> all = new TreeMap<>(Arrays::compareUnsigned);
        for (Keys shard : shards) {
            shard.forEachKey(key -> all.put(key, shard));
        }
        forEach(
                0,
                List.copyOf(all.keySet()),
                (function, key) -> Objects.requireNonNull(all.get(key))
                        .upgrade(function, key)
                        .ifPresent(change -> note(key, change, new byte[0], notes)));
    }

    /// Steps of one shard, each for one event or key. A thread that continues begins with the step that was
    /// not done.
    private static final class Work {
        private final Predicate<StepFunction> step;
        private final List<Overrun> overruns = new ArrayList<>();

        Work(Predicate<StepFunction> step) {
            this.step = step;
        }

        void run(StepFunction function) {
            while (step.test(function)) {
                if (!overruns.isEmpty()) {
                    overruns.clear();
                }
            }
        }
    }

    /// A call that did not return, by its arguments: for these the function is not called again.
    private record Overrun(byte[] context, byte[] content) {
        boolean isOf(byte[] otherContext, byte[] otherContent) {
            return Arrays.equals(context, otherContext) && Arrays.equals(content, otherContent);
        }
    }

    private void run(int shard, Work work) {
        if (!isBounded) {
            work.run(direct(shard));
            return;
        }
        while (true) {
            Runner runner = runners[shard];
            if (runner == null) {
                runner = new Runner();
                runners[shard] = runner;
            }
            Overrun overrun = runner.run(work);
            if (overrun == null) {
                return;
            }
            work.overruns.add(overrun);
            runners[shard] = null;
            abandon(runner);
        }
    }

    private StepFunction direct(int shard) {
        StepFunction function = direct[shard];
        if (function == null) {
            function = new StepFunction(loaded, StepFunction.Caller.DIRECT, this::tell);
            direct[shard] = function;
        }
        return function;
    }

    private synchronized void abandon(Runner runner) {
        abandoned.removeIf(thread -> !thread.isAlive());
        abandoned.add(runner.abandon());
        LOG.log(
                System.Logger.Level.WARNING,
                "A call of the function " + loaded.processing().programName()
                        + " did not return within 1 s. Its event is a dead letter; " + abandoned.size()
                        + " threads are in such calls now, at most " + ABANDONED_MAX + " may be.");
        if (abandoned.size() > ABANDONED_MAX) {
            throw new IllegalStateException(
                    "The function " + loaded.processing().programName() + " has not returned in "
                            + abandoned.size() + " calls; " + ABANDONED_MAX
                            + " are tolerated at once. Mend the function, and start again");
        }
    }

    private synchronized void tell(Impurity impurity) {
        Impurity cut = new Impurity(impurity.key(), cut(impurity.first()), cut(impurity.second()));
        lastImpure = cut;
        if (++impureCalls <= IMPURITIES_LOGGED_MAX) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "The function is not pure: two calls with equal arguments for key " + cut.key()
                            + " had different results. The first one counts: " + cut.first() + "; the second one: "
                            + cut.second());
        }
    }

    private static String cut(String result) {
        return result.length() > RESULT_LENGTH_MAX ? result.substring(0, RESULT_LENGTH_MAX) + "…" : result;
    }

    synchronized Status.OfFunction status(Optional<String> otherJar) {
        abandoned.removeIf(thread -> !thread.isAlive());
        return new Status.OfFunction(impureCalls, Optional.ofNullable(lastImpure), abandoned.size(), otherJar);
    }

    @Override
    public void close() {
        for (Runner runner : runners) {
            if (runner != null) {
                runner.thread.shutdownNow();
            }
        }
        loaded.release();
    }

    /// The exchange was lost: the thread of the call was abandoned meanwhile.
    private static final class Abandoned extends Error {
        private static final long serialVersionUID = 1;

        Abandoned() {
            super("A call returned after its thread was abandoned", null, false, false);
        }
    }

    /// A thread for the function, and its current call.
    private final class Runner implements StepFunction.Caller {
        private static final long GIVEN_UP = -1;

        private final ExecutorService thread = Executors.newSingleThreadExecutor(
                Thread.ofPlatform().daemon().name("onefold-function").factory());
        private final StepFunction function = new StepFunction(loaded, this, KeyFolder.this::tell);
        private final AtomicLong calls = new AtomicLong(); // Odd while one is under way.
        private byte[] context = {};
        private byte[] content = {};
        private @Nullable Thread inUse;
        private @Nullable Work work;

        /// Runs steps to their end; returns the call that did not return, if there is one.
        @Nullable
        Overrun run(Work given) {
            Future<?> done = thread.submit(() -> {
                inUse = Thread.currentThread();
                work = given;
                given.run(function);
            });
            boolean interrupted = false;
            try {
                long seen = 0;
                long sinceNanos = 0;
                while (true) {
                    try {
                        done.get(LOOK_MS, TimeUnit.MILLISECONDS);
                        return null;
                    } catch (TimeoutException e) {
                        long now = calls.get();
                        if (now != seen) {
                            seen = now;
                            sinceNanos = System.nanoTime();
                        } else if (now % 2 == 1
                                && System.nanoTime() - sinceNanos >= CALL_NANOS_MAX
                                && calls.compareAndSet(now, GIVEN_UP)) {
                            return new Overrun(context, content);
                        }
                    } catch (InterruptedException e) {
                        interrupted = true;
                    } catch (ExecutionException e) {
                        throw thrown(e);
                    }
                }
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }

        private static RuntimeException thrown(ExecutionException e) {
            return switch (e.getCause()) {
                case RuntimeException failure -> failure;
                case Error failure -> throw failure;
                case null, default -> new IllegalStateException("A call of the function failed", e);
            };
        }

        @Override
        public Step<?> call(Supplier<Step<?>> supplier) {
            throw new IllegalStateException("The arguments of the call are not known");
        }

        @Override
        public Step<?> call(byte[] callContext, byte[] callContent, Supplier<Step<?>> supplier) {
            Work now = work;
            if (now != null && !now.overruns.isEmpty()) {
                for (Overrun overrun : now.overruns) {
                    if (overrun.isOf(callContext, callContent)) {
                        throw new StepFunction.OverrunException("The function did not return within 1 s");
                    }
                }
            }
            context = callContext;
            content = callContent;
            long number = calls.get() + 1;
            calls.setRelease(number);
            Step<?> step;
            try {
                step = supplier.get();
            } catch (Throwable e) {
                end(number);
                throw e;
            }
            end(number);
            return step;
        }

        private void end(long number) {
            if (!calls.compareAndSet(number, number + 1)) {
                throw new Abandoned();
            }
        }

        /// Interrupts the call, which was given up; returns its thread.
        Thread abandon() {
            thread.shutdownNow();
            return Objects.requireNonNull(inUse);
        }
    }
}
