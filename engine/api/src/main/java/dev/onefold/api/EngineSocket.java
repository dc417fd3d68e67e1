package dev.onefold.api;

import dev.onefold.core.Engine;
import java.io.BufferedInputStream;
import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import jdk.net.ExtendedSocketOptions;

/// Serves an engine to other processes of the same user, on a socket in its data directory: HTTP/1.1, one
/// request a connection. Each connection has a thread. When all are busy, the visitor that has kept its
/// thread waiting for the longest time is sent away, so that the newest one is served. No visitor keeps a
/// thread waiting for longer than its limit, even if no other one comes.
public final class EngineSocket implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("dev.onefold.api");
    private static final int VISITORS_MAX = 32;
    private static final long ROOM_PAUSE_MS = 100;
    private static final long STALL_NANOS_MAX = TimeUnit.SECONDS.toNanos(1); // If others need the memory that is held.
    private static final long WATCH_PAUSE_MS = 250;
    private static final long LEAVING_SECONDS_MAX = 3;
    private static final int DRAINED_BYTES_MAX = 2 * Exchange.BODY_BYTES_MAX;

    private final Path directory;
    private final ServerSocketChannel listening;
    private final String user;
    private final Exchange.Server server;
    private final Limits limits;
    private final BooleanSupplier answersLack;
    private final ThreadFactory threads;
    private final Semaphore room = new Semaphore(VISITORS_MAX);
    private final Set<Visitor> visitors = ConcurrentHashMap.newKeySet();
    private final CountDownLatch closed = new CountDownLatch(1);

    /// For how long a visitor may keep its thread waiting.
    ///
    /// @param head until the whole head of its request is there
    /// @param stall until some content is sent or received
    record Limits(Duration head, Duration stall) {
        static final Limits USUAL = new Limits(Duration.ofSeconds(10), Duration.ofMinutes(10));
    }

    /// @param answersLack whether a caller waits for memory that answers under way hold
    private record Served(Engine engine, BooleanSupplier answersLack) {}

    private EngineSocket(
            Path directory, Served served, Limits limits, ThreadFactory threads, ServerSocketChannel listening)
            throws IOException {
        this.directory = directory;
        this.limits = limits;
        this.threads = threads;
        this.listening = listening;
        answersLack = served.answersLack;
        user = Files.getOwner(Address.file(directory)).getName();
        server = new Exchange.Server(
                new Routes(served.engine), directory, () -> sendAway(Visitor::hasStalledWithContent));
    }

    /// Listens. Only the holder of the directory's lock may call this.
    ///
    /// @param answersLack whether a caller waits for memory that answers under way hold: then a reader that
    ///     reads nothing is sent away
    /// @throws UnsupportedOperationException where there are no such sockets
    public static EngineSocket open(Path directory, Engine engine, BooleanSupplier answersLack) throws IOException {
        // No virtual threads: a long recomputation would keep its carrier from all others.
        return open(
                directory,
                new Served(engine, answersLack),
                Limits.USUAL,
                Thread.ofPlatform().name("onefold-visitor").daemon().factory());
    }

    static EngineSocket open(Path directory, Engine engine, Limits limits, ThreadFactory threads) throws IOException {
        return open(directory, new Served(engine, () -> false), limits, threads);
    }

    private static EngineSocket open(Path directory, Served served, Limits limits, ThreadFactory threads)
            throws IOException {
        Path socket = Address.file(directory);
        Files.deleteIfExists(socket); // A dead owner left it.
        ServerSocketChannel listening = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        try (Address address = Address.of(directory)) {
            listening.bind(address.socket());
            Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-------"));
            EngineSocket open = new EngineSocket(directory, served, limits, threads, listening);
            Thread.ofPlatform().name("onefold-socket").daemon().start(open::admit);
            Thread.ofPlatform().name("onefold-socket-watch").daemon().start(open::watch);
            return open;
        } catch (IOException | RuntimeException e) {
            listening.close();
            throw e;
        }
    }

    /// A connection, and the time for which its thread has waited for the other side.
    private static final class Visitor implements Exchange.Visit {
        private final SocketChannel channel;
        private final Duration stall;
        private volatile Duration limit;
        private volatile boolean hasHead;
        private volatile boolean holdsContent;
        private volatile boolean hasAnswer;
        private volatile long waitingSince = System.nanoTime(); // 0 while this side works.
        private volatile long waitedNanos; // Before, for the same piece of content.
        private int pieceBytes;

        Visitor(SocketChannel channel, Limits limits) {
            this.channel = channel;
            stall = limits.stall;
            limit = limits.head;
        }

        /// The time for which this side has waited for the rest of a piece; 0 while it works.
        long waitedNanos() {
            long since = waitingSince;
            return since == 0 ? 0 : waitedNanos + System.nanoTime() - since;
        }

        boolean isOverdue() {
            return Duration.ofNanos(waitedNanos()).compareTo(limit) > 0;
        }

        void leave() {
            try {
                channel.close();
            } catch (IOException gone) {
                // It has left by itself.
            }
        }

        /// The head may come in many pieces; its limit is for all of them.
        @Override
        public void headIsRead() {
            hasHead = true;
            limit = stall;
            waitingSince = 0;
        }

        @Override
        public void holdsContent() {
            holdsContent = true;
        }

        @Override
        public void contentIsRead() {
            holdsContent = false;
            waitedNanos = 0;
        }

        /// A visitor that sends at a fair rate is not sent away for another one.
        boolean hasStalledWithContent() {
            return holdsContent && waitedNanos() > STALL_NANOS_MAX;
        }

        /// A visitor that reads at a fair rate is not sent away either.
        boolean hasStalledWithAnswer() {
            return hasAnswer && waitedNanos() > STALL_NANOS_MAX;
        }

        private void waits() {
            if (hasHead) {
                waitingSince = System.nanoTime();
            }
        }

        private void works() {
            if (hasHead) {
                waitingSince = 0;
            }
        }

        /// Single bytes do not hide that a visitor is slow.
        private void worksOn(int bytes) {
            if (!hasHead) {
                return;
            }
            long waited = waitedNanos();
            works();
            pieceBytes += bytes;
            waitedNanos = pieceBytes < Exchange.PIECE_BYTES ? waited : 0;
            pieceBytes %= Exchange.PIECE_BYTES;
        }

        InputStream in() {
            return new FilterInputStream(Channels.newInputStream(channel)) {
                @Override
                public int read(byte[] bytes, int offset, int length) throws IOException {
                    waits();
                    int read = in.read(bytes, offset, length);
                    worksOn(read);
                    return read;
                }
            };
        }

        OutputStream out() {
            return new FilterOutputStream(Channels.newOutputStream(channel)) {
                @Override
                public void write(int one) throws IOException {
                    write(new byte[] {(byte) one}, 0, 1);
                }

                @Override
                public void write(byte[] bytes, int offset, int length) throws IOException {
                    hasAnswer = true;
                    waits();
                    out.write(bytes, offset, length);
                    works();
                }
            };
        }
    }

    private void admit() {
        try {
            while (listening.isOpen()) {
                if (!admitOne()) {
                    // A failure may come again at once, such as an accept without a free file descriptor.
                    closed.await(ROOM_PAUSE_MS, TimeUnit.MILLISECONDS);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean admitOne() throws InterruptedException {
        Visitor visitor;
        try {
            visitor = new Visitor(listening.accept(), limits);
        } catch (IOException nobody) {
            return false; // The socket is closing, or a visitor left before it was let in.
        }
        while (!room.tryAcquire(ROOM_PAUSE_MS, TimeUnit.MILLISECONDS)) {
            if (!listening.isOpen()) {
                visitor.leave();
                return false;
            }
            sendAway(_ -> true);
        }
        visitors.add(visitor);
        try {
            threads.newThread(() -> serve(visitor)).start();
            return true;
        } catch (Throwable noThread) { // An OutOfMemoryError where the system has no thread left; later it may have.
            LOG.log(
                    System.Logger.Level.WARNING,
                    "A request was not served: no thread could be started for it.",
                    noThread);
            visitor.leave();
            visitors.remove(visitor);
            room.release();
            return false;
        }
    }

    /// Of some visitors, sends away the one that has kept its thread waiting for the longest time. A visitor
    /// that is being served stays.
    private void sendAway(Predicate<Visitor> some) {
        Visitor slowest = null;
        for (Visitor visitor : visitors) {
            if (some.test(visitor) && (slowest == null || visitor.waitedNanos() > slowest.waitedNanos())) {
                slowest = visitor;
            }
        }
        if (slowest != null && slowest.waitedNanos() > 0) {
            slowest.leave();
        }
    }

    /// Ends the visits that are overdue, and those that hold memory of answers for which others wait.
    private void watch() {
        try {
            while (!closed.await(WATCH_PAUSE_MS, TimeUnit.MILLISECONDS)) {
                visitors.stream().filter(Visitor::isOverdue).forEach(Visitor::leave);
                if (answersLack.getAsBoolean()) {
                    sendAway(Visitor::hasStalledWithAnswer);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void serve(Visitor visitor) {
        try (SocketChannel channel = visitor.channel) {
            if (isOurs(channel)) {
                InputStream in = new BufferedInputStream(visitor.in());
                boolean whole = new Exchange(in, visitor.out(), server).serve(visitor);
                channel.shutdownOutput();
                if (!whole) {
                    drain(in);
                }
            }
        } catch (IOException | UncheckedIOException gone) {
            // A visitor that leaves early does no harm to others, and no message can reach it.
        } catch (RuntimeException e) {
            // The answer had begun; the visitor sees that it was cut off.
            LOG.log(System.Logger.Level.WARNING, "A request failed after its answer had begun.", e);
        } finally {
            visitors.remove(visitor);
            room.release();
        }
    }

    /// Reads the unwanted rest: a connection that is closed with unread bytes loses its answer.
    private static void drain(InputStream in) throws IOException {
        byte[] piece = new byte[1 << 16];
        int drained = 0;
        for (int read = 0; read >= 0 && drained < DRAINED_BYTES_MAX; read = in.read(piece)) {
            drained += read;
        }
    }

    /// Between bind and the change of permissions any user could have connected.
    private boolean isOurs(SocketChannel visitor) throws IOException {
        try {
            String name =
                    visitor.getOption(ExtendedSocketOptions.SO_PEERCRED).user().getName();
            return name.equals(user) || name.equals("root");
        } catch (UnsupportedOperationException noSuchOption) {
            return true;
        }
    }

    /// Admits no more visitors and waits for those inside, for a while; may be called twice.
    @Override
    public void close() throws IOException {
        if (!listening.isOpen()) {
            return;
        }
        Files.deleteIfExists(
                Address.file(directory)); // First, so that no new visitor finds a socket that nobody serves.
        listening.close();
        closed.countDown();
        try {
            if (!room.tryAcquire(VISITORS_MAX, LEAVING_SECONDS_MAX, TimeUnit.SECONDS)) {
                visitors.forEach(Visitor::leave); // They see that no answer came, and ask the next owner.
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
