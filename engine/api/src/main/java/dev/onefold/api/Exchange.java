package dev.onefold.api;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// One request of HTTP/1.1 and its answer, on a connection that is closed after it. Not thread-safe.
final class Exchange {
    static final int BODY_BYTES_MAX = 16 << 20;

    /// Requests of method POST that are in the engine at a time: fewer than there are places for visitors, so that
    /// others can ask while these wait for a full disk or a recomputation.
    static final int CHANGES_MAX = 24;

    static final int PIECE_BYTES = 64 << 10;
    private static final long CHANGE_WAIT_MS = 500;

    private final InputStream in;
    private final OutputStream out;
    private final Server server;
    private int pieces;
    private boolean changes;
    private boolean chunks;
    private boolean whole;
    private @Nullable BodyOut answer;

    /// The parts that all exchanges of a server share.
    ///
    /// @param directory the data directory
    /// @param owner a unique name of this opening of the directory
    /// @param changes permits for requests that may wait in the engine for long
    /// @param memory permits for the contents of requests, in pieces of 64 KiB
    /// @param sendAway sends away a visitor that holds content and has stalled, if there is one
    record Server(Routes routes, Path directory, String owner, Semaphore changes, Semaphore memory, Runnable sendAway) {
        private static final int MEMORY_PIECES = 4 * BODY_BYTES_MAX / PIECE_BYTES;
        private static final int TRIES_MAX = 20;
        private static final long PAUSE_MS = 100;

        Server(Routes routes, Path directory, Runnable sendAway) {
            this(
                    routes,
                    directory,
                    UUID.randomUUID().toString(),
                    new Semaphore(CHANGES_MAX),
                    new Semaphore(MEMORY_PIECES),
                    sendAway);
        }

        /// Returns whether there was memory, at once or after visitors were sent away.
        private boolean acquire(int pieces) throws IOException {
            for (int i = 0; i < TRIES_MAX; i++) {
                if (tryAcquire(memory, pieces, i == 0 ? 0 : PAUSE_MS)) {
                    return true;
                }
                sendAway.run();
            }
            return false;
        }

        private static boolean tryAcquire(Semaphore semaphore, int permits, long waitMs) throws IOException {
            try {
                return semaphore.tryAcquire(permits, waitMs, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException();
            }
        }
    }

    /// Notes the progress of a request.
    interface Visit {
        /// The whole head is there.
        void headIsRead();

        /// Memory for the content is taken from now on.
        void holdsContent();

        /// The whole content is there.
        void contentIsRead();
    }

    Exchange(InputStream in, OutputStream out, Server server) {
        this.in = in;
        this.out = out;
        this.server = server;
    }

    /// Reads the request and answers it; returns whether the request was read to its end.
    boolean serve(Visit visit) throws IOException {
        try {
            Head head = Head.read(in);
            if (head != null) {
                visit.headIsRead();
                answer(head, visit);
            }
        } catch (ProtocolException e) {
            if (answer != null && answer.hasBegun()) {
                throw e;
            }
            send(new Failure(400, Failure.REQUEST, e.getMessage() + ".").response());
        } catch (RuntimeException | Error e) {
            if (answer != null && answer.hasBegun()) {
                throw e; // The connection ends before the answer does: so the client sees the failure.
            }
            send(Failure.of(e).response());
        } finally {
            server.memory.release(pieces);
            leaveEngine();
        }
        return whole;
    }

    private void answer(Head head, Visit visit) throws IOException {
        requireVisible(head.start());
        String[] start = head.start().split(" ", -1);
        if (start.length != 3 || !start[2].matches("HTTP/1\\.[0-9]")) {
            throw new IllegalArgumentException("The request is not one of HTTP/1.1");
        }
        chunks = !start[2].endsWith("0");
        requireLevel(head);
        requireOwner(head);
        InputStream body = head.body(in, false);
        boolean isPost = start[0].equals("POST");
        Request request = Request.of(start[0], start[1], isPost ? content(head, body, visit) : new byte[0]);
        if (isPost) {
            changes = Server.tryAcquire(server.changes, 1, CHANGE_WAIT_MS);
            if (!changes) {
                throw busy("Too many requests that change or recompute something are under way.");
            }
        }
        server.routes.answer(request, this::send);
        whole = whole || body.read() < 0;
    }

    private void leaveEngine() {
        if (changes) {
            changes = false;
            server.changes.release();
        }
    }

    private static Request.Refused busy(String why) {
        return new Request.Refused(new Failure(503, Failure.BUSY, why + " Try again in a moment."));
    }

