package dev.onefold.cli.data;

import dev.onefold.cli.call.Call;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.Frames.Frame;
import dev.onefold.core.Engine;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.StandardProtocolFamily;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import jdk.net.ExtendedSocketOptions;

/// Where other processes of the same user come with their commands, which are run beside the engine. Each has a
/// thread of its own. When all are busy, the visitor leaves that has kept its thread waiting for the
/// longest time (at a prompt, at a pager, or without a request), so that the newest one is served. Also if nobody else
/// comes, no visitor keeps a thread waiting for longer than its limit.
final class Door implements AutoCloseable {
    private static final int VISITORS_MAX = 32;
    private static final long ROOM_PAUSE_MS = 100;
    private static final long WATCH_PAUSE_MS = 250;
    private static final long LEAVING_SECONDS_MAX = 3;

    private final Path directory;
    private final Engine engine;
    private final Call.Interpreter interpreter;
    private final ServerSocketChannel server;
    private final String user;
    private final Semaphore room = new Semaphore(VISITORS_MAX);
    private final Set<Frames> visitors = ConcurrentHashMap.newKeySet();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Limits limits;

    /// For how long a visitor may keep its thread waiting.
    ///
    /// @param request until its whole request is there
    /// @param person until input that was asked for comes, or output is received
    record Limits(Duration request, Duration person) {
        static final Limits USUAL = new Limits(Duration.ofSeconds(10), Duration.ofMinutes(10));
    }

    private Door(Inside inside, Limits limits, ServerSocketChannel server, String user) {
        directory = inside.directory;
        engine = inside.engine;
        interpreter = inside.interpreter;
        this.limits = limits;
        this.server = server;
        this.user = user;
    }

    /// What the door leads to.
    record Inside(Path directory, Engine engine, Call.Interpreter interpreter) {}

    /// Listens. Only the holder of the directory's lock may call this.
    static Door open(Inside inside, Limits limits) throws IOException {
        Path directory = inside.directory;
        Path socket = Address.file(directory);
        Files.deleteIfExists(socket); // A dead owner left it.
        ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        try (Address address = Address.of(directory)) {
            server.bind(address.socket());
            Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-------"));
            String user = Files.getOwner(socket).getName();
            Door door = new Door(inside, limits, server, user);
            Thread.ofPlatform().name("onefold-door").daemon().start(door::admit);
            Thread.ofPlatform().name("onefold-door-watch").daemon().start(door::watch);
            return door;
        } catch (IOException | RuntimeException e) {
            server.close();
            throw e;
        }
    }

    private void admit() {
        while (server.isOpen()) {
            try {
                Frames visitor = new Frames(server.accept());
                while (!room.tryAcquire(ROOM_PAUSE_MS, TimeUnit.MILLISECONDS)) {
                    if (!server.isOpen()) {
                        visitor.close();
                        return;
                    }
                    sendAway();
                }
                visitor.patience(limits.request);
                visitors.add(visitor);
                Thread.ofPlatform().name("onefold-visitor").daemon().start(() -> serve(visitor));
            } catch (IOException nobody) {
                // The door is closing, or a visitor left before it was let in.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    /// The visitor that has kept its thread waiting for the longest time. One that is being served stays.
    private void sendAway() throws IOException {
        Frames slowest = null;
        for (Frames visitor : visitors) {
            if (slowest == null || visitor.waitedNanos() > slowest.waitedNanos()) {
                slowest = visitor;
            }
        }
        if (slowest != null && slowest.waitedNanos() > 0) {
            slowest.close();
        }
    }

    /// Ends the visits that are overdue.
    private void watch() {
        try {
            while (!closed.await(WATCH_PAUSE_MS, TimeUnit.MILLISECONDS)) {
                for (Frames visitor : visitors) {
                    if (visitor.isOverdue()) {
                        leave(visitor);
                    }
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void leave(Frames visitor) {
        try {
            visitor.close();
        } catch (IOException gone) {
            // It has left by itself.
        }
    }

    private void serve(Frames visitor) {
        try (Frames frames = visitor) {
            Frame frame = frames.read();
            frames.patience(limits.person);
            if (frame != null && isOurs(frames.channel())) {
                answer(frames, frame);
            }
        } catch (IOException gone) {
            // A visitor that leaves early hurts nobody else, and can no longer be told.
        } finally {
            visitors.remove(visitor);
            room.release();
        }
    }

    /// Between bind and the change of permissions anybody could have come in.
    private boolean isOurs(SocketChannel visitor) throws IOException {
        try {
            String name =
                    visitor.getOption(ExtendedSocketOptions.SO_PEERCRED).user().getName();
            return name.equals(user) || name.equals("root");
        } catch (UnsupportedOperationException noSuchOption) {
            return true;
        }
    }

    private void answer(Frames frames, Frame frame) throws IOException {
        PrintStream out = new PrintStream(
                new BufferedOutputStream(frames.stream(Frames.OUT), 1 << 16), false, StandardCharsets.UTF_8);
        PrintStream err = new PrintStream(frames.stream(Frames.ERR), true, StandardCharsets.UTF_8);
        int code = run(frames, frame, out, err);
        out.flush();
        frames.send(Frames.EXIT, (byte) code);
    }

    private int run(Frames frames, Frame frame, PrintStream out, PrintStream err) {
        Request request;
        try {
            request = Request.parse(new String(frame.payload(), StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            err.println("The engine's owner got a request that it cannot read: " + e.getMessage() + ".");
            return ExitCode.BUG.code();
        }
        if (request.protocol() != Request.PROTOCOL) {
            err.println("Data directory " + directory + " is in use by another version of Onefold (process "
                    + ProcessHandle.current().pid()
                    + "), which does not understand this one. Use the same version, or stop that process.");
            return ExitCode.DIRECTORY.code();
        }
        Caller caller = new Caller(
                frames.input(), out, err, Path.of(request.folder()), request.environment(), request.screen());
        return interpreter.run(caller, request.arguments(), engine);
    }

    /// Lets nobody in any more and waits for those inside, for a while; may be called twice.
    @Override
    public void close() throws IOException {
        if (!server.isOpen()) {
            return;
        }
        Files.deleteIfExists(
                Address.file(directory)); // First, so that nobody who comes now finds a door that nobody opens.
        server.close();
        closed.countDown();
        try {
            if (!room.tryAcquire(VISITORS_MAX, LEAVING_SECONDS_MAX, TimeUnit.SECONDS)) {
                for (Frames visitor : visitors) {
                    visitor.close(); // It sees that no exit code came, and asks whoever owns the directory then.
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
