package dev.onefold.embedded.guard;

import dev.onefold.core.EngineException;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The one fair lock around the engine's state, and the reason for which it has stopped.
///
/// Readers take a lock of their own before it, so that a change waits for one of them, however many there are. Threads
/// of the platform alone take either: a fair lock is handed to the thread that waits longest, and a virtual thread
/// would keep it until a carrier is free for it, while all others wait.
///
/// Arguments are checked before the lock is taken. So under the lock every exception but a refusal is a broken
/// invariant or a failed disk, and stops the engine for good.
public final class Guard {
    private static final System.Logger LOG = System.getLogger("dev.onefold.embedded");

    private final ReentrantLock lock = new ReentrantLock(true);
    private final ReentrantLock readers = new ReentrantLock(true);
    private final OwnThread ofVirtual;
    private volatile Runnable changed = () -> {};
    private volatile @Nullable RuntimeException failure;
    private volatile boolean closed;

    /// @param threads false: all is done on the thread of its caller, which a simulation needs
    public Guard(boolean threads) {
        ofVirtual = new OwnThread(threads, "onefold-guard");
    }

    /// From now on this is done after each change, under the lock: values that it publishes can be read
    /// without the lock.
    public void behindChanges(Runnable publish) {
        changed = publish;
    }

    /// Does something to the state.
    ///
    /// @throws EngineException if the engine is closed or has stopped
    public <T extends @Nullable Object> T locked(Supplier<T> action) {
        return onPlatform(() -> locked(action, false));
    }

    /// Reads the state for an answer, and changes nothing. If the heap is too small for the answer, that answer
    /// fails alone.
    public <T extends @Nullable Object> T reading(Supplier<T> action) {
        return onPlatform(() -> {
            if (lock.isHeldByCurrentThread()) {
                return locked(action, true); // A waiter for the readers' lock may not hold the other one.
            }
            readers.lock();
            try {
                return locked(action, true);
            } finally {
                readers.unlock();
            }
        });
    }

    private <T extends @Nullable Object> T onPlatform(Supplier<T> action) {
        return Thread.currentThread().isVirtual() ? ofVirtual.call(action) : action.get();
    }

    private <T extends @Nullable Object> T locked(Supplier<T> action, boolean reading) {
        lock.lock();
        try {
            requireWorking();
            T result = action.get();
            if (!reading) {
                changed.run();
            }
            return result;
        } catch (EngineException e) {
            note(e);
            throw e;
        } catch (RuntimeException | Error e) {
            if (reading && e instanceof IllegalArgumentException) {
                throw e; // The question asks for something that the pipeline does not have.
            }
            if (reading && e instanceof OutOfMemoryError) {
                throw new EngineException(
                        EngineException.Kind.ANSWER_REFUSED,
                        "The Java heap is too small for this answer: " + e.getMessage()
                                + ". Intake goes on. Ask for less, or allow a larger heap (-Xmx).",
                        e);
            }
            stop(broken(e));
            throw e;
        } finally {
            lock.unlock();
        }
    }

    /// Does long work beside the state, without the lock. A failure in it stops the engine as under the lock,
    /// except for a heap that is too small for the work: the state is then unchanged.
    public <T extends @Nullable Object> T beside(Supplier<T> work) {
        try {
            return work.get();
        } catch (EngineException e) {
            note(e);
            throw e;
        } catch (OutOfMemoryError e) {
            throw e;
        } catch (RuntimeException | Error e) {
            stop(broken(e));
            throw e;
        }
    }

    private void note(EngineException e) {
        if (e.kind() == EngineException.Kind.STORAGE_FAILED
                || e.kind() == EngineException.Kind.INACCESSIBLE
                || e.kind() == EngineException.Kind.CORRUPT) {
            stop(e);
        }
    }

    /// Only the first failure is logged: the later ones follow from it. The message of a broken invariant may quote a
    /// record, so the log names its kind and its place in the code instead.
    private void stop(RuntimeException reason) {
        if (failure == null) {
            String what = reason instanceof EngineException
                    ? reason.getMessage()
                    : "An invariant broke: " + kindAndPlace(Objects.requireNonNull(reason.getCause()));
            LOG.log(System.Logger.Level.ERROR, "The engine has stopped, and takes no more records. " + what);
        }
        failure = reason;
    }

    private static String kindAndPlace(Throwable cause) {
        StackTraceElement[] trace = cause.getStackTrace();
        return cause.getClass().getName() + (trace.length == 0 ? "" : " at " + trace[0]);
    }

    private static RuntimeException broken(Throwable e) {
        return new IllegalStateException("An invariant broke: " + e.getMessage(), e);
    }

    /// Requires that the engine is neither closed nor stopped. Any thread, without the lock.
    public void requireWorking() {
        RuntimeException cause = failure;
        if (cause != null) {
            throw new EngineException(
                    EngineException.Kind.STOPPED, "The engine has stopped: " + cause.getMessage(), cause);
        }
        if (closed) {
            throw new EngineException(EngineException.Kind.STOPPED, "The engine is closed");
        }
    }

    /// Whether a failure has stopped the engine.
    public boolean hasFailed() {
        return failure != null;
    }

    /// Closes the engine once: the last thing done under the lock; later calls are refused. Does nothing if it
    /// is closed already.
    public void close(Runnable last) {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            last.run();
        } finally {
            lock.unlock();
            ofVirtual.close();
        }
    }
}