    /// A byte of another kind is ambiguous: the encoding of a name would be guessed.
    private static void requireVisible(String line) {
        for (int i = 0; i < line.length(); i++) {
            if (line.charAt(i) < ' ' || line.charAt(i) > '~') {
                throw new IllegalArgumentException("Byte " + i + " of the request line is 0x"
                        + Integer.toHexString(line.charAt(i))
                        + ", not a visible character of ASCII. Encode the target with %");
            }
        }
    }

    private void requireLevel(Head head) {
        String level = head.field(Api.LEVEL_HEADER);
        String version = head.field(Api.VERSION_HEADER);
        if (!level.isEmpty() && Request.number("header field " + Api.LEVEL_HEADER, level) < Api.LEVEL) {
            throw new Request.Refused(new Failure(
                    409,
                    "FORMAT",
                    "Data directory " + server.directory + " is in use by Onefold " + Api.version() + " (process "
                            + ProcessHandle.current().pid() + "), which does not understand Onefold "
                            + (version.isEmpty() ? "(unnamed)" : version)
                            + ", an older version. Use the newer version, or stop that process."));
        }
    }

    /// Refuses a request that names another owner of the directory: the client's knowledge of that owner, such as
    /// the numbers of dead letters, may be wrong for this one.
    private void requireOwner(Head head) {
        String owner = head.field(Api.OWNER_HEADER);
        if (!owner.isEmpty() && !owner.equals(server.owner)) {
            throw new Request.Refused(new Failure(
                    409,
                    Failure.OWNER_CHANGED,
                    "Another process owns data directory " + server.directory
                            + " now, or the same one has opened it again. Nothing was done"
                            + " for this request. Run the command again; numbers of dead letters may have changed."));
        }
    }

    private byte[] content(Head head, InputStream body, Visit visit) throws IOException {
        String expected = head.field("expect");
        if (!expected.isEmpty() && !expected.equalsIgnoreCase("100-continue")) {
            throw new Request.Refused(new Failure(
                    417, Failure.REQUEST, "The request expects '" + expected + "', which nobody does here."));
        }
        String encoding = head.field("content-encoding");
        if (!encoding.isEmpty() && !encoding.equalsIgnoreCase("identity")) {
            throw new Request.Refused(new Failure(
                    415,
                    Failure.REQUEST,
                    "The content has the encoding '" + encoding + "'. Send it as it is, without one."));
        }
        String announced = head.field("content-length");
        byte[] content = memory(announced.isEmpty() ? 0 : Long.parseLong(announced));
        visit.holdsContent();
        if (!expected.isEmpty()) {
            out.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
            out.flush();
        }
        int length = 0;
        for (int next = body.read(); next >= 0; next = body.read()) {
            if (length == content.length) {
                content = resized(content, Math.max(PIECE_BYTES, 2L * length));
            }
            content[length++] = (byte) next;
            length += Math.max(0, body.read(content, length, content.length - length));
        }
        visit.contentIsRead();
        whole = true;
        return length == content.length ? content : resized(content, length);
    }

    /// Memory that is counted.
    private byte[] memory(long length) throws IOException {
        if (length > BODY_BYTES_MAX) {
            throw new Request.Refused(new Failure(
                    413,
                    Failure.REQUEST,
                    "The content of the request is more than " + BODY_BYTES_MAX
                            + " bytes. Send it in several requests."));
        }
        if (!server.acquire(pieces(length))) {
            throw busy("Too many large requests are under way.");
        }
        pieces += pieces(length);
        return new byte[(int) length];
    }

    private static int pieces(long length) {
        return (int) ((length + PIECE_BYTES - 1) / PIECE_BYTES);
    }

    private byte[] resized(byte[] content, long length) throws IOException {
        byte[] resized = memory(length);
        System.arraycopy(content, 0, resized, 0, Math.min(content.length, resized.length));
        server.memory.release(pieces(content.length));
        pieces -= pieces(content.length);
        return resized;
    }

    private void send(Response response) throws IOException {
        leaveEngine();
        String head = "HTTP/1.1 " + response.status() + " " + Failure.title(response.status())
                + "\r\nContent-Type: " + response.contentType() + "\r\n" + Api.VERSION_HEADER + ": " + Api.version()
                + "\r\n" + Api.LEVEL_HEADER + ": " + Api.LEVEL + "\r\n" + Api.OWNER_HEADER + ": " + server.owner
                + (response.status() == 503 ? "\r\nRetry-After: 1" : "") + "\r\nConnection: close\r\n";
        BodyOut body = new BodyOut(out, head, chunks);
        answer = body;
        response.body().writeTo(body);
        body.end();
    }
}
