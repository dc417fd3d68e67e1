package dev.onefold.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.onefold.core.Counts;
import dev.onefold.core.Engine.Appended;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The places and the memory that greedy visitors leave for the others.
@Timeout(30)
class SharedSocketTest {
    private static final String COUNTS = "GET /v1/trades/counts HTTP/1.1\r\n\r\n";

    @TempDir
    Path directory;

    private Visits visits() {
        return new Visits(directory);
    }

    private static String answer(SocketChannel visitor) {
        try {
            return new String(Channels.newInputStream(visitor).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException broken) {
            return broken.toString();
        }
    }

    private static List<String> next(BlockingQueue<String> answers, int count) throws InterruptedException {
        List<String> next = new ArrayList<>();
        while (next.size() < count) {
            next.add(String.valueOf(answers.poll(20, TimeUnit.SECONDS)));
        }
        return next;
    }

    @Test
    void changes_that_wait_in_the_engine_leave_places_for_those_that_ask() throws Exception {
        SlowEngine engine = new SlowEngine();
        try (EngineSocket _ = EngineSocket.open(directory, engine, () -> false);
                Visits.Crowd waiting = new Visits.Crowd()) {
            for (int i = 0; i < Exchange.CHANGES_MAX + 12; i++) {
                Visits.send(waiting.add(visits().connect()), "POST /v1/trades/verify HTTP/1.1\r\n\r\n");
            }
            assertThat(engine.entered.tryAcquire(Exchange.CHANGES_MAX, 20, TimeUnit.SECONDS))
                    .isTrue();
            assertThat(visits().answer(COUNTS)).startsWith("HTTP/1.1 200 ");
            assertThat(visits().answer("POST /v1/trades/verify HTTP/1.1\r\n\r\n"))
                    .startsWith("HTTP/1.1 503 ")
                    .contains("Retry-After: 1\r\n", "\"kind\":\"BUSY\"");
            BlockingQueue<String> answers = new LinkedBlockingQueue<>();
            for (SocketChannel each : waiting.visitors) {
                Thread.ofVirtual().start(() -> answers.add(answer(each)));
            }
            assertThat(next(answers, 12)).allMatch(answer -> answer.startsWith("HTTP/1.1 503 "));
            engine.late.countDown();
            assertThat(next(answers, Exchange.CHANGES_MAX)).allMatch(answer -> answer.startsWith("HTTP/1.1 200 "));
            assertThat(visits().answer("POST /v1/trades/verify HTTP/1.1\r\n\r\n"))
                    .startsWith("HTTP/1.1 200 ");
        }
    }

    @Test
    void a_content_of_line_ends_takes_no_more_of_the_heap_than_is_counted() throws Exception {
        AtomicLong allocated = new AtomicLong();
        AtomicLong size = new AtomicLong();
        SlowEngine engine = new SlowEngine() {
            @Override
            public Appended append(String source, List<String> records) {
                ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
                allocated.set(
                        threads.getThreadAllocatedBytes(Thread.currentThread().threadId()));
                size.set(records.size());
                assertThat(records.subList(0, 3)).containsExactly("", "", "");
                assertThat(records.getLast()).isEqualTo("z\u00f6");
                return new Appended(7, new Counts(0, 0, 0, 0, 0), List.of());
            }
        };
        String records = "\n".repeat(Exchange.BODY_BYTES_MAX - 3) + "z\u00f6";
        try (EngineSocket _ = EngineSocket.open(directory, engine, () -> false)) {
            assertThat(visits().answer("POST /v1/trades/records?source=s HTTP/1.1\r\nContent-Length: "
                            + Exchange.BODY_BYTES_MAX + "\r\n\r\n" + records))
                    .startsWith("HTTP/1.1 200 ");
            assertThat(size).hasValue(Exchange.BODY_BYTES_MAX - 2);
            assertThat(allocated.get()).isBetween((long) Exchange.BODY_BYTES_MAX, Exchange.BODY_BYTES_MAX + (2L << 20));
            assertThat(visits().answer("POST /v1/trades/records?source=s HTTP/1.1\r\nContent-Length: "
                            + (Exchange.BODY_BYTES_MAX + 1) + "\r\n\r\n"))
                    .startsWith("HTTP/1.1 413 ");
        }
    }

    @Test
    void visitors_that_send_their_contents_byte_by_byte_do_not_keep_others_from_sending_theirs() throws Exception {
        String post = "POST /v1/trades/records?source=s&from=1 HTTP/1.1\r\nContent-Length: ";
        AtomicBoolean stop = new AtomicBoolean();
        try (EngineSocket _ = EngineSocket.open(directory, new SlowEngine(), () -> false);
                Visits.Crowd slow = new Visits.Crowd()) {
            for (int i = 0; i < 4; i++) {
                Visits.send(slow.add(visits().connect()), post + Exchange.BODY_BYTES_MAX + "\r\n\r\nx");
            }
            Thread dripping = Thread.ofVirtual().start(() -> {
                while (!stop.get()) {
                    slow.visitors.forEach(Visits::drip);
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
                }
            });
            assertThat(visits().answer(post + "2\r\n\r\na\n")).startsWith("HTTP/1.1 200 ");
            stop.set(true);
            dripping.join();
        }
    }
}
