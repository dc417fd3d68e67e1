package dev.onefold.receivers;

import dev.onefold.batch.Batch;
import dev.onefold.batch.BatchHandler;
import dev.onefold.batch.FailedRecordsException;
import dev.onefold.batch.RefusedException;
import dev.onefold.batch.TryLaterException;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.pipeline.Batching.Destination;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// Hands batches to a class in Java. Its code runs in a thread of its own, which is interrupted at the end
/// of the time and abandoned if it does not return: nothing can end the user's code. While it runs, its
/// batch is not handed over again. Its classes come from a copy of the jar: a jar that is written over changes nothing.
final class HandlerReceiver implements Receiver {
    private static final Duration INTERRUPT_WAIT = Duration.ofMillis(500);

    /// In the spool. The next process replaces it.
    private static final String JAR_COPY = "receiver.jar";

    static final Duration TIMEOUT_DEFAULT = Duration.ofHours(1);

    /// To load a class and to construct its object.
    private static final Duration LOADING_MAX = Duration.ofMinutes(1);

    private final BatchHandler handler;
    private final Duration timeout;
    private final Optional<URLClassLoader> jar;
    private final Map<String, Thread> running = new ConcurrentHashMap<>();
    private boolean closed;

    HandlerReceiver(BatchHandler handler, Duration timeout, Optional<URLClassLoader> jar) {
        this.handler = handler;
        this.timeout = timeout;
        this.jar = jar;
    }

    /// Makes an object of the class that a pipeline file names.
    ///
    /// @throws IllegalArgumentException saying what is wrong with the jar or the class
    static Receiver open(Destination destination, Context context) {
        return open(destination, context, LOADING_MAX);
    }

    /// @param loading how long the class may take to be loaded and constructed
    static Receiver open(Destination destination, Context context, Duration loading) {
        Duration timeout = Receivers.time(destination, "timeout", TIMEOUT_DEFAULT);
        Optional<URLClassLoader> jar =
                destination.option("jar").map(name -> loader(context.folder().resolve(name), context.spool()));
        try {
            ClassLoader classes = jar.isPresent() ? jar.get() : context.classes();
            return new HandlerReceiver(handler(destination.target().getFirst(), classes, loading), timeout, jar);
        } catch (IllegalArgumentException e) {
            jar.ifPresent(HandlerReceiver::close);
            throw e;
        }
    }

