package dev.onefold.cli.run;

import dev.onefold.cli.call.ExitCode;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Whether somebody wants the run to end early: at a record's end, with a checkpoint. Any thread may ask or wish.
public final class StopRequest {
    private static final int SIGNALS_EXIT_BASE = 128;
    private static final int HANGUP = 1;
    private static final long SLICE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final CompletableFuture<Void> made = new CompletableFuture<>();
    private volatile @Nullable ExitCode exitCode;

    /// Whether to stop.
    public boolean isMade() {
        return exitCode != null;
    }

    /// How the command ends if it was stopped.
    public ExitCode exitCodeOr(ExitCode otherwise) {
        ExitCode code = exitCode;
        return code == null ? otherwise : code;
    }

    /// How the command ends if it was stopped with work left, which is no success, or failed.
    public ExitCode exitCodeUnfinished() {
        ExitCode code = exitCodeOr(ExitCode.DIFFERENT);
        return code == ExitCode.DONE ? ExitCode.DIFFERENT : code;
    }

    /// Somebody wants the command to end.
    public static final class Stopped extends RuntimeException {
        private static final long serialVersionUID = 1;

        private Stopped() {
            super("Stopped.");
        }
    }

    /// Fails if it is to stop.
    ///
    /// @throws Stopped if it is
    public void check() {
        if (isMade()) {
            throw new Stopped();
        }
    }

    /// Waits, at most until it is to stop.
    public void pause(Duration pause) {
        long until = System.nanoTime() + pause.toNanos();
        while (!isMade() && System.nanoTime() < until) {
            LockSupport.parkNanos(Math.min(SLICE_NANOS, until - System.nanoTime()));
        }
    }

    /// Asks for a stop.
    public void make(ExitCode code) {
        exitCode = code;
        made.complete(null);
    }

    /// Does something when a stop has been asked for and some more time has passed; on a thread of its own.
    public void after(Duration more, Runnable action) {
        var _ = made.thenRunAsync(action, CompletableFuture.delayedExecutor(more.toMillis(), TimeUnit.MILLISECONDS));
    }

    /// Takes SIGTERM and SIGINT for a wish to stop. A second one ends the process at once, which is as safe as a
    /// crash is.
    public void makeOnSignals() {
        handle("TERM", ExitCode.DONE, 15);
        handle("INT", ExitCode.INTERRUPTED, 2);
    }

    /// The same when the terminal is closed, for what must not be left half done.
    public void makeOnHangup() {
        handle("HUP", ExitCode.DIFFERENT, HANGUP);
    }

    /// The JDK's only way to tell signals apart has no supported name, hence reflection.
    private void handle(String signal, ExitCode code, int number) {
        try {
            Class<?> signalClass = Class.forName("sun.misc.Signal");
            Class<?> handlerClass = Class.forName("sun.misc.SignalHandler");
            InvocationHandler handler = (proxy, method, arguments) -> switch (method.getName()) {
                case "handle" -> {
                    if (isMade() && number != HANGUP) { // A terminal that closes sends several.
                        Runtime.getRuntime().halt(SIGNALS_EXIT_BASE + number);
                    }
                    make(code);
                    yield null;
                }
                case "hashCode" -> signal.hashCode();
                case "equals" -> false;
                default -> "stop on " + signal;
            };
            Object proxy =
                    Proxy.newProxyInstance(handlerClass.getClassLoader(), new Class<?>[] {handlerClass}, handler);
            signalClass
                    .getMethod("handle", signalClass, handlerClass)
                    .invoke(null, signalClass.getConstructor(String.class).newInstance(signal), proxy);
        } catch (ReflectiveOperationException e) {
            // Without it the signal ends the process without a last checkpoint, and the next run goes on from the one
            // before.
        }
    }
}
