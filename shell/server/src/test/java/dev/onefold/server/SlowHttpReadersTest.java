package dev.onefold.server;

import static dev.onefold.server.RunningService.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Readers who take so little of a large answer that it would never end, and so much that they are not silent.
@Timeout(60)
class SlowHttpReadersTest {
    private static final int READERS = 16; // As many as an engine has places for answers.
    private static final int GROUPS = 16_000;

    @TempDir
    Path directory;

    private static void fill(RunningService on) {
        for (int from = 0; from < GROUPS; from += 1_000) {
            List<String> lines = new ArrayList<>();
            for (int i = from; i < from + 1_000; i++) {
                // With names so long that an answer is larger than what a system keeps for a connection.
                lines.add("{\"id\":%d,\"v\":1,\"desk\":\"%d-%01000d\",\"value\":1}".formatted(i, i, 0));
            }
            on.trades.append("s", lines);
        }
    }

    private static Socket reader(RunningService on, String route) throws IOException {
        Socket reader = new Socket();
        reader.setReceiveBufferSize(64 << 10);
        reader.connect(new InetSocketAddress(
                on.service.uri().getHost(), on.service.uri().getPort()));
        reader.getOutputStream().write(bytes("GET /v1/trades/" + route + " HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        return reader;
    }

    /// @param begun gets the readers whose answers have begun
    private static void trickle(List<Socket> readers, Set<Socket> begun, AtomicBoolean isOver) {
        while (!isOver.get()) {
            for (Socket reader : readers) {
                try {
                    if (reader.getInputStream().available() > 0) {
                        reader.getInputStream().read(new byte[5_000]);
                        begun.add(reader);
                    }
                } catch (IOException cutOff) {
                    // So it should be.
                }
            }
            LockSupport.parkNanos(50_000_000);
        }
    }

    private interface Meanwhile {
        void happens(RunningService on) throws Exception;
    }

    /// While slow readers of large answers are there, for whom the engine has not enough places.
    private void besideSlowReaders(Meanwhile meanwhile) throws Exception {
        List<Socket> readers = new CopyOnWriteArrayList<>();
        Set<Socket> begun = ConcurrentHashMap.newKeySet();
        AtomicBoolean isOver = new AtomicBoolean();
        try (RunningService on = new RunningService(directory, null, RunningService.IMPATIENT)) {
            fill(on);
            Thread trickle = Thread.ofPlatform().start(() -> trickle(readers, begun, isOver));
            try {
                for (int i = 0; i < READERS; i++) {
                    readers.add(reader(on, "totals"));
                }
                readers.add(reader(on, "changes"));
                while (begun.size() < readers.size()) {
                    LockSupport.parkNanos(1_000_000);
                }
                meanwhile.happens(on);
            } finally {
                isOver.set(true);
                trickle.join();
            }
        } finally {
            for (Socket reader : readers) {
                reader.close();
            }
        }
    }

    @Test
    @Tag("campaign")
    void slow_readers_of_large_answers_keep_nobody_from_a_small_one() throws Exception {
        besideSlowReaders(on -> {
            HttpResponse<String> small = on.get("/v1/trades/totals?depth=0");
            assertThat(small.statusCode()).as(small.body()).isEqualTo(200);
        });
    }
}
