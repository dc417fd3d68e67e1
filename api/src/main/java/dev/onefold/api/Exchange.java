package dev.onefold.api;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// One request of HTTP/1.1 and its answer, on a connection that is closed after it. Not thread-safe.
final class Exchange {
    static final int BODY_BYTES_MAX = 16 << 20;

    private static final int PIECE_BYTES = 64 << 10;

    private final InputStream in;
    private final OutputStream out;
    private final Server server;
    private int pieces;
    private boolean chunks;
    private boolean whole;
    private @Nullable BodyOut answer;

    /// What all exchanges of a server share.
    ///
    /// @param directory of the data
    /// @param owner names this opening of it, and no other one
    /// @param memory for the contents of requests, in pieces of 64 KiB
    /// @param sendAway sends away a visitor that holds content and has stalled, if there is one
    record Server(Routes routes, Path directory, String owner, Semaphore memory, Runnable sendAway) {
        private static final int MEMORY_PIECES = 4 * BODY_BYTES_MAX / PIECE_BYTES;
        private static final int TRIES_MAX = 20;
        private static final long PAUSE_MS = 100;

        Server(Routes routes, Path directory, Runnable sendAway) {
            this(routes, directory, UUID.randomUUID().toString(), new Semaphore(MEMORY_PIECES), sendAway);
        }

        /// Whether there was a piece of memory, at once or after a visitor was sent away.
        boolean acquire() throws IOException {
            try {
                for (int i = 0; i < TRIES_MAX; i++) {
                    if (memory.tryAcquire(i == 0 ? 0 : PAUSE_MS, TimeUnit.MILLISECONDS)) {
                        return true;
                    }
                    sendAway.run();
                }
                return false;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException();
            }
        }
    }

    /// Notes how far a request has come.
    interface Visit {
        /// The whole head is there.
        void headIsRead();

        /// Content is kept in memory from now on.
        void holdsContent();
    }

    Exchange(InputStream in, OutputStream out, Server server) {
        this.in = in;
        this.out = out;
        this.server = server;
    }

    /// Reads the request and answers it; whether the request was read to its end.
    boolean serve(Visit visit) throws IOException {
        try {
            Head head = Head.read(in);
            if (head != null) {
                visit.headIsRead();
                answer(head, visit);
            }
        } catch (RuntimeException | Error e) {
            if (answer != null && answer.hasBegun()) {
                throw e; // The connection ends before the answer does, and so the client knows.
            }
            send(Failure.of(e).response());
        } finally {
            server.memory.release(pieces);
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
        byte[] content = start[0].equals("POST") ? content(head, body, visit) : new byte[0];
        server.routes.answer(Request.of(start[0], start[1], content), this::send);
        whole = body.read() < 0;
    }

    /// A byte of another kind has no one meaning: it would be guessed in which encoding a name is written.
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
        if (!level.isEmpty() && Request.number("header field " + Api.LEVEL_HEADER, level) < Api.LEVEL) {
            throw new Request.Refused(new Failure(
                    409,
                    "FORMAT",
                    "Data directory " + server.directory + " is in use by Onefold " + Api.version() + " (process "
                            + ProcessHandle.current().pid() + "), which does not understand Onefold "
                            + head.field(Api.VERSION_HEADER)
                            + ", an older version. Use the newer version, or stop that process."));
        }
    }

    /// What a client has learnt of one owner, such as the numbers of dead letters, need not hold with its successor.
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
        if (head.field("expect").equalsIgnoreCase("100-continue")) {
            out.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
            out.flush();
        }
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        byte[] piece = new byte[PIECE_BYTES];
        for (int read = body.read(piece); read >= 0; read = body.read(piece)) {
            content.write(piece, 0, read);
            if (content.size() > BODY_BYTES_MAX) {
                throw new Request.Refused(new Failure(
                        413,
                        Failure.REQUEST,
                        "The content of the request is more than " + BODY_BYTES_MAX
                                + " bytes. Send it in several requests."));
            }
            while ((long) pieces * PIECE_BYTES < content.size()) {
                if (!server.acquire()) {
                    throw new Request.Refused(new Failure(
                            503, Failure.BUSY, "Too many large requests are under way. Try again in a moment."));
                }
                pieces++;
                visit.holdsContent();
            }
        }
        return content.toByteArray();
    }

    private void send(Response response) throws IOException {
        String head = "HTTP/1.1 " + response.status() + " " + (response.status() < 400 ? "OK" : "Failed")
                + "\r\nContent-Type: " + response.contentType() + "\r\n" + Api.VERSION_HEADER + ": " + Api.version()
                + "\r\n" + Api.LEVEL_HEADER + ": " + Api.LEVEL + "\r\n" + Api.OWNER_HEADER + ": " + server.owner
                + "\r\nConnection: close\r\n";
        BodyOut body = new BodyOut(out, head, chunks);
        answer = body;
        response.body().writeTo(body);
        body.end();
    }
}
