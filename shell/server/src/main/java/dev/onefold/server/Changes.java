package dev.onefold.server;

import dev.onefold.api.Failure;
import dev.onefold.api.Request;
import dev.onefold.api.Routes;
import dev.onefold.api.Routes.Permission;
import dev.onefold.core.Counts;
import dev.onefold.core.Engine;
import dev.onefold.server.flow.AnswerContent;
import dev.onefold.server.flow.Spool;
import java.io.BufferedOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Response;
import org.jspecify.annotations.Nullable;

/// Totals as server-sent events: each event is a whole answer to the query of the request, at most two in a
/// second, and none while nothing changes. An event is a state, not a difference, so a reader that was away
/// and comes again with the last event's id misses nothing. Any thread may call.
final class Changes {
    /// The last part of the path.
    static final String NAME = "changes";

    static final int STREAMS_MAX = 1_000;
    private static final Duration PAUSE = Duration.ofMillis(500);

    /// A reader of very many groups waits this many times the duration of a look before the next one, until
    /// its event is sent.
    private static final int PAUSE_LOOKS = 19;

    private static final Duration PAUSE_MAX = Duration.ofSeconds(10);

    /// A redrive or a rebuild may change totals and no count.
    private static final Duration LOOK = Duration.ofSeconds(5);

    /// A comment is sent after this time, so that a reader that has left is found.
    private static final Duration SILENCE_MAX = Duration.ofSeconds(10);

    private static final int BUSY = 503;

    private final Routes routes;
    private final Makers makers;
    private final Events events;
    private final Duration stretchMax;
    private final Semaphore streams = new Semaphore(STREAMS_MAX);
    private final CountDownLatch ended = new CountDownLatch(1);

    /// @param memory for events that are made
    /// @param stretchMax time for a reader to take an event, or a stretch of a large one
    Changes(Routes routes, Makers makers, Spool.Memory memory, Duration stretchMax) {
        this.routes = routes;
        this.makers = makers;
        events = new Events(memory);
        this.stretchMax = stretchMax;
    }

    /// How many readers there are.
    int streams() {
        return STREAMS_MAX - streams.availablePermits();
    }

    /// All streams end soon.
    void end() {
        ended.countDown();
        makers.end(events);
    }

    /// The request of a reader for changes.
    ///
    /// @param request the request, with the parameters of `totals`
    /// @param lastId id of the last event that the reader has; `null` if it has none
    record Asked(
            Request request,
            Permission permission,
            Engine engine,
            @Nullable String lastId) {
        /// The request for the answer itself.
        Request totals() {
            return new Request(
                    "GET", List.of("v1", request.path().get(1), "totals"), request.parameters(), new byte[0]);
        }
    }

    /// Sends events until the reader leaves, or the service ends.
    ///
    /// @throws IOException when the reader has left
    void send(Asked asked, Response response) throws IOException, Refusal {
        if (!streams.tryAcquire()) {
            throw new Refusal(429, Failure.BUSY, STREAMS_MAX + " readers of changes are there. Try again later.");
        }
        try {
            Stream stream = new Stream(asked, response);
            stream.lastTag = asked.lastId();
            stream.run();
        } finally {
            streams.release();
        }
    }

    /// One reader. Not thread-safe.
    private final class Stream implements Makers.Reader {
        private final Asked asked;
        private final Response response;
        private @Nullable OutputStream out; // From the first answer on.
        private @Nullable String lastTag;
        private @Nullable Counts lastCounts;
        private long lookedNanos;
        private long lookNanos; // How long the last one took.
        private long sentNanos;

        Stream(Asked asked, Response response) {
            this.asked = asked;
            this.response = response;
        }

        void run() throws IOException {
            boolean goesOn = true;
            while (goesOn && ended.getCount() > 0) {
                goesOn = look();
                OutputStream opened = out;
                if (goesOn) {
                    if (opened != null && System.nanoTime() - sentNanos > SILENCE_MAX.toNanos()) {
                        write(opened, ":\n\n");
                    }
                    pause();
                }
            }
            if (out != null) {
                out.close();
            }
        }

        /// Sends an event if something has changed; returns whether there may be more.
        private boolean look() throws IOException {
            lookNanos = 0;
            Counts counts = counts();
            if (counts != null && counts.equals(lastCounts) && System.nanoTime() - lookedNanos < LOOK.toNanos()) {
                return true;
            }
            lastCounts = counts;
            lookedNanos = System.nanoTime();
            Optional<Failure> refusal =
                    routes.refusal(asked.request, asked.permission).or(() -> routes.await(asked.totals()));
            if (refusal.isPresent()) {
                return fail(refusal.get().response());
            }
            try (Makers.Made made = makers.ask(asked.totals(), events, this)) {
                return take(made);
            } catch (Spool.Crowded e) {
                lastCounts = null; // Other readers take their events slowly. The next look asks again.
                return true;
            } catch (Makers.Ended e) {
                return false;
            } finally {
                lookNanos = System.nanoTime() - lookedNanos;
            }
        }

        private @Nullable Counts counts() {
            try {
                return asked.engine().counts();
            } catch (RuntimeException e) {
                return null; // The answer says why.
            }
        }

        private boolean take(Makers.Made made) throws IOException {
            String tag = made.tag();
            if (tag == null) {
                return fail(made.answer());
            }
            OutputStream opened = opened();
            if (!has(tag) && !made.isSent()) {
                made.content().writeTo(opened);
                opened.flush();
                sentNanos = System.nanoTime();
            }
            lastTag = tag;
            return true;
        }

        private boolean fail(dev.onefold.api.Response answer) throws IOException {
            OutputStream opened = out;
            if (opened == null) {
                Refusal.send(response, answer);
                return false;
            }
            if (answer.status() == BUSY) {
                lastCounts = null; // The next look asks again.
                return true;
            }
            Events.write("problem", null, answer, opened);
            opened.flush();
            return false;
        }

        private OutputStream opened() throws IOException {
            OutputStream opened = out;
            if (opened == null) {
                response.setStatus(200);
                response.getHeaders().put(HttpHeader.CONTENT_TYPE, "text/event-stream");
                response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
                opened = new BufferedOutputStream(new AnswerContent(response, stretchMax));
                out = opened;
                write(opened, ":\n\n"); // The head leaves at once.
            }
            return opened;
        }

        @Override
        public boolean has(String tag) {
            return tag.equals(lastTag);
        }

        @Override
        public OutputStream open(dev.onefold.api.Response answer, @Nullable String tag) throws IOException {
            sentNanos = System.nanoTime();
            return new Open(opened());
        }

        private void write(OutputStream to, String text) throws IOException {
            to.write(text.getBytes(StandardCharsets.US_ASCII));
            to.flush();
            sentNanos = System.nanoTime();
        }

        private void pause() throws IOException {
            try {
                Duration wait = Duration.ofNanos(Math.min(lookNanos * PAUSE_LOOKS, PAUSE_MAX.toNanos()));
                if (ended.await((wait.compareTo(PAUSE) < 0 ? PAUSE : wait).toNanos(), TimeUnit.NANOSECONDS)) {
                    return; // The service ends.
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("Interrupted between two events");
            }
        }
    }

    /// The stream stays open behind an event.
    private static final class Open extends FilterOutputStream {
        Open(OutputStream out) {
            super(out);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            out.write(bytes, offset, length);
        }

        @Override
        public void close() throws IOException {
            out.flush();
        }
    }
}