    private static URLClassLoader loader(Path jar, Path spool) {
        if (!Files.isRegularFile(jar)) {
            throw new IllegalArgumentException(
                    "There is no jar " + jar + ". Build it, or correct 'jar', which is relative to the pipeline file");
        }
        try {
            Path copy = spool.resolve(JAR_COPY);
            Files.copy(jar, copy, StandardCopyOption.REPLACE_EXISTING);
            return new URLClassLoader(new URL[] {copy.toUri().toURL()}, new Classes());
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "The jar " + jar + " cannot be copied to " + spool + ", from where its classes are loaded: " + e,
                    e);
        }
    }

    private static BatchHandler handler(String name, ClassLoader classes, Duration loading) {
        FutureTask<BatchHandler> call = new FutureTask<>(() -> handler(name, classes));
        Thread.ofPlatform().daemon().name("onefold-batch-loading").start(call);
        try {
            return call.get(loading.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            call.cancel(true);
            throw new IllegalArgumentException(
                    "The constructor of " + name + ", or a static initializer, has not returned within "
                            + loading.toSeconds() + " s. Connect to other services in deliver()",
                    e);
        } catch (InterruptedException e) {
            call.cancel(true);
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while " + name + " was loaded", e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IllegalArgumentException wrong) {
                throw wrong;
            }
            throw new IllegalArgumentException("Class " + name + " cannot be loaded: " + e.getCause(), e);
        }
    }

    private static BatchHandler handler(String name, ClassLoader classes) {
        try {
            Class<?> type = Class.forName(name, true, classes);
            if (!BatchHandler.class.isAssignableFrom(type)) {
                throw new IllegalArgumentException(
                        "Class " + name + " does not implement " + BatchHandler.class.getName());
            }
            return (BatchHandler) type.getConstructor().newInstance();
        } catch (ClassNotFoundException e) {
            throw new IllegalArgumentException("There is no class " + name + ". Correct 'class' or 'jar'", e);
        } catch (NoSuchMethodException | IllegalAccessException | InstantiationException e) {
            throw new IllegalArgumentException(
                    "Class " + name + " has no public constructor without parameters, or is not public itself", e);
        } catch (InvocationTargetException e) {
            throw new IllegalArgumentException("The constructor of " + name + " failed: " + e.getCause(), e);
        } catch (LinkageError e) {
            throw new IllegalArgumentException("Class " + name + " cannot be loaded: " + e, e);
        }
    }

    /// A call that obeys its interrupt has a moment for that.
    private static boolean hasEnded(Thread call) {
        try {
            return call.join(INTERRUPT_WAIT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return !call.isAlive();
        }
    }

    @Override
    public boolean isLeftRunning() {
        running.values().removeIf(HandlerReceiver::hasEnded);
        return !running.isEmpty();
    }

    @Override
    public Outcome deliver(Handover handover) throws InterruptedException {
        Manifest manifest = handover.manifest();
        Thread before = running.get(manifest.id());
        if (before != null && before.isAlive()) {
            return new Outcome.NotNow("An earlier call with this batch has still not returned", null);
        }
        handover.verify();
        Batch batch = new Batch(
                manifest.pipeline(),
                manifest.id(),
                manifest.number().toString(),
                manifest.records(),
                manifest.bytes(),
                manifest.sha256(),
                manifest.sealed(),
                handover.attempt(),
                handover::open);
        FutureTask<Outcome> call = new FutureTask<>(() -> call(batch));
        Thread thread = Thread.ofPlatform()
                .daemon()
                .name("onefold-batch-" + manifest.id())
                .unstarted(() -> {
                    try {
                        call.run();
                    } finally {
                        running.remove(manifest.id(), Thread.currentThread());
                    }
                });
        running.put(manifest.id(), thread);
        try {
            thread.start();
        } catch (OutOfMemoryError e) { // The system has no thread left; later it may have.
            running.remove(manifest.id(), thread);
            return new Outcome.NotNow("deliver() was not called: " + e.getMessage(), null);
        }
        try {
            return call.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            call.cancel(true);
            return new Outcome.Unknown("deliver() did not return within " + timeout.toSeconds() + " s");
        } catch (InterruptedException e) {
            call.cancel(true);
            throw e;
        } catch (ExecutionException e) {
            return new Outcome.Unknown("deliver() failed: " + e.getCause());
        }
    }

    private Outcome call(Batch batch) throws Exception {
        try {
            handler.deliver(batch);
            return new Outcome.Done();
        } catch (RefusedException e) {
            return new Outcome.Refused(reason(e));
        } catch (TryLaterException e) {
            return new Outcome.NotNow(reason(e), e.after().orElse(null));
        } catch (FailedRecordsException e) {
            List<Outcome.Failed> failed = new ArrayList<>();
            e.reasons().forEach((place, why) -> failed.add(new Outcome.Failed(place, why)));
            return new Outcome.Partial(failed);
        }
    }

    private static String reason(Exception e) {
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            handler.close();
        } catch (Exception e) {
            throw new IllegalStateException("The receiver " + handler.getClass().getName() + " could not be closed", e);
        } finally {
            jar.ifPresent(HandlerReceiver::close);
        }
    }

    private static void close(URLClassLoader jar) {
        try {
            jar.close();
        } catch (IOException e) {
            throw new UncheckedIOException("A jar could not be closed", e);
        }
    }

    /// The class loader of the classes that a jar's classes see beside their jar: the JDK and the types of a
    /// receiver.
    static final class Classes extends ClassLoader {
        private static final String BATCH = BatchHandler.class.getPackageName() + ".";

        Classes() {
            super(getPlatformClassLoader());
        }

        @Override
        protected Class<?> findClass(@Nullable String name) throws ClassNotFoundException {
            if (name != null && name.startsWith(BATCH)) {
                return Class.forName(name, false, BatchHandler.class.getClassLoader());
            }
            throw new ClassNotFoundException(name);
        }
    }
}
